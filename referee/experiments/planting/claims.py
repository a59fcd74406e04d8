"""Claims wider than what was done, and claims that the results table turns round: ``overclaim``, ``contradiction``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import find_numerals, plain
from referee.evidence.rules.hits import Sentence
from referee.evidence.rules.text_vs_table import GridRow, candidate_tables, named_rows
from referee.experiments.planting.candidate import Anchor, Candidate, Conflict, Edit, Rejection, Site, edited, span
from referee.experiments.planting.direction import good_side
from referee.experiments.planting.source import Passage, Source, is_headline
from referee.schemas.planted import AnchorClass

_NAME = r"(?:[A-Z][\w.-]*[A-Za-z0-9](?:[ -][A-Z0-9][\w.-]*){0,3})"
_SCOPE = re.compile(
    rf"\b(?P<on>[Oo]n|[Ii]n|[Ff]or)\s+(?:the\s+)?(?P<name>{_NAME})\s+"
    r"(?P<noun>benchmark|data ?set|corpus|task|collection)\b"
)
_PLURAL = {"benchmark": "benchmarks", "dataset": "datasets", "data set": "data sets", "corpus": "corpora",
           "task": "tasks", "collection": "collections"}  # fmt: skip
_LIMITED = re.compile(
    r"\b(?:only|solely|exclusively|a single|one (?:benchmark|data ?set|corpus|task)"
    r"|limited to|restricted to|not (?:been )?test)",
    re.IGNORECASE,
)
_WIDE = re.compile(r"\b(?:across|any|all|every|broad|arbitrary|in general)\b", re.IGNORECASE)
_GOAL = re.compile(
    r"\b(?:aim|goal|hope|future|plan to|et al|previous(?:ly)?|prior work|have shown|has been shown)\b", re.IGNORECASE
)
_MOST = re.compile(r"\b(?P<word>[Mm]ost|[Nn]early all|[Aa]lmost all|[Tt]he majority)\s+(?P<rest>of\b|[a-z]+)")
_SHARE = re.compile(
    r"\(\s*(?:n\s*=\s*)?(?P<k>\d{1,4})\s*(?:/|of|out of)\s*(?P<n>\d{1,4})\b|\(\s*(?P<share>\d{1,2}(?:\.\d+)?)\s?%"
)
_GAIN = re.compile(r"\b(?:of the|of this)\s+(?:gain|improvement|effect|difference|drop|loss)\b")
_HEDGE = re.compile(r"\b(?:suggests?|indicates?|may|might)\b")
_ALL = re.compile(r"\b(?:all|every|entire|whole)\b", re.IGNORECASE)


def overclaim_sites(source: Source) -> Iterator[Site | Rejection]:
    """Scopes with a sentence that limits them, and shares of a whole whose numbers stand beside them."""
    for passage in source.edited:
        yield from _scope_sites(source, passage)
        yield from _share_sites(source, passage)
        if found := _HEDGE.search(passage.text):
            yield _hedge_site(passage, found)


def _hedge_site(passage: Passage, found: re.Match[str]) -> Rejection:
    return Rejection("overclaim", f"a hedge: nothing contradicts more than {found.group()!r}", passage.text)


def _scope_sites(source: Source, passage: Passage) -> Iterator[Site | Rejection]:
    for found in _SCOPE.finditer(passage.text):
        if _GOAL.search(passage.text):
            yield Rejection("overclaim", "the sentence is a goal or related work", passage.text)
            continue
        anchor = _limit(source, passage, found["name"])
        if anchor is None:
            yield Rejection("overclaim", "no sentence limits the scope", passage.text)
            continue
        place = (span(passage, *found.span()),)
        across = "Across" if found["on"][0].isupper() else "across"
        after = f"{across} {_PLURAL[found['noun']]}"
        yield Site("overclaim", place, ((after,),), partial(_scope, source, place, anchor, found["name"]), (anchor,))


def _limit(source: Source, passage: Passage, name: str) -> Anchor | None:
    for other in source.passages:
        if other.start != passage.start and name in other.text and _LIMITED.search(other.text):
            return Anchor(other, f"{other.where} limits this to {name}")
    return None


def _scope(
    source: Source, place: tuple[Edit, ...], anchor: Anchor, name: str, after: tuple[str, ...]
) -> Candidate | str:
    if not _WIDE.search(after[0]) or name in after[0]:
        return "the replacement claims no wider scope"
    if any(after[0].casefold() in other.text.casefold() for other in source.passages):
        return "the claim is made that widely elsewhere"

    def conflict(passages: tuple[str, ...], anchors: tuple[str, ...]) -> bool:
        return bool(_WIDE.search(passages[0])) and name in anchors[0] and _LIMITED.search(anchors[0]) is not None

    passage = place[0].passage
    return Candidate(
        kind="overclaim",
        subtype="scope",
        severity="H" if is_headline(passage.section) else "M",
        anchor_class="A1",
        edits=edited(place, after),
        anchors=(anchor,),
        conflict=conflict,
        expected=place[0].before,
        statement=f"{passage.where} claims {after[0]!r}; {anchor.says}.",
    )


def _share_sites(source: Source, passage: Passage) -> Iterator[Site | Rejection]:
    for found in _MOST.finditer(passage.text):
        word = "All" if found["word"][0].isupper() else "all"
        place = (span(passage, *found.span("word")),)
        if _GAIN.search(passage.text[found.end("word") :]):
            yield _gain_site(source, passage, place, word)
        elif (share := _SHARE.search(passage.text[found.end() :])) and _is_part(share):
            said = " ".join(share.group().strip("( ").split())
            anchor = Anchor(passage, f"the sentence itself gives {said}")
            yield Site("overclaim", place, ((word,),), partial(_share, place, anchor), (anchor,))


def _is_part(found: re.Match[str]) -> bool:
    if found["share"]:
        return 50 < float(found["share"]) < 100
    return int(found["k"]) * 2 > int(found["n"]) > int(found["k"]) > 0


def _share(place: tuple[Edit, ...], anchor: Anchor, after: tuple[str, ...]) -> Candidate | str:
    if not _ALL.search(after[0]):
        return "the replacement claims no wider scope"
    at = place[0].start - place[0].passage.start

    def conflict(passages: tuple[str, ...], _: tuple[str, ...]) -> bool:
        share = _SHARE.search(passages[0][at:])
        return _ALL.match(passages[0][at:]) is not None and share is not None and _is_part(share)

    return _wider(place, anchor, after, conflict, "A3")


def _gain_site(source: Source, passage: Passage, place: tuple[Edit, ...], word: str) -> Site | Rejection:
    """``most of the gain`` beside a level that lies between the two values which the gain lies between."""
    level = [n for n in find_numerals(passage.text) if re.search(r"\bto\s+$", plain(passage.text)[: n.start])]
    for other in source.passages:
        if len(level) == 1 and other.section.id == passage.section.id and other.start < passage.start:
            ends = _from_to(other.text)
            if ends and min(ends) < float(level[0].value) < max(ends):
                anchor = Anchor(other, f"{level[0].text} still lies between {ends[0]:g} and {ends[1]:g}")
                return Site(
                    "overclaim", place, ((word,),), partial(_gain, place, anchor, float(level[0].value)), (anchor,)
                )
    return Rejection("overclaim", "no numbers that tell what the share is", passage.text)


def _from_to(text: str) -> tuple[float, float] | None:
    found = re.search(r"\bfrom\s+(\d+(?:\.\d+)?)\s*%?\s+to\s+(\d+(?:\.\d+)?)", plain(text))
    return (float(found[1]), float(found[2])) if found else None


def _gain(place: tuple[Edit, ...], anchor: Anchor, level: float, after: tuple[str, ...]) -> Candidate | str:
    if not _ALL.search(after[0]):
        return "the replacement claims no wider scope"
    at = place[0].start - place[0].passage.start

    def conflict(passages: tuple[str, ...], anchors: tuple[str, ...]) -> bool:
        ends = _from_to(anchors[0])
        return _ALL.match(passages[0][at:]) is not None and ends is not None and min(ends) < level < max(ends)

    return _wider(place, anchor, after, conflict, "A2", derived=True)


def _wider(
    place: tuple[Edit, ...],
    anchor: Anchor,
    after: tuple[str, ...],
    conflict: Conflict,
    anchor_class: AnchorClass,
    *,
    derived: bool = False,
) -> Candidate:
    passage = place[0].passage
    return Candidate(
        kind="overclaim",
        subtype="share",
        severity="H" if is_headline(passage.section) else "M",
        anchor_class=anchor_class,
        edits=edited(place, after),
        anchors=(anchor,),
        conflict=conflict,
        expected=place[0].before,
        statement=f"{passage.where} claims {after[0].lower()!r}; {anchor.says}.",
        derived=derived,
    )


_BEST = re.compile(r"\b(?:strongest|best|highest|most accurate|state[- ]of[- ]the[- ]art)\b")
_BETTER = re.compile(r"\b(?:outperform(?:s|ed|ing)?|beats?|surpass(?:es|ed)?|exceeds?|superior to|better than)\b")
_REACH = 60
_DENIED = re.compile(r"\b(?:not|no|never|second|except|despite|although|without|fails?)\b", re.IGNORECASE)


def contradiction_sites(source: Source) -> Iterator[Site | Rejection]:
    """Sentences that call a named row the best or better, where the table has another row that is worse."""
    for passage in source.edited:
        for pattern, exchange in ((_BEST, _one_name), (_BETTER, _two_names)):
            found = pattern.search(passage.text)
            if found is not None and _DENIED.search(passage.text):
                yield Rejection("contradiction", "negation in the sentence", passage.text)
            elif found is not None:
                yield exchange(source, passage, found)


def _named(source: Source, passage: Passage) -> list[tuple[GridRow, tuple[int, int]]]:
    """Rows that a sentence names once, in the tables that it can speak of, with the names' places."""
    sentence = Sentence(passage.text, passage.start, passage.section, passage.block)
    tables = candidate_tables(source.paper, sentence, list(source.rows))
    rows = [row for row in source.rows if row.table in tables or not tables]
    return [(row, at) for row in named_rows(passage.text, rows) if (at := _place_of(passage.text, row)) is not None]


