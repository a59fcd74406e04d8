"""One call: the form, the guidelines and the whole paper in, every field of the form out.

What tells reviewers apart who read the same paper: members of an ensemble follow The AI Scientist (Lu et al. 2024,
2408.06292), which tells them apart by sampling alone; where a model is asked at temperature 0, ours differ in where
they begin. The four personas are those that the benchmark of machine-written reviews names; the words are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as default
from typing import Literal, get_args

from pydantic import BaseModel

from referee.agents.asking import Asks, CountTokens, tokens_left
from referee.agents.briefing import Briefing, fit_paper, how_read
from referee.agents.form_reply import (
    CORRECTIONS,
    FormValues,
    Lengths,
    lengths_for,
    output_tokens,
    reply_model,
    slugs_of,
    sorted_values,
)
from referee.evidence import ClaimedQuote, worked_examples
from referee.evidence.sentences import without_broken_end
from referee.llm.door import Answer
from referee.prompts import Prompt, RenderedPrompt, load_prompt
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut
from referee.schemas.point import Correction
from referee.schemas.review import Cut
from referee.schemas.venue import VenueForm
from referee.venues import render_form, render_guidelines

Persona = Literal["balanced", "conservative", "innovative", "nitpicky"]
PERSONAS: tuple[Persona, ...] = get_args(Persona)

_BEGINNINGS = (
    "Begin with the claims: take them one by one and look for what shows each of them.",
    "Begin with the method and the design: would it show a difference if there were none, and find it if there is one?",
    "Begin with the results: numbers, tables, spreads and baselines, and whether the text says what they say.",
    "Begin with what somebody else would need to repeat the work, and with what the authors concede or leave out.",
    "Begin with the question itself: for whom the answer matters, how far it reaches, how clearly it is told.",
)
_SAME = "Write as if yours were the only review."

_MANNERS: dict[Persona, str] = {
    "balanced": "You weigh merits against defects, give both the same care, and let neither stand without the passage "
    "it rests on. Small slips stay small, and a good idea does not excuse a missing control.",
    "conservative": "You trust established methods, strict controls and full comparisons. A claim is not accepted "
    "before the evidence leaves no other reading; what departs from common practice has to be justified.",
    "innovative": "You look for the new idea and for what could grow from it. You forgive gaps in execution where the "
    "direction is promising, and you are hard on work that is solid but adds little.",
    "nitpicky": "You check details: notation, definitions, captions, units, rounding, wording, references between "
    "parts. You list every slip you can show, also where it changes no conclusion.",
}


def member_stance(number: int, size: int, *, sampled: bool) -> str:
    """What a member of an ensemble is told about itself.

    Args:
        number: From 1.
        size: How many members there are.
        sampled: Whether the model samples; members then share their prompt, and differ by sampling alone.
    """
    if sampled:
        return _SAME
    beginning = _BEGINNINGS[(number - 1) % len(_BEGINNINGS)]
    return f"You are reviewer {number} of {size}. {beginning} Then read all the rest with the same care. {_SAME}"


def persona_text(persona: Persona) -> str:
    """The manner of a persona, for a prompt."""
    return f"A {persona} reviewer. {_MANNERS[persona]}"


PROMPT = "review/single"
BRIEF_PROMPT = "review/single-brief"
ROLE = "writer"
WORDS = 1_500
"""Length of a review beside its corrections, about; what weighs least is shortened for it."""


@dataclass(frozen=True)
class Variation:
    """Another prompt for the same form, reply and paper: what research strategies and members of an ensemble differ in.

    ``prompt`` and ``brief_prompt`` take the inputs of ``review/single`` and those named in ``inputs``; ``sample`` tells
    calls apart that are otherwise the same. ``steps`` are what a reviewer does for a guideline, by the guideline's id.
    """

    prompt: str = PROMPT
    brief_prompt: str = BRIEF_PROMPT
    inputs: Mapping[str, str] = default(default_factory=dict)
    sample: int = 0
    steps: Mapping[str, tuple[str, ...]] = default(default_factory=dict)

    @property
    def corrects(self) -> bool:
        """Whether its prompt asks for corrections beside the form."""
        return self.prompt == PROMPT


PLAIN = Variation()


class SingleReply(FormValues):
    """The reply in the form's own names: evidence with claims, values, and what is to be corrected."""

    evidence: tuple[ClaimedQuote, ...]
    cut: PaperCut | None = None
    cuts: tuple[Cut, ...] = ()
    notes: tuple[str, ...] = ()
    call_id: str
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True)
class SingleQuestion:
    """What one reviewer is asked: the prompt, the reply's model, its longest length and bounds, and the paper shown."""

    prompt: RenderedPrompt
    reply: type[BaseModel]
    most_out: int
    briefing: Briefing
    lengths: Lengths


