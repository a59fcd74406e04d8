"""The first pages: a title that is the title, authors who are no headings, an abstract that holds nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from referee.papers.headings import is_known_name, opens_paper, plain_name, role_by_name
from referee.papers.pdf.draft import Draft, overlap_x
from referee.papers.pdf.pages import Line
from referee.papers.pdf.repairs.headings import DIGITS
from referee.papers.pdf.repairs.words import Vocabulary, join_lines
from referee.papers.people import MAIL, looks_like_names, names_a_place
from referee.papers.pieces import Piece, squeeze

_TOP_SHARE, _SAME_SIZE = 0.5, 0.6
_MOST_LINES, _FEWEST_WORDS = 6, 3
_ABSTRACT_WORDS, _INTRODUCTION_WORDS = 80, 300
_NO_TITLE = re.compile(
    MAIL.pattern
    + r"|\banonymous\b|\bunder (?:double[- ]blind )?review\b|^\W*(?:running (?:head|title)|correspond|submitted to)",
    re.I,
)
_KIND_OF_ARTICLE = re.compile(
    r"(?:(?:edge|feature|full|original|regular|research|review|short|tutorial) )?"
    r"(?:article|communication|letter|paper|perspective|report|(?:mini)?review)s?",
    re.I,
)
_THESIS = re.compile(
    r"(?:master|bachelor|diplom|doktor)arbeit|(?:master|bachelor|doctoral|ph\.?d)[’'\w. ]* thesis|dissertation"
    r"|thèse(?: de doctorat)?|tesis(?: doctoral)?|tese(?: de doutorado)?|dissertação(?: de mestrado)?",
    re.I,
)


def repair_title(draft: Draft, vocabulary: Vocabulary) -> None:
    """Replace a title that is a part of the page's largest text by the whole, and absorb the pieces it lies in.

    A title with an e-mail address, a list of authors or a university is replaced too: by the largest text, or else by
    the first line of the page that is none of these. What a title holds beside the largest text goes if it is no
    title's. Where no text is larger than the paper's own, a title ends with its font.
    """
    said, lines = draft.title, _largest_lines(draft)
    proof = f"the largest text at the top of page 1 ({lines[0].size:g} pt, {len(lines)} line(s))" if lines else ""
    if by_font := not lines:
        lines, proof = _lines_in_own_font(draft), "its other lines are in the font of the text"
    printed = join_lines(lines, vocabulary)
    if not is_title(printed):
        lines, printed = [], ""
    own, key = squeeze(said), squeeze(printed)
    if lines:
        rest = said[len(printed) :] if own.startswith(key) and said.startswith(printed) else ""
        shown = [line for line in draft.pages[0].body if len(line.key) > 1 and line.key in own]
        is_false = by_font or not is_title(said) or _is_letterhead(shown)
        if own != key and (own in key or is_false or _NO_TITLE.search(rest) or is_known_name(rest or "-")):
            draft.record("title", 1, said, printed, proof)
            draft.title = printed
            if rest.strip() and not is_known_name(rest):
                draft.pieces.insert(0, Piece(kind="paragraph", text=rest.strip(), page=1))
    elif said and not is_title(said):
        pieces = [p for p in draft.pieces if p.page == 1 and p.kind in ("paragraph", "heading") and is_title(p.text)]
        if pieces and len(pieces[0].text.split()) >= _FEWEST_WORDS:
            draft.record("title", 1, said, pieces[0].text, "the first line of page 1 that names no author")
            draft.title = pieces[0].text
            draft.pieces[draft.pieces.index(pieces[0])] = replace(pieces[0], text=said, kind="paragraph")
    if lines and squeeze(draft.title) == key:
        draft.pieces = [piece for piece in draft.pieces if not _is_part_of_title(piece, key, lines)]


def is_title(text: str) -> bool:
    """Whether words can be a title: no e-mail address, list of authors, notice, or name of a section."""
    return bool(squeeze(text)) and not (_NO_TITLE.search(text) or looks_like_names(text) or is_known_name(text))


def _largest_lines(draft: Draft) -> list[Line]:
    """The topmost run of lines on page 1 in the page's largest font size."""
    page = draft.pages[0]
    top = [line for line in page.body if line.box.y1 < _TOP_SHARE * page.height and len(line.key) > 1]
    body, run = draft.body_size(), list[Line]()
    while (size := max((line.size for line in top), default=0)) > body + 0.5:
        run = _run_of(top, size, body)
        if not _is_letterhead(run):
            break
        top = [line for line in top if line not in run]
    return run if len(run) <= _MOST_LINES else []


