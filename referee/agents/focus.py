"""The parts that are read line by line with the whole paper in view, each with a lens for its kind and its questions.

A part is a list of sections: its reader sees the whole paper anyway. Appendices are parts of their own; parts of few
words are joined; long ones are cut between sections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.agents.asking import CountTokens
from referee.agents.part_types import guess_type
from referee.errors import ContextTooLong
from referee.schemas.paper import Paper, Section
from referee.venues.prompts import ANY, QUOTES, SectionPrompt, SectionType, general_prompts

FocusKind = Literal["frame", "related", "method", "experiments", "appendix"]

JOINED_WORDS = 600
LONG_WORDS = 3_000
MOST_PARTS = 8

# Below a section of the first type, a heading of the second one is believed.
_OWN_KIND_STANDS = frozenset({("related", "theory"), ("related", "method")})
_KIND_OF: dict[SectionType, FocusKind] = {
    "introduction": "frame",
    "conclusion": "frame",
    "discussion": "frame",
    "limitations": "frame",
    "related": "related",
    "method": "method",
    "theory": "method",
    "other": "experiments",
    "experiments": "experiments",
    "results": "experiments",
}
_TYPES_OF: dict[FocusKind, frozenset[SectionType]] = {
    "frame": frozenset({"introduction", "conclusion", "discussion", "limitations"}),
    "related": frozenset({"related"}),
    "method": frozenset({"method", "theory"}),
    "experiments": frozenset({"experiments", "results", "other"}),
    "appendix": frozenset({"method", "theory", "experiments", "results"}),
}
LENSES: dict[FocusKind, str] = {
    "frame": (
        "Here the paper says what it has shown. Hold each such sentence against the table, figure, proof or test that "
        "should carry it: the number, the direction, the conditions, the scope; what was measured and what is "
        "concluded; what is promised and what is delivered."
    ),
    "related": (
        "Ask what is new here and against which work; whether each cited work is described as the rest of the paper "
        "and its title suggest; which of the cited works should have been compared with and was not."
    ),
    "method": (
        "Derive again what is derived: indices, signs, norms, expectations, limits of sums, conditions, units, "
        "dimensions; whether each symbol and term keeps its meaning; whether steps, settings, doses, counts and order "
        "are the same in the algorithm, the text, the captions, the experiments and the appendix; what a reader would "
        "need to repeat the work and does not find."
    ),
    "experiments": (
        "Recompute what can be recomputed: differences, ratios, totals, shares, degrees of freedom, intervals, p "
        "values, counts of groups and samples. Hold each sentence about a result against its row, figure or test: the "
        "number, the direction, the subset, the condition. Ask what else could explain the result (confounding, "
        "selection, leakage, tuning, multiplicity, chance), which control is missing, whether the comparison is fair, "
        "and whether the conclusion is wider than the data."
    ),
    "appendix": (
        "Proofs, details and further results are rarely read, and what is wrong there decides as much: each step of a "
        "proof, each setting and number against the main text that rests on it, each result against the claim that "
        "points to it."
    ),
}


@dataclass(frozen=True)
class FocusPart:
    """Sections that one reader goes through line by line."""

    id: str
    kind: FocusKind
    sections: tuple[Section, ...]

    @property
    def words(self) -> int:
        """How many words they have."""
        return sum(_words(section) for section in self.sections)

    @property
    def name(self) -> str:
        """Its ids and headings, as a prompt names it."""
        return "; ".join(f"[{section.id}] {section.heading}" for section in self.sections)


def focus_parts(paper: Paper, kinds: Iterable[FocusKind] | None = None) -> tuple[FocusPart, ...]:
    """The parts of a paper, ``F1``, ``F2``, ... in reading order within their kinds.

    Abstract, introduction, discussion and conclusion are read together, as what the paper says of itself; related work,
    method with theory, and experiments with results apart; appendices by themselves. A kind of fewer than
    ``JOINED_WORDS`` words joins the one it belongs to most, and one of more than ``LONG_WORDS`` is cut between sections
    into pieces of about equal length.

    Args:
        paper: The submission.
        kinds: Only parts of these kinds; all by default.
    """
    sorted_: dict[FocusKind, list[Section]] = {kind: [] for kind in LENSES}
    for section, kind in _kinds(paper):
        sorted_[kind].append(section)
    _join_small(sorted_)
    longest = max(LONG_WORDS, -(-sum(map(_words, paper.content)) // MOST_PARTS))
    pieces = [(kind, piece) for kind, sections in sorted_.items() for piece in _pieces(sections, longest)]
    wanted = set(LENSES if kinds is None else kinds)
    chosen = [(kind, piece) for kind, piece in pieces if kind in wanted] or pieces[:1]
    return tuple(FocusPart(f"F{number}", kind, piece) for number, (kind, piece) in enumerate(chosen, start=1))


@dataclass(frozen=True)
class Question:
    """What a reader is asked to look at for a criterion, or for several of the same words and steps.

    ``criteria`` are their ids, none for general guidance. ``text`` is the criterion's own text; guidance has its first
    step there.
    """

    criteria: tuple[str, ...]
    text: str
    steps: tuple[str, ...] = ()

    def render(self, most_steps: int) -> str:
        """The ids in brackets, the text, and the first steps, in one line."""
        named = f"[{', '.join(self.criteria)}] " if self.criteria else ""
        return f"- {named}{' '.join((self.text, *self.steps[:most_steps]))}"


@dataclass(frozen=True)
class AskedQuestions:
    """Questions as a prompt shows them; ``shortened`` are the criteria of which steps were left out to make them fit.

    ``steps`` is how many steps were kept of these. ``tokens`` counts the text.
    """

    text: str
    tokens: int
    criteria: tuple[str, ...]
    shortened: tuple[str, ...] = ()
    steps: int = 0


def part_questions(part: FocusPart, prompts: Sequence[SectionPrompt]) -> tuple[Question, ...]:
    """What the venue's guidelines ask of a part; general guidance where none of them concerns it."""
    return _questions([prompt for prompt in prompts if _concerns(prompt, _TYPES_OF[part.kind])])


