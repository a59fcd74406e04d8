"""``referee review``."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from referee.cli.running import Attended, RunFlags, with_run_flags
from referee.errors import SettingsError
from referee.llm.spec import MODEL_FORMS

if TYPE_CHECKING:
    from referee.api import ReviewEstimate
    from referee.schemas.review import Review
    from referee.schemas.venue import VenueForm
    from referee.settings import Settings

_PAPER = "The paper: a file (PDF, LaTeX, Word, HTML, Markdown, text), a LaTeX folder, an arXiv id, or a web address."
_RESUME = "Continue the run in this folder, which knows paper, venue and settings."

_FILES = {
    "report.html": "the review beside the paper; open it with `referee open {folder}`",
    "review.md": "the review, to read",
    "fixes.md": "what to mend, as boxes to tick",
    "review.annotated.pdf": "the paper with the review's places marked",
    "review.openreview.json": "the form's fields, to paste",
    "review.json": "everything about the review, for programs",
}


@with_run_flags(resume=_RESUME)
def review(
    paper: Annotated[str | None, typer.Argument(help=_PAPER, show_default=False)] = None,
    venue: Annotated[
        str | None, typer.Option(help="A venue's id, as neurips-2025 (see `referee venue list`), or a file.")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="How the review is made (see `referee strategies`). [default: audited; single on the embedded model]"
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help=f"{MODEL_FORMS}. [default: local]"),
    ] = None,
    model_for: Annotated[list[str] | None, typer.Option(metavar="ROLE=M", help="Another model for one role.")] = None,
    embedder: Annotated[str | None, typer.Option(help="The embedding model. [default: local]")] = None,
    appendices: Annotated[bool, typer.Option("--appendices", help="Review the appendices too (sections).")] = False,
    preset: Annotated[
        str | None, typer.Option(help="full: refine the venue's prompts first (audited, sections). [default: quick]")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, max=10, help="Rounds of that refinement. [default: 3]")] = None,
    ensemble_size: Annotated[
        int | None, typer.Option(min=1, max=20, help="Reviewers of an ensemble. [default: 5]")
    ] = None,
    reflections: Annotated[
        int | None, typer.Option(min=0, max=10, help="Most rounds of reflection of an ensemble. [default: 5]")
    ] = None,
    few_shot: Annotated[Path | None, typer.Option(help="Worked examples for an ensemble: JSON or Markdown.")] = None,
    persona: Annotated[
        str | None, typer.Option(help="That of strategy archetype: balanced, conservative, innovative, nitpicky.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="The rating that aligned and enriched argue for.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="A rating map (`referee arena calibrate`) for the overall rating.")
    ] = None,
    references: Annotated[
        str | None, typer.Option(metavar="online|FILE", help="Look the paper's references up, online or in an index.")
    ] = None,
    support: Annotated[
        bool, typer.Option("--support", help="Ask whether cited works say what the paper claims of them.")
    ] = False,
    literature: Annotated[
        str | None, typer.Option(metavar="online|FILE", help="Search for earlier works, online or in an index.")
    ] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="The last day of works that count. [default: the file's own]"),
    ] = None,
    contact: Annotated[str | None, typer.Option(help="An e-mail address, which the services ask for.")] = None,
    figures: Annotated[
        Literal["auto", "none", "pages"] | None,
        typer.Option(help="Figures for a model that takes pictures: cut out, none, or whole pages. [default: auto]"),
    ] = None,
    flags: RunFlags = RunFlags(),
) -> None:
    """Review a paper on a venue's own form.

    Writes a run folder with report.html (the review beside the paper), review.md (to read), fixes.md (to work off),
    review.annotated.pdf (the PDF with notes), review.openreview.json (the form's fields, ready to paste), review.json
    (everything), trace.jsonl (each model call) and run.json.
    """
    from referee import api

    paper, venue, settings = _asked(paper, venue, flags.resume)
    form = api.load_venue(venue)
    if model is None and not model_for and flags.base_url is None and flags.resume is None:
        _tell_of_servers()
    attended = Attended(flags, partial(_plan_lines, form=form), settings=settings)
    work = api.review(
        paper,
        venue=venue,
        strategy=strategy,
        model=model,
        model_for=roles_by_name(model_for or []),
        embedder=embedder,
        appendices=appendices or None,
        preset=preset,
        rounds=rounds,
        strategy_options={
            "ensemble_size": ensemble_size,
            "reflections": reflections,
            "few_shot": str(few_shot) if few_shot else None,
            "persona": persona,
            "target": target,
        },
        calibration=calibration,
        references=references,
        support=support or None,
        literature=literature,
        as_of=as_of.date() if as_of else None,
        contact=contact,
        figures=figures,
        options=attended.options,
    )
    _print_summary(attended.run(work), form, attended.run_folder)


def _asked(paper: str | None, venue: str | None, resume: Path | None) -> tuple[str, str, Settings | None]:
    """Paper, venue and settings: what is not named is that of the run to be resumed.

    Raises:
        SettingsError: Something is not named, and no run is resumed.
        RunError: The run does not say what it was started with.
    """
    if paper is not None and venue is not None:
        return paper, venue, None
    if resume is None:
        missing = "no paper is named" if paper is None else "no venue is named (--venue); it is never guessed"
        raise SettingsError(f"{missing}.", hint="Give both: referee review paper.pdf --venue neurips-2025")
    from referee.api.resuming import begun_review

    begun = begun_review(resume)
    return paper or begun.paper, venue or begun.venue, begun.continued()


def _tell_of_servers() -> None:
    """Where the embedded model would be used by default: what else this machine has, in a line each."""
    from referee.api.nearby import better_models

    for line in better_models():
        typer.echo(line, err=True)


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


def _plan_lines(plan: ReviewEstimate, form: VenueForm) -> list[str]:
    """How much of the form nobody read, the venue's rule on language models, what is not read, and the estimate."""
    from referee.cli.output import wrapped
    from referee.reports.estimates import review_estimate_lines
    from referee.venues import render_policy
    from referee.venues.render import render_unread

    preset = f" (preset {plan.preset})" if plan.preset else ""
    unread = [wrapped(text)] if (text := render_unread(form)) else []
    return [*unread, wrapped(render_policy(form)), *review_estimate_lines(plan, words=f"Estimate{preset}: ")]


def _print_summary(written: Review, form: VenueForm, folder: str) -> None:
    from referee.cli.output import describe_usage, wrapped
    from referee.reports import summary_lines

    for line in summary_lines(written, form):
        text = line.lstrip(" ")
        typer.echo(wrapped(text, line[: len(line) - len(text)]) if line else "")
    if written.provenance:
        typer.echo(f"Used: {describe_usage(written.provenance.usage)}.")
    typer.echo(f"Written to {folder}:")
    for name, meaning in _FILES.items():
        if (Path(folder) / name).is_file():
            typer.echo(f"  {name:<{max(map(len, _FILES))}}  {meaning.format(folder=folder)}")
