"""The submission as prompt text, fitted to a model's context by tokens; what was cut is on the record."""

from __future__ import annotations

from dataclasses import dataclass

from referee.agents.asking import CountTokens
from referee.errors import ContextTooLong
from referee.evidence import split_sentences
from referee.prompts import delimit
from referee.schemas.paper import Block, Paper, Section
from referee.schemas.review import Cut

# Under this many tokens of paper a review would be of a fragment.
MIN_PAPER_TOKENS = 400
_HEADING_TOKENS = 24
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
    """The submission as it stands in a prompt, what did not fit, and its numbered sentences if asked for."""

    text: str
    tokens: int
    cuts: tuple[Cut, ...]
    sentences: dict[str, Sentence]


@dataclass(frozen=True)
class _Part:
    section: Section
    texts: tuple[str, ...]
    tokens: tuple[int, ...]
    ids: tuple[tuple[str, ...], ...]

    @property
    def total(self) -> int:
        return sum(self.tokens)


def fit_paper(
    paper: Paper, room: int, count: CountTokens, reading_tokens: int | None = None, *, numbered: bool = False
) -> Briefing:
    """Render abstract, content and appendix into at most ``room`` tokens.

    What is too long is cut in this order: appendices from the last one on, then the longest sections at paragraph
    borders, each keeping its beginning, until all fit. Author lines, acknowledgements, the entries of
    the bibliography and a checklist are never shown; ``how_read`` says so.

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
    header = count(paper.title) + 40
    room_for_text = room - header - _HEADING_TOKENS * len(parts)
    total = sum(part.total for part in parts)
    if room_for_text < min(MIN_PAPER_TOKENS, total):
        raise ContextTooLong(
            f"only {max(room, 0):,} tokens of the model's context are left for the paper, which has {total:,}.",
            hint="Use a model with a longer context, or set models.context_tokens to what it really has.",
            ids={"paper": paper.paper_id},
        )
    reason = _CONTEXT
    if reading_tokens is not None and reading_tokens < min(room_for_text, total):
        room_for_text, reason = reading_tokens, _READING
    caps = _caps(parts, room_for_text)
    shown = [_shown(part, cap) for part, cap in zip(parts, caps, strict=True)]
    cuts = tuple(
        Cut(
            section_id=part.section.id,
            section=part.section.heading,
            tokens_kept=sum(part.tokens[:kept]),
            tokens_total=part.total,
            reason=reason,
        )
        for part, kept in zip(parts, shown, strict=True)
        if kept < len(part.tokens)
    )
    body = "\n\n".join(_rendered(part, kept) for part, kept in zip(parts, shown, strict=True))
    text = delimit("submission", f"Title: {paper.title}\n\n{body}")
    ids = {i for part, kept in zip(parts, shown, strict=True) for block in part.ids[:kept] for i in block}
    return Briefing(text, count(text), cuts, {i: sentence for i, sentence in sentences.items() if i in ids})


def how_read(paper: Paper, cuts: tuple[Cut, ...], *, titles: bool = False) -> str:
    """What a reviewer must know about the text: how it was read, and what a reader of it cannot see.

    ``titles``: the titles of the works that the paper cites stand below it.
    """
    said = [f"it was read by {paper.converter.name}; tables and equations appear as text, figures only as captions"]
    roles = {section.role for section in paper.sections if section.blocks}
    if unshown := [name for role, name in _UNSHOWN.items() if role in roles]:
        said.append(f"not shown are {', '.join(unshown)}{_entries(paper, titles)}")
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
    texts: list[str] = []
    ids: list[tuple[str, ...]] = []
    for block in section.blocks:
        text = block_text(block)
        named: tuple[str, ...] = ()
        if sentences is not None and block.kind in ("paragraph", "list"):
            text, named = numbered_text(section, text, sentences)
        texts.append(text)
        ids.append(named)
    return _Part(section, tuple(texts), tuple(count(text) + 2 for text in texts), tuple(ids))


def numbered_text(section: Section, text: str, sentences: dict[str, Sentence]) -> tuple[str, tuple[str, ...]]:
    """The text with an id before each sentence long enough to be evidence; the sentences are added to the others."""
    shown: list[str] = []
    named: list[str] = []
    for sentence in split_sentences(text):
        if len(sentence.split()) < _MIN_SENTENCE_WORDS:
            shown.append(sentence)
            continue
        name = f"s{len(sentences) + 1}"
        sentences[name] = Sentence(section.id, sentence)
        named.append(name)
        shown.append(f"[{name}] {sentence}")
    return " ".join(shown), tuple(named)


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


def _shown(part: _Part, cap: int) -> int:
    """How many blocks fit under the cap."""
    used = 0
    for index, tokens in enumerate(part.tokens):
        used += tokens
        if used > cap:
            return index
    return len(part.tokens)


def _rendered(part: _Part, kept: int) -> str:
    section = part.section
    number = f"{section.number} " if section.number else ""
    place = f" (page {section.pages[0]})" if section.pages else ""
    blocks = list(part.texts[:kept])
    left_out = sum(part.tokens[kept:])
    if left_out:
        blocks.append(f"[{left_out} tokens of this section are not shown]")
    return "\n".join([f"## {number}{section.heading}{place}", *blocks])


def block_text(block: Block) -> str:
    """A block as a prompt shows it: a table row by row under its label, anything else as it is."""
    if block.kind == "table" and block.cells:
        rows = "\n".join(" | ".join(cell for cell in row) for row in block.cells)
        return f"[{block.label or 'Table'}]\n{rows}"
    return block.text
