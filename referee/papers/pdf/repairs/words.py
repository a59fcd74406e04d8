"""Running text as the page prints it: broken words made whole, glued ones parted, words freed from formulas."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Line, Page
from referee.papers.pieces import ACCENTS, Piece, plain, squeeze

_HYPHENED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TAIL = re.compile(r"([^\W\d_]+)-?$")
_HEAD = re.compile(r"^([^\W\d_]+)")
_SAMPLES, _LONGEST = 4, 60


class Vocabulary:
    """The words a paper prints unbroken."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._words: Counter[str] = Counter()
        for page in pages:
            for line in page.lines:
                unbroken = line.text.rpartition(" ")[0] if line.hyphen else line.text
                self._words.update(word.casefold() for word in _HYPHENED.findall(unbroken))
        self._parts = {part for word in self._words for part in word.split("-")} | set(self._words)
        self._firsts = {word.split("-")[0] for word in self._words if "-" in word}

    def join(self, head: str, tail: str) -> str:
        """The word that ``head-`` at a line's end and ``tail`` in the next line make.

        Printed elsewhere in one or both of the two forms: the more frequent one. Otherwise with a hyphen when the
        parts look like two words: both stand alone elsewhere, or the first is an adverb or takes a hyphen elsewhere,
        or a capital starts the second ('human-AI'). Else without.
        """
        low_head, low_tail = head.casefold(), tail.casefold()
        whole, parted = self._words[low_head + low_tail], self._words[f"{low_head}-{low_tail}"]
        if whole or parted:
            return head + tail if whole > parted else f"{head}-{tail}"
        known = low_head in self._parts
        two_words = known and low_tail in self._parts and len(head) >= 4 and len(tail) >= 3
        adverb = known and low_head.endswith("ly") and len(head) > 4
        capital = head[-1].islower() and tail[0].isupper()
        compound = low_head in self._firsts and len(head) > 2 and len(tail) > 2
        return f"{head}-{tail}" if two_words or adverb or capital or compound else head + tail


def join_lines(lines: Sequence[Line], vocabulary: Vocabulary) -> str:
    """Lines as one text, words broken at line ends made whole."""
    text = lines[0].text if lines else ""
    for before, line in pairwise(lines):
        if before.hyphen and (head := _TAIL.search(text, len(text) - _LONGEST)) and (tail := _HEAD.match(line.text)):
            text = text[: head.start()] + vocabulary.join(head[1], tail[1]) + line.text[tail.end() :]
        else:
            text = f"{text}{'-' if before.hyphen else ' '}{line.text}"
    return text


def repair_hyphens(draft: Draft, vocabulary: Vocabulary) -> None:
    """Mend the words that the page breaks at a line's end and the converter left broken ('limi- tations')."""
    for page in draft.pages:
        broken = {
            (head[1], tail[1]): vocabulary.join(head[1], tail[1])
            for line, after in pairwise(page.body)
            if line.hyphen and (head := _TAIL.search(line.text)) and (tail := _HEAD.match(after.text))
        }
        _record(draft, "line_end_hyphen", page, _mend_page(draft, page.number, broken), "broken at a line's end")


def _mend_page(draft: Draft, number: int, broken: dict[tuple[str, str], str]) -> list[tuple[str, str]]:
    pattern = re.compile(r"(?<![^\W\d_])([^\W\d_]+)(-\s*)([^\W\d_]+)")
    mended: list[tuple[str, str]] = []

    def mend(match: re.Match[str]) -> str:
        whole = broken.get((match[1], match[3]))
        if whole is None or whole == match[0]:
            return match[0]
        mended.append((match[0], whole))
        return whole

    for index, piece in enumerate(draft.pieces):
        if piece.page == number and piece.kind not in ("equation", "code", "table"):
            draft.pieces[index] = replace(piece, text=pattern.sub(mend, piece.text))
    return mended


_TEXT_KINDS = ("paragraph", "list", "footnote", "caption", "reference", "heading")
_FORMULA = re.compile(r"\$([^$\n]+)\$")
_PLAIN_WORD = re.compile(r"^\(?[^\W\d_]{2,}(?:-[^\W\d_]+)*[.,;:)?!]*$")
_OPERATORS = frozenset(
    re.findall(r"\w+", "min max log exp mod arg argmin argmax softmax sin cos tan lim sup inf det dim ker")
)
_NOTE_MARK = re.compile(r"(?<=[^\W\d_.,;:)])([.,;:)]*)\d{1,2}$")
_ACCENTED = re.compile(f"(?P<before>[{''.join(ACCENTS)}])ı|(?P<letter>[A-Za-z])(?P<after>[{''.join(ACCENTS)}])(?!ı)")
_SCRAMBLED = re.compile(r"\\[A-Za-z]+\s?ˆ|(?:^|\s)[ˆ√]\s|\$\s*ˆ|\$[^$]*(?:\(\s*\)|\[\s*\])[^$]*\$")
_GLUED_NAMES = re.compile(r"\b[A-Z][a-z]+[A-Z][a-z]{2,}(?=\^)")
# Converters that set words by their place on the page turn lines of Arabic and Hebrew round.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")
_GARBLED_SHARE, _GARBLED_WORDS = 0.08, 4


