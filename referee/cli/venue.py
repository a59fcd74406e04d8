"""``referee venue``: which forms there are, what one asks, those of your own, and what their reviewers are told."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.running import Attended, RunFlags, with_run_flags
from referee.errors import SettingsError

if TYPE_CHECKING:
    from referee.api.venues.compiling import Compiled

app = typer.Typer(
    help="The venues' review forms and rules.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@app.command("list")
def list_() -> None:
    """List the venues: id, name, overall scale, rule on language models, date of the last check."""
    from referee.venues import list_venues

    rows = [("id", "venue", "overall", "language models", "checked")]
    for form in list_venues():
        scale = "none"
        if form.overall:
            values = [float(o.value) for o in form.field(form.overall).options]
            scale = f"{form.overall} {min(values):g}-{max(values):g}"
        rows.append((form.id, form.name, scale, form.llm_policy.status, form.provenance.checked.isoformat()))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@app.command()
def show(
    venue: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="The whole form as JSON.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="What reviewers are told for each guideline.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="With --prompts: every version, criticism and refusal.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="With --prompts: refined with this model. [default: those refined last]")
    ] = None,
) -> None:
    """Show a venue's form, guidelines, rule on language models, and how sure each fact is; or its prompts."""
    from referee.venues import describe_venue, load_venue

    if prompts:
        show_prompts(venue, model=model, history=history, json=json)
        return
    if history or model:
        raise SettingsError(
            f"--{'history' if history else 'model'} goes with --prompts.",
            hint=f"Write: referee venue show {venue} --prompts --history",
        )
    form = load_venue(venue)
    typer.echo(form.model_dump_json(indent=2) if json else describe_venue(form))


@app.command()
def diff(
    first: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    second: Annotated[str, typer.Argument(help="Another one.", show_default=False)],
) -> None:
    """Show what one venue asks and the other does not: - only the first, + only the second, ~ both but not alike."""
    from referee.venues import load_venue
    from referee.venues.render import venue_difference

    one, other = load_venue(first), load_venue(second)
    lines = venue_difference(one, other)
    for line in lines or [f"{one.id} and {other.id} ask the same."]:
        typer.echo(line)


@app.command()
def export(
    venue: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="A new .json file. [default: print it]")] = None,
) -> None:
    """Write a venue out as one JSON venue file, with everything it borrows filled in."""
    from referee.venues.registry import export_venue

    text = export_venue(venue, out)
    typer.echo(f"Written to {out}" if out else text, nl=out is not None)


@app.command()
def remove(venue: Annotated[str, typer.Argument(help="The id of a venue of your own.", show_default=False)]) -> None:
    """Remove a venue of your own; those that ship with referee stay."""
    from referee.venues.registry import remove_venue

    typer.echo(f"{venue}: removed ({remove_venue(venue)}).")


@app.command()
def new(
    venue: Annotated[
        str, typer.Argument(metavar="ID", help="The id it gets, as my-workshop-2026.", show_default=False)
    ],
    out: Annotated[Path | None, typer.Option(help="A new .toml file. [default: ID.toml]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Take an id that is taken.")] = False,
) -> None:
    """Write a commented venue file to fill in, for a venue that has no page to compile."""
    from referee.venues.registry import check_storable, user_venue_dir
    from referee.venues.template import write_template

    check_storable(venue, force=force)
    path = write_template(venue, out)
    typer.echo(f"Written to {path}: fill it in with any editor; its comments say how.")
    typer.echo(f"Next: referee venue show {_as_path(path)}")
    typer.echo(f"Then: referee review paper.pdf --venue {_as_path(path)}")
    typer.echo(f"Moved into {user_venue_dir()} as {venue}.toml, it is found as {venue}.")


def _as_path(path: Path) -> str:
    """Written so that a shell, and ``--venue``, take it as a file's path."""
    import shlex

    return shlex.quote(str(path) if path.parent != Path() else f"./{path}")