def _is_letterhead(lines: Sequence[Line]) -> bool:
    """Whether lines name a university and its parts, the kind of thesis, or a journal and the kind of article."""
    alone = [line.text for line in lines if len(lines) == 1]
    smaller = [line.text for line in lines if line.size < lines[0].size - _SAME_SIZE]
    is_kind = any(map(_THESIS.fullmatch, alone)) or any(map(_KIND_OF_ARTICLE.fullmatch, alone + smaller))
    return is_kind or (len(lines) > 1 and all(names_a_place(line.text) for line in lines))


def _lines_in_own_font(draft: Draft) -> list[Line]:
    """The first lines of the title on page 1, where they have a font of their own and its rest that of the text."""
    own, body = squeeze(draft.title), draft.body_font()
    lines = [line for line in draft.pages[0].body if line.key and line.key in own]
    first = list(takewhile(lambda line: line.font != body, lines))
    rest = lines[len(first) :]
    is_whole = "".join(line.key for line in lines) == own
    return first if is_whole and rest and all(line.font == body for line in rest) else []


def _run_of(lines: Sequence[Line], size: float, body: float) -> list[Line]:
    """The lines in this size; a line of small capitals, or the rest of a broken word, may be smaller."""
    run: list[Line] = []
    for line in lines:
        small = bool(run) and line.font == run[-1].font and line.text.isupper() and line.size > body + 1
        fits = abs(line.size - size) <= _SAME_SIZE or small or (bool(run) and run[-1].hyphen)
        if fits and not (run and (_opens_paper(line.text) or _NO_TITLE.search(line.text))):
            run.append(line)
        elif run:
            break
    return run


def _is_part_of_title(piece: Piece, key: str, lines: Sequence[Line]) -> bool:
    own, bottom = squeeze(piece.text), max(line.box.y1 for line in lines)
    above = piece.page == 1 and piece.box is not None and piece.box.y0 <= bottom
    return above and piece.kind in ("paragraph", "heading") and own in key and len(own) > 1


def demote_front(draft: Draft) -> None:
    """Headings on page 1 before the abstract or section 1 open no section; lists of authors there come before all."""
    opening = next((i for i, p in enumerate(draft.pieces) if p.kind == "heading" and _opens_paper(p.text)), 0)
    authors = []
    for index, piece in enumerate(draft.pieces):
        names = looks_like_names(piece.text)
        numbered = DIGITS.match(piece.text) and not (index < opening and names_a_place(piece.text))
        if piece.page != 1 or piece.kind not in ("heading", "paragraph") or numbered:
            continue
        if piece.kind == "heading" and (index < opening or names):
            proof = "a list of names on page 1" if names else f"it stands before '{draft.pieces[opening].text}'"
            draft.record("false_heading", 1, piece.text, "", proof)
            draft.pieces[index] = replace(piece, kind="paragraph")
        if names:
            authors.append(draft.pieces[index])
    draft.pieces = [*authors, *(piece for piece in draft.pieces if piece not in authors)]


def _opens_paper(heading: str) -> bool:
    match = DIGITS.match(heading)
    return match[1] == "1" and not names_a_place(heading) if match else opens_paper(heading)


