"""Which guideline each part of a paper is read for: by code where the section types are known, else by one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.agents.parts import Part
from referee.errors import ModelRefused, ReplyInvalid
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.venues.prompts import ANY, REVIEW, SECTION_TYPES, SectionPrompt, general_prompts

PROMPT = "review/map"
ROLE = "mapper"
_BY_DEFAULT = frozenset({"other", "method", "experiments"})
_UNKNOWN = frozenset({"other", "method", "experiments", "results"})


@dataclass(frozen=True)
class PromptMap:
    """The prompts of each part, those that concern the fewest kinds of section first; every part has at least one.

    ``by_part`` maps part id to prompt ids, ``review`` holds the ids that go to whoever composes the review, and
    ``prompts`` every prompt by id, the general ones included. ``notes`` say what code completed and why. ``call_id``
    is null where no model was asked.
    """

    by_part: dict[str, tuple[str, ...]]
    review: tuple[str, ...]
    prompts: dict[str, SectionPrompt]
    notes: tuple[str, ...]
    call_id: str | None = None

    def for_part(self, part_id: str) -> tuple[SectionPrompt, ...]:
        """The prompts a part is read for; pieces of a split part (``P3.1``) get those of the whole."""
        whole = part_id if part_id in self.by_part else part_id.partition(".")[0]
        return tuple(self.prompts[prompt_id] for prompt_id in self.by_part[whole])


async def map_prompts(
    prompts: Sequence[SectionPrompt],
    parts: Sequence[Part],
    *,
    door: Asks | None = None,
) -> PromptMap:
    """Map each prompt to the parts it concerns.

    A model is asked, once, only where some prompt has no section types and there are parts. What it leaves out, or
    what nobody could be asked about, goes to all parts of kind method, experiments or other, else to all; a prompt
    whose types no part has goes the same way. A part without a prompt gets the general ones. Each completion is a note.
    A part whose heading says nothing counts as method, experiments and results too; where no heading does, as all.

    Args:
        prompts: What the venue's guidelines ask.
        parts: The paper's parts.
        door: Answers the prompt; without one code decides alone.

    Raises:
        ModelError: The model cannot be reached. A refusal or an invalid reply is a note, and code decides.
    """
    notes: list[str] = []
    review = {prompt.id for prompt in prompts if prompt.is_about_the_review}
    unknown = [prompt for prompt in prompts if not prompt.section_types]
    asked, call_id = await _asked(unknown, parts, door, notes)
    chosen: dict[str, set[str]] = {}
    kinds = _kinds(parts)
    for prompt in prompts:
        if prompt.id in review or REVIEW in (named := asked.get(prompt.id, set())):
            review.add(prompt.id)
            continue
        known = {
            part.id
            for part in parts
            if ANY in prompt.section_types or not kinds[part.id].isdisjoint(prompt.section_types)
        }
        chosen[prompt.id] = known or named or _by_default(prompt, parts, notes)
    fitting = sorted(prompts, key=_reach)
    by_part = {part.id: tuple(p.id for p in fitting if part.id in chosen.get(p.id, ())) for part in parts}
    general = general_prompts()
    for part_id in [part_id for part_id, ids in by_part.items() if not ids]:
        by_part[part_id] = tuple(prompt.id for prompt in general)
        notes.append(f"no guideline concerns {part_id}; it is read for clarity and support in general")
    everything = {prompt.id: prompt for prompt in (*prompts, *general)}
    about_review = tuple(prompt.id for prompt in prompts if prompt.id in review)
    return PromptMap(by_part, about_review, everything, tuple(notes), call_id)


def needs_a_call(prompts: Sequence[SectionPrompt], parts: Sequence[Part]) -> bool:
    """Whether ``map_prompts`` would ask a model: what the estimate counts."""
    return bool(parts) and any(not prompt.section_types for prompt in prompts)


def mapping_reply_model(prompt_ids: Sequence[str], part_ids: Sequence[str]) -> type[BaseModel]:
    """The reply's shape: a list of prompt and parts, with the ids there are and ``review`` as the only choices."""
    targets = one_of((*part_ids, REVIEW))
    item = create_model(
        "MappedPrompt",
        __config__=ConfigDict(extra="ignore"),
        prompt=(one_of(tuple(prompt_ids)), Field(description="the rule's id")),
        parts=(list_of(targets), Field(max_length=len(part_ids) + 1, description="ids of the parts it concerns")),
    )
    return create_model(
        "MappingReply",
        __config__=ConfigDict(extra="ignore"),
        mapping=(list_of(item), Field(max_length=len(prompt_ids), description="one item for each rule")),
    )