@app.command("compile")
@with_run_flags()
def compile_(
    source: Annotated[
        list[str],
        typer.Argument(
            help="The page, or several: http(s) addresses, HTML, Markdown, text, PDF, Word files; or a form as .json.",
            show_default=False,
        ),
    ],
    venue_id: Annotated[str, typer.Option("--id", metavar="ID", help="The id it gets, as my-workshop-2026.")],
    name: Annotated[str | None, typer.Option(help="The venue's name. [default: the page's title]")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="local, openai:NAME, anthropic:NAME, google_genai:NAME, or a server's name. [default: local]"
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=0, max=10, help="Rounds that refine its prompts. [default: 3; 0 on the embedded model]"),
    ] = None,
    paper_type: Annotated[
        str | None, typer.Option(help="Of several types of paper, the one to keep. [default: the first]")
    ] = None,
    form: Annotated[
        str | None, typer.Option(metavar="VENUE", help="Borrow this venue's form instead of the page's.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Take an id that is taken, keeping an old file of yours; go on with a page taken for none."
        ),
    ] = False,
    flags: RunFlags = RunFlags(),
) -> None:
    """Make a venue of your own from the page on which it tells its reviewers how to review.

    The model reads the page, and code looks up the words of all it names; the embedded model only labels what code
    has cut. Ends with the form to look at and what of the page went where. Writes a run folder with guidelines.json
    (each statement), venue.json, page.diff (the page line by line) and trace.jsonl (each model call).

    A review form as JSON (an OpenReview invitation) is read by code alone, without a model and a run folder.
    """
    from referee import api
    from referee.venues.form_json import is_form_file

    if any(map(is_form_file, source)):
        if len(source) > 1:
            raise SettingsError("a form in JSON is read alone.", hint="Give the form, or the pages.")
        _refuse_for_form(
            {"model": model, "rounds": rounds, "paper-type": paper_type, "form": form, "out": flags.out},
            {"resume": flags.resume, "batch": flags.batch},
        )
        _compile_form(Path(source[0]), venue_id, name, force)
        return
    from referee.reports.estimates import review_estimate_lines

    attended = Attended(flags, review_estimate_lines)
    work = api.compile_venue(
        source,
        venue_id=venue_id,
        name=name,
        paper_type=paper_type,
        form=form,
        model=model,
        rounds=rounds,
        force=force,
        options=attended.options,
    )
    _print_summary(attended.run(work))


def _compile_form(path: Path, venue_id: str, name: str | None, force: bool) -> None:
    from referee.cli.output import printable, wrapped
    from referee.reports.venue_lines import form_lines
    from referee.venues.form_json import compile_form

    form, stored = compile_form(path, venue_id=venue_id, name=name, force=force)
    for line in form_lines(form):
        typer.echo(wrapped(printable(line)))
    typer.echo(f"Stored as {stored.path}")
    if stored.backup:
        typer.echo(f"The file it replaced is kept as {stored.backup}")
    typer.echo(f"Next: referee venue show {form.id}")
    typer.echo(f"Then: referee review paper.pdf --venue {form.id}")


def _refuse_for_form(*given: dict[str, Any]) -> None:
    for name, value in (item for options in given for item in options.items()):
        if value:
            raise SettingsError(
                f"--{name} does not go with a form in JSON, which code reads alone.", hint=f"Leave --{name} out."
            )


def _print_summary(compiled: Compiled) -> None:
    from referee.cli.output import describe_usage, wrapped
    from referee.reports.venue_lines import compile_lines, place_lines
    from referee.venues.render import describe_venue

    said = compile_lines(compiled.form, compiled.page, compiled.paper_type, compiled.statements, compiled.notes)
    for line in said:
        typer.echo(wrapped(line))
    typer.echo(f"\n{describe_venue(compiled.form)}\n")
    for line in place_lines(compiled.form, compiled.page):
        typer.echo(wrapped(line))
    typer.echo(f"The page line by line, and where each went: {compiled.run}/page.diff")
    typer.echo(f"Used: {describe_usage(compiled.usage)}.")
    typer.echo(f"Each statement and what became of it: {compiled.run}/guidelines.json")
    typer.echo(f"Stored as {compiled.path}")
    if compiled.backup:
        typer.echo(f"The file it replaced is kept as {compiled.backup}")
    if compiled.refined:
        rounds, refined = compiled.refined.rounds, describe_usage(compiled.refined.usage)
        typer.echo(f"Prompts refined in {rounds} rounds: {refined}; referee venue show {compiled.form.id} --prompts")
    typer.echo(f"Next: referee venue show {compiled.form.id}")
    typer.echo(f"Then: referee review paper.pdf --venue {compiled.form.id}")


