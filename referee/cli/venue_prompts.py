"""``referee venue refine``, ``show --prompts`` and ``diff-prompts``: the steps for reviewers, and how they grew."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from referee.cli.running import Attended, RunFlags, with_run_flags


@with_run_flags(no_cache="Refine anew, whatever is stored.")
def refine(
    venue: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    model: Annotated[
        str | None,
        typer.Option(
            help="local, openai:NAME, anthropic:NAME, google_genai:NAME, or a server's name. [default: local]"
        ),
    ] = None,
    model_for: Annotated[
        list[str] | None, typer.Option(metavar="ROLE=M", help="Another model for one role: writer, supervisor.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=10, help="Rounds of criticism and revision.")] = 3,
    until_stable: Annotated[
        bool, typer.Option("--until-stable", help="End a guideline early when the supervisor has nothing new.")
    ] = False,
    flags: RunFlags = RunFlags(),
) -> None:
    """Refine the steps that a venue's guidelines become for reviewers of sections.

    A supervisor criticises the steps of each guideline, they are revised, and a revision that loses a point of its
    guideline is refused. All versions are kept; `referee review --preset full` goes by the last ones.
    """
    from referee import api
    from referee.cli.output import describe_usage
    from referee.cli.review import roles_by_name
    from referee.reports.estimates import review_estimate_lines
    from referee.venues.describe_prompts import describe_refinement

    form = api.load_venue(venue)
    attended = Attended(flags, partial(review_estimate_lines, words="Estimate: at most "))
    work = api.refine_prompts(
        form,
        model=model,
        model_for=roles_by_name(model_for or []),
        rounds=rounds,
        until_stable=until_stable,
        options=attended.options,
    )
    refined = attended.run(work)
    for line in describe_refinement(refined):
        typer.echo(line)
    if refined.reused:
        typer.echo(f"Refined already on {refined.refined_at[:10]}: no call was made. --no-cache refines anew.")
    else:
        typer.echo(f"Used: {describe_usage(refined.usage)}.")
        typer.echo(f"Written to {attended.run_folder}")
    typer.echo(f"Next: referee venue show {form.id} --prompts --history")


def show_prompts(venue: str, *, model: str | None, history: bool, json: bool) -> None:
    """Print a venue's prompts: the refined ones where there are any, else those that ship."""
    from referee.venues import load_venue
    from referee.venues.describe_prompts import describe_prompts
    from referee.venues.refined_store import choose_refined, list_refined, refined_json

    form = load_venue(venue)
    stored = list_refined(form.id)
    chosen = choose_refined(form.id, model) if stored or model or history or json else None
    if json and chosen is not None:
        typer.echo(refined_json(chosen), nl=False)
        return
    typer.echo(describe_prompts(form, chosen, history=history))
    if others := [refined.model for refined in stored if chosen is not None and refined.model != chosen.model]:
        typer.echo(f"\nAlso refined with {', '.join(others)}: add --model.")


def diff_prompts(
    venue: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    first: Annotated[str, typer.Argument(help="A version: v0 is what refinement began with.", show_default=False)],
    second: Annotated[str, typer.Argument(help="Another one: v3 is after round 3.", show_default=False)],
    model: Annotated[str | None, typer.Option(help="Whose prompts. [default: those refined last]")] = None,
) -> None:
    """Show what refinement changed in a venue's prompts: - only before, + only after, and the points covered."""
    from referee.venues import load_venue
    from referee.venues.describe_prompts import diff_prompts as difference
    from referee.venues.refined_store import choose_refined

    form = load_venue(venue)
    typer.echo(difference(choose_refined(form.id, model), form, first, second))