def repair_words(draft: Draft, vocabulary: Vocabulary) -> None:
    """Free words from formulas, part glued words, then reread what is still not the page's words."""
    if draft.pages and _RIGHT_TO_LEFT.search(draft.title):
        letters, lines = sorted(squeeze(draft.title)), (line.text for line in draft.pages[0].lines)
        draft.title = next((text for text in lines if sorted(squeeze(text)) == letters), draft.title)
    for page in draft.pages:
        tokens = frozenset(page.tokens)
        # Both the whole word and its halves count for a word broken at a line's end.
        words = frozenset(_words([*tokens, *(line.text for line in page.body)]))
        glued = _glued(page)
        freed: list[tuple[str, str]] = []
        parted: list[tuple[str, str]] = []
        for index, piece in enumerate(draft.pieces):
            if piece.page != page.number or piece.kind not in _TEXT_KINDS:
                continue
            text = compose_accents(_FORMULA.sub(lambda match: _free(match, words, freed), piece.text))  # noqa: B023
            text = " ".join(_part(token, tokens, glued, parted) for token in text.split(" "))
            draft.pieces[index] = _reread(draft, replace(piece, text=text), page, words, vocabulary)
        _record(draft, "words_in_formula", page, freed, "the page prints them as words beside the formula")
        _record(draft, "glued_words", page, parted, "the page prints a blank between them")


def compose_accents(text: str) -> str:
    """Letters with the accent printed over them: ``Fa¨rber`` is 'Färber', ``Mart´ın`` is 'Martín'."""

    def compose(match: re.Match[str]) -> str:
        letter, accent = (match["letter"], match["after"]) if match["letter"] else ("i", match["before"])
        composed = unicodedata.normalize("NFC", letter + ACCENTS[accent])
        return composed if len(composed) == 1 else match[0]

    return _ACCENTED.sub(compose, text)


def is_scrambled(text: str) -> bool:
    """Whether formulas in a text fell apart: an accent or root sign on its own, or brackets around nothing."""
    return bool(_SCRAMBLED.search(text))


def _record(draft: Draft, kind: str, page: Page, changes: list[tuple[str, str]], proof: str) -> None:
    if changes:
        draft.record(
            kind,
            page.number,
            " … ".join(before for before, _ in changes[:_SAMPLES]),
            " … ".join(after for _, after in changes[:_SAMPLES]),
            f"{len(changes)} place(s): {proof}",
        )


def _words(tokens: Iterable[str]) -> set[str]:
    return {part for token in tokens for part in re.split(r"[^\w]+", plain(token)) if part}


def _free(match: re.Match[str], words: frozenset[str], freed: list[tuple[str, str]]) -> str:
    """``$x_i denotes$`` becomes ``$x_i$ denotes`` where the page prints 'denotes' as a word."""
    parts = match[1].split()
    signs = [at for at, part in enumerate(parts) if not _is_word(part, words)]
    first, end = (signs[0], signs[-1] + 1) if signs else (0, 0)
    if end - first == len(parts):
        return match[0]
    kept = [f"${' '.join(parts[first:end])}$"] if signs else []
    text = " ".join([*parts[:first], *kept, *parts[end:]])
    freed.append((match[0], text))
    return text


def _is_word(part: str, words: frozenset[str]) -> bool:
    is_plain = _PLAIN_WORD.match(part) is not None and part.strip("(.,;:)?!").casefold() not in _OPERATORS
    return is_plain and all(squeeze(half) in words for half in part.split("-") if squeeze(half))


def _glued(page: Page) -> dict[str, str]:
    """Neighbouring words of the page by what they would be without the blank, with and without a note mark."""
    glued: dict[str, str] = {}
    for one, other in pairwise(page.tokens):
        if not one.endswith("-") and (other[0].isalnum() or other[0] in "([“‘"):
            for first in (one, _NOTE_MARK.sub(r"\1", one)):
                glued.setdefault(first + other, f"{first} {other}")
    return glued


def _part(token: str, tokens: frozenset[str], glued: dict[str, str], parted: list[tuple[str, str]]) -> str:
    if len(token) < 4 or token in tokens or token not in glued:
        return token
    parted.append((token, glued[token]))
    return glued[token]


def _reread(draft: Draft, piece: Piece, page: Page, words: frozenset[str], vocabulary: Vocabulary) -> Piece:
    """Take a piece's text from the page when too many of its words are none that the page prints."""
    if piece.box is None:
        return piece
    outside = _FORMULA.sub(" ", piece.text)
    said = [part for part in re.split(r"[^\w]+", plain(outside)) if sum(char.isalpha() for char in part) >= 3]
    lines = page.lines_in(piece.box)
    printed = join_lines(lines, vocabulary)
    letters = squeeze(printed) if outside == piece.text else ""
    strange = [word for word in said if word not in words and word not in letters]
    # Names glued inside a formula ('MarkNeumann^{\\dagger}'), whose parts the page prints as words.
    strange += [
        name for name in _GLUED_NAMES.findall(" ".join(_FORMULA.findall(piece.text))) if plain(name) not in words
    ]
    garbled = len(strange) >= _GARBLED_WORDS and len(strange) >= _GARBLED_SHARE * len(said)
    unread = any(line.own_scale for line in lines) and len(squeeze(printed)) > len(squeeze(piece.text))
    turned = bool(strange) and _RIGHT_TO_LEFT.search(piece.text) is not None
    wrong = garbled or unread or turned or is_scrambled(piece.text) or (strange and outside != piece.text)
    if not wrong or len(squeeze(printed)) < 0.8 * len(squeeze(re.sub(r"\\[A-Za-z]+", "", piece.text))):
        return piece
    shown = f"{len(strange)} of its {len(said)} words are not on the page, e.g. {', '.join(strange[:3])}"
    proof = shown if strange else "signs of its formulas stand in no formula; the page's own order is taken"
    draft.record("garbled_text", page.number, piece.text, printed, proof)
    return replace(piece, text=printed)