def _one_name(source: Source, passage: Passage, found: re.Match[str]) -> Site | Rejection:
    """``DeepSet, the strongest baseline``: the name that stands nearest becomes one that the table has as worse."""
    named = _named(source, passage)
    if not named:
        return Rejection("contradiction", "the sentence names no row of a table", passage.text)
    row, at = min(named, key=lambda one: _gap(one[1], found.span()))
    if _gap(at, found.span()) > _REACH:
        return Rejection("contradiction", "the name stands too far from the word", passage.text)
    others = [r for r in source.rows if r.block_id == row.block_id and r is not row and not _part_of(r, row)]
    worse = [r for r in others if _is_worse(source, r, row) and _place_of(passage.text, r) is None and len(r.head) == 1]
    if not worse:
        return Rejection("contradiction", "no row is worse in every column by more than the spread", passage.text)
    place = (span(passage, *at),)
    return Site(
        "contradiction",
        place,
        tuple((r.head[-1],) for r in worse),
        partial(_swap, source, place, row, worse),
        (_row_anchor(source, row, worse[0]),),
    )


def _two_names(source: Source, passage: Passage, found: re.Match[str]) -> Site | Rejection:
    """``A outperforms B``: both names change places."""
    named = _named(source, passage)
    before = [one for one in named if one[1][1] <= found.start()]
    after = [one for one in named if one[1][0] >= found.end()]
    if len(before) != 1 or len(after) != 1 or before[0][0].block_id != after[0][0].block_id:
        return Rejection("contradiction", "the sentence does not name two rows of one table", passage.text)
    (better, at), (other, then) = before[0], after[0]
    if _part_of(better, other) or not _is_worse(source, other, better):
        return Rejection("contradiction", "no row is worse in every column by more than the spread", passage.text)
    place = (span(passage, at[0], then[1]),)
    text = passage.text
    swapped = text[slice(*then)] + text[at[1] : then[0]] + text[slice(*at)]
    anchors = (_row_anchor(source, better, other), _row_anchor(source, other, better))
    return Site("contradiction", place, ((swapped,),), partial(_swapped, place, better, other, anchors), anchors)


