"""A venue's prompts for a person to read: the steps of each guideline, how they came about, what changed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from referee.errors import VenueError
from referee.schemas.refinement import BASE, Gain, Measured, VersionCost
from referee.schemas.venue import VenueForm
from referee.venues.prompts import SectionPrompt, guideline_points, section_prompts
from referee.venues.refined import PromptVersion, RefinedGuideline, RefinedPrompts, refinable

_VERSION = re.compile(r"v?(\d+)")
_ORIGINS = {
    "stored": "steps that ship with referee",
    "written": "written by the model from the guideline",
    "revised": "revised",
    "edited": "edited by hand",
    "built": "built by code from the guideline: no model wrote any",
}
_ENDS = {
    "rounds": "all rounds were made",
    "stable": "ended early: the supervisor had nothing new",
    "failed": "ended early: the provider turned a call down",
}


def describe_prompts(form: VenueForm, refined: RefinedPrompts | None, *, history: bool = False) -> str:
    """The steps in use, by guideline; with ``history`` all versions, criticisms, refusals and failures."""
    head = [f"Prompts of {form.name} ({form.id})", _origin(refined), *_changed_since(form, refined)]
    blocks = [_guideline(form, prompt, refined, history) for prompt in section_prompts(form)]
    return "\n\n".join(["\n".join(head), *("\n".join(block) for block in blocks)])


def describe_refinement(refined: RefinedPrompts) -> list[str]:
    """What a refinement ended in, one line a guideline and one for all."""
    return [
        "guideline: version in use, points of the guideline covered at first -> now",
        *(_summary(guideline) for guideline in refined.guidelines),
        f"{len(refined.guidelines)} guidelines, {refined.rounds} round{'' if refined.rounds == 1 else 's'} at most: "
        f"revisions taken {sum(len(g.versions) - 1 for g in refined.guidelines)}, "
        f"refused {sum(len(g.refusals) for g in refined.guidelines)}, "
        f"calls without a usable reply {sum(len(g.failures) for g in refined.guidelines)}.",
    ]


def describe_search(refined: RefinedPrompts) -> list[str]:
    """The versions of a search as a tree: what each changed, how it did, what it took, and what became of it.

    Empty where the versions were not measured.
    """
    measured = refined.measured
    if measured is None:
        return []
    base = measured.costs.get(BASE, VersionCost())
    return [
        *([measured.cut_line] if measured.cut_line else []),
        f"measured by {measured.objective} ({measured.better} is better), reviews by {measured.strategy}, "
        f"{len(measured.development)} development papers, {len(measured.held_out)} held out",
        f"{BASE}: reviews without refined prompts; {_took(base)}",
        *(line for name in measured.selection.verdicts for line in _version_lines(refined, measured, name)),
        search_outcome(measured),
    ]


def search_outcome(measured: Measured) -> str:
    """What a search ended in, in a sentence."""
    chosen = measured.selection
    if any(verdict == "open" for verdict in chosen.verdicts.values()):
        return "No verdict: the search was stopped in the middle of a round, and can be resumed."
    if not chosen.kept:
        return "No version is kept: reviews go on as before."
    assert chosen.tested is not None, "what is kept was tested"
    assert chosen.confirmed is not None, "and looked at on held-out papers"
    return (
        f"{chosen.kept} is kept: {_gain(chosen.tested)} on development papers (p {chosen.tested.p:.4f}, one-sided), "
        f"{_gain(chosen.confirmed)} on held-out papers."
    )


def last_gain(measured: Measured, name: str) -> Gain | None:
    """How a version stood when it was looked at last on development papers; None where it never was."""
    found = [stage.gains[name] for stage in measured.selection.stages if name in stage.gains and not stage.held_out]
    return found[-1] if found else None


def changed_steps(refined: RefinedPrompts, first: int, second: int) -> Iterator[tuple[str, str]]:
    """Guideline and line for each step that differs between two rounds: - only before, + only after."""
    for guideline in refined.guidelines:
        old, new = guideline.after_round(first), guideline.after_round(second)
        for line in difflib.ndiff(old.steps, new.steps):
            if line.startswith(("-", "+")):
                yield guideline.guideline_id, line


def _version_lines(refined: RefinedPrompts, measured: Measured, name: str) -> Iterator[str]:
    number, gain = int(name.removeprefix("v")), last_gain(measured, name)
    verdict, parent = measured.selection.verdicts[name], measured.parents.get(name, BASE)
    lines = [line for _, line in changed_steps(refined, int(parent.removeprefix("v")), number)]
    counts = f"+{sum(line.startswith('+') for line in lines)} -{sum(line.startswith('-') for line in lines)} steps"
    stood = f"{_gain(gain)}; " if gain is not None else ""
    took = _took(measured.costs.get(name, VersionCost()))
    yield f"{'  ' * number}{name} (from {parent}, {counts}): {verdict}; {stood}{took}"


def _gain(gain: Gain) -> str:
    mean = "no value" if gain.mean is None else f"{gain.mean:+.3f}"
    return f"{mean} on {gain.pairs} paper{'' if gain.pairs == 1 else 's'}"


def _took(cost: VersionCost) -> str:
    paid = cost.reviewing + cost.judging
    money = "cost unknown" if paid.cost_usd is None else f"${paid.cost_usd:.4f}"
    return f"{cost.reviews} review{'' if cost.reviews == 1 else 's'}, {paid.total_tokens:,} tokens, {money}"


def diff_prompts(refined: RefinedPrompts, form: VenueForm, first: str, second: str) -> str:
    """What changed between two rounds, by guideline: - only before, + only after, and the points covered.

    Args:
        refined: The history.
        form: The venue, for the guidelines' points.
        first: A round, as ``v0`` or ``0``.
        second: Another one.

    Raises:
        VenueError: There is no such version; the message says which there are.
    """
    before, after = _round(refined, first), _round(refined, second)
    blocks = [f"Prompts of {refined.venue}, refined with {refined.model}: v{before} -> v{after}"]
    blocks += ["\n".join(describe_search(refined))] if refined.measured else []
    for guideline in refined.guidelines:
        blocks.append("\n".join(_changes(guideline, form, before, after)))
    return "\n\n".join(blocks)


def _origin(refined: RefinedPrompts | None) -> str:
    if refined is None:
        return "not refined: steps that ship with referee, or built by code from the guideline"
    critic = "" if refined.supervisor == refined.model else f", criticised by {refined.supervisor}"
    until = ", until stable" if refined.until_stable else ""
    rounds = f"{refined.rounds} round{'' if refined.rounds == 1 else 's'}"
    said = f"refined with {refined.model}{critic} on {refined.refined_at[:10]}, {rounds}{until}"
    return "\n".join([said, *describe_search(refined)])


def _changed_since(form: VenueForm, refined: RefinedPrompts | None) -> list[str]:
    """A warning where guidelines are no longer those that were refined: such prompts are not used."""
    known = {g.guideline_id: g.points for g in refined.guidelines} if refined else {}
    only = refined.only if refined else ()
    asked = [g for g in refinable(form) if not only or g.id in only]
    now = {g.id: guideline_points(g) for g in asked}
    changed = sorted(name for name in now.keys() | known.keys() if now.get(name) != known.get(name))
    return [f"changed since then, and not used: {', '.join(changed)}; refine again"] if known and changed else []


def _guideline(form: VenueForm, prompt: SectionPrompt, refined: RefinedPrompts | None, history: bool) -> list[str]:
    found = next((g for g in refined.guidelines if g.guideline_id == prompt.guideline_id), None) if refined else None
    text = next(g.text for g in form.guidelines if g.id == prompt.guideline_id)
    lines = [prompt.guideline_id, f"  {text}"]
    if prompt.is_about_the_review:
        lines.append("  about the review as a whole; no section is read for it, and it is not refined")
    if found is None:
        return [*lines, *_steps(prompt.steps)]
    if not history:
        return [*lines, f"  {_standing(found.current, found)}", *_steps(found.current.steps)]
    return [*lines, *(line for number in range(found.rounds + 1) for line in _one_round(found, number)), _end(found)]


def _one_round(guideline: RefinedGuideline, number: int) -> Iterator[str]:
    """All that is known of one round, in the order in which it happened."""
    for criticism in (c for c in guideline.criticisms if c.round == number):
        told = [(name, finding) for name, found in criticism.findings.items() for finding in found]
        yield f"  round {number}, criticism ({criticism.digest[:12]}, call {criticism.call_id}):"
        if not told:
            yield "    nothing"
        if criticism.echoes:
            yield f"    (left out: {criticism.echoes} that only repeated the prompt)"
        for name, finding in told:
            yield f"    {name.replace('_', ' ')}{'' if finding in criticism.new else ' (again)'}: {finding}"
    for failure in (f for f in guideline.failures if f.round == number):
        yield f"  round {number}, no usable reply ({failure.stage}): {failure.message}"
    for refusal in (r for r in guideline.refusals if r.round == number):
        yield f"  round {number}, revision refused ({refusal.digest[:12]}): it lost {_quoted(refusal.lost)}"
        yield from _steps(refusal.steps)
    if number and _changed_nothing(guideline, number):
        yield f"  round {number}, revision: nothing was changed"
    for version in (v for v in guideline.versions if v.round == number):
        yield f"  {_standing(version, guideline)}"
        yield from _steps(version.steps)


def _changed_nothing(guideline: RefinedGuideline, number: int) -> bool:
    """Whether a round's findings were answered by a revision that says the same."""
    told = {v.round for v in guideline.versions} | {r.round for r in guideline.refusals}
    told |= {failure.round for failure in guideline.failures}
    raised = any(c.round == number and any(c.findings.values()) for c in guideline.criticisms)
    stable = guideline.ended == "stable" and number == guideline.rounds
    return raised and not stable and number not in told


