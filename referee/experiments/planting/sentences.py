"""Sentences that are put in, and changes that keep every fact: kinds ``inserted`` and ``neutral``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import find_numerals
from referee.evidence.rules.labels import labels_in
from referee.evidence.rules.text_vs_table import GridRow
from referee.experiments.planting.candidate import Anchor, Candidate, Edit, Rejection, Site, edited, span
from referee.experiments.planting.direction import good_side
from referee.experiments.planting.source import Passage, Source, content_stems
from referee.papers.markdown import Written, write_markdown
from referee.schemas.paper import Paper

_METRIC_ON = re.compile(r"\b(?P<metric>[A-Z][a-z]+)\s+on\s+(?:the\s+)?(?P<name>[A-Z]\w+)\b")
_MOST_ROWS = 100
_WORDS_HEAD = re.compile(r"^[A-Za-z][A-Za-z-]+(?: [A-Za-z-]+){0,2}$")
_QUANTITY = re.compile(r"\b(?:width|length|rate|size|share|mean|median|parameters|distance)\b", re.IGNORECASE)
_COMPARES = re.compile(
    r"\b(?:higher|lower|better|worse|outperform\w*|above|below|more|less|than|best)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Insertion:
    """A sentence about two rows of a table: its true and its false form, and the paragraph it ends."""

    block_id: str
    true: str
    false: str
    first: LedgerEntry
    second: LedgerEntry


def insertions(source: Source) -> Iterator[Insertion | Rejection]:
    """Sentences that could end a paragraph which mentions a table; the table decides which form is true."""
    found = False
    mentions: dict[tuple[str, str], Passage] = {}
    for passage in source.edited:
        for named in labels_in(passage.text):
            mentions.setdefault(named, passage)
    rows_of = defaultdict(list)
    for row in source.rows:
        if len(row.head) == 1:
            rows_of[row.table].append(row)
    for label in source.labels:
        if label.kind != "Table":
            continue
        name = f"Table {label.number}"
        rows, paragraph = rows_of[name][:_MOST_ROWS], mentions.get(("Table", label.number))
        if len(rows) < 2 or paragraph is None or paragraph.block.kind != "paragraph":
            yield Rejection("inserted", "the table is not parsed cell by cell, or no paragraph speaks of it", name)
            continue
        for one in _of_table(source, rows, paragraph, label.block.text, name):
            found = True
            yield one
    if not found:
        yield Rejection("inserted", "no_candidate: no two rows of a table are comparable", source.paper.title)


def _of_table(
    source: Source, rows: list[GridRow], paragraph: Passage, caption: str, table: str
) -> Iterator[Insertion | Rejection]:
    for i, a in enumerate(rows):
        for b in rows[i + 1 :]:
            for x, y in _columns(a, b):
                frame = _frame(x, caption, table, single=len(_columns(a, b)) == 1)
                if frame is None:
                    continue
                high, low = (a, b) if x.value > y.value else (b, a)
                if _is_said(source, a, b, frame):
                    yield Rejection(
                        "inserted", "the sentence would repeat one that exists", f"{a.head[0]}, {b.head[0]}"
                    )
                    break
                first, second = (x, y) if x.value > y.value else (y, x)
                yield Insertion(
                    paragraph.block.id,
                    frame.format(a=high.head[0], b=low.head[0]),
                    frame.format(a=low.head[0], b=high.head[0]),
                    first,
                    second,
                )


def _columns(a: GridRow, b: GridRow) -> list[tuple[LedgerEntry, LedgerEntry]]:
    """Values in one column that differ by more than their spreads."""
    spread = max((e.value for r in (a, b) for e in r.entries if e.spread), default=0)
    return [
        (x, y)
        for x in a.entries
        for y in b.entries
        if x.column == y.column and not x.spread and not y.spread and abs(x.value - y.value) > max(spread, x.step)
    ]


def _frame(entry: LedgerEntry, caption: str, table: str, *, single: bool) -> str | None:
    on = _METRIC_ON.search(caption)
    if on is not None and single and good_side(on["metric"]) == "up":
        return f"{{a}} scores higher than {{b}} on {on['name']}."
    head = re.sub(r"\s*[(\[].*?[)\]]\s*$", "", entry.column_head[-1]) if entry.column_head else ""
    if not _WORDS_HEAD.match(head) or not (good_side(head) or _QUANTITY.search(head)):
        return None
    metric = head if not head[1:].islower() else head.lower()
    return f"In {table}, the {metric} of {{a}} is higher than that of {{b}}."


def _is_said(source: Source, a: GridRow, b: GridRow, frame: str) -> bool:
    names = (a.head[0], b.head[0])
    plain = [name for name in names if sum(map(str.isalpha, name)) > 1 and "{" not in name and len(name) < 40]
    if len(plain) < 2 or names[0].casefold() in names[1].casefold() or names[1].casefold() in names[0].casefold():
        return True
    about = content_stems(frame) - content_stems(f"scores higher than table {' '.join(names)}")
    compared = (p for p in source.edited if all(name in p.text for name in names) and _COMPARES.search(p.text))
    return any(about & p.stems for p in compared)


def with_insertion(paper: Paper, insertion: Insertion) -> Written:
    """The clean paper with the true sentence at the paragraph's end, written anew."""
    sections = tuple(
        section.model_copy(
            update={
                "blocks": tuple(
                    block.model_copy(update={"text": f"{block.text} {insertion.true}"})
                    if block.id == insertion.block_id
                    else block
                    for block in section.blocks
                )
            }
        )
        for section in paper.sections
    )
    return write_markdown(paper.model_copy(update={"sections": sections}))


