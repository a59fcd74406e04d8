"""A review that is one text: the scores that its lines state, and the boxes of the form that its headings name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from referee.data.prose import PROSE, on_ethics, plain_name, said
from referee.data.score_lines import TWO_VALUES, Labelled, Labels, Stated, bare_label, labelled
from referee.schemas.venue import VenueForm

# What a heading may name, in the words of forms and reviewers; of each group a form has one box at most.
_SUMMARY = (
    *("summary", "summary_of_the_paper", "summary_of_paper", "paper_summary", "summary_of_contributions"),
    *("summary_and_contributions", "paper_topic_and_main_contributions"),
)
_STRENGTHS = (
    *("strengths", "summary_of_strengths", "reasons_to_accept", "reasons_to_publish", "strength", "pros"),
    *("strengths_of_the_paper", "main_strengths", "key_strengths", "major_strengths", "positives", "strong_points"),
)
_WEAKNESSES = (
    *("weaknesses", "summary_of_weaknesses", "reasons_to_reject", "concerns", "opportunities_for_improvement"),
    *("weakness", "cons", "weaknesses_of_the_paper", "main_weaknesses", "key_weaknesses", "major_weaknesses"),
    *("negatives", "weak_points"),
)
_BOTH = (
    *("strengths_and_weaknesses", "strength_and_weaknesses", "other_strengths_and_weaknesses"),
    *("strengths_&_weaknesses", "strengths/weaknesses", "pros_and_cons"),
)
_QUESTIONS = (
    *("questions", "questions_for_authors", "questions_to_authors", "questions_for_the_authors"),
    *("key_questions_for_authors", "questions_for_rebuttal", "question", "questions_to_the_authors"),
)
_LIMITATIONS = ("limitations", "limitations_and_societal_impact", "limitation")
_GROUPS = (_SUMMARY, _STRENGTHS, _WEAKNESSES, _BOTH, _QUESTIONS, _LIMITATIONS)
_FEWEST_BOXES = 2
_MOST_HEADING_WORDS = 6

_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")
_ROW = re.compile(r"\s*\|.*\|.*|[^|]+\|[^|]+\|.*")
_TITLE = re.compile(r"\s*(?P<hashes>#{1,6})\s.*\S.*")
_OF_SCORES = re.compile(
    r"(?:(?:overall|final|review|evaluation|numerical|sub) ?-?)*(?:scores?|ratings?|assessments?|evaluations?"
    r"|recommendation|decision|verdict)",
    re.IGNORECASE,
)
_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*")
_PARTS = re.compile(r"\s*[|;]\s*|,\s+(?=[*_]*[A-Z])")
_FIRST_WORD = re.compile(r"[\s>#*_`+•‣▪◦–(\[-]*(?:\d{1,2}[.)]|[A-Za-z][.)](?=\s))?[\s*_`(\[]*([A-Za-z]+)")
_ITEM = re.compile(r"[\s>]*(?:[-*+•]\s+)?")
_MARKS = re.compile(r"[*`]|__")
_BEHIND_LABEL = re.compile(r"[\s*_]*[:：]\s*[*_]*\s*")


@dataclass(frozen=True, slots=True)
class Unused:
    """A line that looks like the statement of a score and could not be used, and why."""

    line: str
    reason: str


@dataclass(frozen=True, slots=True)
class OneText:
    """What one text holds.

    Attributes:
        text: The review's prose in its own order, without the lines that state scores and the headings of boxes.
        scores: By the names of the form's fields; ``rating`` and ``confidence`` where the form is not known. A decision
            in words stands under ``decision``.
        boxes: The texts under headings that name a box, by the names of the form's fields.
        outside: The prose under no such heading, where there are boxes.
        lines: The lines that were taken out of the text: those that state scores, and headings that name no box.
        unused: Lines that could not be used.
    """

    text: str
    scores: Mapping[str, int | float | str] = field(default_factory=dict)
    boxes: Mapping[str, str] = field(default_factory=dict)
    outside: str = ""
    lines: tuple[str, ...] = ()
    unused: tuple[Unused, ...] = ()


@dataclass(frozen=True, slots=True)
class _Heading:
    """A line that names a box; ``is_asked`` where the form has it, ``rest`` is the prose on the same line."""

    box: str
    is_asked: bool
    label: str
    rest: str
    depth: int
    kind: str


@dataclass(slots=True)
class _Piece:
    """The prose under one heading; under one that names no box ``box`` is empty.

    ``is_unknown``: that heading stands behind one that names a box, and looks like it.
    """

    box: str = ""
    label: str = ""
    is_unknown: bool = False
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return said("\n".join(line for line in self.lines if not _RULE.fullmatch(line)))


def read_one_text(text: str, form: VenueForm | None, *, parted: bool = True) -> OneText | None:
    """What a text holds beside its prose; None where that is nothing, so that the text is the prose as it stands.

    A text is parted into boxes where two headings or more name boxes of the form, and where it states a score, or
    begins with such a heading and has no other headings of their kind. Prose that has a heading here and there is left
    as it is.

    Args:
        text: The text, with plain line breaks.
        form: The review's form; None reads customary names, on the scales of the general form.
        parted: Whether the text may be parted into boxes; not where the data hold boxes beside it.
    """
    lines = text.split("\n")
    names = _names_of(_Known(form))
    page = _Page(lines, names)
    headings = dict(_headings(page.lines, names)) if parted else {}
    begins = next((number for number, line in enumerate(lines) if line.strip()), -1) in headings
    asked = {heading.label for heading in headings.values() if heading.is_asked}
    if len(asked) < _FEWEST_BOXES or not (page.found or begins):
        headings = {}
    pieces = _pieces(page, headings) if headings else []
    if not page.found and (not headings or any(piece.is_unknown for piece in pieces)):
        return None
    scores, unused = _settled(page.found)
    if not headings:
        return OneText("\n".join(page.prose()).strip("\n"), scores, lines=tuple(page.taken), unused=unused)
    titles = [piece.label for piece in pieces if not piece.box and piece.label.startswith("#")]
    pieces = [piece for piece in pieces if piece.text]
    boxes: dict[str, list[str]] = {}
    for piece in pieces:
        if piece.box:
            label = f"{piece.label}:\n" if plain_name(piece.box) in _BOTH and piece.label else ""
            boxes.setdefault(piece.box, []).append(f"{label}{piece.text}")
    return OneText(
        "\n\n".join(piece.text for piece in pieces if not on_ethics(plain_name(piece.box))),
        scores,
        {box: "\n\n".join(texts) for box, texts in boxes.items()},
        "\n\n".join(piece.text for piece in pieces if not piece.box),
        (*page.taken, *titles),
        unused,
    )


@dataclass(frozen=True, eq=False)
class _Known:
    """A form as a key: the same object is the same form, which is told faster than equal ones."""

    form: VenueForm | None

    def __hash__(self) -> int:
        return id(self.form)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and other.form is self.form


class _Names:
    """What a text may name of a form; most lines begin with no word of any of these names, and are prose."""

    def __init__(self, form: VenueForm | None) -> None:
        self.labels, self.boxes = Labels(form), _boxes_of(form)
        self._words = frozenset(name.split()[0] for name in (*self.labels.names, *self.boxes, "my"))

    def may_begin(self, line: str) -> bool:
        """Whether a line begins with the first word of some name."""
        found = _FIRST_WORD.match(line)
        return found is not None and found[1].casefold() in self._words


@lru_cache(maxsize=64)
def _names_of(known: _Known) -> _Names:
    return _Names(known.form)


def _boxes_of(form: VenueForm | None) -> dict[str, tuple[str, bool]]:
    """The box that each heading names and whether the form has it, by the heading's words as they are looked up."""
    names = [f.name for f in form.fields if f.kind == "text" and f.name != "title"] if form is not None else [*PROSE]
    titles = {f.name: f.title for f in form.fields} if form is not None else {}
    boxes = {bare_label(label): (name, True) for name in names for label in (name, titles.get(name, "")) if label}
    by_name = {plain_name(name): name for name in names}
    own = [next((by_name[name] for name in group if name in by_name), "") for group in _GROUPS]
    both = own[_GROUPS.index(_BOTH)]
    for group, box in zip(_GROUPS, own, strict=True):
        found = box or (both if group in (_STRENGTHS, _WEAKNESSES) else "")
        for name in group:
            boxes.setdefault(bare_label(name), (found or group[0], bool(found)))
    return boxes


