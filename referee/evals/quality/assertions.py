"""How many separate things a review says that are right and that matter, with the paper before the judge.

The review is cut into assertions, and each gets a label: ``decides``, ``material``, ``small``, or ``false``, which
holds misleading ones too. The value is the number of different assertions that decide or are material; 0 or more,
higher is better. What is said twice counts once, at its first place. A ``false`` needs words of the paper that refute
it and that code finds there; without them the assertion is ``undecided``, and counts neither as right nor as false.

The number and no share is the value: strong reviews have about the same shares, and the shortest the highest. By
language models' labels of the planted papers, the review that a model preferred has the higher number in 12 of 15
decided pairs as author and 9 as chair, and more for its length in 7 and 7 (``benchmarks/assertions_validity.py``).
``parts`` hold the shares.

Source: the labels of this package's planted reviews, made by language models. Judges cut for themselves, so their
counts are compared and not their assertions; several judges or repeats: the mean of their numbers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel

from referee.agents.asking import tokens_left
from referee.agents.assertion_judge import (
    PAPER_PROMPT,
    PROMPT,
    SENTENCES,
    Label,
    assertion_tokens,
    assertions_model,
    render_assertions,
    sentences_in,
    share_judged_paper,
    share_passages,
)
from referee.agents.point_splitter import number_sentences, restated
from referee.agents.questions import ShownPassage
from referee.evals.judging import JudgeReply, Panel, total_usage
from referee.evals.metric import LEFT_OUT, Better, Context, Known, Load, Need, Quantity, Range, failed, not_applicable
from referee.evals.quality.judged import (
    NO_JUDGE,
    NO_TEXT,
    Outcome,
    Reading,
    answered,
    judge_score,
    no_room,
    nobody_answered,
    over_judges,
    rescored,
    result,
    rough_tokens,
)
from referee.evidence import NotFound, QuotationIndex
from referee.graphs.factuality.search import passages_about
from referee.llm.models import Model
from referee.prompts import RenderedPrompt
from referee.retrieval import Chunks, cut_paper
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut
from referee.schemas.point import Quotation

Counted = Literal["decides", "material", "small", "false", "undecided", "repeated"]
MATERIAL: tuple[Counted, ...] = ("decides", "material")
FIRST = 10
MOST_SENTENCES = 400
"""Of a longer review the rest is not judged, and ``left_out`` says how much."""

_LABELS: tuple[Counted, ...] = (*MATERIAL, "small", "false", "undecided", "repeated")
_PAPER_TOKENS, _PROMPT_TOKENS = 12_000, 1_300
# Of a window too small for the paper: a third for its passages, a third for the reply.
_SHARE = 3


class Assertion(Stored):
    """One assertion: the review's sentences, what was said of it, and the paper's words that were found.

    ``repeats`` is an earlier sentence that says the same. ``quotation`` is null where no words were given or they are
    not in the paper, which ``lost`` then holds with the reason.
    """

    sentences: tuple[str, ...]
    statement: str
    note: str = ""
    repeats: str = ""
    label: Label
    reason: str = ""
    quotation: Quotation | None = None
    lost: str = ""

    @property
    def counted(self) -> Counted:
        """What it counts as."""
        if self.repeats:
            return "repeated"
        return "undecided" if self.label == "false" and self.quotation is None else self.label


class AssertionReading(Reading):
    """One judge's assertions in the review's order, and the sentences of which it made none."""

    assertions: tuple[Assertion, ...] = ()
    unused: tuple[str, ...] = ()


class Assertions(Stored):
    """What a result of this metric keeps and is computed from.

    ``words`` is the review's length; ``shown`` what of the paper the judge saw, and ``paper_cut`` how much of it the
    passages of all calls come to, null where it saw all of it.
    """

    words: int
    sentences: dict[str, str]
    left_out: int = 0
    shown: Literal["whole", "passages"] = "whole"
    paper_cut: PaperCut | None = None
    readings: tuple[AssertionReading, ...]


class AssertionCount(Quantity):
    """The metric ``assertions``."""

    name = "assertions"
    version = "2"  # per 1,000 words of what was judged
    about = "different things it says that are right and material"
    unit = "assertions"
    range: Range = (0.0, None)
    better: Better = "higher"
    needs: frozenset[Need] = frozenset({"paper", "judge"})
    prompts = (PAPER_PROMPT, PROMPT)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Have all sentences judged in parts, side by side; one call a part, judge and repeat.

        Raises:
            BudgetExceeded: A call could pass a limit.
        """
        if not case.text.strip():
            return not_applicable(self, case, NO_TEXT)
        if context.panel is None:
            return not_applicable(self, case, NO_JUDGE)
        if context.paper is None:
            return not_applicable(self, case, "the paper is not here; name its folder or file with --papers")
        sentences = number_sentences(case.text)
        kept = dict(list(sentences.items())[:MOST_SENTENCES])
        asked = await asyncio.to_thread(_asked, kept, context.paper, context.panel)
        if not asked.parts:
            return failed(self, case, no_room(context.panel))
        unit = f"{self.name} of {case.case_id}"
        said = await asyncio.gather(
            *(
                context.panel.ask(part.prompt, part.reply, max_output_tokens=part.most_out, unit=unit)
                for part in asked.parts
            )
        )
        index = await asyncio.to_thread(QuotationIndex, context.paper)
        details = {
            "words": sum(len(sentence.split()) for sentence in kept.values()),
            "sentences": kept,
            "left_out": len(sentences) - len(kept),
            LEFT_OUT: {f"sentences beyond the first {MOST_SENTENCES}": len(sentences) - len(kept)},
            "shown": asked.shown,
            "paper_cut": asked.cut.model_dump(mode="json") if asked.cut else None,
            "readings": [_reading(own, kept, index) for own in zip(*said, strict=True)],
        }
        usage = total_usage([one for own in said for one in own])
        return result(self, case, outcome_of(Assertions.model_validate(details)), details, usage)

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored assertions."""
        return rescored(self, stored, Assertions, outcome_of)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One judged call for each part of the review, with a paper of usual length."""
        sentences = min(MOST_SENTENCES, len(number_sentences(case.text)))
        room = known.judge.context_tokens // _SHARE if known.judge else _PAPER_TOKENS
        part = max(1, min(SENTENCES, sentences_in(room)))
        return Load(
            judged=-(-sentences // part),
            input_tokens=min(_PAPER_TOKENS, room) + _PROMPT_TOKENS + rough_tokens(case.text),
            output_tokens=assertion_tokens(min(part, sentences)) // 2,
        )


METRIC = AssertionCount()


def outcome_of(details: Assertions) -> Outcome:
    """What follows from the stored assertions of all judges.

    ``parts``: how many different assertions there are (``different``), decide, are material, small, false, undecided;
    how many repeat one (``repeated``); ``first_ten``, the share of deciding and material ones among the first ten;
    ``share_false``, over all different ones; ``per_1000_words``, the value over the length of what was judged.
    """
    readings = details.readings
    numbers = {id(reading): numbers_of(reading.assertions, details.words) for reading in answered(readings)}
    judges = tuple(
        judge_score(reading, (numbers.get(id(reading)) or {}).get("value"), "" if reading.assertions else _NONE)
        for reading in readings
    )
    if not numbers:
        return nobody_answered(readings)
    counted = [(reading.judge, numbers[id(reading)]) for reading in answered(readings) if reading.assertions]
    if not counted:
        return Outcome("not_applicable", reason=_NONE, judges=judges)
    parts: dict[str, float | None] = {
        name: over_judges([(judge, own[name]) for judge, own in counted]) for name in counted[0][1] if name != "value"
    }
    value = over_judges([(judge, own["value"]) for judge, own in counted])
    return Outcome("scored", value, parts=parts, judges=judges)


def numbers_of(assertions: Sequence[Assertion], words: int) -> dict[str, float]:
    """The value and the parts of one reading; empty where it has no assertion."""
    counted = [one.counted for one in assertions]
    different = [one for one in counted if one != "repeated"]
    if not different:
        return {}
    held = Counter(counted)
    right = held["decides"] + held["material"]
    first = different[:FIRST]
    return {
        "value": float(right),
        "different": float(len(different)),
        **{label: float(held[label]) for label in _LABELS},
        "first_ten": sum(one in MATERIAL for one in first) / len(first),
        "share_false": held["false"] / len(different),
        "per_1000_words": 1_000 * right / words,
    }


_NONE = "the judge made no assertion of the review's sentences"


@dataclass(frozen=True)
class _Part:
    """One call: some sentences of the review behind the paper."""

    prompt: RenderedPrompt
    reply: type[BaseModel]
    most_out: int


@dataclass(frozen=True)
class _Asked:
    """All calls about a review, and what of the paper they show; no calls where none fits the judges' window."""

    parts: tuple[_Part, ...]
    shown: Literal["whole", "passages"] = "whole"
    cut: PaperCut | None = None


def _asked(sentences: Mapping[str, str], paper: Paper, panel: Panel) -> _Asked:
    """The calls about a review: behind the whole paper where every judge's window holds it, else behind passages."""
    model = min((panel.door.models[role] for role in panel.judges), key=lambda one: one.context_tokens)
    whole = share_judged_paper(paper)
    for size in (SENTENCES, SENTENCES // 2, SENTENCES // 4):
        if parts := _parts(sentences, size, lambda _: whole, model):
            return _Asked(parts)
    room = model.context_tokens // _SHARE
    chunks = cut_paper(paper, model.count)
    size = min(SENTENCES, sentences_in(room))

    shown: dict[str, ShownPassage] = {}

    def beginning(text: str) -> RenderedPrompt:
        found = passages_about(text, paper, chunks, room)
        shown.update((one.id, one) for one in found)
        return share_passages(paper, found)

    parts = _parts(sentences, size, beginning, model)
    return _Asked(parts, "passages", _cut(paper, chunks, shown, model))


def _cut(paper: Paper, chunks: Chunks, shown: Mapping[str, ShownPassage], model: Model) -> PaperCut | None:
    """How much of the paper stands in passages that were shown; None for all of it."""
    body = {section.id for section in paper.content if section.role != "appendix"}
    kept: Counter[str] = Counter()
    total: Counter[str] = Counter()
    headings: dict[str, str] = {}
    for parent in chunks.parents:
        total[parent.section_id] += model.count(parent.text)
        headings[parent.section_id] = parent.heading
        if parent.id in shown:
            kept[parent.section_id] += model.count(parent.text)
    for child in chunks.children:
        if child.id in shown and child.parent_id not in shown:
            kept[child.section_id] += model.count(child.text)
    kept = Counter({one: min(kept[one], total[one]) for one in total})  # what is counted in pieces can come to more
    if not total or kept == total:
        return None
    return PaperCut(
        tokens_kept=kept.total(),
        tokens_total=total.total(),
        body_kept=sum(kept[one] for one in body),
        body_total=sum(total[one] for one in body),
        sections=tuple(headings[one] for one in total if kept[one] < total[one]),
    )


def _parts(
    sentences: Mapping[str, str], size: int, beginning: Callable[[str], RenderedPrompt], model: Model
) -> tuple[_Part, ...]:
    """The review in parts of so many sentences; none where one of them does not fit the window."""
    names = list(sentences)
    parts = []
    for start in range(0, len(names), size) if size > 0 else ():
        judged = {name: sentences[name] for name in names[start : start + size]}
        part = _fitting(judged, names[:start], sentences, beginning(" ".join(judged.values())), model)
        if part is None:
            return ()
        parts.append(part)
    return tuple(parts)


def _fitting(
    judged: Mapping[str, str], earlier: Sequence[str], sentences: Mapping[str, str], paper: RenderedPrompt, model: Model
) -> _Part | None:
    """One part with as many of the sentences before it as the window holds."""
    most_out = assertion_tokens(len(judged))
    while True:
        before = {name: sentences[name] for name in earlier}
        prompt, reply = render_assertions(judged, before, paper), assertions_model(tuple(judged), tuple(before))
        shown = replace(prompt, user=prompt.prefix + prompt.user)
        if tokens_left(shown, reply, most_out, model.context_tokens, model.count) >= 0:
            return _Part(prompt, reply, most_out)
        if not earlier:
            return None
        earlier = earlier[(len(earlier) + 1) // 2 :]


def _reading(
    own: Sequence[JudgeReply[BaseModel]], sentences: Mapping[str, str], index: QuotationIndex
) -> dict[str, Any]:
    """One judge's replies to all parts in one repeat; a part without a usable reply leaves none of the others."""
    error = "; ".join(dict.fromkeys(one.error for one in own if one.value is None))
    read: list[Assertion] = []
    if not error:
        items = [item for one in own if one.value is not None for item in one.value.model_dump()["assertions"]]
        read = _in_order([_read(item, sentences, index) for item in items], sentences)
    used = {name for one in read for name in one.sentences}
    reading = AssertionReading(
        judge=own[0].judge,
        repeat=own[0].repeat,
        calls=tuple(one.call_id for one in own if one.call_id),
        error=error,
        assertions=tuple(read),
        unused=() if error else tuple(name for name in sentences if name not in used),
    )
    return reading.model_dump(mode="json")


def _read(item: Mapping[str, Any], sentences: Mapping[str, str], index: QuotationIndex) -> Assertion:
    order = {name: place for place, name in enumerate(sentences)}
    named = tuple(sorted(set(item["sentences"]), key=order.__getitem__))
    said, note = restated(item["statement"], " ".join(sentences[name] for name in named))
    found = _looked_up(item["words"], index)
    return Assertion(
        sentences=named,
        statement=said,
        note=note,
        repeats=item["repeats"],
        label=item["label"],
        reason=" ".join(item["reason"].split()),
        quotation=found if isinstance(found, Quotation) else None,
        lost=f"“{' '.join(item['words'].split())}”: {found.reason}" if isinstance(found, NotFound) else "",
    )


def _looked_up(words: str, index: QuotationIndex) -> Quotation | NotFound | None:
    """The paper's words where they are in it; None where none were given."""
    return (index.equation(words) or index.find(words)) if words.strip() else None


def _in_order(read: Sequence[Assertion], sentences: Mapping[str, str]) -> list[Assertion]:
    """In the review's order; what repeats nothing that an assertion was made of before it stands for itself.

    The first place of what is said twice is thus always the one that counts.
    """
    order = {name: place for place, name in enumerate(sentences)}
    ordered = sorted(read, key=lambda one: order[one.sentences[0]])
    kept: list[Assertion] = []
    said: set[str] = set()
    for one in ordered:
        earlier = order.get(one.repeats, len(order)) < order[one.sentences[0]] and one.repeats in said
        kept.append(one if earlier or not one.repeats else one.model_copy(update={"repeats": ""}))
        said.update(one.sentences)
    return kept
