"""Lists of references, cut into entries by the page's own rows: rising numbers, a hanging indent, or gaps.

The converter's pieces on the rows of a list give way to one piece an entry. What else stands there stays: floats,
footnotes, and the text before and behind the list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from referee.papers.bibliography import looks_like_entry, parse_entry
from referee.papers.headings import REFERENCES, is_reference_heading, role_by_name
from referee.papers.pdf.columns import ITALIC, Row, common_size, rows_of
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Line, Word, around, middle_in
from referee.papers.pdf.repairs.words import Vocabulary, compose_accents
from referee.papers.pieces import Piece, is_caption, squeeze
from referee.schemas.paper import Box

Entry = list[Row]

_EVERYWHERE = Box(x0=-1e9, y0=-1e9, x1=1e9, y1=1e9)
# '[7]', '7.', '(7)' or '7)', '7' alone or glued to a name.
_NUMBERS = [
    re.compile(m) for m in (r"\[(\d{1,4})\]", r"(\d{1,4})\.(?!\d)", r"\(?(\d{1,4})\)", r"(\d{1,4})(?=[A-Z“\s])")
]
_BARE = _NUMBERS[-1]
_LINE_NUMBER = re.compile(r"^\d{3,4}\s+")
_KEY = re.compile(r"\[[^\]\s]*[A-Za-z][^\]\s]*\d{2}[a-z]?\]")
_DATED = re.compile(r"(?:1[89]|20)\d\d\b|\bdoi\b", re.IGNORECASE)
_ENDS = re.compile(r"(?:[.\])]|\d|https?://\S+)$")
_OPENS = re.compile(r"[^\W\d_a-z]\S*\s+(?:[^\W\d_a-z]|(?:van|von|de|der|and|et)\b)|.*\b(?:19|20)\d\d\b")
_LARGEST_JUMP, _JUMP_COST = 40, 0.5
_YEARS = range(1500, 2100)
_FEWEST, _FEWEST_UNHEADED, _FULL_COLUMN, _OPENING = 3, 4, 12, 12
_MOST_ROWS, _LONGEST = 16, 2000
_SIZE_SLACK, _LARGEST_SIZE = 0.08, 1.9
_HANGING = (4.0, 60.0)
_PARTING_GAP, _LARGE_GAP, _ZONE_GAP = 1.12, 1.7, 1.2
_GOOD_SHARE, _DATED_SHARE, _BETWEEN_ENTRIES = 0.6, 0.02, 0.92
_COVERED, _KEY_LENGTH = 0.5, 7
_NUMBERED_SHARE, _RARE = 0.8, 0.1


@dataclass
class _List:
    """A list as it was cut: the row it stands under, where there is one, and the marks of its entries, if any."""

    heading: Row | None
    entries: list[Entry]
    mark: re.Pattern[str] | None = None


def repair_references(draft: Draft, vocabulary: Vocabulary) -> None:
    """Cut each list of references into its entries, and put them in the place of the converter's pieces."""
    pages = _Pages(draft)
    found = [_cut(heading, pages.under(heading)) for heading in pages.headings()]
    if not any(one.entries for one in found) and (first := pages.first_of_numbers()):
        found = [_cut(None, pages.under(None, first))]
    for one in found:
        if one.entries:
            _put_in(draft, pages, one, vocabulary)