async def write_single_review(
    paper: Paper,
    form: VenueForm,
    *,
    door: Asks,
    context_tokens: int,
    count: CountTokens,
    reading_tokens: int | None = None,
    lengths: Lengths | None = None,
    variation: Variation = PLAIN,
) -> SingleReply:
    """Fill the form in one call; arguments beside ``door``, who answers, as of ``single_question``.

    Raises:
        ContextTooLong: The form alone fills the context.
        ModelError: The model did not answer validly.
    """
    question = single_question(
        paper,
        form,
        context_tokens=context_tokens,
        count=count,
        reading_tokens=reading_tokens,
        lengths=lengths,
        variation=variation,
    )
    answer = await door.ask(
        question.prompt,
        question.reply,
        role=ROLE,
        max_output_tokens=question.most_out,
        sample=variation.sample,
    )
    return _sorted_reply(answer, form, question.briefing, question.lengths)


def single_question(
    paper: Paper,
    form: VenueForm,
    *,
    context_tokens: int,
    count: CountTokens,
    reading_tokens: int | None = None,
    lengths: Lengths | None = None,
    variation: Variation = PLAIN,
) -> SingleQuestion:
    """What ``write_single_review`` asks.

    Args:
        paper: The submission.
        form: The venue's form; attestations and discussion fields are not asked for.
        context_tokens: The model's context, in tokens; the paper is fitted into what the rest leaves.
        count: Counts tokens as the model does.
        reading_tokens: The most of the paper that is shown, where that is less than what would fit.
        lengths: Bounds of the reply; by default the longest that suit the context.
        variation: Another prompt than ``review/single``, with what it takes beside.

    Raises:
        ContextTooLong: The form alone fills the context.
    """
    lengths = lengths or lengths_for(form, context_tokens)
    prompt = choose_prompt(lengths, variation)
    most_out = output_tokens(form, lengths)
    frame = _render(prompt, form, lengths, variation, paper="", read=how_read(paper, ()))
    unnumbered = reply_model(form, lengths, corrections=variation.corrects)
    room = tokens_left(frame, unnumbered, most_out, context_tokens, count)
    briefing = fit_paper(paper, room, count, reading_tokens, numbered=lengths.brief)
    rendered = _render(prompt, form, lengths, variation, paper=briefing.text, read=how_read(paper, briefing.cuts))
    reply = reply_model(form, lengths, tuple(briefing.sentences), corrections=variation.corrects)
    return SingleQuestion(rendered, reply, most_out, briefing, lengths)


def choose_prompt(lengths: Lengths, variation: Variation = PLAIN) -> Prompt:
    """The prompt that goes with these bounds: models that get the short form cite sentences by number."""
    prompt_id = variation.brief_prompt if lengths.brief else variation.prompt
    return load_prompt(prompt_id)


def examples_of(variation: Variation = PLAIN) -> tuple[str, ...]:
    """The worked examples that stand in the prompts of a variation, so that a reply which repeats one is recognised."""
    ids = (variation.prompt, variation.brief_prompt)
    return worked_examples("\n".join(load_prompt(name).system for name in ids))


def _render(
    prompt: Prompt, form: VenueForm, lengths: Lengths, variation: Variation, *, paper: str, read: str
) -> RenderedPrompt:
    return prompt.render(
        **variation.inputs,
        venue_name=form.name,
        guidelines=render_guidelines(form, brief=lengths.brief, steps=variation.steps),
        form=render_form(form, brief=lengths.brief),
        how_read=read,
        lengths=f"A text field holds at most {lengths.text} characters, a reason {lengths.reason}{_together(lengths)}.",
        paper=paper,
    )


def _together(lengths: Lengths) -> str:
    """How long the text fields should be together, where they could be much longer."""
    return (
        f"; the text fields together about {WORDS:,} words, shortened where a point weighs least"
        if lengths.wide
        else ""
    )


def _sorted_reply(answer: Answer[BaseModel], form: VenueForm, briefing: Briefing, lengths: Lengths) -> SingleReply:
    data = answer.value.model_dump()
    values, notes = sorted_values(form, answer.value)
    return SingleReply(
        **dict(values),
        evidence=tuple(claimed_evidence(form, data["quoted_evidence"], briefing, lengths)),
        cut=briefing.cut,
        cuts=briefing.cuts,
        notes=(*answer.notes, *notes),
        call_id=answer.call_id,
        corrections=tuple(Correction.model_validate(item) for item in data.get(CORRECTIONS, ())),
    )


def claimed_evidence(
    form: VenueForm, items: Iterable[Mapping[str, str]], briefing: Briefing, lengths: Lengths, prefix: str = "E"
) -> Iterator[ClaimedQuote]:
    """The items of evidence in a reply, counted from E1, each with the field it bears on.

    A sentence named by its id becomes the quotation it stands for.
    """
    names = {slug: name for name, slug in slugs_of(form).items()}
    for number, item in enumerate(items, start=1):
        found = briefing.sentences.get(item.get("sentence", ""))
        yield ClaimedQuote(
            f"{prefix}{number}",
            without_broken_end(item["claim"], lengths.reason),
            found.text if found else item["quote"],
            found.section_id if found else None,
            names.get(item["bears_on"]),
        )
