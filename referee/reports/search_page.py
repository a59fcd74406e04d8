"""The page of a search for better prompts: versions, rounds of halving, and what each version changed."""

from __future__ import annotations

from collections.abc import Iterator

from referee.reports.page import Section, render_page
from referee.reports.tables import Table, dashed, number
from referee.reports.usage_text import tokens_in_cell
from referee.schemas.refinement import BASE, Gain, Measured, VersionCost
from referee.schemas.venue import VenueForm
from referee.venues.describe_prompts import changed_steps, last_gain, search_outcome
from referee.venues.refined import RefinedPrompts

_MEANS = {
    "kept": "it came through the halving, rose on the development papers by more than noise, and on held-out ones",
    "not confirmed": "it rose on the development papers, and not on the held-out ones",
    "within the noise": "it came through the halving, and its rise could be chance",
    "behind": "others were ahead of it on the same papers",
    "the same": "its steps are those of an earlier version: it was not measured",
    "not measured": "too few papers have a value",
    "open": "the search was stopped before a verdict",
}


def render_search(refined: RefinedPrompts, form: VenueForm) -> str:
    """The page as one HTML document that fetches nothing.

    Args:
        refined: All versions, measured.
        form: The venue.
    """
    measured = refined.measured
    assert measured is not None, "the page is of measured versions"
    sections = [
        Section("Versions", (search_outcome(measured), _versions(measured), *_meanings(measured))),
        Section("Rounds", (_HOW, _rounds(measured))),
        *_changes(refined, measured),
    ]
    lead = f"Prompts of {form.name} ({form.id}), proposed by {refined.supervisor} and measured by {measured.objective}."
    lead = f"{measured.cut_line} {lead}".strip()
    return render_page(f"Search for better prompts: {form.id}", lead, sections, _facts(refined, measured))


_HOW = (
    "Each version beside reviews without refined prompts, paired by paper: more is better, whichever way the metric "
    "goes. After each round the better half went on."
)


def _versions(measured: Measured) -> Table:
    rows = [[BASE, "", "", "", "what is compared with", *_cost(measured.costs.get(BASE, VersionCost()))]]
    for name, verdict in measured.selection.verdicts.items():
        cost = _cost(measured.costs.get(name, VersionCost()))
        rows.append([name, measured.parents.get(name, ""), *_gain(last_gain(measured, name)), verdict, *cost])
    head = ["version", "revised from", "gain", "papers", "verdict", "reviews", "tokens in", "tokens out", "cost"]
    return dashed("", head, rows)


def _rounds(measured: Measured) -> Table:
    rows = []
    for count, stage in enumerate(measured.selection.stages, 1):
        where = "held-out" if stage.held_out else f"round {count}"
        for name, gain in stage.gains.items():
            rows.append([where, name, *_gain(gain), number(gain.low, 3, signed=True), number(gain.p, 4)])
    return dashed("", ["round", "version", "gain", "papers", "lower end", "p, one-sided"], rows)


def _meanings(measured: Measured) -> Iterator[str]:
    for verdict in dict.fromkeys(measured.selection.verdicts.values()):
        yield f"{verdict}: {_MEANS[verdict]}."


def _changes(refined: RefinedPrompts, measured: Measured) -> Iterator[Section]:
    for name in measured.selection.verdicts:
        parent, at = measured.parents.get(name, BASE), int(name.removeprefix("v"))
        lines = list(changed_steps(refined, int(parent.removeprefix("v")), at))
        body: tuple[str | Table, ...] = (
            (dashed("", ["guideline", "", "step"], [[where, line[0], line[2:]] for where, line in lines]),)
            if lines
            else ("The same steps.",)
        )
        yield Section(f"{name}, revised from {parent}", body)


def _facts(refined: RefinedPrompts, measured: Measured) -> dict[str, str]:
    return {
        "Reviews": f"strategy {measured.strategy}, model {refined.model}",
        "Judges": ", ".join(measured.judges) or "none",
        "Development papers": ", ".join(measured.development),
        "Held-out papers": ", ".join(measured.held_out),
        "Level": f"{measured.selection.level:g}: at most so often is a version kept that is no better",
        "Seed": str(measured.seed),
        "Run": refined.run_id,
        **{f"Note {count}": note for count, note in enumerate(measured.notes, 1)},
    }


def _gain(gain: Gain | None) -> list[str]:
    return ["", ""] if gain is None else [number(gain.mean, 3, signed=True), str(gain.pairs)]


def _cost(cost: VersionCost) -> list[str]:
    paid = cost.reviewing + cost.judging
    money = "unknown" if paid.cost_usd is None else f"${paid.cost_usd:.4f}"
    return [str(cost.reviews), tokens_in_cell(paid), f"{paid.output_tokens:,}", money]