class _Pages:
    """The rows of a paper's pages, read as far as they are asked for."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._rows: dict[int, list[Row]] = {}
        self._words: dict[int, list[Word]] = {}
        self._gutters: list[float] = []

    def words(self, number: int) -> list[Word]:
        """The words of a page in content order, without running heads and feet, captions and tables."""
        if number not in self._words:
            page = self._draft.pages[number - 1 : number]
            words = self._draft.words_in(page[0], _EVERYWHERE) if page else []
            floats = [p.box for p in self._draft.pieces if p.page == number and p.box and _is_float(p)]
            self._words[number] = [w for w in words if not any(_lies_in(w, box) for box in floats)]
        return self._words[number]

    def rows(self, number: int) -> list[Row]:
        """The rows of a page; none behind the last page."""
        if number not in self._rows:
            page = self._draft.pages[number - 1 : number]
            self._rows[number] = rows_of(page[0].width, number, self.words(number), self._gutters) if page else []
        return self._rows[number]

    def headings(self) -> list[Row]:
        """The heading of each list."""
        wanted = {page.number for page in self._draft.pages for line in page.body if _may_hold_heading(line)}
        wanted |= {p.page or 1 for p in self._draft.pieces if p.kind == "heading" and is_reference_heading(p.text)}
        return [row for number in sorted(wanted) for row in self.rows(number) if is_reference_heading(row.text)]

    def first_of_numbers(self) -> Row | None:
        """The row with which the longest run of numbered entries begins, in a paper whose list has no heading."""
        lines = [(page.number, line) for page in self._draft.pages for line in page.body]
        chain = max((_chain([line.text for _, line in lines], mark) for mark in _NUMBERS[:2]), key=len)
        spans = [lines[a : min(b, a + _MOST_ROWS)] for a, b in pairwise([*chain, len(lines)])]
        good = sum(looks_like_entry(" ".join(line.text for _, line in span)) for span in spans)
        if len(chain) < _FEWEST_UNHEADED or good < _GOOD_SHARE * len(chain):
            return None
        number, first = lines[chain[0]]
        return next((row for row in self.rows(number) if middle_in(first.box, row.box, 2)), None)

    def under(self, heading: Row | None, first: Row | None = None) -> list[Row]:
        """The rows under a heading, or from the first on, in the size of the list, to where no page holds more of it.

        Larger rows are kept, since they may be the heading that ends it.
        """
        start = heading or first
        if start is None:
            return []
        page = self.rows(start.page)
        own = page[page.index(start) + (heading is not None) :]
        own = [row for row in own if row.box.y1 > start.box.y0] if _begins_zone(start, page) else own
        opening = own if len(own) >= _FEWEST else [*own, *self.rows(start.page + 1)]
        size = common_size(word for row in opening[:_OPENING] for word in row.words)
        rows: list[Row] = []
        number = start.page
        while own:
            end = next((i for i, row in enumerate(own) if is_reference_heading(row.text)), len(own))
            rows += [row for row in own[:end] if (1 - _SIZE_SLACK) * size <= row.size <= _LARGEST_SIZE * size]
            dated = sum(_DATED.search(row.text) is not None for row in own)
            ends = end < len(own) or (number > start.page and dated <= _DATED_SHARE * len(own))
            number, own = number + 1, [] if ends else self.rows(number + 1)
        return rows


def _is_float(piece: Piece) -> bool:
    """Whether a piece is a caption or a table, and no part of a list that was taken for one."""
    rows = piece.text.split("\n")
    return is_caption(piece.text) or (piece.kind == "table" and not any(map(looks_like_entry, rows)))


def _may_hold_heading(line: Line) -> bool:
    """Whether a line is a list's heading, or holds one, where the file parts its lines badly."""
    if not REFERENCES.search(line.key):
        return False
    return any(map(is_reference_heading, (line.text, *(word for word in line.text.split() if word[0].isupper()))))


def _begins_zone(start: Row, page: Sequence[Row]) -> bool:
    """Whether all columns begin anew at a row: the white above it is as high as a line, and goes on beside it."""
    over = [row.box.y1 for row in page if row.column == start.column and row.base < start.base]
    top, bottom = max(over, default=start.box.y0), start.box.y0
    others = [(row.box.y0 + row.box.y1) / 2 for row in page if row.column != start.column]
    return bottom - top >= _ZONE_GAP * start.size and not any(top < middle < bottom for middle in others)