def _settled(found: Sequence[tuple[str, Stated]]) -> tuple[dict[str, int | float | str], tuple[Unused, ...]]:
    """The scores on which all lines of a review agree, and the lines that could not be used."""
    values: dict[str, set[int | float | str]] = {}
    for _, one in found:
        if one.value is not None:
            said_so = one.value.casefold() if isinstance(one.value, str) else one.value
            values.setdefault(one.target.name, set()).add(said_so)
    torn = {name for name, stated in values.items() if len(stated) > 1}
    reasons = [(line, TWO_VALUES if one.target.name in torn and not one.unused else one.unused) for line, one in found]
    scores = {one.target.name: one.value for _, one in found if one.value is not None and one.target.name not in torn}
    return scores, tuple(Unused(line, reason) for line, reason in reasons if reason)


class _Page:
    """The lines of a text: the prose, and beside it the scores that were found.

    Attributes:
        lines: The lines in order, with None for those that were taken out.
        found: The lines that look like scores, with what they state.
        taken: Those of them that were taken out.
        scored: The numbers of the lines that were taken out, whole or up to the prose behind a score.
    """

    def __init__(self, lines: Sequence[str], names: _Names) -> None:
        self.lines: list[str | None] = [*lines]
        self.found: list[tuple[str, Stated]] = []
        self.taken: list[str] = []
        self.scored: set[int] = set()
        self._names, self._labels = names, names.labels
        number, fenced = 0, False
        while number < len(lines):
            fenced ^= bool(_FENCE.match(lines[number]))
            number += 1 if fenced else self._read(lines, number)
        if self.taken:
            self._drop_bare_headings()

    def prose(self) -> Iterator[str]:
        """What is left; of the blank lines around a line that was taken out one goes with it."""
        before: str | None = ""
        for number, line in enumerate(self.lines):
            cut = number > 0 and self.lines[number - 1] is None
            if line is not None and not (cut and not line.strip() and not (before or "").strip()):
                yield line
                before = line

    def _read(self, lines: Sequence[str], at: int) -> int:
        """Read a line, or the table or the heading with its value that begins there; how many lines that were."""
        line = lines[at]
        if _ROW.fullmatch(line):
            end = next((n for n in range(at, len(lines)) if not _ROW.fullmatch(lines[n])), len(lines))
            self._table(lines, at, end)
            return end - at
        found = labelled(line) if self._names.may_begin(line) else None
        if found is None:
            return 1
        if not found.value:
            return self._heading(lines, at, found)
        for one in self._stated(line, found):
            self._take(at, line, one)
        return 1

    def _stated(self, line: str, found: Labelled) -> list[Stated]:
        """The scores of a line, of which there may be several: "Soundness: 3, Presentation: 2"."""
        parts = [part for part in map(labelled, _PARTS.split(line)) if part is not None and part.value]
        if len(parts) > 1 and len(parts) == len(_PARTS.split(line)):
            several = [self._labels.read(part.label, part.value, part.most) for part in parts]
            if all(one is not None and not one.prose and not one.stays for one in several):
                return [one for one in several if one is not None]
        whole = self._labels.read(found.label, found.value, found.most)
        return [whole] if whole is not None else []

    def _heading(self, lines: Sequence[str], at: int, found: Labelled) -> int:
        """A label alone, whose value is the next line that is not blank."""
        value_at = next((n for n in range(at + 1, len(lines)) if lines[n].strip()), None)
        if value_at is None or self._labels.target(found.label) is None:
            return 1
        value = _MARKS.sub("", lines[value_at][_end(_ITEM, lines[value_at]) :]).strip()
        stated = self._labels.read(found.label, value, found.most)
        marked = found.depth or found.is_bold or found.has_mark
        if stated is None or stated.stays or (stated.prose and not marked):
            return 1
        self._take(at, lines[at], None)
        self._take(value_at, lines[value_at], stated)
        return value_at - at + 1

    def _table(self, lines: Sequence[str], start: int, end: int) -> None:
        rows = {n: _cells(lines[n]) for n in range(start, end) if not _DIVIDER.fullmatch(lines[n])}
        numbers = [*rows]
        if len(numbers) == 2 and len(rows[numbers[0]]) == len(rows[numbers[1]]) > 1:
            across = [self._row([label, value]) for label, value in zip(*rows.values(), strict=True) if label]
            if all(one is not None for one in across):
                for one in across:
                    self._take(numbers[1], lines[numbers[1]], one)
                for n in range(start, end):
                    self.lines[n] = None
                return
        for n, cells in rows.items():
            if (one := self._row(cells)) is not None:
                self._take(n, lines[n], one)
        if all(self.lines[n] is None for n in numbers[1:]) and len(numbers) > 1 and end - start > len(numbers):
            for n in range(start, end):
                self.lines[n] = None

    def _row(self, cells: Sequence[str]) -> Stated | None:
        found = labelled(cells[0]) if cells else None
        if found is None or found.value or len(cells) < 2:
            return None
        beside = " ".join(filter(None, cells[2:]))
        stated = self._labels.read(found.label, f"{cells[1]}: {beside}" if beside else cells[1], found.most)
        return None if stated is None or stated.stays else stated

    def _take(self, at: int, line: str, one: Stated | None) -> None:
        if one is not None:
            self.found.append((line.strip(), one))
        if one is None or not one.stays:
            self.lines[at] = (one.prose or None) if one is not None else None
            self.scored.add(at)
            if line.strip() not in self.taken:
                self.taken.append(line.strip())

    def _drop_bare_headings(self) -> None:
        """Take out headings of scores, and those under which nothing is left but what was taken out."""
        found = [labelled(line) if line is not None else None for line in self.lines]
        marked = [one is not None and not one.value and bool(one.depth or one.is_bold or one.has_mark) for one in found]
        starts = [number for number, is_heading in enumerate(marked) if is_heading]
        for start, end in pairwise([*starts, len(self.lines)]):
            below = self.lines[start + 1 : end]
            left = any(line and line.strip() and not _RULE.fullmatch(line) for line in below)
            first = next((line for line in below if line is None or line.strip()), "")
            heading = found[start]
            label = heading.label if heading is not None else ""
            if None in below and (not left or (first is None and _OF_SCORES.fullmatch(label))):
                self.lines[start] = None