def _swapped(
    place: tuple[Edit, ...], better: GridRow, other: GridRow, anchors: tuple[Anchor, ...], after: tuple[str, ...]
) -> Candidate | str:
    first, second = after[0].find(other.head[-1]), after[0].find(better.head[-1])
    if not 0 <= first < second:
        return "the replacement does not exchange the names"
    return _contradiction(place, after, anchors, place[0].before, better.head[-1], other.head[-1])


def _swap(
    source: Source, place: tuple[Edit, ...], row: GridRow, worse: list[GridRow], after: tuple[str, ...]
) -> Candidate | str:
    other = next((r for r in worse if r.head[-1] == after[0]), None)
    if other is None:
        return "the replacement names no row that is worse"
    anchors = (_row_anchor(source, row, other), _row_anchor(source, other, row))
    return _contradiction(place, after, anchors, place[0].before, row.head[-1], after[0])


def _contradiction(
    place: tuple[Edit, ...], after: tuple[str, ...], anchors: tuple[Anchor, ...], expected: str, better: str, other: str
) -> Candidate:
    passage, clean = place[0].passage, tuple(anchor.passage.text for anchor in anchors)
    side = _first(clean[0]) - _first(clean[1])

    def conflict(passages: tuple[str, ...], cells: tuple[str, ...]) -> bool:
        values = [_first(cell) for cell in cells]
        praised = after[0] in passages[0] and expected not in passages[0]
        return praised and (values[0] - values[1]) * side > 0

    return Candidate(
        kind="contradiction",
        subtype="names",
        severity="H" if is_headline(passage.section) else "M",
        anchor_class="A2",
        edits=edited(place, after),
        anchors=anchors,
        conflict=conflict,
        expected=expected,
        statement=(
            f"{passage.where} puts {other} over {better}, and {anchors[0].passage.where} has {clean[0]} for {better} "
            f"and {clean[1]} for {other}."
        ),
    )