def _cut(heading: Row | None, rows: Sequence[Row]) -> _List:
    """The list: its entries by the marks of the longest rising run, else as keys, an indent or gaps part them."""
    if not rows:
        return _List(heading, [])
    size = common_size(word for row in rows[:_OPENING] for word in row.words)
    steps = sorted(step for one, other in pairwise(rows) if (step := _step(one, other))) or [1.2 * size]
    usual, wide = steps[len(steps) // 3], steps[int(_BETWEEN_ENTRIES * len(steps))]
    large = {id(row) for row in rows if row.size > (1 + _SIZE_SLACK) * size and not is_caption(row.text)}
    bold = {id(row) for row in rows if row.bold and not is_caption(row.text)}
    stands_out = large if len(large) < len(rows) / 2 else set()
    stands_out |= bold if len(bold) <= _RARE * len(rows) + 2 else set()  # some styles print names in bold
    stops = [i for i, row in enumerate(rows) if id(row) in stands_out and len(squeeze(row.text)) > 2]
    numbered = len(_chain([row.text for row in rows], _BARE))
    if numbered > _NUMBERED_SHARE * len(rows):  # line numbers that are still there
        return _cut(heading, [replace(row, words=row.words[1:]) for row in rows if row.words[1:]])
    chains = [(_chain([row.text for row in rows], mark), mark) for mark in _NUMBERS]
    chain, mark = max(chains, key=lambda one: len(one[0]))
    if len(chain) >= _FEWEST or (heading and chain[:1] == [0] and mark is not _BARE):
        entries = [list(rows[a:b]) for a, b in pairwise([*chain, len(rows)])]
        last = next((i for i in stops if i > chain[-1]), len(rows))
        entries[-1] = _ended(list(rows[chain[-1] : last]), entries[:-1], usual)
        return _List(heading, [[r for r in entry if id(r) not in stands_out] or entry for entry in entries], mark)
    stops += [i for i, pair in enumerate(pairwise(rows), start=1) if _step(*pair) > _LARGE_GAP * wide]
    entries = []
    for part in (rows[a:b] for a, b in pairwise(sorted({0, *stops, len(rows)}))):
        keys = {id(row) for row in part if _KEY.match(row.text)}
        ways = [_parted(part, keys), _by_hanging(part), _by_hanging(part, first=True), _by_gaps(part, usual)]
        best = max(ways, key=lambda way: sum(map(_worth, way)))
        if entries and (len(best) < _FEWEST or sum(map(_worth, best)) < _GOOD_SHARE * len(best)):
            break
        entries += best
    entries[-1:] = [_ended(one, entries[:-1], usual) for one in entries[-1:]]
    while entries and not looks_like_entry(_plain(entries[-1])):
        entries.pop()
    return _List(heading, entries)


def _step(one: Row, other: Row) -> float:
    """How far a row stands below the one before; 0 in another column."""
    return other.base - one.base if (one.page, one.column) == (other.page, other.column) else 0.0


def _chain(texts: Sequence[str], mark: re.Pattern[str]) -> list[int]:
    """Which texts begin with a mark whose numbers rise: the longest such run, in which few numbers are left out."""
    best: dict[int, tuple[float, int]] = {}
    before: dict[int, int | None] = {}
    top: tuple[float, int | None] = (0.0, None)
    for index, text in enumerate(texts):
        if (match := mark.match(text)) is None or (value := int(match[1])) in _YEARS:
            continue
        ways: list[tuple[float, int | None]] = [(1 - _JUMP_COST * (value > 1) - min(value / 20, 1), None)]
        for jump in range(1, _LARGEST_JUMP):
            if found := best.get(value - jump):
                ways.append((found[0] + 1 - (_JUMP_COST + jump / 20) * (jump > 1), found[1]))
        score, before[index] = max(ways, key=lambda way: way[0])
        if score > best.get(value, (-1e9,))[0]:
            best[value] = score, index
        top = max(top, (score, index), key=lambda one: one[0])
    chain: list[int] = []
    at = top[1]
    while at is not None:
        chain.append(at)
        at = before[at]
    return chain[::-1]


def _grouped(rows: Sequence[Row]) -> dict[tuple[int, int], list[Row]]:
    groups: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.page, row.column].append(row)
    return groups


