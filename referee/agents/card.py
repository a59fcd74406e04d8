"""The card of a paper: what every section reviewer has beside its section. Built by code, in the paper's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from referee.agents.asking import CountTokens
from referee.agents.parts import Part, content_parts
from referee.errors import ContextTooLong
from referee.evidence import split_sentences
from referee.evidence.ledger import LedgerEntry, number_ledger
from referee.schemas.paper import Block, Paper, Section

_NUMBER_WORDS = 5

_AFFILIATION = re.compile(
    r"@|\buniversit|\binstitut|\bcollege\b|\bequal contribution|\bcorresponding author|\bwork (?:was )?done|\bgrants?\b"
    r"|\bfunded\b|\bsupported by\b|\blaborator",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class CardLine:
    """A passage of the paper and the section it stands in; ``id`` only where a reply can name it."""

    text: str
    section_id: str
    id: str = ""


def number_lines(paper: Paper) -> Iterator[CardLine]:
    """The measured numbers: of prose a line for each block, of a table a line for each row.

    A row whose columns have no names has those of the row above it.
    """
    about_people = {b.id for _, b in paper.blocks() if b.kind == "footnote" and _AFFILIATION.search(b.text)}
    told = (entry for entry in number_ledger(paper) if entry.subject or entry.symbol)
    said = (entry for entry in told if entry.block_id not in about_people and not _is_index(entry))
    columns: tuple[object, ...] = ()
    for _, numbers in groupby(said, key=lambda entry: (entry.block_id, entry.row)):
        together = list(numbers)
        if together[0].source == "prose":
            yield _numbers(together)
            continue
        heads = (together[0].block_id, *(entry.column_head for entry in together))
        yield _row(together, named=heads != columns)
        columns = heads


def _is_index(entry: LedgerEntry) -> bool:
    """Whether a number is where counting begins or ends (``i = 1``, ``G - 1``), which measures nothing."""
    return entry.source == "prose" and abs(entry.value) <= 1 and not entry.decimals and not entry.unit


def _numbers(entries: Sequence[LedgerEntry]) -> CardLine:
    """The numbers of one block, each with the words that are not of the one before."""
    shown: list[str] = []
    before: tuple[str, ...] = ()
    for entry in dict.fromkeys(entries):
        words = tuple(word for word in entry.subject.split() if word not in before)[:_NUMBER_WORDS]
        shown.append(f"{_printed(entry)} {' '.join(words)}".strip())
        before = tuple(entry.subject.split())
    return CardLine("; ".join(dict.fromkeys(shown)), entries[0].section_id)


def _row(entries: Sequence[LedgerEntry], *, named: bool) -> CardLine:
    """The numbers of one row under its head, and under their columns' heads where the row before had others."""
    head = " ".join(entries[0].row_head) or entries[0].subject.partition(" · ")[0]
    columns = (" ".join(e.column_head[-1:]) if named else "" for e in entries)
    numbers = " | ".join(f"{column} {_printed(e)}".strip() for column, e in zip(columns, entries, strict=True))
    return CardLine(f"{entries[0].table}, {head}: {numbers}".lstrip(", "), entries[0].section_id)


def _printed(entry: LedgerEntry) -> str:
    symbol = f"{entry.symbol} = " if entry.symbol else ""
    unit = "" if not entry.unit or entry.unit in entry.text or entry.source == "cell" else f" {entry.unit}"
    return f"{symbol}{entry.text}{unit}"


MOST_CLAIMS = 12
_LEAST_WORDS = 5
_HEAD_WORDS = 60

_LIST_CUE = re.compile(
    r"\bcontributions?\b|\bwe make the following\b|\bin summary, we\b|\bwe summari[sz]e", re.IGNORECASE
)
_ITEM = re.compile(
    r"(?:^|(?<=\s))(?:[•▪◦‣]|\((?:i{1,3}|iv|vi{0,3}|\d|[a-e])\)|[-*–](?=\s))\s*|(?:^|(?<=[.;:]\s))\d[.)]\s+(?=[A-Z])"
)
_CLAIMS = re.compile(
    r"\b(?:we|our|this (?:paper|work|study|article))\b|\b(?:results?|experiments?|evaluations?) (?:show|demonstrate"
    r"|indicate|suggest|confirm)|outperform|achiev|improv|state[- ]of[- ]the[- ]art|signific|\d\s?%|\d\s?percent",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r"\bwe (?:show|prove|propose|introduce|present|demonstrate|find|develop|establish|report)\b", re.IGNORECASE
)
_DEFINES = re.compile(
    r"\bwe (?:define|denote|call|refer to|assume)\b(?! on\b| for\b| upon\b)|\b(?:is|are) (?:called|referred to as)\b"
    r"|\b(?:is|are) defined (?:as|by|to)\b|\bdefined as\b|\bdenotes?\b|\b(?:it is|they) assume|\bassume that\b"
    r"|\bassuming that\b|\bunder the assumption",
    re.IGNORECASE,
)
_THEOREM = re.compile(r"^(?:Theorem|Lemma|Proposition|Corollary|Definition|Assumption|Conjecture|Claim)\s*[\dA-Z(:.]")
_LIMITS = re.compile(r"limitation|threats? to validity", re.IGNORECASE)


