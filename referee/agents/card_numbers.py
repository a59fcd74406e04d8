"""The numbers of a paper as a few lines for its card: who checks a number needs to see where else it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from referee.evidence.ledger import LedgerEntry, number_ledger
from referee.schemas.paper import Paper

_NUMBER_WORDS = 5

_AFFILIATION = re.compile(
    r"@|\buniversit|\binstitut|\bcollege\b|\bequal contribution|\bcorresponding author|\bwork (?:was )?done|\bgrants?\b"
    r"|\bfunded\b|\bsupported by\b|\blaborator",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class CardLine:
    """A passage of the paper and the section it stands in; ``id`` only where a reply can name it."""

    text: str
    section_id: str
    id: str = ""


def number_lines(paper: Paper) -> Iterator[CardLine]:
    """The measured numbers: of prose a line for each block, of a table a line for each row.

    A row whose columns have no names has those of the row above it.
    """
    about_people = {b.id for _, b in paper.blocks() if b.kind == "footnote" and _AFFILIATION.search(b.text)}
    told = (entry for entry in number_ledger(paper) if entry.subject or entry.symbol)
    said = (entry for entry in told if entry.block_id not in about_people and not _is_index(entry))
    columns: tuple[object, ...] = ()
    for _, numbers in groupby(said, key=lambda entry: (entry.block_id, entry.row)):
        together = list(numbers)
        if together[0].source == "prose":
            yield _numbers(together)
            continue
        heads = (together[0].block_id, *(entry.column_head for entry in together))
        yield _row(together, named=heads != columns)
        columns = heads


def _is_index(entry: LedgerEntry) -> bool:
    """Whether a number is where counting begins or ends (``i = 1``, ``G - 1``), which measures nothing."""
    return entry.source == "prose" and abs(entry.value) <= 1 and not entry.decimals and not entry.unit


def _numbers(entries: Sequence[LedgerEntry]) -> CardLine:
    """The numbers of one block, each with the words that are not of the one before."""
    shown: list[str] = []
    before: tuple[str, ...] = ()
    for entry in dict.fromkeys(entries):
        words = tuple(word for word in entry.subject.split() if word not in before)[:_NUMBER_WORDS]
        shown.append(f"{_printed(entry)} {' '.join(words)}".strip())
        before = tuple(entry.subject.split())
    return CardLine("; ".join(dict.fromkeys(shown)), entries[0].section_id)


def _row(entries: Sequence[LedgerEntry], *, named: bool) -> CardLine:
    """The numbers of one row under its head, and under their columns' heads where the row before had others."""
    head = " ".join(entries[0].row_head) or entries[0].subject.partition(" · ")[0]
    columns = (" ".join(e.column_head[-1:]) if named else "" for e in entries)
    numbers = " | ".join(f"{column} {_printed(e)}".strip() for column, e in zip(columns, entries, strict=True))
    return CardLine(f"{entries[0].table}, {head}: {numbers}".lstrip(", "), entries[0].section_id)


def _printed(entry: LedgerEntry) -> str:
    symbol = f"{entry.symbol} = " if entry.symbol else ""
    unit = "" if not entry.unit or entry.unit in entry.text or entry.source == "cell" else f" {entry.unit}"
    return f"{symbol}{entry.text}{unit}"
