"""One call: the form, the guidelines and the whole paper in, the points of a review with scores out.

Models with a short context, and prompts for research, fill the form's boxes with quotations beside them instead.

What tells reviewers apart who read the same paper: members of an ensemble follow The AI Scientist (Lu et al. 2024,
2408.06292), which tells them apart by sampling alone; where a model is asked at temperature 0, ours differ in where
they begin. The four personas are those that the benchmark of machine-written reviews names; the words are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as default
from textwrap import indent
from typing import Literal, get_args

from pydantic import BaseModel

from referee.agents.asking import Asks, CountTokens, tokens_left
from referee.agents.briefing import Briefing, fit_paper, how_read
from referee.agents.form_reply import (
    BY_RULE,
    FormValues,
    Lengths,
    lengths_for,
    output_tokens,
    reply_model,
    review_tokens,
    slugs_of,
    sorted_values,
)
from referee.agents.point_reply import Origin
from referee.agents.review_points import PART, programs_of, review_model, review_points, review_values
from referee.evidence import INSTALL, ClaimedQuote, can_compute, described, worked_examples
from referee.evidence.sentences import without_broken_end
from referee.llm.door import Answer
from referee.prompts import Prompt, RenderedPrompt, delimit, load_prompt
from referee.schemas.computation import Program
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut
from referee.schemas.point import ReviewPoint
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
_LISTS = "referee.agents.review_points.review_model"


@dataclass(frozen=True)
class Variation:
    """Another prompt for the same form, reply and paper: what research strategies and members of an ensemble differ in.

    ``prompt`` and ``brief_prompt`` take the inputs of ``review/single`` and those named in ``inputs``; ``sample`` tells
    calls apart that are otherwise the same. ``steps`` are what a reviewer does for a guideline, by the guideline's id;
    ``works`` are those that a search of the literature found; ``begins``: later calls begin with the same text.
    """

    prompt: str = PROMPT
    brief_prompt: str = BRIEF_PROMPT
    inputs: Mapping[str, str] = default(default_factory=dict)
    sample: int = 0
    steps: Mapping[str, tuple[str, ...]] = default(default_factory=dict)
    works: str = ""
    begins: bool = False

    def lists(self, lengths: Lengths) -> bool:
        """Whether its prompt asks for a list of points, and not for the form's boxes."""
        return choose_prompt(lengths, self).reply == _LISTS


PLAIN = Variation()


class SingleReply(FormValues):
    """The reply in the form's own names: values, and points, or evidence with claims beside the form's texts."""

    points: tuple[ReviewPoint, ...] = ()
    programs: tuple[Program, ...] = ()
    evidence: tuple[ClaimedQuote, ...] = ()
    cut: PaperCut | None = None
    cuts: tuple[Cut, ...] = ()
    notes: tuple[str, ...] = ()
    call_id: str


@dataclass(frozen=True)
class SingleQuestion:
    """What one reviewer is asked: the prompt, the reply's model, its longest length and bounds, and the paper shown.

    ``notes`` say what was not asked for, and why.
    """

    prompt: RenderedPrompt
    reply: type[BaseModel]
    most_out: int
    briefing: Briefing
    lengths: Lengths
    notes: tuple[str, ...] = ()


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
        question.prompt.as_beginning() if variation.begins else question.prompt,
        question.reply,
        role=ROLE,
        max_output_tokens=question.most_out,
        sample=variation.sample,
    )
    lengths = question.lengths
    if not variation.lists(lengths):
        return _sorted_reply(answer, form, question.briefing, lengths)
    values, notes = review_values(form, answer.value)
    origin = Origin("whole", PART, None, answer.call_id, "", "")
    return SingleReply(
        **dict(values),
        points=tuple(review_points(answer.value.model_dump()["points"], paper, origin)),
        programs=tuple(programs_of(answer.value)),
        cut=question.briefing.cut,
        cuts=question.briefing.cuts,
        notes=(*question.notes, *answer.notes, *notes),
        call_id=answer.call_id,
    )


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
    listing = variation.lists(lengths)
    notes: tuple[str, ...] = ()
    if listing and lengths.programs and not can_compute():
        lengths, notes = replace(lengths, programs=0), (f"warning: {INSTALL[:1].lower()}{INSTALL[1:]}",)
    most_out = review_tokens(form, lengths) if listing else output_tokens(form, lengths)
    frame = _render(prompt, form, lengths, variation, paper="", read=how_read(paper, ()))
    unnumbered = review_model(form, lengths) if listing else reply_model(form, lengths)
    room = tokens_left(frame, unnumbered, most_out, context_tokens, count)
    briefing = fit_paper(paper, room, count, reading_tokens, numbered=lengths.brief)
    rendered = _render(prompt, form, lengths, variation, paper=briefing.text, read=how_read(paper, briefing.cuts))
    reply = review_model(form, lengths) if listing else reply_model(form, lengths, tuple(briefing.sentences))
    return SingleQuestion(rendered, reply, most_out, briefing, lengths, notes)


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
    listing = variation.lists(lengths)
    told = [read, _computations(lengths.programs) if listing else "", _found(variation.works)]
    return prompt.render(
        **variation.inputs,
        venue_name=form.name,
        guidelines=render_guidelines(form, brief=lengths.brief, steps=variation.steps),
        form=render_form(form, brief=lengths.brief, without=BY_RULE if listing else ()),
        how_read="\n\n".join(filter(None, told)),
        lengths=_bounds(lengths, listing=listing),
        paper=paper,
    )


def _found(works: str) -> str:
    """The works that a search of the literature found, for a judgement of what is new; empty where there are none."""
    if not works:
        return ""
    return (
        "A search of the literature found the works below: with each a sentence of its abstract and the words of the "
        "submission that it bears on. Take them into account where you judge what is new, and raise no point about "
        f"them: a program prints the comparisons that are missing.\n\n{delimit('works', works)}"
    )


def _bounds(lengths: Lengths, *, listing: bool) -> str:
    """How long a reply may be, in words."""
    if listing:
        return (
            f"At most {lengths.points} points; a text box holds {lengths.lead} characters, a reason {lengths.reason}."
        )
    return f"A text field holds at most {lengths.text} characters, a reason {lengths.reason}."


_COMPUTATIONS = """Computations. Where a point rests on a number that follows from other numbers (a sum, a mean, a
percentage, a test from its summary numbers, a count or a largest value over a table), write a program for it: at most
{most} in the review, for the points on which most rests. You do not see what a program gives; it is run after you.
- `point`: the place of its point in your list. `code`: at most 60 lines of plain Python without imports but math,
  without files, numpy or input; the last line is the number, True or False. `expects`: that number with the digits
  that your claim states (11.8), or a comparison (> 0.05), or True or False. `otherwise`: the whole claim as it should
  read if the program gives something else; empty where the point falls then.
- Take numbers from the text, or from a table of the paper by `table`. Beside Python's own functions there are:
{functions}
- Never write that you computed, simulated or ran something: the program says so. What no program backs is left out, or
  said as what the paper's own numbers are."""


def _computations(most: int) -> str:
    """What a reviewer is told of programs; empty where none are asked for."""
    if not most:
        return ""
    return _COMPUTATIONS.format(most=most, functions=indent(described(), "  - "))


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
