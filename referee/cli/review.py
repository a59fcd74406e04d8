"""``referee review``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.errors import SettingsError

if TYPE_CHECKING:
    from referee.api import Plan
    from referee.cli.output import ProgressLine
    from referee.schemas.review import Review
    from referee.schemas.venue import VenueForm

_PAPER = "The paper: a file (PDF, LaTeX, Word, HTML, Markdown, text), an arXiv id, or a web address."


def review(
    paper: Annotated[str, typer.Argument(help=_PAPER, show_default=False)],
    venue: Annotated[str, typer.Option(help="A venue's id, as neurips-2025 (see `referee venue list`), or a file.")],
    strategy: Annotated[str | None, typer.Option(help="How the review is made. [default: sections]")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="local, openai:NAME, anthropic:NAME, google_genai:NAME, or a server's name. [default: local]"
        ),
    ] = None,
    model_for: Annotated[list[str] | None, typer.Option(metavar="ROLE=M", help="Another model for one role.")] = None,
    embedder: Annotated[str | None, typer.Option(help="The embedding model. [default: local]")] = None,
    base_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server (vLLM, Ollama, llama.cpp).")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder. [default: a new one in referee-runs]")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that no call may pass.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens, in and out, that no call may pass.")] = None,
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="Continue the run in this folder.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not use replies of earlier runs.")] = False,
    appendices: Annotated[bool, typer.Option("--appendices", help="Review the appendices too (sections).")] = False,
    preset: Annotated[
        str | None, typer.Option(help="full: refine the venue's prompts first (sections). [default: quick]")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, max=10, help="Rounds of that refinement. [default: 3]")] = None,
    all_: Annotated[bool, typer.Option("--all", help="review.md also prints what is in no field.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending.")] = False,
) -> None:
    """Review a paper on a venue's own form.

    Writes a run folder with review.md (to read), review.json (everything), review.openreview.json (the form's fields,
    ready to paste), trace.jsonl (each model call) and run.json.
    """
    from referee import api
    from referee.cli.interrupt import Interrupted, run_interruptible
    from referee.cli.output import ProgressLine

    form = api.load_venue(venue)
    with ProgressLine() as progress:
        shown = _Confirmation(progress, yes)
        try:
            written = run_interruptible(
                api.review(
                    paper,
                    venue=form,
                    strategy=strategy,
                    model=model,
                    model_for=roles_by_name(model_for or []),
                    embedder=embedder,
                    base_url=base_url,
                    out=out,
                    max_cost=max_cost,
                    max_tokens=max_tokens,
                    resume=resume,
                    cache=False if no_cache else None,
                    appendices=appendices or None,
                    all_points=all_,
                    preset=preset,
                    rounds=rounds,
                    progress=progress,
                    confirm=shown,
                ),
                progress,
            )
        except KeyboardInterrupt:
            raise Interrupted.during(progress.run_folder) from None
    _print_summary(written, form, progress.run_folder)


def roles_by_name(pairs: list[str]) -> dict[str, str]:
    """The models of single roles, from what was typed as ROLE=MODEL; raises ``SettingsError`` for anything else."""
    roles = {}
    for pair in pairs:
        role, sign, model = pair.partition("=")
        if not (sign and role and model):
            raise SettingsError(
                f"--model-for {pair!r} is not ROLE=MODEL.", hint="Example: --model-for writer=openai:NAME"
            )
        roles[role] = model
    return roles


class _Confirmation:
    """Shows the venue's rule and the estimate, and asks where money is at stake and someone is there to answer."""

    def __init__(self, progress: ProgressLine, yes: bool) -> None:
        self._progress = progress
        self._yes = yes

    def __call__(self, plan: Plan, form: VenueForm) -> bool:
        import sys

        from referee.cli.output import wrapped
        from referee.venues import render_policy

        self._progress.pause()
        typer.echo(wrapped(render_policy(form)), err=True)
        preset = f" (preset {plan.preset})" if plan.preset else ""
        typer.echo(f"Estimate{preset}: {estimate_line(plan)}.", err=True)
        if plan.other:
            typer.echo(f"With --preset {plan.other.preset}: {estimate_line(plan.other)}.", err=True)
        for note in plan.notes:
            typer.echo(f"Note: {note}.", err=True)
        free = plan.cost_usd == 0
        if self._yes or free or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return True
        return typer.confirm("Go on?", default=True, err=True)


def estimate_line(plan: Plan) -> str:
    """Calls, tokens, cost and models of a plan in one phrase."""
    cost = "cost unknown (no price for this model)" if plan.cost_usd is None else f"about ${plan.cost_usd:.4f}"
    calls = f"{plan.calls} call{'' if plan.calls == 1 else 's'}"
    tokens = f"about {plan.input_tokens:,} tokens in and {plan.output_tokens:,} out"
    return f"{calls}, {tokens}, {cost} ({_by_model(plan.models)})"


def _by_model(models: Mapping[str, str]) -> str:
    """Which model plays which roles: its name alone where it plays all."""
    if len(set(models.values())) == 1:
        return next(iter(models.values()))
    return "; ".join(
        f"{model}: {', '.join(r for r in models if models[r] == model)}" for model in sorted(set(models.values()))
    )


def _print_summary(written: Review, form: VenueForm, folder: str) -> None:
    from referee.cli.output import describe_usage, wrapped
    from referee.reports import summary_lines

    for line in summary_lines(written, form):
        typer.echo(wrapped(line) if line else "")
    if written.provenance:
        typer.echo(f"Used: {describe_usage(written.provenance.usage)}.")
    typer.echo(f"Written to {folder}: review.md (to read), review.openreview.json (to paste).")
