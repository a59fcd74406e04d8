"""What a paper promises and no longer has: kinds ``missing-variance``, ``missing-control`` and ``missing-baseline``.

*Promised*: the promise stays and what it promised goes. *Silent*: both go, so that the paper alone does not tell.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from referee.evidence.rules.text_vs_table import GridRow
from referee.experiments.planting.candidate import Anchor, Candidate, Edit, Rejection, Site, edited, span
from referee.experiments.planting.direction import good_side
from referee.experiments.planting.source import Passage, Source
from referee.schemas.planted import PlantedKind

_SPREAD = re.compile(r"\s*(?:±|\+/-|\\pm)\s*\d+(?:\.\d+)?%?")
_VARIANCE_PROMISE = re.compile(
    r"\b(?:standard (?:deviations?|errors?)|error bars?|std\.?|confidence intervals?)\b", re.IGNORECASE
)
_REPORTS = re.compile(r"\b(?:report|give|show|list|present|average|mean|denote|indicate)\w*\b", re.IGNORECASE)
_VARIANCE_RESIDUE = re.compile(
    r"\bt\(\d+\)|\bp\s*[<>=]|\bintervals?\b|±|\+/-|\\pm|\bstandard (?:deviation|error)|\berror bars?\b|\bseeds\b",
    re.IGNORECASE,
)
_BASELINE_PROMISE = re.compile(
    r"\b(?:we|is|are|was|were)\s+(?:\w+\s+)?compar(?:e|ed)\b|\bbaselines?\s+(?:are|include|is)\b|\bthe following\b",
    re.I,
)
_CONTROL_PROMISE = re.compile(r"\b(?:ablat\w+|without|w/o|removing|control (?:condition|group|experiment)s?)\b", re.I)
_CONTROL_ROW = re.compile(r"^\s*(?:w/o|without|no|minus|-|−|–)\s+\w", re.IGNORECASE)
_MOST_CELLS = 120
_LONGEST_EXPECTED = 300


def variance_sites(source: Source) -> Iterator[Site | Rejection]:
    """All spreads in tables, which a sentence promises; silently, the promise and what else speaks of them too."""
    cells = tuple(_spreads(source))
    promises = [p for p in source.edited if _VARIANCE_PROMISE.search(p.text) and _REPORTS.search(p.text)]
    if not cells:
        yield Rejection("missing-variance", "no_candidate: no table has spreads in its cells", source.paper.title)
    elif len(cells) > _MOST_CELLS:
        yield Rejection("missing-variance", f"more than {_MOST_CELLS} cells have a spread", source.paper.title)
    elif not promises:
        yield Rejection("missing-variance", "no sentence promises a spread", source.paper.title)
    else:
        anchor = Anchor(promises[0], "promises a spread for the values")
        yield Site("missing-variance", cells, (_nothing(cells),), partial(_variance, source, cells, anchor), (anchor,))
        yield _silent_variance(source, cells, promises)


def _nothing(spans: tuple[Edit, ...]) -> tuple[str, ...]:
    return ("",) * len(spans)


def _spreads(source: Source) -> Iterator[Edit]:
    for section, block in source.paper.blocks():
        for i, row in enumerate(block.cells if block.kind == "table" else ()):
            for j, text in enumerate(row):
                for found in _SPREAD.finditer(text):
                    yield span(source.cell(section, block, i, j), *found.span())


def _variance(source: Source, cells: tuple[Edit, ...], anchor: Anchor, after: tuple[str, ...]) -> Candidate | str:
    edits = edited(cells, after)
    left = _SPREAD.findall(_without(source.text, edits))
    if left:
        return f"residue: {len(left)} spread(s) stay"
    return _missing(
        "missing-variance",
        "promised",
        edits,
        (anchor,),
        said=_VARIANCE_PROMISE,
        gone=_SPREAD,
        statement=f"{anchor.passage.where} promises a spread for the values, and no table has one.",
    )


def _silent_variance(source: Source, cells: tuple[Edit, ...], promises: list[Passage]) -> Site:
    """Promise, spreads, and the bracket with a test that would give them away."""
    brackets = [
        span(p, *found.span())
        for p in source.edited
        for found in re.finditer(r"\s*\([^()]*(?:\([^()]*\)[^()]*)*\)", p.text)
        if _VARIANCE_RESIDUE.search(found.group())
    ]
    gone = (*cells, *(_whole_sentence(source, p) for p in promises), *brackets)
    return Site("missing-variance", gone, (_nothing(gone),), partial(_silent, source, gone), (), silent=True)


def sentence_removal(source: Source, passage: Passage) -> tuple[Edit, ...]:
    """One sentence as what would go."""
    return (_whole_sentence(source, passage),)


def _whole_sentence(source: Source, passage: Passage) -> Edit:
    """A sentence with the blank behind it, or before it at a paragraph's end."""
    text = source.text
    if text[passage.end : passage.end + 1] == " ":
        longer = Passage(passage.text + " ", passage.start, passage.section, passage.block, passage.place)
        return span(longer, 0, len(longer.text))
    if text[passage.start - 1] == " ":
        longer = Passage(" " + passage.text, passage.start - 1, passage.section, passage.block, passage.place)
        return span(longer, 0, len(longer.text))
    return span(passage, 0, len(passage.text))


def examine_silent(source: Source, spans: tuple[Edit, ...]) -> Candidate | str:
    """A silent removal of these spans, held to leave no residue."""
    return _silent(source, spans, _nothing(spans))


