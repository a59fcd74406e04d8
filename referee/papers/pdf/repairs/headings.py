"""Headings the converter missed, proven by a line of their own and the numbering, and the levels that numbers give."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.papers.headings import follows, is_known_name, name_headings, number_key, plain_name, role_by_name
from referee.papers.pdf.draft import Draft, overlap_x
from referee.papers.pdf.pages import Line, Page
from referee.papers.pieces import Piece, caption_label, cells_text, squeeze
from referee.schemas.paper import BlockKind, Box

NUMBERED = re.compile(
    r"^(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3})(?P<stop>[.:]?)\s+"
    r"(?P<title>(?![A-Z]\.(?:[\s-]|$))[A-Z0-9“\"(].*)$"
)
DIGITS = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,3})[.:)]?\s+\S")
_MAX_WORDS = 16
FEWEST_NUMBERED, _FEWEST_ALIKE, _ALIKE_SHARE = 4, 3, 0.6
_TEXT_SHARE, _LETTERS_SHARE, _RUNNING = 0.08, 0.7, 15
_ITALIC = re.compile(r"ital|obli|-it\b", re.IGNORECASE)
_SPLIT_KINDS = ("paragraph", "list", "footnote", "caption")

Look = tuple[str, float, bool]
Style = tuple[str, float, bool, bool]


@dataclass(frozen=True)
class _Printed:
    """A heading as the page prints it: its first line's place, its whole text, its number, its level without one."""

    page: int
    index: int
    line: Line
    text: str
    bottom: float
    number: str | None
    level: int = 1


def style_of(line: Line) -> Style:
    """Font, size, whether all letters are capitals, and whether a number at its start has a full stop."""
    stop = bool(re.match(r"^\S+[.:)]\s", line.text))
    letters = [char for char in line.text if char.isalpha()]
    capitals = len(letters) > 3 and all(char.isupper() for char in letters)
    return line.font, line.size, capitals, stop


def recover_headings(draft: Draft) -> None:
    """Add numbered headings that numbers and page prove, customary names alone, and what looks like other headings."""
    for printed in _proven_numbers(draft):
        _place(draft, printed, f"the line '{printed.text}' on page {printed.page}; its number is the next one")
    for printed in _lone_names(draft):
        _place(draft, printed, f"a customary section name alone on a line of page {printed.page}")
    for printed in _styled(draft):
        _place(draft, printed, f"a line of page {printed.page} over text, in the style of other headings")
    for printed in _run_in(draft):
        _place(draft, printed, f"words in a font of their own open a paragraph on page {printed.page}, as others do")


def _numbered_headings(draft: Draft) -> list[tuple[int, int, str, Line]]:
    """Page, line index, number and line of the numbered headings already there, in the page's order."""
    found = []
    for piece in draft.pieces:
        match = NUMBERED.match(piece.text) if piece.kind == "heading" else None
        line = draft.line_of(piece) if match else None
        if match and line:
            found.append((piece.page or 1, draft.page(piece.page).body.index(line), match["number"], line))
    return sorted(found, key=lambda item: item[:2])


def _proven_numbers(draft: Draft) -> list[_Printed]:
    """Candidate lines that fit between the headings around them and look like a heading."""
    known = _numbered_headings(draft)
    numbers = {m["number"] for p in draft.pieces if p.kind == "heading" and (m := NUMBERED.match(p.text))}
    styles = {style_of(line) for _, _, _, line in known}
    body = (draft.body_font(), draft.body_size())
    places = [(page, index, number, None) for page, index, number, _ in known]
    candidates = [
        (found.page, found.index, found.number, found)
        for found in _candidates(draft)
        if found.number not in numbers and _looks_like_heading(found.line, styles, body)
        # A stop ends an item of a list, unless the line looks like the headings.
        if not found.line.text.endswith(".") or style_of(found.line) in styles
    ]
    proven: list[_Printed] = []
    before: tuple[int, ...] = ()
    ordered = sorted([*places, *candidates], key=lambda item: item[:2])
    for position, (_, _, number, found) in enumerate(ordered):
        key = number_key(number or "0")
        if found is None:
            before = key
            continue
        after = next((number_key(n or "0") for _, _, n, other in ordered[position + 1 :] if other is None), None)
        if follows(before, key) and (after is None or key < after):
            proven.append(found)
            before = key
    return proven