def repair_abstract(draft: Draft, vocabulary: Vocabulary) -> None:
    """An abstract ends where the introduction begins, and where its column does; it holds no addresses of authors."""
    start = next(
        (i for i, p in enumerate(draft.pieces) if p.kind == "heading" and role_by_name(p.text) == "abstract"), None
    )
    if start is None:
        return
    _part_introduction(draft, start)
    end = next((i for i in range(start + 1, len(draft.pieces)) if draft.pieces[i].kind == "heading"), None)
    if end is not None:
        _part_columns(draft, start, end)
        end = next(i for i in range(start + 1, len(draft.pieces)) if draft.pieces[i].kind == "heading")
        if any(names_a_place(piece.text) for piece in draft.pieces[start + 1 : end]):
            _reread_abstract(draft, start, end, vocabulary)


def _part_introduction(draft: Draft, start: int) -> None:
    """Manuscripts have an introduction without a heading: under the title printed again, or on the page after."""
    key = squeeze(draft.title)
    if any(p.kind == "heading" and "introduction" in plain_name(p.text) for p in draft.pieces):
        return
    end = next((i for i in range(start + 1, len(draft.pieces)) if draft.pieces[i].kind == "heading"), len(draft.pieces))
    for index in range(start + 1, end):
        piece = draft.pieces[index]
        again = bool(key) and squeeze(piece.text) == key
        words, behind = (
            sum(len(one.text.split()) for one in part)
            for part in (draft.pieces[start + 1 : index], draft.pieces[index:end])
        )
        new_page = words >= _ABSTRACT_WORDS and (piece.page or 1) > (draft.pieces[start].page or 1)
        if again or (new_page and behind >= _INTRODUCTION_WORDS and piece.text[:1].isupper()):
            proof = "the title is printed again here" if again else "running text on the page after the abstract's"
            heading = Piece(kind="heading", text="Introduction", page=piece.page, box=piece.box, size=piece.size)
            draft.record("missed_heading", piece.page, piece.text, "Introduction", proof)
            draft.pieces[index : index + again] = [heading]
            return


def _part_columns(draft: Draft, start: int, end: int) -> None:
    """Pieces of the next column that stand between the abstract and a heading under it are read after that heading."""
    heading, first = draft.pieces[end], draft.pieces[start + 1]
    above = first.box and heading.box and first.page == heading.page and first.box.y1 <= heading.box.y0 + 2
    if not above or first.box is None or heading.box is None or overlap_x(first.box, heading.box) < 0.5:
        return
    beyond = [
        piece
        for piece in draft.pieces[start + 2 : end]
        if piece.box and piece.page == heading.page and overlap_x(piece.box, first.box) == 0
    ]
    if beyond:
        draft.record(
            "column", heading.page, beyond[0].text, heading.text, "it stands in the column after the heading's"
        )
        own = [piece for piece in draft.pieces[start:end] if piece not in beyond]
        draft.pieces[start : end + 1] = [*own, heading, *beyond]


def _reread_abstract(draft: Draft, start: int, end: int, vocabulary: Vocabulary) -> None:
    """Take the abstract from the page where the converter mixed addresses into it: the lines under its heading."""
    heading = draft.pieces[start]
    body = draft.page(heading.page).body
    at = next((i for i, line in enumerate(body) if line.key == squeeze(heading.text)), None)
    if at is None or at + 1 >= len(body):
        return
    first = body[at + 1]

    alike = takewhile(
        lambda line: (
            line.font == first.font
            and abs(line.size - first.size) <= _SAME_SIZE
            and abs(line.box.x0 - first.box.x0) <= 12
        ),
        body[at + 1 :],
    )
    text = join_lines(list(alike), vocabulary)
    if len(text.split()) < 20 or names_a_place(text):
        return
    mixed = draft.pieces[start + 1 : end]
    draft.record("abstract", heading.page, mixed[0].text, text, "the lines under its heading, in their own column")
    abstract = replace(mixed[0], kind="paragraph", text=text, cells=())
    addresses = [piece for piece in mixed if names_a_place(piece.text)]
    rest = [piece for piece in mixed if piece not in addresses and squeeze(piece.text) not in squeeze(text)]
    draft.pieces[start:end] = [heading, abstract, *rest]
    own = frozenset(text.split())
    for piece in reversed(addresses):
        if beside := " ".join(word for word in piece.text.split() if word not in own):
            draft.pieces.insert(0, replace(piece, kind="paragraph", text=beside, cells=()))
