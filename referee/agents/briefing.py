"""The submission as prompt text, fitted to a model's context by tokens; what was cut is on the record."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from referee.agents.asking import CountTokens
from referee.errors import ContextTooLong
from referee.evidence import split_sentences
from referee.prompts import delimit
from referee.schemas.paper import Block, Paper, Section
from referee.schemas.paper_cut import PaperCut
from referee.schemas.review import Cut

# Under this many tokens of paper a review would be of a fragment.
MIN_PAPER_TOKENS = 400
# What a heading and the mark of a cut take beside the heading's own words.
_MARK_TOKENS = 16
# Of a section's tokens no more than this share stays unused where it is cut, nor so few tokens as to say nothing.
_UNUSED_SHARE, _LEAST_PIECE = 0.05, 12
# No more letters than this are looked at for each token there is: words may be of any length.
_MOST_LETTERS = 12
_WORD = re.compile(r"\S+")
_MIN_SENTENCE_WORDS = 6

# All that `Paper.content` leaves out; tables and figures printed among it are moved into the text by the readers.
_UNSHOWN = {
    "front": "the author lines",
    "acknowledgements": "the acknowledgements",
    "references": "the entries of the bibliography",
    "checklist": "the checklist",
}
_CONTEXT = "the model's context is shorter than the paper"
_READING = "one call shows at most models.reading_tokens of a paper (the embedded model reads slowly)"


@dataclass(frozen=True)
class Sentence:
    """A sentence of the submission that a reply can name by its id."""

    section_id: str
    text: str


@dataclass(frozen=True)
class Briefing:
    """The submission as it stands in a prompt, what did not fit, and its numbered sentences if asked for.

    ``cut`` says how much of the paper is shown; None where all of it is. ``cuts`` say the same by section.
    """

    text: str
    tokens: int
    cuts: tuple[Cut, ...]
    sentences: dict[str, Sentence]
    cut: PaperCut | None = None


@dataclass(frozen=True)
class _Text:
    """A block as it is shown; ``numbered`` are its sentences with their ids, where they have any."""

    block: Block
    text: str
    tokens: int
    numbered: tuple[tuple[str, str], ...] = ()

    @property
    def pieces(self) -> tuple[tuple[str, str], ...]:
        """What it may be cut between, each with its id or none: sentences of prose, lines of anything else."""
        prose = self.block.kind in ("paragraph", "list")
        return self.numbered or tuple((p, "") for p in (split_sentences(self.text) if prose else self.text.split("\n")))

    @property
    def joint(self) -> str:
        """What stands between two pieces."""
        return " " if self.block.kind in ("paragraph", "list") else "\n"


@dataclass(frozen=True)
class _Part:
    section: Section
    texts: tuple[_Text, ...]
    head: int

    @cached_property
    def total(self) -> int:
        return sum(text.tokens for text in self.texts)


@dataclass(frozen=True)
class _Shown:
    """The beginning of a section that is shown, and the ids of its sentences."""

    texts: tuple[str, ...]
    tokens: int
    ids: tuple[str, ...] = ()


def fit_paper(
    paper: Paper, room: int, count: CountTokens, reading_tokens: int | None = None, *, numbered: bool = False
) -> Briefing:
    """Render abstract, content and appendix into at most ``room`` tokens.

    What is too long is cut in this order: appendices from the last one on, then the longest sections, each keeping its
    beginning, until all fit. A section is cut between paragraphs; where that leaves more than a twentieth of its
    tokens unused, between sentences, and within a sentence where that is longer still. Author lines, acknowledgements,
    the entries of the bibliography and a checklist are never shown; ``how_read`` says so.

    Args:
        paper: The submission.
        room: Tokens there are for it.
        count: Counts tokens as the model does.
        reading_tokens: Show no more than this, whatever the room.
        numbered: Put an id before each sentence of prose.

    Raises:
        ContextTooLong: There is not even room for a fragment.
    """
    sentences: dict[str, Sentence] = {}
    parts = [_part(section, count, sentences if numbered else None) for section in paper.content]
    room_for_text = room - count(paper.title) - 40 - sum(part.head for part in parts)
    total = sum(part.total for part in parts)
    if room_for_text < min(MIN_PAPER_TOKENS, total):
        raise ContextTooLong(
            f"only {max(room, 0):,} tokens of the model's context are left for the paper, which has {total:,}.",
            hint="Use a model with a longer context, or set models.context_tokens to what it really has.",
            ids={"paper": paper.paper_id},
        )
    limited = reading_tokens is not None and reading_tokens < min(room_for_text, total)
    if reading_tokens is not None and limited:
        room_for_text = reading_tokens
    # Parts counted one by one can come out lower than the text as a whole; then less is shown.
    while True:
        caps = _caps(parts, room_for_text)
        shown = [_shown(part, cap, count, sentences) for part, cap in zip(parts, caps, strict=True)]
        body = "\n\n".join(_rendered(part, own) for part, own in zip(parts, shown, strict=True))
        text = delimit("submission", f"Title: {paper.title}\n\n{body}")
        tokens = count(text)
        if tokens <= room or room_for_text <= 0:
            break
        room_for_text = min(room_for_text, total) - (tokens - room)
    cuts = tuple(
        Cut(
            section_id=part.section.id,
            section=part.section.heading,
            tokens_kept=own.tokens,
            tokens_total=part.total,
            reason=_READING if limited else _CONTEXT,
        )
        for part, own in zip(parts, shown, strict=True)
        if own.tokens < part.total
    )
    ids = {name for own in shown for name in own.ids}
    numbers = {name: sentence for name, sentence in sentences.items() if name in ids}
    return Briefing(text, tokens, cuts, numbers, _cut(parts, shown, cuts, limited=limited) if cuts else None)


def _cut(parts: Sequence[_Part], shown: Sequence[_Shown], cuts: Sequence[Cut], *, limited: bool) -> PaperCut:
    body = [(p, own) for p, own in zip(parts, shown, strict=True) if p.section.role != "appendix"]
    return PaperCut(
        tokens_kept=sum(own.tokens for own in shown),
        tokens_total=sum(part.total for part in parts),
        body_kept=sum(own.tokens for _, own in body),
        body_total=sum(part.total for part, _ in body),
        sections=tuple(cut.section or cut.section_id for cut in cuts),
        by="reading_tokens" if limited else "window",
    )


_PICTURE = re.compile(r"^\([^()\s]+\.(?:png|jpe?g|gif|svg|eps|pdf|webp)\)$", re.MULTILINE | re.IGNORECASE)


def how_read(paper: Paper, cuts: tuple[Cut, ...], *, titles: bool = False) -> str:
    """What a reviewer must know about the text: how it was read, and what a reader of it cannot see.

    ``titles``: the titles of the works that the paper cites stand below it.
    """
    said = [f"it was read by {paper.converter.name}; tables and equations appear as text, figures only as captions"]
    roles = {section.role for section in paper.sections if section.blocks}
    if unshown := [name for role, name in _UNSHOWN.items() if role in roles]:
        said.append(f"not shown are {', '.join(unshown)}{_entries(paper, titles)}")
    if any(_PICTURE.search(section.text) for section in paper.sections):
        said.append("pictures in the text, which may hold equations, stand as the names of their files")
    lost = sorted({f.page for f in paper.findings if f.kind in ("lost_text", "missing_page") and f.page})
    if lost:
        said.append(f"text on page {', '.join(map(str, lost))} may be incomplete")
    if cuts:
        names = "; ".join(f"{c.section} ({c.tokens_kept} of {c.tokens_total} tokens shown)" for c in cuts)
        said.append(f"these sections are shortened: {names}")
    return "; ".join(said) + ". What is missing for these reasons is no fault of the authors."


def _entries(paper: Paper, titles: bool) -> str:
    if not paper.references:
        return ""
    shown = ", whose titles stand below the paper" if titles else ""
    return f" (the bibliography has {len(paper.references)} entries{shown})"


def _part(section: Section, count: CountTokens, sentences: dict[str, Sentence] | None) -> _Part:
    texts: list[_Text] = []
    for block in section.blocks:
        text = block_text(block)
        pieces: tuple[tuple[str, str], ...] = ()
        if sentences is not None and block.kind in ("paragraph", "list"):
            pieces = tuple(_numbered(section, text, sentences))
            text = " ".join(piece for piece, _ in pieces)
        texts.append(_Text(block, text, count(text) + 2, pieces))
    return _Part(section, tuple(texts), count(heading_line(section)) + _MARK_TOKENS)


def numbered_text(section: Section, text: str, sentences: dict[str, Sentence]) -> tuple[str, tuple[str, ...]]:
    """The text with an id before each sentence long enough to be evidence; the sentences are added to the others."""
    pieces = list(_numbered(section, text, sentences))
    return " ".join(piece for piece, _ in pieces), tuple(name for _, name in pieces if name)


def _numbered(section: Section, text: str, sentences: dict[str, Sentence]) -> Iterator[tuple[str, str]]:
    """Each sentence behind its id, and the id; a short one has none."""
    for sentence in split_sentences(text):
        if len(sentence.split()) < _MIN_SENTENCE_WORDS:
            yield sentence, ""
            continue
        name = f"s{len(sentences) + 1}"
        sentences[name] = Sentence(section.id, sentence)
        yield f"[{name}] {sentence}", name


def _caps(parts: list[_Part], room: int) -> list[int]:
    """Tokens each part may keep: appendices give way first, then the longest parts are levelled."""
    caps = [part.total for part in parts]
    for index in reversed(range(len(parts))):
        if sum(caps) <= room:
            return caps
        if parts[index].section.role == "appendix":
            caps[index] = max(0, caps[index] - (sum(caps) - room))
    if sum(caps) > room:
        level = _level(caps, room)
        caps = [min(cap, level) for cap in caps]
    return caps


def _level(sizes: list[int], room: int) -> int:
    """The largest level at which the sizes, capped, fit into the room."""
    low, high = 0, max(sizes, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _shown(part: _Part, cap: int, count: CountTokens, sentences: Mapping[str, Sentence]) -> _Shown:
    """The beginning of the section that fits under the cap, with no more than a twentieth of it unused."""
    texts: list[str] = []
    ids: list[str] = []
    used = 0
    for text in part.texts:
        if used + text.tokens > cap:
            if cap - used > max(_UNUSED_SHARE * cap, _LEAST_PIECE):
                beginning = _beginning(text, cap - used - 2, _UNUSED_SHARE * cap, count, sentences)
                return _Shown((*texts, *beginning.texts), used + beginning.tokens, (*ids, *beginning.ids))
            break
        texts.append(text.text)
        ids += [name for _, name in text.numbered if name]
        used += text.tokens
    return _Shown(tuple(texts), used, tuple(ids))


def _beginning(text: _Text, cap: int, unused: float, count: CountTokens, sentences: Mapping[str, Sentence]) -> _Shown:
    """As much of a block as fits: whole sentences or lines, and words of the next one where these leave too much."""
    pieces = text.pieces
    ends = list(accumulate(len(piece) + len(text.joint) for piece, _ in pieces))
    whole = text.joint.join(piece for piece, _ in pieces)
    ends[-1] = len(whole)
    fitting, used = _within(whole, ends, cap, text.tokens, count)
    shown = [piece for piece, _ in pieces[:fitting]]
    ids = tuple(name for _, name in pieces[:fitting] if name)
    if fitting < len(pieces) and cap - used > max(unused, _LEAST_PIECE):
        piece, name = pieces[fitting]
        rest = sentences[name].text if name else piece  # a sentence that is not whole cannot be named by its id
        if words := _words(rest, cap - used - 1, count):
            shown.append(f"{words} …")
            used += count(words) + 1
    if not shown:
        return _Shown((), 0)
    # Counted apart, pieces can come to more than the whole: what is cut is never recorded as complete.
    return _Shown((text.joint.join(shown),), min(used + 2, text.tokens - 1), ids)


def _words(text: str, cap: int, count: CountTokens) -> str:
    """The first words that fit; letters of the first word where not even that does."""
    text = text[: cap * _MOST_LETTERS]
    total = count(text)
    if total <= cap:
        return text.rstrip()
    ends = [found.end() for found in _WORD.finditer(text)]
    fitting, _ = _within(text, ends, cap, total, count)
    if fitting:
        return text[: ends[fitting - 1]]
    letters, _ = _within(text, range(1, len(text) + 1), cap, total, count)
    return text[:letters]


def _within(text: str, ends: Sequence[int], cap: int, total: int, count: CountTokens) -> tuple[int, int]:
    """How many places of a text lie within the cap, and the tokens up to the last of them.

    Guesses by the tokens a letter takes, so that a long text is counted about once up to the cap and not at each place.

    Args:
        text: The text.
        ends: Where it may be cut, rising.
        cap: Tokens there are.
        total: Tokens of the whole.
        count: Counts tokens as the model does.
    """
    low, low_tokens, high, high_tokens = 0, 0, len(ends) + 1, max(total, cap + 1)
    halves = False
    while high - low > 1:
        start = ends[low - 1] if low else 0
        stop = ends[high - 1] if high <= len(ends) else len(text)
        at = start + int((stop - start) * (cap - low_tokens) / (high_tokens - low_tokens))
        middle = (low + high) // 2 if halves else bisect_right(ends, at)
        middle = min(max(middle, low + 1), high - 1)
        tokens = low_tokens + count(text[start : ends[middle - 1]])
        if tokens <= cap:
            low, low_tokens = middle, tokens
        else:
            high, high_tokens = middle, tokens
        halves = not halves
    return low, low_tokens


def _rendered(part: _Part, shown: _Shown) -> str:
    left_out = part.total - shown.tokens
    mark = (f"[{left_out} tokens of this section are not shown]",) if left_out else ()
    return "\n".join([heading_line(part.section), *shown.texts, *mark])


def heading_line(section: Section) -> str:
    """A section's heading with its number and first page."""
    number = f"{section.number} " if section.number else ""
    place = f" (page {section.pages[0]})" if section.pages else ""
    return f"## {number}{section.heading}{place}"


def block_text(block: Block) -> str:
    """A block as a prompt shows it: a table row by row under its label, anything else as it is."""
    if block.kind == "table" and block.cells:
        rows = "\n".join(" | ".join(cell for cell in row) for row in block.cells)
        return f"[{block.label or 'Table'}]\n{rows}"
    return block.text