def _candidates(draft: Draft) -> list[_Printed]:
    found = []
    title = squeeze(draft.title)
    for page in draft.pages:
        for index, line in enumerate(page.body):
            match = NUMBERED.match(line.text)
            if (
                not match
                or line.key in title
                or line.hyphen
                or line.text.endswith((",", ";"))
                or len(line.text.split()) > _MAX_WORDS
                or sum(char.isalpha() for char in match["title"]) < 3
            ):
                continue
            text, bottom, _ = _with_wrapped(page.body, index, draft.body_font())
            found.append(_Printed(page.number, index, line, text, bottom, match["number"]))
    return found


def _looks_like_heading(line: Line, styles: set[Style], body: tuple[str, float]) -> bool:
    """In the style of a heading already found, or wholly in another font than the body and not smaller."""
    if style_of(line) in styles:
        return style_of(line)[2] or (line.font, line.size) != body
    own_font = line.font == line.last_font != body[0] and not line.font.startswith(("CM", "MS", "Math"))
    bold = bool(re.search(r"bold|medi|black|semi|heavy|cmbx|-b$|bx\d", line.font, re.IGNORECASE))
    return own_font and bold and line.size >= body[1] - 0.5


def _with_wrapped(lines: Sequence[Line], index: int, body_font: str) -> tuple[str, float, int]:
    """A heading line with those directly below that carry it on in its style; its bottom, and where it ends."""
    first, text = lines[index], lines[index].text
    last, end = first, index + 1
    for line in lines[index + 1 : index + 3]:
        same = (line.font, line.last_font) == (first.font, first.font) and abs(line.size - first.size) < 0.2
        near = 0 <= line.box.y0 - last.box.y0 < 1.7 * first.size and overlap_x(line.box, first.box) > 0.2
        capitals = style_of(first)[2], style_of(line)[2]
        distinct = capitals[0] <= capitals[1] and (first.font != body_font or capitals[0])
        if not (same and near and distinct) or NUMBERED.match(line.text):
            break
        text, last, end = f"{text} {line.text}", line, end + 1
    return text, last.box.y1, end


def _lone_names(draft: Draft) -> list[_Printed]:
    """Lines that hold a customary name only and that no heading has taken yet."""
    taken = {plain_name(piece.text) for piece in draft.pieces if piece.kind == "heading"}
    taken |= {plain_name(m["title"]) for p in draft.pieces if p.kind == "heading" and (m := NUMBERED.match(p.text))}
    body = (draft.body_font(), draft.body_size())
    found = []
    for page in draft.pages:
        for index, line in enumerate(page.body):
            name = plain_name(line.text)
            if name in taken or not is_known_name(line.text) or not _stands_out(draft, line, page.number, body):
                continue
            taken.add(name)
            found.append(_Printed(page.number, index, line, line.text, line.box.y1, None))
    return found


def text_styles(draft: Draft) -> set[tuple[str, float]]:
    """Fonts and sizes in which running text is set: those of 8% of the letters on lines of one font."""
    counts = Counter[tuple[str, float]]()
    for line in (line for page in draft.pages for line in page.body):
        counts[line.font, line.size] += len(line.key) if line.font == line.last_font else 0
    return {style for style, count in counts.items() if count >= _TEXT_SHARE * counts.total()}


def _styled(draft: Draft) -> list[_Printed]:
    """Lines over text in the style or large in the font of other headings, or in one that three have and few others."""
    texts, levels, title = text_styles(draft), defaultdict[Look, list[int]](list), squeeze(draft.title)
    taken = {(p.page, squeeze(p.text)) for p in draft.pieces if p.kind == "heading"}
    for piece in draft.pieces:
        if piece.kind == "heading" and (line := draft.line_of(piece)):
            levels[style_of(line)[:3]].append(piece.level)
    fonts = Counter(look[0] for look, known in levels.items() for _ in known)
    lines = Counter(style_of(line)[:3] for page in draft.pages for line in page.body)
    over_text = defaultdict[Look, list[_Printed]](list)
    for page in draft.pages:
        for found in _over_text(page, texts, draft.body_font()):
            over_text[style_of(found.line)[:3]].append(found)
    return [
        replace(one, level=max(set(levels[look]), key=levels[look].count) if levels[look] else 2)
        for look, found in over_text.items()
        if len(levels[look]) > 1
        or (fonts[look[0]] >= _FEWEST_ALIKE and look[1] > draft.body_size() + 0.5)
        or (len(found) >= _FEWEST_ALIKE and len(found) >= _ALIKE_SHARE * lines[look])
        for one in found
        if (one.page, squeeze(one.text)) not in taken and squeeze(one.text) not in title
    ]