async def _asked(
    prompts: Sequence[SectionPrompt],
    parts: Sequence[Part],
    door: Asks | None,
    notes: list[str],
) -> tuple[dict[str, set[str]], str | None]:
    """What the model says of the prompts nobody has mapped; nothing where it is not asked or does not answer."""
    if not needs_a_call(prompts, parts) or door is None:
        return {}, None
    reply = mapping_reply_model([prompt.id for prompt in prompts], [part.id for part in parts])
    most_out = 64 + len(prompts) * (24 + 6 * len(parts))
    try:
        answer = await door.ask(_rendered(prompts, parts), reply, role=ROLE, max_output_tokens=most_out)
    except (ReplyInvalid, ModelRefused) as error:
        notes.append(f"the model gave no valid mapping ({type(error).__name__}); code mapped instead")
        return {}, None
    notes.extend(answer.notes)
    asked: dict[str, set[str]] = {}
    for item in answer.value.model_dump()["mapping"]:
        asked.setdefault(item["prompt"], set()).update(item["parts"])
    # Both "review" and parts: the parts count, since a rule about a part is never lost by reading for it.
    return {key: ids - {REVIEW} if ids != {REVIEW} else ids for key, ids in asked.items()}, answer.call_id


def _rendered(prompts: Sequence[SectionPrompt], parts: Sequence[Part]) -> RenderedPrompt:
    outline = "\n".join(f"{part.id} | {', '.join(part.types)} | {part.words} words | {part.heading}" for part in parts)
    rules = "\n".join(f"[{prompt.id}] {prompt.steps[0]}" for prompt in prompts)
    template = load_prompt(PROMPT)
    return template.render(prompts=delimit("rules", rules), parts=delimit("outline", outline))


def _kinds(parts: Sequence[Part]) -> dict[str, frozenset[str]]:
    """The kinds each part counts as: one whose heading says nothing may be any that carries results.

    Where no heading says anything, each part may be of every kind.
    """
    silent = {part.id for part in parts if part.types == ("other",)}
    unknown = frozenset(SECTION_TYPES) if len(silent) == len(parts) else _UNKNOWN
    return {part.id: unknown if part.id in silent else frozenset(part.types) for part in parts}


def _reach(prompt: SectionPrompt) -> int:
    """How many kinds of section a prompt concerns; those nobody has mapped stand in the middle."""
    types = prompt.section_types
    return len(SECTION_TYPES) + 1 if ANY in types else len(types) or len(SECTION_TYPES) // 2


def _by_default(prompt: SectionPrompt, parts: Sequence[Part], notes: list[str]) -> set[str]:
    """All parts of the kinds that most rules concern; all parts where there is none of them."""
    if not parts:
        return set()
    ids = {part.id for part in parts if not _BY_DEFAULT.isdisjoint(part.types)} or {part.id for part in parts}
    wanted = [kind for kind in SECTION_TYPES if kind in prompt.section_types]
    why = f"no part of kind {', '.join(wanted)}" if wanted else "no part was chosen"
    notes.append(f"prompt {prompt.id!r}: {why}; it goes to {', '.join(sorted(ids, key=lambda i: (len(i), i)))}")
    return ids