@app.command()
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
    rounds: Annotated[
        int | None, typer.Option(min=1, max=10, help="Rounds of criticism and revision. [default: 3]")
    ] = None,
    until_stable: Annotated[
        bool, typer.Option("--until-stable", help="End a guideline early when the supervisor has nothing new.")
    ] = False,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Begin with the steps of this file of yours.")
    ] = None,
    pause: Annotated[
        bool, typer.Option("--pause", help="Stop after each round, to edit the steps; --resume goes on with them.")
    ] = False,
    objective: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="Keep a version only if this metric of its reviews rises: coverage, ..."),
    ] = None,
    papers: Annotated[
        list[str] | None, typer.Option(metavar="P", help="With --objective: files, folders or patterns of papers.")
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(metavar="P|SHARE", help="With --objective: papers looked at once, at the end. [default: 0.25]"),
    ] = None,
    planted: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --objective: a folder with planted/ and keys/.")
    ] = None,
    references: Annotated[
        Path | None, typer.Option(help="With --objective: human reviews of the papers, where the metric needs them.")
    ] = None,
    proposals: Annotated[
        int | None, typer.Option(min=1, max=10, help="With --objective: how many versions are tried. [default: 3]")
    ] = None,
    guideline: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="With --objective: refine this one; several may be named.")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="With --objective: audited, single or sections. [default: what a review with the model takes]"
        ),
    ] = None,
    judge: Annotated[list[str] | None, typer.Option(metavar="M", help="With --objective: a model that judges.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="With --objective: which papers are held out by a share. [default: 0]")
    ] = None,
    flags: RunFlags = RunFlags(),
) -> None:
    """Refine the steps that a venue's guidelines become for reviewers of sections.

    A supervisor criticises the steps of each guideline, they are revised, and a revision that loses a point of its
    guideline is refused. All versions are kept; `referee review --preset full` goes by the last ones.

    With --objective each version is tried on papers, and one is kept only if the metric rises by more than its noise;
    reviews then go by that one. Writes report.html (to read): every version, what it changed, cost and verdict.
    """
    searching = {
        "papers": papers or None,
        "held_out": held_out,
        "planted": planted,
        "references": references,
        "proposals": proposals,
        "guidelines": guideline or None,
        "strategy": strategy,
        "judges": judge or None,
        "seed": seed,
    }
    given = {name: value for name, value in searching.items() if value is not None}
    if objective is not None:
        _refuse_beside("--objective", {"rounds": rounds, "until-stable": until_stable or None}, "--proposals N")
        if from_ is not None or pause:
            flag = "--pause" if pause else "--from"
            raise SettingsError(f"{flag} does not go with --objective.", hint="Leave one of the two away.")
        _search(venue, objective, model, model_for or [], given, flags)
        return
    flag_of = {"guidelines": "guideline", "judges": "judge", "held_out": "held-out"}
    _refuse_without_objective([flag_of.get(name, name) for name in given])
    asked = {"rounds": 3 if rounds is None else rounds, "until_stable": until_stable, "steps": from_, "pause": pause}
    _refine(venue, model, model_for or [], asked, flags)


def _refine(venue: str, model: str | None, model_for: list[str], asked: dict[str, Any], flags: RunFlags) -> None:
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
        model_for=roles_by_name(model_for),
        options=attended.options,
        **asked,
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


def _search(
    venue: str, objective: str, model: str | None, model_for: list[str], given: dict[str, Any], flags: RunFlags
) -> None:
    from referee import api
    from referee.cli.output import describe_usage, printable
    from referee.cli.progress import Stages
    from referee.cli.review import roles_by_name
    from referee.reports.estimates import search_estimate_lines
    from referee.reports.html import PAGE
    from referee.venues.describe_prompts import describe_search

    attended = Attended(flags, search_estimate_lines, Stages)
    work = api.refine_by_objective(
        venue,
        objective=objective,
        model=model,
        model_for=roles_by_name(model_for),
        options=attended.options,
        **given,
    )
    refined = attended.run(work)
    for line in describe_search(refined):
        typer.echo(printable(line))
    if refined.reused:
        typer.echo(f"Searched already on {refined.refined_at[:10]}: no call was made.")
    else:
        typer.echo(f"Used: {describe_usage(refined.usage)}.")
        typer.echo(f"Written to {attended.run_folder}: {PAGE} (to read), refined_prompts.json (everything).")
    typer.echo(f"Next: referee venue diff-prompts {refined.venue} v0 v{refined.rounds}")


def _refuse_without_objective(flags: list[str]) -> None:

    if flags:
        raise SettingsError(
            f"--{flags[0]} goes with --objective.", hint="Name the metric that decides: --objective coverage."
        )


def _refuse_beside(flag: str, others: dict[str, Any], instead: str) -> None:

    for name, value in others.items():
        if value is not None:
            raise SettingsError(f"--{name} does not go with {flag}.", hint=f"Say how many versions: {instead}.")


def show_prompts(venue: str, *, model: str | None, history: bool, json: bool) -> None:
    """Print a venue's prompts: the refined ones where there are any, else those that ship."""
    from referee.venues import load_venue
    from referee.venues.describe_prompts import describe_prompts
    from referee.venues.refined import choose_refined, list_refined, refined_json

    form = load_venue(venue)
    stored = list_refined(form.id)
    chosen = choose_refined(form.id, model) if stored or model or history or json else None
    if json and chosen is not None:
        typer.echo(refined_json(chosen), nl=False)
        return
    typer.echo(describe_prompts(form, chosen, history=history))
    if others := [refined.model for refined in stored if chosen is not None and refined.model != chosen.model]:
        typer.echo(f"\nAlso refined with {', '.join(others)}: add --model.")


@app.command("diff-prompts")
def diff_prompts(
    venue: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    first: Annotated[str, typer.Argument(help="A version: v0 is what refinement began with.")] = "v0",
    second: Annotated[str | None, typer.Argument(help="Another one: v3 is after round 3. [default: the last]")] = None,
    model: Annotated[str | None, typer.Option(help="Whose prompts. [default: those refined last]")] = None,
) -> None:
    """Show what refinement changed in a venue's prompts: - only before, + only after, and the points covered."""
    from referee.venues import load_venue
    from referee.venues.describe_prompts import diff_prompts as difference
    from referee.venues.refined import choose_refined

    form = load_venue(venue)
    refined = choose_refined(form.id, model)
    typer.echo(difference(refined, form, first, second or f"v{refined.rounds}"))