def _over_text(page: Page, texts: set[tuple[str, float]], body_font: str) -> list[_Printed]:
    """Names in styles other than those of text, directly over running text or over another such name."""
    names: list[tuple[_Printed, int]] = []
    for index, line in enumerate(page.body):
        own_font = line.font == line.last_font or (_ITALIC.search(line.last_font) and not _ITALIC.search(line.font))
        if (names and index < names[-1][1]) or (line.font, line.size) in texts or not own_font:
            continue
        text, bottom, end = _with_wrapped(page.body, index, body_font)
        if _is_name(text) and not text.endswith("."):
            names.append((_Printed(page.number, index, line, text, bottom, None), end))
    found: dict[int, _Printed] = {}
    for one, end in reversed(names):
        after = page.body[end] if end < len(page.body) else one.line
        near = -2 < after.box.y0 - one.bottom < 2.5 * one.line.size and overlap_x(after.box, one.line.box) > 0.3
        if near and (
            end in found or ((after.font, after.size) in texts and len(after.key) >= _RUNNING and _is_wordy(after.text))
        ):
            found[one.index] = one
    return list(found.values())[::-1]


def _run_in(draft: Draft) -> list[_Printed]:
    """Names larger than the text that they open, closed by a full stop, in papers without section numbers."""
    if len(_numbered_headings(draft)) >= FEWEST_NUMBERED:
        return []
    texts, found = text_styles(draft), defaultdict[tuple[str, float], list[_Printed]](list)
    for page in draft.pages:
        for index, line in enumerate(page.body):
            if line.font == line.last_font or (line.font, line.size) in texts:
                continue
            words = draft.words_in(page, line.box)
            count = next((at for at, word in enumerate(words) if word.font != line.font), len(words))
            text, rest = " ".join(word.text for word in words[:count]), words[count : count + 1]
            smaller = rest and rest[0].size < line.size and (rest[0].font, rest[0].size) in texts
            if smaller and text.endswith(".") and _is_name(text):
                head = _Printed(page.number, index, line, text, line.box.y1, None, 2)
                found[line.font, line.size].append(head)
    return [one for alike in found.values() if len(alike) >= _FEWEST_ALIKE for one in alike]


def _is_name(text: str) -> bool:
    """Whether words can be a section's name: no caption, no sentence or part of one, no formula."""
    return (
        len(text.split()) <= _MAX_WORDS
        and len(squeeze(text)) > 3
        and _is_wordy(text)
        and (text[0].isalnum() or text[0] in "“\"'‘(")
        and not text[0].islower()
        and not text.endswith((",", ";", ":"))
        and caption_label(text) is None
    )


def _is_wordy(text: str) -> bool:
    """Whether most signs are letters, as in a sentence and not in the row of a table."""
    return sum(map(str.isalpha, text)) >= _LETTERS_SHARE * len(text.replace(" ", ""))


def _stands_out(draft: Draft, line: Line, page: int, body: tuple[str, float]) -> bool:
    if any(p.page == page and plain_name(p.text) == plain_name(line.text) for p in draft.pieces):
        return role_by_name(line.text) is not None or style_of(line)[2] or (line.font, line.size) != body
    return line.size >= body[1] and (line.font != body[0] or line.size > body[1] + 0.5)


def _place(draft: Draft, printed: _Printed, proof: str) -> None:
    """Cut the piece that swallowed the heading, or put the heading where the page has it."""
    # Whatever blanks or line-end hyphens the converter put between the words.
    pattern = re.compile(r"[\s-]*".join(map(re.escape, printed.text.split())))
    for index, piece in enumerate(draft.pieces):
        if piece.page != printed.page or piece.kind not in (*_SPLIT_KINDS, "table", "heading"):
            continue
        if piece.kind == "table":
            pieces = _cut_table(piece, printed, draft.page(printed.page).body)
        else:
            match = pattern.search(piece.text)
            pieces = _cut(piece, match, printed) if match and _may_cut(piece, match, printed) else None
        if pieces:
            draft.pieces[index : index + 1] = pieces
            draft.record("missed_heading", printed.page, piece.text, printed.text, proof)
            return
    draft.pieces.insert(_position(draft, printed), _heading(printed))
    draft.record("missed_heading", printed.page, "", printed.text, proof)