@dataclass(frozen=True)
class OutlineEntry:
    """A section of the outline and the part it is read in; null for what no part holds."""

    section_id: str
    heading: str
    level: int
    part_id: str | None
    words: int


@dataclass(frozen=True)
class Card:
    """What a reviewer of one section knows of the rest. Claims have the ids ``C1``, ``C2``, ...

    ``claims_from`` says where the claims were found: ``contributions``, ``abstract``, ``introduction`` or ``none``.
    """

    title: str
    abstract: str
    outline: tuple[OutlineEntry, ...]
    claims: tuple[CardLine, ...]
    claims_from: str
    definitions: tuple[CardLine, ...]
    captions: tuple[CardLine, ...]
    limitations: tuple[CardLine, ...]
    ledger: tuple[CardLine, ...]

    @property
    def claim_ids(self) -> tuple[str, ...]:
        """What a point can threaten."""
        return tuple(claim.id for claim in self.claims)


NO_CARD = Card("", "", (), (), "none", (), (), (), ())
"""The card of a reader who is to know nothing of the rest."""


def build_card(paper: Paper, parts: Sequence[Part] | None = None) -> Card:
    """Collect the card of a paper, without any call.

    Args:
        paper: The submission. Front matter, acknowledgements, references and footnotes about affiliations never enter.
        parts: The parts it is read in, by default ``content_parts(paper)``.

    Returns:
        The card; each group is empty where the paper has nothing of the kind.
    """
    held = {section: part.id for part in parts or content_parts(paper) for section in part.section_ids}
    claims, source = _claims(paper)
    return Card(
        title=paper.title,
        abstract=paper.abstract,
        outline=tuple(_entry(section, held.get(section.id)) for section in paper.content if section.role != "abstract"),
        claims=tuple(CardLine(c.text, c.section_id, f"C{n}") for n, c in enumerate(claims[:MOST_CLAIMS], start=1)),
        claims_from=source,
        definitions=tuple(dict.fromkeys(_definitions(paper))),
        captions=tuple(CardLine(b.text, s.id) for s in paper.content for b in s.blocks if b.kind == "caption"),
        limitations=tuple(_limitations(paper)),
        ledger=tuple(number_lines(paper)),
    )


def render_card(card: Card, room_tokens: int, count: CountTokens) -> str:
    """The card as text of at most ``room_tokens``; it is the paper's own text, so whoever sends it delimits it.

    What does not fit goes from the end: ledger lines first, then captions, definitions, limitations, outline, and
    last the abstract's sentences. Title and claims stay. The card says what was left out.

    Raises:
        ContextTooLong: Title and claims alone do not fit.
    """
    groups = _groups(card)
    kept = [len(lines) for _, lines in groups]
    if count(_rendered(card, groups, kept)) <= room_tokens:
        return _rendered(card, groups, kept)
    for index in reversed(range(len(groups))):
        low, high = 0, kept[index]
        while low < high:
            middle = (low + high + 1) // 2
            kept[index] = middle
            if count(_rendered(card, groups, kept)) <= room_tokens:
                low = middle
            else:
                high = middle - 1
        kept[index] = low
        text = _rendered(card, groups, kept)
        if count(text) <= room_tokens:
            return text
    raise ContextTooLong(
        f"only {max(room_tokens, 0):,} tokens are left for the paper's card; its title and claims need more.",
        hint="Use a model with a longer context, or set models.context_tokens to what it really has.",
    )


_Group = tuple[str, tuple[str, ...]]


def _groups(card: Card) -> list[_Group]:
    """What can be left out, the last first."""
    return [
        ("Abstract", tuple(" ".join(s.split()) for s in split_sentences(card.abstract))),
        ("Outline (section, part it is read in, words)", tuple(map(_outline_line, card.outline))),
        ("Limitations the authors state", tuple(map(_line, card.limitations))),
        ("Definitions and assumptions", tuple(map(_line, card.definitions))),
        ("Captions", tuple(map(_line, card.captions))),
        (
            "Numbers (as printed, of what, where; table rows without columns have those of the row above)",
            tuple(map(_line, card.ledger)),
        ),
    ]


def _rendered(card: Card, groups: Sequence[_Group], kept: Sequence[int]) -> str:
    blocks = [f"Title: {card.title}" if card.title else "(none)"]
    if card.claims:
        blocks.append("\n".join(["Claims of the paper:", *(f"[{c.id}] {_line(c)}" for c in card.claims)]))
    missing: list[str] = []
    for (name, lines), shown in zip(groups, kept, strict=True):
        if shown:
            blocks.append("\n".join([f"{name}:", *lines[:shown]]))
        if shown < len(lines):
            missing.append(f"{len(lines) - shown} of {len(lines)} {name.partition(' ')[0].lower()}")
    if missing:
        blocks.append(f"[no room for: {', '.join(missing)} lines]")
    return "\n\n".join(blocks)


