"""True statements about a paper, and their contradictions: one number, one name or one verb changed by rule.

A statement is a sentence of a review that shares its content with one sentence of the paper, the number or name that is
changed included. That sentence is kept: it proves the edit wrong. The rules know no meaning: a statement that resembles
its passage and says something else is taken for true all the same, which is why both sides are counted.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from referee.evidence import split_sentences
from referee.evidence.stems import stems
from referee.schemas.paper import Paper

RULES = ("number", "name", "negation")
SHARED, SHARED_STEMS = 0.4, 3
SHARED_FOR_NEGATION = 0.5
_WORDS = range(7, 61)
# A sentence that asks, wishes, doubts or supposes states nothing that an edit could contradict.
_NO_STATEMENT = re.compile(
    r"\?|\b(?:should|could|would|might|may|please|suggest\w*|recommend\w*|if|unclear|wonder\w*|whether|perhaps|needs?"
    r"|better|interesting|reviewer\w*|unless|why|thank)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"(?:fig(?:ure|s)?|tables?|eqs?|equations?|sections?|lines?|pages?|videos?|ref|supplement|file|panel)\.?\s*$",
    re.IGNORECASE,
)
_CITATION = re.compile(r"\([^()]*\b(?:19|20)\d\d[a-z]?\b[^()]*\)|\bet al\.?,?\s*(?:19|20)\d\d|\[[\d,\s–-]+\]")
_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:\.\d+)?(?=%|\b)(?![\w./–-]*[A-Za-z])(?!\.?\d|\s*\^)")
# A caption's panel, or text that ran together with an address.
_DAMAGED = re.compile(r"^\(|doi\.org|DOI:")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NAME = re.compile(r"\b(?=\w*[A-Z])[A-Za-z]\w*(?:-[A-Za-z0-9]+)?\b")
# Shorter than this is what leads a sentence in, as "The authors report that".
_LEAD = 8
_VERB = re.compile(r"\b(?:is|are|was|were|can|does|do|did|has|have|will)\b")
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|without|cannot|none)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True)
class Edit:
    """A statement before and after; ``proof`` is the paper's sentence that bears out the one and refutes the other."""

    rule: str
    true: str
    false: str
    was: str
    now: str
    proof: str
    section: str


@dataclass(frozen=True)
class _Sentence:
    text: str
    section: str
    stems: frozenset[str]


class PaperSentences:
    """The sentences of a paper, and the names it uses more than once."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper

    @cached_property
    def all(self) -> tuple[_Sentence, ...]:
        return tuple(self._read())

    @cached_property
    def names(self) -> tuple[str, ...]:
        counted = Counter(name for one in self.all for name in names_in(one.text))
        return tuple(sorted(name for name, number in counted.items() if number > 1))

    def nearest(
        self, text: str, fits: Callable[[str], bool] = lambda _: True, *, share: float = SHARED
    ) -> _Sentence | None:
        """The fitting sentence with the largest share of a text's content; None where that is too small."""
        wanted = frozenset(stems(text))
        held = [one for one in self.all if fits(one.text)]
        best = max(held, key=lambda one: len(wanted & one.stems), default=None)
        if best is None or not wanted:
            return None
        shared = len(wanted & best.stems)
        return best if shared >= SHARED_STEMS and shared >= share * len(wanted) else None

    def _read(self) -> Iterator[_Sentence]:
        seen = set[str]()
        texts = [("Abstract", self._paper.abstract)] if self._paper.abstract else []
        texts += [(s.heading, b.text) for s in self._paper.content for b in s.blocks if b.kind in ("paragraph", "list")]
        for heading, text in texts:
            for sentence in split_sentences(text):
                if len(sentence.split()) in _WORDS and sentence not in seen and not _DAMAGED.search(sentence):
                    seen.add(sentence)
                    yield _Sentence(sentence, heading, frozenset(stems(sentence)))


def holds(text: str, token: str) -> bool:
    """Whether a number or name stands in a text as a whole."""
    return re.search(rf"(?<![\w.]){re.escape(token)}(?![\w]|\.\d)", text) is not None


def numbers_in(text: str) -> list[re.Match[str]]:
    """Numbers that say something: no years, citations, references to figures, or numbers of a list."""
    cited = [match.span() for match in _CITATION.finditer(text)]
    return [
        match
        for match in _NUMBER.finditer(text)
        if match.start() > 3
        and not _YEAR.fullmatch(match.group())
        and not _REFERS.search(text[: match.start()])
        and not any(start <= match.start() < end for start, end in cited)
    ]


def names_in(text: str) -> list[str]:
    """Words with a capital that do not begin the sentence, and of which a lower-case one would be another word."""
    cited = [match.span() for match in _CITATION.finditer(text)]
    return [
        match.group()
        for match in _NAME.finditer(text)
        if match.start() > 0
        and len(match.group()) > 1
        and not re.search(r"[.:!?]\s*[\"“(]?$", text[: match.start()])
        and not re.fullmatch(
            r"(?i)(?:supplementary|fig\w*|tables?|sections?|introduction|results?|discussion|methods?"
            r"|materials|video|equation|eqs?|appendix|doi|et|al|the|we|property)",
            match.group(),
        )
        and not any(start <= match.start() < end for start, end in cited)
    ]