def _may_cut(piece: Piece, match: re.Match[str], printed: _Printed) -> bool:
    """A bare name may only be cut off where the piece begins or ends with it; a numbered line anywhere in its box."""
    if printed.number is None:
        return match.start() == 0 or match.end() == len(piece.text)
    return piece.box is None or piece.box.y0 - 6 <= printed.line.box.y0 <= piece.box.y1 + 6


def _cut(piece: Piece, match: re.Match[str], printed: _Printed) -> list[Piece]:
    before, after = piece.text[: match.start()].strip(), piece.text[match.end() :].strip()
    box, top, bottom = piece.box, printed.line.box.y0, printed.bottom
    kind: BlockKind = "list" if piece.kind == "list" else "paragraph"
    first: BlockKind = "paragraph" if piece.kind == "heading" else piece.kind
    return [
        *([replace(piece, text=before, kind=first, box=_slice(box, None, top))] if before else []),
        _heading(printed),
        *([replace(piece, text=after, kind=kind, box=_slice(box, bottom, None))] if after else []),
    ]


def _cut_table(piece: Piece, printed: _Printed, lines: Sequence[Line]) -> list[Piece] | None:
    """Free a heading, and the sentences under it, that were read as a table's first rows."""
    rows = [" ".join(cell for cell in row if cell) for row in piece.cells]
    start = next((i for i, row in enumerate(rows[:12]) if squeeze(row) == squeeze(printed.text)), None)
    if start is None:
        return None
    end = start + 1
    while end < len(rows) and _is_prose(rows[end]):
        end += 1
    prose, cells = " ".join(rows[start + 1 : end]), piece.cells[end:]
    # The table begins at the height where the page prints its first remaining row.
    top = next((line.box.y0 for line in lines if cells and line.key == squeeze(rows[end])), None)
    parts = [_heading(printed)]
    if prose:
        box = _slice(piece.box, printed.bottom, top)
        parts.append(replace(piece, kind="paragraph", text=prose, cells=(), label=None, box=box))
    if cells:
        parts.append(replace(piece, text=cells_text(cells), cells=cells, box=_slice(piece.box, top, None)))
    before = cells_text(piece.cells[:start])
    return [*([replace(piece, kind="paragraph", text=before, cells=())] if before else []), *parts]


def _is_prose(row: str) -> bool:
    words = row.split()
    return len(words) >= 4 and sum(word[:1].islower() for word in words) >= 0.6 * len(words)


def _heading(printed: _Printed) -> Piece:
    box = printed.line.box
    level = printed.number.count(".") + 1 if printed.number else printed.level
    return Piece(
        kind="heading",
        text=printed.text,
        page=printed.page,
        box=Box(x0=box.x0, y0=box.y0, x1=box.x1, y1=printed.bottom),
        size=printed.line.size,
        level=level,
    )


def _position(draft: Draft, printed: _Printed) -> int:
    """Before the first piece below it in its column, else after the page's last piece."""
    box, last = printed.line.box, 0
    for index, piece in enumerate(draft.pieces):
        if (piece.page or 1) > printed.page:
            return last or index
        if piece.page == printed.page:
            if piece.box and piece.box.y0 >= box.y0 and overlap_x(piece.box, box) > 0.3:
                return index
            last = index + 1
    return last or len(draft.pieces)


def _slice(box: Box | None, top: float | None, bottom: float | None) -> Box | None:
    """The box without what lies above ``top`` and below ``bottom``."""
    if box is None:
        return None
    y0 = max(box.y0, top) if top is not None else box.y0
    y1 = min(box.y1, bottom) if bottom is not None else box.y1
    return Box(x0=box.x0, y0=min(y0, y1), x1=box.x1, y1=max(y0, y1))


def settle_levels(draft: Draft) -> None:
    """Part headings into number and words and give them the level their number has.

    Unnumbered headings with a customary name are level 1 in a numbered paper; others keep the converter's level.
    """
    places = [index for index, piece in enumerate(draft.pieces) if piece.kind == "heading"]
    names = name_headings([draft.pieces[index].text for index in places])
    numbered = any(name.number for name in names)
    for index, name in zip(places, names, strict=True):
        piece = draft.pieces[index]
        level = name.level or (1 if numbered and is_known_name(name.title) else piece.level)
        if level != piece.level:
            proof = f"its number is {name.number}" if name.number else "a customary top-level name"
            draft.record("heading_level", piece.page, f"{piece.text} (level {piece.level})", f"level {level}", proof)
        draft.pieces[index] = replace(piece, text=name.title, number=name.number, level=level)