def _first(cell: str) -> float:
    return float(next(find_numerals(cell)).value)


def _gap(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(b[0] - a[1], a[0] - b[1])


def _place_of(text: str, row: GridRow) -> tuple[int, int] | None:
    name = row.head[-1]
    if sum(char.isalpha() for char in name) < 3:
        return None
    found = list(re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text))
    return found[0].span() if len(found) == 1 else None


def _part_of(a: GridRow, b: GridRow) -> bool:
    x, y = a.head[-1].casefold(), b.head[-1].casefold()
    return x in y or y in x


def _shared_cells(a: GridRow, b: GridRow) -> list[tuple[LedgerEntry, LedgerEntry]]:
    return [
        (x, y)
        for x in a.entries
        for y in b.entries
        if not x.spread and not y.spread and x.column == y.column and x.unit == y.unit
    ]


def _is_worse(source: Source, row: GridRow, than: GridRow) -> bool:
    """Whether a row is worse in every column that both fill, by more than any stated spread."""
    pairs = _shared_cells(row, than)
    spread = max((float(e.value) for r in (row, than) for e in r.entries if e.spread), default=0.0)
    if not pairs:
        return False
    for mine, theirs in pairs:
        side = good_side(" ".join((*mine.column_head, _caption(source, row))))
        gap = float(theirs.value - mine.value) * (1 if side == "up" else -1)
        if not side or gap <= spread:
            return False
    return True


def _caption(source: Source, row: GridRow) -> str:
    return next((label.block.text for label in source.labels if f"{label.kind} {label.number}" == row.table), "")


def _row_anchor(source: Source, row: GridRow, other: GridRow) -> Anchor:
    """The cell of a row in the first column that it shares with another."""
    entry = _shared_cells(row, other)[0][0]
    section, block = next((s, b) for s, b in source.paper.blocks() if b.id == row.block_id)
    cell = source.cell(section, block, entry.row or 0, entry.column or 0)
    return Anchor(cell, f"{row.table} has {cell.text} for {row.head[-1]}")