def inserted_site(source: Source, insertion: Insertion) -> Site | Rejection:
    """The true sentence as it stands in the clean twin, and what makes it false."""
    passage = next((p for p in source.edited if p.text == insertion.true), None)
    if passage is None:
        return Rejection("inserted", "the sentence is not read back as one", insertion.true)
    place = (span(passage, 0, len(passage.text)),)
    anchors = tuple(_cell(source, entry) for entry in (insertion.first, insertion.second))
    return Site("inserted", place, ((insertion.false,),), partial(_inserted, place, anchors, insertion), anchors)


def _cell(source: Source, entry: LedgerEntry) -> Anchor:
    section, block = next((s, b) for s, b in source.paper.blocks() if b.id == entry.block_id)
    passage = source.cell(section, block, entry.row or 0, entry.column or 0)
    return Anchor(passage, f"{entry.table} has {passage.text} for {entry.row_head[-1]}")


def _inserted(
    place: tuple[Edit, ...], anchors: tuple[Anchor, ...], insertion: Insertion, after: tuple[str, ...]
) -> Candidate | str:
    if after[0] != insertion.false:
        return "the replacement is not the sentence turned round"

    def conflict(passages: tuple[str, ...], cells: tuple[str, ...]) -> bool:
        high, low = (next(find_numerals(cell)).value for cell in cells)
        return (passages[0] == insertion.false) == (high > low) and high != low

    return Candidate(
        kind="inserted",
        subtype="order",
        severity="M",
        anchor_class="A2",
        edits=edited(place, after),
        anchors=anchors,
        conflict=conflict,
        expected=insertion.true,
        statement=f"The sentence turns two rows round: {anchors[0].says} and {anchors[1].passage.text} "
        f"for {insertion.second.row_head[-1]}.",
    )


_SYNONYMS = {
    "reaches": "attains", "reached": "attained", "uses": "employs",
    "for example": "for instance", "For example": "For instance", "In addition": "Additionally", "Therefore": "Thus",
    "Thus": "Therefore", "approximately": "roughly", "about half": "roughly half", "often": "frequently",
    "usually": "commonly", "begins": "starts", "whereas": "while", "Furthermore": "Moreover", "Moreover": "Furthermore",
    "sufficient": "enough", "numerous": "many", "performed": "carried out",
    "investigated": "examined", "examined": "investigated", "utilize": "use",
}  # fmt: skip
_SYNONYM = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(_SYNONYMS, key=len, reverse=True)))})(?![\w-])")
_FACTS = re.compile(r"\bused to\b|\bused as\b|\bcan be\b|\boften\s+(?:not|no)\b|\bwhereas\s+no\b", re.IGNORECASE)


def neutral_sites(source: Source) -> Iterator[Site | Rejection]:
    """Sentences of results and discussion in which one word has another that says the same."""
    for passage in source.edited:
        found = _SYNONYM.search(passage.text)
        if found is None:
            continue
        if _FACTS.search(passage.text):
            yield Rejection("neutral", "the word may carry a fact here", passage.text)
            continue
        place = (span(passage, *found.span()),)
        yield Site("neutral", place, ((_SYNONYMS[found.group()],),), partial(_neutral, place))


def _neutral(place: tuple[Edit, ...], after: tuple[str, ...]) -> Candidate | str:
    before = place[0].before
    if _SYNONYMS.get(before) != after[0]:
        return "fact words changed"
    return Candidate(
        kind="neutral",
        subtype="synonym",
        severity="L",
        anchor_class="none",
        edits=edited(place, after),
        anchors=(),
        conflict=lambda _, __: False,
        expected=before,
        statement=f"{after[0]!r} for {before!r}: no fact is changed.",
    )