def _cells(line: str) -> list[str]:
    return [_MARKS.sub("", cell).strip() for cell in line.strip().strip("|").split("|")]


def _end(pattern: re.Pattern[str], line: str) -> int:
    found = pattern.match(line)
    return found.end() if found else 0


def _headings(lines: Sequence[str | None], names: _Names) -> Iterator[tuple[int, _Heading]]:
    """The lines that name a box, with what stands behind the name on the same line."""
    boxes = names.boxes
    for number, line in enumerate(lines):
        found = labelled(line) if line is not None and names.may_begin(line) else None
        if line is None or found is None or bare_label(found.label) not in boxes:
            continue
        marked = found.depth or found.is_bold
        if found.value and (not found.has_mark or not (marked or (found.label[0].isupper() and not found.is_item))):
            continue
        if not (marked or found.has_mark or (found.label[0].isupper() and not found.is_item)):
            continue
        behind = line[line.index(found.label.split()[0]) + len(found.label) :]
        rest = behind[_end(_BEHIND_LABEL, behind) :].strip() if found.value else ""
        kind = "" if rest else _kind(found)
        yield number, _Heading(*boxes[bare_label(found.label)], found.label, rest, found.depth, kind)


def _kind(found: Labelled) -> str:
    """How a heading without hashes is marked."""
    return "bold" if found.is_bold else "colon" if found.has_mark else "line"


