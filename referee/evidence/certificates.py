"""Whether a paper bears out what a review states, by code alone: quotations, numbers, programs, absences, rules.

Code refutes little: a quotation that stands nowhere in the paper, and a point whose own program gives another value. A
number is only looked for, because which of a paper's numbers a sentence means is a matter of reading it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property

from referee.evidence.absence import TermIndex
from referee.evidence.computed import computation_line
from referee.evidence.guards import numbers as words_of_numbers
from referee.evidence.numerals import find_numerals
from referee.evidence.points import is_live
from referee.evidence.quotations import NotFound, QuotationIndex
from referee.evidence.rules import run_rules
from referee.evidence.sentences import sentence_units
from referee.evidence.stems import STOPWORDS, WORD, stem
from referee.evidence.verify import quoted_spans
from referee.schemas.certificate import Certificate, CertificateStatus
from referee.schemas.computation import Computation, ProgramOutcome
from referee.schemas.paper import Block, Paper, Section
from referee.schemas.point import PointEvidence, Quotation, ReviewPoint
from referee.schemas.review import Review

MOST_STATEMENTS = 2_000
_LONGEST, _LEAST_QUOTED, _LEAST_WORDS = 3_000, 5, 40
_FOREIGN = 0.38
_RANK: tuple[CertificateStatus, ...] = ("refuted", "proved", "sourced", "opinion")
_MARKUP = re.compile(r"^\s{0,3}(?:#{1,6}\s+.*|[-*_]{3,}\s*|```.*|\|.*\|\s*)$")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•–]|\(?\d{1,3}[.)])\s+")
_CITES = re.compile(
    r"\b(?:19|20)\d\d[a-z]?\)|\[\d+\]|\bet al\b|\b(?:en)?titled\b|\bshould (?:read|say|be)\b|\binstead\b"
)
_AGREES, _NEAR = re.compile(r"agrees to (\d+)%"), 70
_ENGLISH = frozenset(
    re.findall(r"\w+", "the of and in to is a that for are not on with as it this be by or from which")
)


class Bearings:
    """A paper laid out for looking up. Build it once for a review."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.quotations = QuotationIndex(paper)

    @cached_property
    def terms(self) -> TermIndex:
        """The search for words of an absence."""
        return TermIndex(self.paper)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words of the paper."""
        return frozenset(_stems(" ".join([self.paper.title, *(section.text for section in self.paper.sections)])))

    @cached_property
    def passages(self) -> list[tuple[frozenset[Decimal], str, str]]:
        """Sentences and rows of tables that hold two numbers or more: those numbers, the place, and the text."""
        return [
            (values, _at(section, block), line)
            for section, block in self.paper.blocks()
            if section.role != "references"
            for line in (block.text.splitlines() if block.kind == "table" else sentence_units(block.text))
            if len(values := _values(line)) > 1
        ]


def statements_of(text: str) -> list[str]:
    """The sentences of a review in plain text or Markdown, without headings, rules, tables and list marks."""
    paragraphs: list[str] = []
    whole = True
    for line in (_LIST_MARK.sub("", raw).strip() for raw in text.splitlines() if not _MARKUP.match(raw)):
        if line and not whole:
            paragraphs[-1] += f" {line}"
        elif line:
            paragraphs.append(line)
        whole = not line or line.endswith((".", "!", "?", ":", '"', "”", ")"))
    return [unit for one in paragraphs for unit in sentence_units(one) if any(map(str.isalpha, unit))]


def unfit(statements: Sequence[str], paper: Bearings) -> str:
    """Why statements cannot be checked against a paper, in a sentence: none, too many, another language or paper.

    Of the different words of seven reviews 47% to 69% stood in their own paper, and up to 56% in another one of the
    same field: only a clear case is refused.
    """
    if not statements:
        return "The review holds no statement."
    if len(statements) > MOST_STATEMENTS:
        return f"The review holds {len(statements):,} statements; at most {MOST_STATEMENTS:,} are checked."
    words = re.findall(r"[^\W\d_]+", " ".join(statements).casefold())
    if len(words) > 30 and sum(word in _ENGLISH for word in words) * 10 < len(words):
        return "The review is not in English, and only English is checked."
    own = set(_stems(" ".join(statements)))
    share = len(own & paper.stems) / max(1, len(own))
    if len(own) > _LEAST_WORDS and share < _FOREIGN:
        return f"The review seems to be of another paper: {share:.0%} of its words stand in this one."
    return ""


def certify_text(statements: Iterable[str], paper: Bearings) -> list[Certificate]:
    """A certificate for each statement of any review, in their order."""
    return [_best(statement, _looked_for(statement, paper)) for statement in statements]


def certify_points(
    review: Review, paper: Bearings, outcomes: Mapping[str, Sequence[ProgramOutcome]]
) -> list[Certificate]:
    """A certificate for each point of our own review that stands, under its number. No stored status is believed.

    Args:
        review: The review.
        paper: Its paper.
        outcomes: What the programs of each point, by its id, gave when they were run again.
    """
    listed = [point for point in review.points if point.number] or [p for p in review.points if is_live(p)]
    return [
        _best(point.statement, _backed(point, paper, outcomes.get(point.id, ()))).model_copy(
            update={"point": point.number or at}
        )
        for at, point in enumerate(listed, start=1)
    ]


def _best(statement: str, found: Iterable[Certificate]) -> Certificate:
    """What weighs most: a refutation, then a proof, then a source."""
    none = Certificate(statement=statement, status="opinion", reason="nothing in it could be looked up")
    return min(found, key=lambda one: _RANK.index(one.status), default=none)


def _looked_for(statement: str, paper: Bearings) -> Iterator[Certificate]:
    if len(statement) > _LONGEST:
        return
    bare = statement
    for start, end in quoted_spans(statement):
        if len(statement[start + 1 : end].split()) >= _LEAST_QUOTED:
            bare = bare[:start] + " " * (end + 1 - start) + bare[end + 1 :]
            yield from _quoted(statement, statement[start + 1 : end], paper)
    values = _values(bare)
    if len(values) > 1:
        for held, place, text in paper.passages:
            if values <= held:
                yield _told(statement, "sourced", "its numbers stand together", place, text)
                return


def _quoted(statement: str, quote: str, paper: Bearings) -> Iterator[Certificate]:
    found = paper.quotations.find(quote)
    if not isinstance(found, NotFound):
        yield _told(statement, "sourced", "the quotation stands there", _place(found), found.quote)
        return
    near = _AGREES.search(found.reason)
    unclear = found.kind == "refused" or found.reason.startswith(("one-letter", "signs")) or " nothing " in found.reason
    if unclear or (near and int(near[1]) >= _NEAR) or _CITES.search(statement):
        return
    yield _told(statement, "refuted", f"the quotation does not stand in the paper: {found.reason}", "the whole paper")


def _backed(point: ReviewPoint, paper: Bearings, outcomes: Sequence[ProgramOutcome]) -> Iterator[Certificate]:
    """Every certificate of a point, by what it rests on."""
    for computation, outcome in zip(point.computations, outcomes, strict=False):
        again = Computation(program=computation.program, outcome=outcome)
        narrowed = point.check is not None and point.check.narrowed
        if outcome.status == "agrees" or (outcome.status == "differs" and narrowed):
            yield _told(point.statement, "proved", computation_line(again), "its program, run again")
        elif outcome.status == "differs" and not outcome.doubtful:
            yield _told(point.statement, "refuted", computation_line(again), "its program, run again")
    yield from _by_quotations(point, paper)
    if point.absence is not None and point.absence.terms:
        searched = paper.terms.search(point.absence.terms)
        if searched.supports_absence:
            terms = ", ".join(point.absence.terms)
            yield _told(point.statement, "sourced", f"not found by these words: {terms}", "the whole paper")
    if point.source == "rule":
        quotes = {" ".join(evidence.quote.split()) for evidence in point.evidence}
        for hit in run_rules(paper.paper):
            if hit.claim == point.claim or quotes.issuperset(" ".join(e.quote.split()) for e in hit.evidence):
                first = hit.evidence[0]
                yield _told(
                    point.statement, "proved", f"the rule {hit.rule} finds it again", first.section, first.quote
                )
                return
    yield from (one.model_copy(update={"statement": point.statement}) for one in _looked_for(point.statement, paper))


def _by_quotations(point: ReviewPoint, paper: Bearings) -> Iterator[Certificate]:
    found: list[Quotation] = []
    for evidence in point.evidence:
        looked_up = _found_again(evidence, paper)
        if isinstance(looked_up, Quotation):
            found.append(looked_up)
        elif evidence.status != "not_found" and looked_up.kind != "refused":
            why = f"the quotation does not stand in this paper: {looked_up.reason}"
            yield _told(point.statement, "refuted", why, evidence.section, evidence.quote)
    if found:
        different = len({tuple(words_of_numbers(quotation.quote.casefold())) for quotation in found}) > 1
        proved = point.kind == "contradiction" and different
        reason = "two places differ in their numbers" if proved else "the quotation stands there"
        text = " / ".join(quotation.quote for quotation in found[:2])
        yield _told(point.statement, "proved" if proved else "sourced", reason, _place(found[0]), text)


def _found_again(evidence: PointEvidence, paper: Bearings) -> Quotation | NotFound:
    index, section = paper.quotations, evidence.section_id
    found = index.equation(evidence.quote) or index.words(evidence.quote, section_id=section)
    return found or index.find(re.sub(r"\s*\[…\]\s*", " ... ", evidence.quote), section_id=section)


def _told(statement: str, status: CertificateStatus, reason: str, place: str, passage: str = "") -> Certificate:
    return Certificate(statement=statement, status=status, reason=reason, place=place, passage=passage)


def _place(quotation: Quotation) -> str:
    return quotation.section + (f", p. {quotation.page}" if quotation.page is not None else "")


def _at(section: Section, block: Block) -> str:
    name = block.label or f"{section.number or ''} {section.heading}".strip()
    return name + (f", p. {block.page}" if block.page is not None else "")


def _values(text: str) -> frozenset[Decimal]:
    return frozenset(abs(found.value) for found in find_numerals(text))


def _stems(text: str) -> Iterator[str]:
    return (stem(word) for word in WORD.findall(text) if word.isalpha() and word.casefold() not in STOPWORDS)