def _silent(source: Source, spans: tuple[Edit, ...], after: tuple[str, ...]) -> Candidate | str:
    edits = edited(spans, after)
    left = _VARIANCE_RESIDUE.findall(_without(source.text, edits))
    if left:
        return f"residue {len(left)}"
    return Candidate(
        kind="missing-variance",
        subtype="silent",
        severity="M",
        anchor_class="none",
        edits=edits,
        anchors=(),
        conflict=lambda passages, _: not any(_VARIANCE_RESIDUE.search(text) for text in passages),
        expected="spreads, the sentence that promises them and the test",
        statement="Nothing in the paper says how much the values vary.",
        silent=True,
    )


def _missing(
    kind: PlantedKind,
    subtype: str,
    edits: tuple[Edit, ...],
    anchors: tuple[Anchor, ...],
    *,
    said: re.Pattern[str],
    gone: re.Pattern[str],
    statement: str,
    silent: bool = False,
) -> Candidate:
    def conflict(passages: tuple[str, ...], promises: tuple[str, ...]) -> bool:
        kept = all(said.search(text) for text in promises)
        return kept and not any(gone.search(text) for text in passages)

    gone_text = " … ".join(dict.fromkeys(edit.before.strip() for edit in edits))
    return Candidate(
        kind=kind,
        subtype=subtype,
        severity="M",
        anchor_class="none" if silent else "A4",
        edits=edits,
        anchors=anchors,
        conflict=conflict,
        expected=gone_text if len(gone_text) <= _LONGEST_EXPECTED else f"{gone_text[:_LONGEST_EXPECTED]} ...",
        statement=statement,
        silent=silent,
    )


def _without(text: str, edits: tuple[Edit, ...]) -> str:
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.after + text[edit.end :]
    return text


def baseline_sites(source: Source) -> Iterator[Site | Rejection]:
    """Rows of a compared method, in all tables; the sentence that promises the comparison stays."""
    yield from _row_sites(source, "missing-baseline", _BASELINE_PROMISE)


def control_sites(source: Source) -> Iterator[Site | Rejection]:
    """Rows of an ablation or a control, in all tables, that a sentence announces."""
    yield from _row_sites(source, "missing-control", _CONTROL_PROMISE)


def _row_sites(source: Source, kind: PlantedKind, promise: re.Pattern[str]) -> Iterator[Site | Rejection]:
    found = False
    rows_of = defaultdict(list)
    for row in source.rows:
        if len(row.head) == 1:
            rows_of[row.head[0]].append(row)
    for name, rows in rows_of.items():
        if (_CONTROL_ROW.match(name) is not None) != (kind == "missing-control") or sum(map(str.isalpha, name)) < 3:
            continue
        found = True
        spans = tuple(_row_span(source, row) for row in rows)
        bare = _CONTROL_ROW.sub(lambda m: m.group()[-1], name) if kind == "missing-control" else name
        named = re.compile(rf"(?<![\w-]){re.escape(bare)}(?![\w-])", re.IGNORECASE)
        promises = [p for p in source.edited if named.search(p.text) and _promises(p, promise)]
        silent = not promises
        anchors = tuple(Anchor(p, f"promises {bare}") for p in promises[:1])
        yield Site(
            kind, spans, (_nothing(spans),), partial(_row, source, kind, rows, spans, anchors, named), anchors, silent
        )
    if not found:
        yield Rejection(kind, "no_candidate: no table has such a row", source.paper.title)


def _promises(passage: Passage, promise: re.Pattern[str]) -> bool:
    """A sentence that announces, or an item of a list of what is compared."""
    blocks = passage.section.blocks
    at = next((i for i, block in enumerate(blocks) if block.id == passage.block.id), 0)
    lead = blocks[at - 1].text[-300:] if passage.block.kind == "list" and at else ""
    return promise.search(f"{lead} {passage.text}") is not None


def _row_span(source: Source, row: GridRow) -> Edit:
    section, block = next((s, b) for s, b in source.paper.blocks() if b.id == row.block_id)
    number = row.entries[0].row or 0
    start = source.written.cells[block.id, number, 0] - 2
    stop = source.text.find("\n", start) + 1 or len(source.text)
    return span(Passage(source.text[start:stop], start, section, block, "cell"), 0, stop - start)


def _row(
    source: Source,
    kind: PlantedKind,
    rows: list[GridRow],
    spans: tuple[Edit, ...],
    anchors: tuple[Anchor, ...],
    named: re.Pattern[str],
    after: tuple[str, ...],
) -> Candidate | str:
    edits = edited(spans, after)
    name = rows[0].head[0]
    if not anchors:
        return f"no promise names {name}: silent only"
    for row in rows:
        others = [r for r in source.rows if r.block_id == row.block_id and r.entries[0].row != row.entries[0].row]
        if len(others) < 2:
            return "fewer than two rows are left"
        if _is_best(row, others):
            return "the removed row is best"
    text = _without(source.text, edits)
    left = len(named.findall(text)) - len(named.findall(anchors[0].passage.text))
    if left > 0:
        return f"residue: {name} is named {left} more time(s)"
    promise = anchors[0].passage
    return _missing(
        kind,
        "promised",
        edits,
        anchors,
        said=named,
        gone=named,
        statement=f"{promise.where} promises {name}, and no table has it.",
    )


def _is_best(row: GridRow, others: list[GridRow]) -> bool:
    for mine in row.entries:
        theirs = [e.value for r in others for e in r.entries if e.column == mine.column and not e.spread]
        if mine.spread or not theirs:
            continue
        if good_side(" ".join(mine.column_head)) == "down" and mine.value <= min(theirs):
            return True
        if good_side(" ".join(mine.column_head)) != "down" and mine.value >= max(theirs):
            return True
    return False