def paper_questions(prompts: Sequence[SectionPrompt]) -> tuple[Question, ...]:
    """All that the venue's guidelines ask of a paper: no criterion depends on which sections it has."""
    return _questions([prompt for prompt in prompts if not prompt.is_about_the_review])


def ask_questions(questions: Sequence[Question], room: int, count: CountTokens) -> AskedQuestions:
    """Questions one a line, within a number of tokens: with all steps, else of each with as many as fit.

    No question is ever left out.

    Raises:
        ContextTooLong: They do not fit even without steps.
    """
    criteria = tuple(name for question in questions for name in question.criteria)
    most = max((len(question.steps) for question in questions), default=0)
    for kept in range(most, -1, -1):
        text = "\n".join(question.render(kept) for question in questions)
        if (needed := count(text)) <= room:
            cut = tuple(name for q in questions if len(q.steps) > kept for name in q.criteria)
            return AskedQuestions(text, needed, criteria, cut, kept)
    raise ContextTooLong(
        f"the venue's {len(criteria)} criteria take {needed:,} tokens without any steps, and the model's context has "
        f"room for {max(room, 0):,} beside the paper.",
        hint="Use a model with a longer context, set models.context_tokens to what it really has, or take criteria "
        "out of the venue's file.",
    )


def _questions(prompts: Sequence[SectionPrompt]) -> tuple[Question, ...]:
    """One question for each guideline; those of the same text and steps, whatever their case and spaces, are one."""
    merged: dict[tuple[str, ...], Question] = {}
    for prompt in prompts or general_prompts():
        steps = tuple(step for step in prompt.steps if step != f"{QUOTES}{prompt.text}")
        lines = [" ".join(line.split()) for line in (prompt.text, *steps) if line.strip()] or [prompt.guideline_id]
        key = tuple(line.casefold() for line in lines)
        known = merged.get(key, Question((), lines[0], tuple(lines[1:])))
        own = (prompt.guideline_id,) if prompts else ()
        merged[key] = Question((*known.criteria, *own), known.text, known.steps)
    return tuple(merged.values())


def _concerns(prompt: SectionPrompt, types: frozenset[SectionType]) -> bool:
    if prompt.is_about_the_review:
        return False
    return not prompt.section_types or ANY in prompt.section_types or not types.isdisjoint(prompt.section_types)


def _kinds(paper: Paper) -> Iterable[tuple[Section, FocusKind]]:
    """Each section that is read with its kind: its heading's own, else that of the section it stands under."""
    above: dict[int, SectionType] = {}
    for section in paper.content:
        own = guess_type(section.heading)
        nothing: SectionType = "other"
        above = {level: kind for level, kind in above.items() if level < section.level}
        inherited = next((above[level] for level in sorted(above, reverse=True) if above[level] != "other"), nothing)
        kind = own if inherited == "other" or (inherited, own) in _OWN_KIND_STANDS else inherited
        above[section.level] = kind
        if section.role == "abstract":
            yield section, "frame"
        elif section.role == "appendix":
            yield section, "appendix"
        else:
            yield section, _KIND_OF[kind]


_JOINS: Mapping[FocusKind, tuple[FocusKind, ...]] = {
    "related": ("frame", "method", "experiments"),
    "appendix": ("method", "experiments", "frame"),
    "method": ("experiments", "frame"),
    "experiments": ("method", "frame"),
    "frame": ("experiments", "method"),
}


def _join_small(sorted_: dict[FocusKind, list[Section]]) -> None:
    for kind, targets in _JOINS.items():
        if 0 < sum(map(_words, sorted_[kind])) < JOINED_WORDS:
            target = next((other for other in targets if sorted_[other]), None)
            if target is not None:
                sorted_[target] += sorted_[kind]
                sorted_[kind] = []


def _pieces(sections: Sequence[Section], longest: int) -> list[tuple[Section, ...]]:
    """Sections cut into as few pieces as are needed, of about equal length; a section is never cut."""
    held = [section for section in sections if section.blocks]
    total = sum(map(_words, held))
    if total == 0:
        return []
    share = total / -(-total // longest)
    pieces: list[list[Section]] = [[]]
    words = 0.0
    for section in held:
        if pieces[-1] and words + _words(section) / 2 > share * len(pieces):
            pieces.append([])
        pieces[-1].append(section)
        words += _words(section)
    return [tuple(piece) for piece in pieces]


def shortened(text: str, most: int) -> str:
    """The text, or its beginning up to a word's end with a mark."""
    return text if len(text) <= most else f"{text[:most].rsplit(None, 1)[0]} …"


def _words(section: Section) -> int:
    return sum(len(block.text.split()) for block in section.blocks)