def _standing(version: PromptVersion, guideline: RefinedGuideline) -> str:
    call = f", call {version.call_id}" if version.call_id else ""
    covered = f"{_count(version, guideline)} points{_by_whom(version, guideline)}"
    return f"v{version.round}: {_ORIGINS[version.origin]} ({version.digest[:12]}{call}; {covered}):"


def _end(guideline: RefinedGuideline) -> str:
    return f"  {_ENDS[guideline.ended]} ({guideline.rounds}); in use: v{guideline.current.round}"


def _summary(guideline: RefinedGuideline) -> str:
    covered = f"{_count(guideline.versions[0], guideline)} -> {_count(guideline.current, guideline)} points"
    told = [f"v{guideline.current.round}", f"{covered}{_by_whom(guideline.current, guideline)}"]
    told += [f"{len(guideline.refusals)} refused"] if guideline.refusals else []
    told += [f"{len(guideline.failures)} without a usable reply"] if guideline.failures else []
    told += ["stable"] if guideline.ended == "stable" else []
    return f"{guideline.guideline_id}: {', '.join(told)}"


def _count(version: PromptVersion, guideline: RefinedGuideline) -> str:
    """How many points a version serves; a question mark where it was never revised, so that nobody was asked."""
    return f"{'?' if version.covers is None else len(version.covers)} of {len(guideline.points)}"