def _by_hanging(rows: Sequence[Row], first: bool = False) -> list[Entry]:
    """Entries whose later rows stand in, or whose ``first`` row alone does."""
    groups = _grouped(rows)
    edges = {key: sorted(row.box.x0 for row in group) for key, group in groups.items()}
    lefts = {key: edge[len(edge) // 12] for key, edge in edges.items()}
    known = [lefts[key] for key, group in groups.items() if len(group) >= _FULL_COLUMN]
    starts: set[int] = set()
    for key, group in groups.items():
        near = [left for left in known if -_HANGING[1] < left - edges[key][0] <= _HANGING[0]]
        left = max(near, default=lefts[key])
        starts |= {id(row) for row in group if (row.box.x0 - left > _HANGING[0]) == first}
    return _parted(rows, starts)


def _by_gaps(rows: Sequence[Row], usual: float) -> list[Entry]:
    """Entries with more space between them than between their rows; at a column's top, what opens behind a stop."""
    pairs = [(one, other, _step(one, other)) for one, other in pairwise(rows)]
    opens = {id(b) for a, b, step in pairs if not step and _ENDS.search(a.text) and _OPENS.match(b.text)}
    starts = opens | {id(b) for _, b, step in pairs if step > _PARTING_GAP * usual}
    return _parted(rows, starts)


def _parted(rows: Sequence[Row], starts: set[int]) -> list[Entry]:
    entries: list[Entry] = [[]]
    for row in rows:
        if id(row) in starts and entries[-1]:
            entries.append([])
        entries[-1].append(row)
    return entries


def _plain(entry: Entry) -> str:
    return " ".join(row.text for row in entry)


def _worth(entry: Entry) -> int:
    """1 for what looks like an entry, -1 for what does not."""
    text = _plain(entry)
    whole = not text[0].islower() and _ENDS.search(text) is not None and len(text) < _LONGEST
    return 1 if whole and looks_like_entry(text) else -1


def _ended(entry: Entry, others: Sequence[Entry], usual: float) -> Entry:
    """The last entry without what stands behind it: parted by a gap, or in the next column behind a full stop."""
    most, usually = max([*map(len, others), 4]) + 2, median([*map(len, others)] or [1])
    for index, (one, other) in enumerate(pairwise(entry), start=1):
        step = _step(one, other)
        if index >= most or step > _LARGE_GAP * usual or (not step and one.text[-1] == "." and index >= usually):
            return entry[:index]
    return entry


def _put_in(draft: Draft, pages: _Pages, found: _List, vocabulary: Vocabulary) -> None:
    """Put entries behind their heading; pieces that hold words of the list give way, and what else they held stays."""
    rows = [row for entry in found.entries for row in entry]
    start = found.heading or rows[0]
    name = _LINE_NUMBER.sub("", found.heading.text) if found.heading else "References"
    heading = Piece("heading", name, start.page, start.box, start.size)
    taken: dict[int, set[Word]] = defaultdict(set)
    for row in [start, *rows]:
        taken[row.page].update(row.words)
    letters = "".join(squeeze(row.text) for row in rows)
    gone: list[Piece] = []
    before: list[Piece] = []
    behind: list[Piece] = []
    for piece in draft.pieces:
        if _holds(piece, pages, taken, letters):
            gone.append(piece)
            heading = piece if piece.kind == "heading" and role_by_name(piece.text) == "references" else heading
        else:
            (behind if gone and not _is_before(piece, start) else before).append(piece)
    behind = [replace(piece, kind="paragraph") if piece.kind == "reference" else piece for piece in behind]
    held = "".join(squeeze(piece.text) for piece in (*before, *behind))
    size, rest = draft.body_size(), []
    for number in sorted({*taken, max(taken) + 1}):
        torn = [r for r in pages.rows(number) if taken[number].isdisjoint(r.words) and _was_in(r, gone, held)]
        rest += [_restored(run, size, vocabulary) for run in _runs(torn, size)]
    before += [piece for piece in rest if _is_before(piece, start)]
    behind = [*(piece for piece in rest if not _is_before(piece, start)), *behind]
    entries = [_piece(entry, found.mark, vocabulary) for entry in found.entries]
    draft.pieces = [*before, heading, *entries, *behind]
    proof = "numbers that rise" if found.mark else "keys, an indent or gaps"
    draft.record("cut_references", start.page, heading.text, f"{len(entries)} entries", proof)


def _holds(piece: Piece, pages: _Pages, taken: dict[int, set[Word]], letters: str) -> bool:
    """Whether a piece has words of the list; a table or a formula only where most of its words are."""
    own = taken.get(piece.page or 1)
    if not own:
        return False
    words = [w for w in pages.words(piece.page or 1) if piece.box and _lies_in(w, piece.box)]
    if not words:
        return piece.kind == "reference" and squeeze(piece.text) in letters
    count = len(own.intersection(words))
    return count > (_COVERED * len(words) if piece.kind in ("table", "figure", "equation", "caption") else 0)


def _was_in(row: Row, gone: Sequence[Piece], held: str) -> bool:
    """Whether pieces that gave way held a row that no other holds: at its place, or from another column or page."""
    key = squeeze(row.text)
    return (
        bool(key)
        and key not in held
        and any(
            (piece.page == row.page and piece.box is not None and middle_in(row.box, piece.box, 1))
            or (len(key) > _KEY_LENGTH and key in squeeze(piece.text))
            for piece in gone
        )
    )


def _runs(rows: Sequence[Row], size: float) -> list[list[Row]]:
    """Rows as paragraphs: parted by gaps, and by headings."""
    runs: list[list[Row]] = []
    for row in rows:
        last = runs[-1][-1] if runs else row
        step = _step(last, row)
        apart = step > _LARGE_GAP * row.size or (not step and _ENDS.search(last.text) is not None)
        if not runs or apart or _is_heading(row, size) or _is_heading(last, size):
            runs.append([])
        runs[-1].append(row)
    return runs


def _is_heading(row: Row, size: float) -> bool:
    """Whether a row stands out from the paper's text as a heading does, and ends like one."""
    return row.bold and row.size > size and row.text[-1].isalnum()


def _restored(run: Sequence[Row], size: float, vocabulary: Vocabulary) -> Piece:
    text, _ = _joined([word for row in run for word in row.tokens], vocabulary)
    box = around(*(row.box for row in run if row.column == run[0].column))
    return Piece("heading" if _is_heading(run[0], size) else "paragraph", text, run[0].page, box, run[0].size)


def _lies_in(word: Word, box: Box) -> bool:
    """As ``middle_in``, without a box for each of very many words."""
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    return box.x0 - 1 <= x <= box.x1 + 1 and box.y0 - 1 <= y <= box.y1 + 1


def _is_before(piece: Piece, start: Row) -> bool:
    """Whether a piece belongs to the text before a list: on an earlier page, above its beginning, or a note there."""
    if piece.page != start.page or piece.box is None:
        return (piece.page or 1) < start.page
    return piece.box.y1 <= start.box.y0 + 2 or piece.box.x1 < start.box.x0 or piece.kind == "footnote"


def _joined(words: Iterable[Word], vocabulary: Vocabulary) -> tuple[str, list[tuple[int, int]]]:
    """Words as one text, those broken at a line's end made whole, and where it is in italics."""
    text, italic, right = "", [], 1e9
    for word in words:
        token = compose_accents(word.text)
        broken = text.endswith("-") and word.x0 < right and token[0].isalpha()
        stem, tail = re.search(r"[^\W\d_]+(?=-$)", text) if broken else None, re.match(r"[^\W\d_]+", token)
        if stem and tail:
            text = text[: stem.start()] + vocabulary.join(stem[0], tail[0])
            token = token[tail.end() :]
        else:
            text += " " * bool(text)
        start, text, right = len(text), text + token + "-" * word.hyphen, word.x0
        if ITALIC.search(word.font):
            italic.append((start, len(text)))
    return text, italic


def _piece(entry: Entry, mark: re.Pattern[str] | None, vocabulary: Vocabulary) -> Piece:
    """An entry as a piece, with its fields; the words in italics say where a title ends."""
    text, italic = _joined([word for row in entry for word in row.tokens], vocabulary)
    label = mark.match(text) if mark else None
    at = label.end() if label else 0
    fields = parse_entry(text[at:], [(a - at, b - at) for a, b in italic])
    box = around(*(row.box for row in entry if (row.page, row.column) == (entry[0].page, entry[0].column)))
    fields = replace(fields, label=label[1]) if label else fields
    return Piece("reference", text, entry[0].page, box, entry[0].size, entry=fields)