def _stands_alone(lines: Sequence[str | None], at: int, kind: str) -> bool:
    """Whether a line is a heading of that kind: a few words after a blank line."""
    line = lines[at] or ""
    if not kind or not (line[:1].isalpha() or line[:1] in "*_") or (at and (lines[at - 1] or "").strip()):
        return False
    below = (lines[at + 1] or "").strip() if at + 1 < len(lines) else ""
    if len(line.split()) > _MOST_HEADING_WORDS or (kind == "line" and not below):
        return False
    found = labelled(line)
    return found is not None and not found.value and not found.is_item and _kind(found) == kind


def _pieces(page: _Page, headings: Mapping[int, _Heading]) -> list[_Piece]:
    """The prose from one heading to the next.

    A score ends what stands above it. So does a heading that names no box and is marked as the one above it, or has no
    more hashes.
    """
    pieces, depth, kind = [_Piece()], 6, ""
    for number, line in enumerate(page.lines):
        if number in page.scored and pieces[-1].box:
            pieces.append(_Piece())
        if heading := headings.get(number):
            pieces.append(_Piece(heading.box, heading.label, lines=[heading.rest] if heading.rest else []))
            depth, kind = heading.depth, heading.kind if not heading.depth else ""
        elif line is not None:
            title = _TITLE.fullmatch(line)
            ends = len(title["hashes"]) <= depth if title else _stands_alone(page.lines, number, kind)
            if ends:
                unknown = any(piece.box for piece in pieces)
                pieces.append(_Piece("", line.strip(), is_unknown=unknown, lines=[] if title else [line]))
            else:
                pieces[-1].lines.append(line)
    return pieces