def _by_whom(version: PromptVersion, guideline: RefinedGuideline) -> str:
    lean = any(one.digest == version.digest and one.lean for one in guideline.coverages)
    return " by the embedded model, which is a weak judge" if lean else ""


def _changes(guideline: RefinedGuideline, form: VenueForm, before: int, after: int) -> Iterator[str]:
    old, new = guideline.after_round(before), guideline.after_round(after)
    yield guideline.guideline_id
    yield from (f"  {note}" for note in _stood(guideline, before, after))
    if old.steps == new.steps:
        yield "  the same steps"
    else:
        for line in difflib.ndiff(old.steps, new.steps):
            if not line.startswith("?"):
                yield f"  {line}"
    rule = next((g for g in form.guidelines if g.id == guideline.guideline_id), None)
    if rule is None:
        yield "  points: the venue no longer has this guideline"
        return
    yield f"  points covered: {_count(old, guideline)} -> {_count(new, guideline)}{_by_whom(new, guideline)}"
    had, has = old.covers or (), new.covers or ()
    if old.covers is None or new.covers is None:
        return
    for mark, texts in (("lost", [p for p in had if p not in has]), ("gained", [p for p in has if p not in had])):
        if texts:
            yield f"  {mark}: {_quoted(texts)}"


def _stood(guideline: RefinedGuideline, before: int, after: int) -> Iterator[str]:
    """Why a version is that of an earlier round."""
    for number in sorted({before, after}):
        version = guideline.after_round(number)
        if version.round == number:
            continue
        refused = next((r for r in guideline.refusals if r.round == number), None)
        why = f"the revision of round {number} was refused" if refused else f"round {number} changed nothing"
        why = f"it ended after round {guideline.rounds}" if number > guideline.rounds else why
        yield f"v{number} is v{version.round}: {why}"


def _round(refined: RefinedPrompts, text: str) -> int:
    match = _VERSION.fullmatch(text.strip().lower())
    if match and int(match[1]) <= refined.rounds:
        return int(match[1])
    there = ", ".join(f"v{number}" for number in range(refined.rounds + 1))
    raise VenueError(
        f"the prompts of {refined.venue!r} refined with {refined.model!r} have no version {text!r}.",
        hint=f"There are: {there}.",
        ids={"venue": refined.venue},
    )


def _steps(steps: tuple[str, ...]) -> list[str]:
    return [f"    {number}. {step}" for number, step in enumerate(steps, start=1)]


def _quoted(texts: tuple[str, ...] | list[str]) -> str:
    return "; ".join(f"'{text}'" for text in texts)