def _line(line: CardLine) -> str:
    return f"{' '.join(line.text.split())} ({line.section_id})"


def _outline_line(entry: OutlineEntry) -> str:
    return (
        f"{'  ' * (entry.level - 1)}{entry.section_id} {entry.heading} ({entry.part_id or 'not read'}, {entry.words})"
    )


def _entry(section: Section, part_id: str | None) -> OutlineEntry:
    heading = f"{section.number or ''} {section.heading}".strip()
    return OutlineEntry(section.id, heading, section.level, part_id, len(section.text.split()))


def _claims(paper: Paper) -> tuple[list[CardLine], str]:
    """A list of contributions, else what the abstract claims, else what the introduction says was done."""
    if listed := _contributions(paper):
        return listed, "contributions"
    home = next((section.id for section in paper.sections if section.role == "abstract"), "")
    sentences = [s for s in split_sentences(paper.abstract) if len(s.split()) >= _LEAST_WORDS]
    claiming = [s for s in sentences if _CLAIMS.search(s)] or sentences
    if claiming:
        return [CardLine(sentence, home) for sentence in claiming], "abstract"
    first = next((part for part in content_parts(paper) if part.type == "introduction"), None)
    for section in first.pieces if first else ():
        found = [s for b in _prose(section) for s in split_sentences(b.text) if _INTRODUCED.search(s)]
        if found:
            return [CardLine(sentence, section.id) for sentence in found], "introduction"
    return [], "none"


def _contributions(paper: Paper) -> list[CardLine]:
    for section in paper.sections:
        if section.role != "content":
            continue
        blocks = [block for block in section.blocks if block.kind in ("paragraph", "list")]
        for index, block in enumerate(blocks):
            tail = (split_sentences(block.text) or [""])[-1]
            if _LIST_CUE.search(tail) and (tail.rstrip().endswith(":") or _LIST_CUE.search(tail[-80:])):
                items = [item for follower in _list_after(blocks[index + 1 :]) for item in _items(follower.text)]
                if items:
                    return [CardLine(item, section.id) for item in items]
            inline = _inline(block.text)
            if len(inline) > 1:
                return [CardLine(item, section.id) for item in inline]
    return []


def _list_after(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks of a list, whether the reader of the file knew it for a list or not."""
    for block in blocks:
        if block.kind != "list" and not _ITEM.match(block.text):
            return
        yield block


def _items(text: str) -> list[str]:
    items = [" ".join(item.split()).strip(" ;") for item in _ITEM.split(text)]
    return [item for item in items if len(item.split()) >= 3]


def _inline(text: str) -> list[str]:
    """Items counted within the sentences that follow the word contributions."""
    cue = re.search(r"\bcontributions?\b[^.]{0,60}(?:are|is|:|follow)", text, re.IGNORECASE)
    marks = list(_ITEM.finditer(text, cue.end())) if cue is not None else []
    return _items(text[marks[0].start() :]) if len(marks) > 1 else []


def _prose(section: Section) -> Iterator[Block]:
    return (block for block in section.blocks if block.kind in ("paragraph", "list"))


def _definitions(paper: Paper) -> Iterator[CardLine]:
    for section in paper.content:
        if section.role == "abstract":
            continue
        following = zip(section.blocks, section.blocks[1:], strict=False)
        formulas = {block.id: after for block, after in following if after.kind == "equation"}
        for block in _prose(section):
            if _THEOREM.match(block.text):
                words = block.text.split()
                yield CardLine(
                    " ".join(words[:_HEAD_WORDS]) + (" [...]" if len(words) > _HEAD_WORDS else ""), section.id
                )
                continue
            for sentence in split_sentences(block.text):
                if _DEFINES.search(sentence):
                    yield CardLine(sentence + _shown_by(sentence, formulas.get(block.id)), section.id)


def _shown_by(sentence: str, formula: Block | None) -> str:
    """The equation that a sentence ends in."""
    return f" {formula.text}" if formula is not None and sentence.endswith(":") else ""


def _limitations(paper: Paper) -> Iterator[CardLine]:
    """The limitations section in its own words; else sentences that name a limitation."""
    named = [section for section in paper.content if _LIMITS.search(section.heading)]
    if named:
        yield from (CardLine(sentence, s.id) for s in named for b in _prose(s) for sentence in split_sentences(b.text))
        return
    for section in paper.content:
        for block in _prose(section):
            yield from (
                CardLine(s, section.id) for s in split_sentences(block.text) if re.search(r"\blimitation", s, re.I)
            )
