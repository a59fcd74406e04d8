"""A percentage against the counts it is printed with.

In prose: ``12 of 30 (40%)``, ``40% (12/30)``, ``Of the 30 cases, 12 (40%) ...``. In tables: cells ``12 (40%)`` under or
beside a total that most cells of the column agree with. A percentage passes if it is right to less than one unit of its
last digit, so that a cut digit is no error.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import plain
from referee.evidence.rules.hits import (
    RuleHit,
    Sentence,
    entry_evidence,
    figure,
    sentence_evidence,
    sentences_of,
    shortened,
)
from referee.schemas.paper import Paper

NAME = "percent_of_counts"

_COUNT = r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w.,]*\d)|(?<![\w.,/-])\d+(?![\w]|[.,/]\d)"
_DIGITS = r"(?<![\w.,/-])\d[\d,]*"
_SHARE = r"(?P<percent>\d+(?:\.\d+)?)\s*%(?!\s*(?:CI|conf|to\b|[-–]))"
_PHRASES = (
    re.compile(
        rf"(?P<part>{_COUNT})\s+(?:out of|of)\s+(?:the |these |those |all |our |a total of )*(?P<whole>{_COUNT})"
        rf"(?P<between>[^()%.;\d]{{0,60}})[(\[,]\s*{_SHARE}"
    ),
    re.compile(rf"(?P<part>{_DIGITS})\s?/\s?(?P<whole>\d[\d,]*)(?P<between>[^()%.;\d]{{0,30}})[(\[,]\s*{_SHARE}"),
    re.compile(
        rf"{_SHARE}\s*[(\[]\s*(?:n\s*=\s*)?(?P<part>\d[\d,]*)\s?(?P<between>/|of|out of)\s?(?P<whole>\d[\d,]*)"
        r"\s*[;)\],]"
    ),
)
_OF_TOTAL = re.compile(
    rf"\b(?:Of|Among|Out of|In)\s+(?:the |these |those |all |our |a total of )*(?P<whole>{_COUNT})\s[^.;:]{{3,80}}?,\s"
)
_PART = re.compile(rf"(?P<part>{_COUNT})\s+(?:[a-z-]+\s+){{0,5}}[(\[]\s*{_SHARE}\s*[)\],;]")
_NEW_WHOLE = re.compile(
    r"\b(?:of (?:whom|which|these|those|them)|among (?:them|these|those|which|whom)|the (?:rest|remaining))\b", re.I
)
_CELL = re.compile(rf"^\s*(?P<part>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>[kKMB]?)\s*[(\[]\s*{_SHARE}\s*[)\]]")
_TOTAL = re.compile(r"\b(?:total|all|overall|sum|n)\b", re.IGNORECASE)


def percent_of_counts(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Percentages that the counts beside them do not give.

    Args:
        paper: The paper.
        ledger: Its number ledger.

    Returns:
        One hit a percentage: prose first, then tables.
    """
    prose = [hit for sentence in sentences_of(paper) if "%" in sentence.text for hit in _in_sentence(sentence)]
    return prose + list(_in_tables(ledger))


def _in_sentence(sentence: Sentence) -> Iterator[RuleHit]:
    shown = plain(sentence.text)
    seen: set[int] = set()
    for pattern in _PHRASES:
        for found in pattern.finditer(shown):
            part, whole = _integer(found["part"]), _integer(found["whole"])
            if found.start("percent") not in seen and part <= whole and not _right(part, whole, found["percent"]):
                yield _prose_hit(sentence, found, found["part"], found["whole"])
            seen.add(found.start("percent"))
    total = _OF_TOTAL.search(shown)
    if total is None or _NEW_WHOLE.search(shown, total.end()):
        return
    whole = _integer(total["whole"])
    parts = [f for f in _PART.finditer(shown, total.end()) if f.start("percent") not in seen]
    for found in parts:
        earlier = [whole, *(_integer(f["part"]) for f in parts if f.start() < found.start())]
        part = _integer(found["part"])
        if part <= whole and not any(_right(part, n, found["percent"]) for n in earlier):
            yield _prose_hit(sentence, found, found["part"], total["whole"])


def _integer(digits: str) -> int:
    return int(re.sub(r"\D", "", digits) or "0")


def _right(part: int | Decimal, whole: int | Decimal, percent: str) -> bool:
    """Whether a percentage is right to less than one unit of its last digit; true where nothing can be said."""
    if whole <= 0:
        return True
    step = Decimal(1).scaleb(-len(percent.partition(".")[2]))
    return abs(Decimal(part) * 100 / Decimal(whole) - Decimal(percent)) < step


def _prose_hit(sentence: Sentence, found: re.Match[str], part: str, whole: str) -> RuleHit:
    percent = found["percent"]
    share = 100 * _integer(part) / _integer(whole)
    return RuleHit(
        rule=NAME,
        claim=f"{percent}% is printed for {part} of {whole}, which is {figure(share, 4)}%.",
        kind="error",
        severity="minor",
        evidence=(sentence_evidence(sentence, "shows", around=found.span()),),
        numbers=(f"{percent}%", part, whole),
    )


def _in_tables(ledger: list[LedgerEntry]) -> Iterator[RuleHit]:
    """Cells ``count (share)`` of one column against a total that most of them agree with."""
    columns: dict[tuple[str, int], list[LedgerEntry]] = defaultdict(list)
    for entry in ledger:
        if entry.source == "cell" and entry.column is not None:
            columns[entry.block_id, entry.column].append(entry)
    for entries in columns.values():
        pairs = [(a, b) for a, b in pairwise(entries) if _is_share(a, b)]
        wholes = [e for e in entries if _TOTAL.search(" ".join(e.row_head)) and e.unit != "%" and e.value > 0]
        wholes = [e for e in wholes if all(p.value <= e.high for p, _ in pairs)]
        for whole in wholes[:1]:
            wrong = [
                (part, share) for part, share in pairs if part is not whole and not _share_right(part, share, whole)
            ]
            if len(pairs) >= 4 and len(wrong) * 4 <= len(pairs):
                yield from (_table_hit(part, share, whole) for part, share in wrong)


def _is_share(part: LedgerEntry, share: LedgerEntry) -> bool:
    same = part.row == share.row and part.column == share.column
    return same and share.unit == "%" and part.unit != "%" and share.start > part.end


def _share_right(part: LedgerEntry, share: LedgerEntry, whole: LedgerEntry) -> bool:
    low, high = 100 * part.low / whole.high, 100 * part.high / whole.low
    return low < share.value + share.step and share.value - share.step < high


def _table_hit(part: LedgerEntry, share: LedgerEntry, whole: LedgerEntry) -> RuleHit:
    computed = figure(100 * part.value / whole.value)
    claim = (
        f"{part.table or 'A table'} prints {share.printed} for {part.printed} of {whole.printed}, which is "
        f"{computed}%; the other shares of the column agree with that total."
    )
    return RuleHit(
        rule=NAME,
        claim=shortened(claim),
        kind="error",
        severity="minor",
        evidence=(entry_evidence(part, "shows"), entry_evidence(whole, "contradicts")),
        numbers=(share.printed, part.printed, whole.printed),
    )
