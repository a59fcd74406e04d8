"""One statement of a review held against the paper: its quotations, absences, sections and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.evidence.certify.absences import absence_verdict
from referee.evidence.certify.arithmetic import arithmetic, spelled_factor
from referee.evidence.certify.counts import counts
from referee.evidence.certify.figures import ORDINAL, OWN_WORDS, Figure, agree, numbers_in, words_of
from referee.evidence.certify.reading import Reading
from referee.evidence.certify.sections import section_verdict
from referee.evidence.certify.statements import Statement, statements_of
from referee.evidence.certify.values import Verdict, value_verdict
from referee.evidence.quotations import NotFound
from referee.schemas.certificate import Certificate, CertificateStatus
from referee.schemas.paper import Paper

_LONGEST = 3_000


def verify_text(text: str, paper: Paper) -> list[Certificate]:
    """A certificate for each statement of a review in plain text or Markdown, in its order."""
    reading = Reading(paper)
    return [check_statement(sentence, reading) for sentence in statements_of(text)]


def check_statement(text: str, reading: Reading) -> Certificate:
    """The certificate of one statement."""
    if len(text) > _LONGEST:
        return Certificate(statement=text, status="opinion", reason="too long to be one statement")
    statement = Statement(text, reading)
    if statement.asks:
        return Certificate(statement=text, status="opinion", reason="advice, a question or a supposition")
    verdicts = list(_verdicts(statement))
    denied = next((v for v in verdicts if v.standing == "denied"), None)
    if denied is not None:
        return _certificate(text, "refuted", denied)
    told = [v for v in verdicts if v.standing == "tied"]
    return _rated(statement, verdicts, told)


def _verdicts(statement: Statement) -> Iterator[Verdict]:
    reading = statement.reading
    yield from (_quoted(quote, statement.text, reading) for quote in statement.quotes if len(quote.split()) > 3)
    absent = absence_verdict(statement.bare, reading)
    if absent is not None:
        yield absent
        return
    place = section_verdict(statement.bare, reading)
    if place is not None:
        yield place
    figures = statement.figures
    computed = arithmetic(statement.bare, figures, reading) | counts(statement.bare, figures, reading)
    factor = spelled_factor(statement.bare, figures, reading)
    if factor is not None:
        yield factor
    last: Verdict | None = None
    for at, figure in enumerate(figures):
        verdict = computed.get(at)
        if verdict is None or verdict.standing not in ("tied", "incidental"):
            own = value_verdict(statement.bare, figures, at, statement.words, reading)
            printed = own.standing == "tied" or (own.standing == "found" and own.words >= _BORNE)
            counted = verdict is not None and verdict.computed and verdict.place != "arithmetic"
            verdict = own if verdict is None or (printed and not counted) else verdict
        if verdict.standing in ("found", "unknown"):
            if figure.number.text in reading.head_numbers or _incidental(statement.bare, figure, verdict):
                verdict = Verdict("incidental")
            elif last is not None and _goes_with(figure, last):
                verdict = last
        last = verdict if verdict.standing == "tied" and not verdict.computed else None
        yield verdict


def _goes_with(figure: Figure, last: Verdict) -> bool:
    """Whether a number without words of its own stands in the passage of the number before it: ``6.9 and 8.1``."""
    return not figure.own - OWN_WORDS and any(agree(figure.number, number) for number in numbers_in(last.passage))


_COUNTED = re.compile(r"\s*(?:out\s+)?of\b", re.I)


def _incidental(text: str, figure: Figure, verdict: Verdict) -> bool:
    """Whether a small number in words (``the two groups``) claims nothing that a proof would have to cover."""
    if figure.number.unit == ORDINAL:
        return verdict.standing in ("found", "unknown")
    return (
        figure.small
        and verdict.standing in ("found", "unknown")
        and not _COUNTED.match(text[figure.number.end :])
        and bool(
            re.search(
                r"\b(?:the|these|those|its|their|all|within|both|other)\s+(?:\w+\s+)?$",
                text[: figure.number.start],
                re.I,
            )
        )
    )


_CITES = re.compile(r"\b(?:19|20)\d\d[a-z]?\)|\[\d+\]|\bet al\b|\bentitled\b|\btitled\b")
_ALL_BUT = 0.85
_AGREES, _NEAR = re.compile(r"agrees to (\d+)%"), 70
# Of a number that a checked computation starts from, so many of its words must stand where it stands.
_BORNE = 0.35


def _quoted(quote: str, text: str, reading: Reading) -> Verdict:
    found = reading.quotations.find(quote)
    if not isinstance(found, NotFound):
        page = f", p. {found.page}" if found.page is not None else ""
        return Verdict("found", "the quotation stands there", f"{found.section}{page}", found.quote)
    near = _AGREES.search(found.reason)
    unclear = found.kind == "refused" or found.reason.startswith(("one-letter", "signs")) or " nothing " in found.reason
    if (
        unclear
        or (near is not None and int(near[1]) >= _NEAR)
        or _CITES.search(text)
        or (found.kind == "absent" and _almost(quote, reading))
    ):
        return Verdict("unknown", found.reason)
    return Verdict("denied", f"the quotation does not stand in the paper: {found.reason}", "the whole paper", "")


def _almost(quote: str, reading: Reading) -> bool:
    """Whether nearly all of a quotation's words stand in one sentence: damage of the file, or a free rendering."""
    words = {word.stem for word in words_of(quote)}
    return bool(words) and any(len(words & passage.stems) >= _ALL_BUT * len(words) for passage in reading.passages)


def _rated(statement: Statement, verdicts: list[Verdict], told: list[Verdict]) -> Certificate:
    text = statement.text
    weighed = [v for v in verdicts if v.standing != "incidental"]
    borne = [v for v in weighed if v.standing == "found" and v.words >= _BORNE]
    result = any(v.computed for v in told)
    if told and len(told) + (len(borne) if result else 0) == len(weighed) and (len(weighed) > 1 or result):
        reasons, places = (
            dict.fromkeys(filter(None, parts)) for parts in zip(*((v.reason, v.place) for v in told), strict=True)
        )
        shown = next((v.passage for v in told if v.computed), told[0].passage)
        return Certificate(
            statement=text, status="proved", reason="; ".join(reasons), place="; ".join(places), passage=shown
        )
    backed = [v for v in verdicts if v.standing in ("tied", "found")]
    if backed:
        return _certificate(text, "sourced", backed[0])
    return Certificate(statement=text, status="opinion", reason="nothing in it could be looked up")


def _certificate(text: str, status: CertificateStatus, verdict: Verdict) -> Certificate:
    return Certificate(
        statement=text, status=status, reason=verdict.reason, place=verdict.place, passage=verdict.passage
    )