def edit_of(statement: str, paper: PaperSentences, rng: random.Random, *, rules: Sequence[str] = RULES) -> Edit | None:
    """The first edit that a rule allows; None where the sentence is no statement that the paper bears out."""
    text = " ".join(statement.split())
    if len(text.split()) not in _WORDS or _NO_STATEMENT.search(text):
        return None
    makers = {"number": _number_changed, "name": _name_exchanged, "negation": _verb_negated}
    made = (makers[rule](text, paper, rng) for rule in rules)
    return next((edit for edit in made if edit is not None), None)


def review_edits(text: str, paper: PaperSentences, rng: random.Random) -> list[Edit]:
    """Edits of a review's statements, each sentence and each sentence of the paper once."""
    found, proofs = list[Edit](), set[str]()
    for line in text.splitlines():
        for sentence in split_sentences(line.strip()):
            edit = edit_of(sentence, paper, rng)
            if edit is not None and edit.proof not in proofs:
                proofs.add(edit.proof)
                found.append(edit)
    return found


def retold_edits(paper: PaperSentences, rng: random.Random, most: int) -> list[Edit]:
    """Edits of the paper's own sentences as a review would retell them, at most ``most`` and as many of each rule."""
    order = list(paper.all)
    rng.shuffle(order)
    found, used = list[Edit](), set[str]()
    for rule in RULES:
        made = (edit_of(retold(one.text), paper, rng, rules=[rule]) for one in order if one.text not in used)
        fresh = {edit.proof: edit for edit in made if edit is not None and edit.proof not in used}
        taken = list(fresh.values())[: -(-most // len(RULES))]
        used |= {edit.proof for edit in taken}
        found += taken
    return found[:most]


def retold(sentence: str) -> str:
    """A sentence of a paper in a reviewer's mouth: without brackets, in the third person."""
    text = re.sub(r"\s*\([^()]*\)", "", sentence)
    for said, told in (("we", "they"), ("our", "their"), ("us", "them")):
        text = re.sub(rf"\b{said}\b", told, text, flags=re.IGNORECASE)
    first, _, rest = text.partition(" ")
    head = first if any(map(str.isupper, first[1:])) else first.lower()
    return f"The authors report that {head} {rest}"


def _number_changed(text: str, paper: PaperSentences, rng: random.Random) -> Edit | None:
    for match in numbers_in(text):
        proof = paper.nearest(text, partial(_says, number=match.group()))
        if proof is None:
            continue
        decimals = len(match.group().partition(".")[2])
        value = float(match.group())
        choices = [f"{new:.{decimals}f}" for new in (value * 2 + 1, value * 3 + 2, value + 4)]
        free = [choice for choice in choices if not holds(proof.text, choice) and not holds(text, choice)]
        if free:
            return _edit("number", text, match.span(), rng.choice(free), proof)
    return None


def _name_exchanged(text: str, paper: PaperSentences, rng: random.Random) -> Edit | None:
    for name in names_in(text):
        proof = paper.nearest(text, partial(holds, token=name))
        if proof is None:
            continue
        others = [other for other in paper.names if _exchangeable(other, name, f"{text} {proof.text}")]
        if others:
            start = text.index(name, 1)
            return _edit("name", text, (start, start + len(name)), rng.choice(others), proof)
    return None


def _verb_negated(text: str, paper: PaperSentences, rng: random.Random) -> Edit | None:
    verb = next((m for m in _VERB.finditer(text) if m.start() > _LEAD), None)
    if verb is None or _NEGATION.search(text):
        return None
    proof = paper.nearest(text, partial(holds, token=verb.group()), share=SHARED_FOR_NEGATION)
    if proof is None or _NEGATION.search(proof.text):
        return None
    return _edit("negation", text, verb.span(), f"{verb.group()} not", proof)


def _says(sentence: str, number: str) -> bool:
    return number in [match.group() for match in numbers_in(sentence)]


def _exchangeable(other: str, name: str, around: str) -> bool:
    """Whether another name looks alike (both acronyms, or both words), says something else and stands not yet there."""
    acronyms = all(sum(map(str.isupper, one)) > 1 for one in (name, other))
    plural = other.casefold() in name.casefold() or name.casefold() in other.casefold()
    return (acronyms or (name.istitle() and other.istitle())) and not plural and not holds(around, other)


def _edit(rule: str, text: str, span: tuple[int, int], now: str, proof: _Sentence) -> Edit:
    start, end = span
    return Edit(rule, text, f"{text[:start]}{now}{text[end:]}", text[start:end], now, proof.text, proof.section)
