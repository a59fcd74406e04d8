"""``referee arena``: a model fills papers' own forms, is scored against people, and gets a rating map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.mapping import WRITE_MAPPING, write_suggestion
from referee.cli.running import Attended, CorpusFlags, with_run_flags

if TYPE_CHECKING:
    from referee.api.arena.calibrating import Calibration
    from referee.api.arena.scoring import ArenaScoring

app = typer.Typer(
    help="How far a model's reviews are from people's, on each paper's own form.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_MODEL = "local, openai:NAME, anthropic:NAME, google_genai:NAME, or a server's name. [default: local]"
_HUMAN = "The human reviews. [default: those in the predictions' own files]"
_PREDICTIONS = "Runs of `referee arena run`, or review sets, whose AI reviews count."
_MIN_REVIEWS = "Human ratings a paper needs."
_MAPPING = "A file that says which key of a row is what, for sets in no known layout."


@app.command()
@with_run_flags(CorpusFlags)
def run(
    papers: Annotated[
        Path, typer.Option(help="Rows with full texts (JSONL, Parquet), a folder of papers, or one paper.")
    ],
    model: Annotated[str | None, typer.Option(help=_MODEL)] = None,
    venue: Annotated[str | None, typer.Option(help="The form of papers that name no venue, or an unknown one.")] = None,
    flags: CorpusFlags = CorpusFlags(),
) -> None:
    """Fill each paper's own venue-year form by one model.

    Writes a run folder with predictions.jsonl (a line a paper) and, in reviews, the run of each review.
    """
    from referee import api
    from referee.cli.output import describe_usage, printable
    from referee.cli.progress import Stages
    from referee.reports.estimates import arena_estimate_lines, several

    attended = Attended(flags, arena_estimate_lines, Stages)
    done = attended.run(api.arena_run(papers, model=model, venue=venue, options=attended.options))
    if done.cut_line:
        typer.echo(printable(done.cut_line))
    counted = ", ".join(f"{count:,} {status}" for status, count in sorted(done.counts.items()))
    typer.echo(f"{done.model}: {several(len(done.predictions), 'paper')}: {counted}.")
    for text in _reasons([one.reason for one in done.predictions if one.reason]):
        typer.echo(printable(text))
    if done.counts["invalid"] or done.counts["failed"]:
        typer.echo(f"Papers without an answer: --resume {done.run} tries them again.")
    typer.echo(f"Used: {describe_usage(done.usage)}.")
    typer.echo(f"Written to {done.run}: predictions.jsonl; score them with `referee arena score {done.run}`.")


@app.command()
def score(
    predictions: Annotated[list[Path], typer.Argument(help=_PREDICTIONS, show_default=False)],
    human: Annotated[Path | None, typer.Option(help=_HUMAN)] = None,
    by: Annotated[str, typer.Option(metavar="COLUMN", help="What tells models apart.")] = "source",
    mapping: Annotated[Path | None, typer.Option(help=_MAPPING)] = None,
    write_mapping: Annotated[Path | None, typer.Option(metavar="FILE", help=WRITE_MAPPING)] = None,
    min_reviews: Annotated[int, typer.Option(min=1, help=_MIN_REVIEWS)] = 2,
    impute: Annotated[
        str, typer.Option(help="Invalid predictions: none (left out) or midpoint of the scale.")
    ] = "none",
    include_confidence: Annotated[
        bool, typer.Option("--include-confidence", help="Count confidence among the sub-scores.")
    ] = False,
    rated_on: Annotated[
        str | None, typer.Option(metavar="VENUE", help="The form the models rated on. [default: as the data say]")
    ] = None,
    compare_scales: Annotated[
        bool, typer.Option("--compare-scales", help="Compare ranks where models rated on another form than people.")
    ] = False,
    no_texts: Annotated[bool, typer.Option("--no-texts", help="Leave the similarity of texts out.")] = False,
    bert: Annotated[bool, typer.Option("--bert", help="BERTScore too (package bert-score).")] = False,
    loose: Annotated[bool, typer.Option("--loose", help="Human questions may answer predicted weaknesses.")] = False,
    out: Annotated[Path | None, typer.Option(help="The folder. [default: a new one in referee-runs]")] = None,
) -> None:
    """Score predicted reviews against people's, beside the floors; no model is asked.

    Writes a folder with report.html and arena.md (to read), arena.csv and arena.json (every number), papers.csv and
    plots.
    """
    if write_mapping is not None:
        write_suggestion(predictions[0], write_mapping)
        return
    from referee import api
    from referee.api.arena.scoring import ScoreRules
    from referee.cli.progress import ProgressLine
    from referee.errors import SettingsError

    if impute not in ("none", "midpoint"):
        raise SettingsError(f"--impute {impute!r} is not known.", hint="There are none and midpoint.")
    rules = ScoreRules(
        fewest_reviews=min_reviews,
        impute="none" if impute == "none" else "midpoint",
        include_confidence=include_confidence,
        compare_scales=compare_scales,
        rated_on=rated_on or "",
        loose=loose,
        with_texts=not no_texts,
        with_bert=bert,
    )
    with ProgressLine() as progress:
        options = api.RunOptions(out=out, progress=progress)
        done = api.arena_score(predictions, human=human, by=by, mapping=mapping, rules=rules, options=options)
    _print_scores(done)


@app.command()
def calibrate(
    predictions: Annotated[list[Path], typer.Argument(help=_PREDICTIONS, show_default=False)],
    model: Annotated[str, typer.Option(help="The model, by its name in the predictions.")],
    out: Annotated[Path, typer.Option(help="The map's file, for `referee review --calibration`.")],
    human: Annotated[Path | None, typer.Option(help=_HUMAN)] = None,
    venue: Annotated[str | None, typer.Option(help="The form, where predictions are on several.")] = None,
    mapping: Annotated[Path | None, typer.Option(help=_MAPPING)] = None,
    min_reviews: Annotated[int, typer.Option(min=1, help=_MIN_REVIEWS)] = 2,
) -> None:
    """Fit a map from a model's overall ratings to people's, for one form and prompt; at least 80 papers."""
    from referee import api
    from referee.cli.output import printable
    from referee.cli.progress import ProgressLine

    with ProgressLine() as progress:
        done = api.arena_calibrate(
            predictions,
            model=model,
            out=out,
            human=human,
            venue=venue,
            mapping=mapping,
            fewest_reviews=min_reviews,
            progress=progress,
        )
    for line in _map_lines(done):
        typer.echo(printable(line))


def _reasons(reasons: list[str]) -> Iterator[str]:
    from collections import Counter

    for reason, count in Counter(reasons).most_common(5):
        yield f"  {count:,}: {reason}"


def _print_scores(done: ArenaScoring) -> None:
    from referee.cli.output import printable
    from referee.reports import arena_tables as tables
    from referee.reports.tables import aligned

    shown = (tables.ratings_table, tables.decisions_table, tables.ranks_table, tables.cost_table, tables.left_out_table)
    for make in shown:
        table = make(done.result)
        if table is not None:
            typer.echo(f"{table.title}:")
            for line in aligned(table):
                typer.echo(line)
            typer.echo()
    for note in done.result.notes:
        typer.echo(printable(f"Note: {note}."))
    typer.echo(f"Written to {done.run}: report.html and arena.md (to read), arena.csv (every number).")


def _map_lines(done: Calibration) -> Iterator[str]:
    found = done.rating_map
    yield f"{found.model} on {found.form}, {found.papers:,} papers; errors on papers the map was not fitted on:"
    for what, interval in (
        ("as stated", found.mae_before),
        ("mapped", found.mae_after),
        ("one constant", found.mae_constant),
        ("mapped less stated", found.change),
    ):
        yield f"  {what}: {interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
    knots = ", ".join(f"{knot.predicted:g} -> {knot.mapped:.2f}" for knot in found.knots)
    yield f"  ratings: {knots}"
    spread = f"{found.residual_low:+.2f} to {found.residual_high:+.2f}"
    yield f"  {found.coverage:.0%} of human means lie from {spread} of the mapped rating"
    for reason, count in done.left_out.items():
        if count:
            yield f"  left out, {count:,}: {reason}"
    if found.change.high >= 0:
        yield "Note: the map does not make the ratings better beyond doubt on these papers."
    if not found.prompt_digest:
        yield "Note: these predictions name no prompt, so no review of `referee review` fits the map."
    yield f"Written to {done.path}."
