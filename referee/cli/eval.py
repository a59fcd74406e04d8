"""``referee eval`` and ``referee rescore``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.mapping import WRITE_MAPPING, write_suggestion
from referee.cli.running import Attended, CorpusFlags, with_run_flags
from referee.errors import SettingsError

if TYPE_CHECKING:
    from referee.api.evaluations.rescoring import Summary
    from referee.reports.eval_summary import About

_GROUP_BY = "The table's rows: source or kind, within venue, conference, year, decision or a column."
_COMPARE = "Two rows of the table, compared paper by paper."
_CORRELATE = "One of the metrics: how it goes with the others, review by review."
_PLANTED = "Planted papers with their keys (`referee plant`), for the metrics planted_recall and false_alarms."
_RESUME = "Continue the run in this folder, which knows the reviews, options and settings."
_DEFAULTS = {"judges": [], "repeats": 1, "group_by": "source", "paper_table": False}
_PAPER_TABLE = "Print the table published with ReviewEval beside ours."


@with_run_flags(CorpusFlags, resume=_RESUME)
def evaluate(
    reviews: Annotated[
        Path | None, typer.Argument(help="The reviews: a file or a folder, AI or human.", show_default=False)
    ] = None,
    papers: Annotated[
        Path | None,
        typer.Option(help="Their papers: a folder of files named by id, rows (JSONL, Parquet), or one paper."),
    ] = None,
    known: Annotated[
        Path | None, typer.Option(help="Known errors of the papers: what `referee data load` wrote.")
    ] = None,
    venue: Annotated[str | None, typer.Option(help="The form of reviews that name no known venue.")] = None,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Metrics and presets. [default: quality]"),
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="M", help="A model that judges; several make a panel. [default: local]")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="How often each judge is asked the same.")] = 1,
    embedder: Annotated[str | None, typer.Option(help="The embedding model. [default: local]")] = None,
    mapping: Annotated[Path | None, typer.Option(help="A file that says which key of a row is what.")] = None,
    write_mapping: Annotated[Path | None, typer.Option(metavar="FILE", help=WRITE_MAPPING)] = None,
    planted: Annotated[Path | None, typer.Option(metavar="DIR", help=_PLANTED)] = None,
    layout: Annotated[str | None, typer.Option(help="The layout of the reviews. [default: by their content]")] = None,
    group_by: Annotated[str, typer.Option(help=_GROUP_BY)] = "source",
    compare: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help=_COMPARE)] = None,
    paper_table: Annotated[bool, typer.Option("--paper-table", help=_PAPER_TABLE)] = False,
    correlate: Annotated[str | None, typer.Option(metavar="METRIC", help=_CORRELATE)] = None,
    flags: CorpusFlags = CorpusFlags(),
) -> None:
    """Measure peer reviews, AI or human.

    Writes a run folder with summary.md (to read), summary.csv and summary.json, results.jsonl (each unit with all that
    led to it), rejected.jsonl (rows that could not be used), trace.jsonl (each model call) and run.json.
    """
    if reviews is None and (flags.resume is None or write_mapping is not None):
        raise SettingsError("no reviews are named.", hint="Give them: referee eval reviews.jsonl --judge openai:NAME")
    if reviews is not None and write_mapping is not None:
        write_suggestion(reviews, write_mapping)
        return
    from referee import api
    from referee.api.resuming import begun_evaluation
    from referee.cli.output import describe_usage
    from referee.cli.progress import RarerStages
    from referee.reports.estimates import set_estimate_lines

    given: dict[str, Any] = {
        "papers": papers,
        "known": known,
        "venue": venue,
        "metrics": metrics.split(",") if metrics is not None else None,
        "judges": judge or [],
        "repeats": repeats,
        "embedder": embedder,
        "mapping": mapping,
        "layout": layout,
        "planted": planted,
        "group_by": group_by,
        "compare": compare,
        "paper_table": paper_table,
        "correlate": correlate,
    }
    settings = None
    if reviews is None and flags.resume is not None:
        begun = begun_evaluation(flags.resume)
        named = {name: value for name, value in given.items() if value != _DEFAULTS.get(name)}
        reviews, settings, given = begun.reviews, begun.settings, begun.options | named
    assert reviews is not None, "they were named, or the run names them"
    attended = Attended(flags, set_estimate_lines, RarerStages, settings=settings)
    done = attended.run(api.evaluate(reviews, **given, options=attended.options))
    _print_summary(done.summary, done.about)
    if done.summary.table.failed:
        typer.echo(f"{done.summary.table.failed:,} unit(s) failed; --resume {done.run} tries them again.")
    typer.echo(f"Used: {describe_usage(done.usage)}.")
    typer.echo(f"Written to {done.run}: summary.md (to read), results.jsonl (every judgement).")


def rescore(
    run: Annotated[Path, typer.Argument(help="The run folder of an evaluation.", show_default=False)],
    group_by: Annotated[str, typer.Option(help=_GROUP_BY)] = "source",
    compare: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help=_COMPARE)] = None,
    paper_table: Annotated[bool, typer.Option("--paper-table", help=_PAPER_TABLE)] = False,
    correlate: Annotated[str | None, typer.Option(metavar="METRIC", help=_CORRELATE)] = None,
) -> None:
    """Compute the numbers of an evaluation anew from its stored judgements, without a call.

    The run's own files stay; the new ones are in its folder rescored.
    """
    from referee import api
    from referee.cli.progress import ProgressLine

    with ProgressLine("computing anew"):
        done = api.rescore(run, group_by=group_by, compare=compare, paper_table=paper_table, correlate=correlate)
    _print_summary(done.summary, done.about)
    typer.echo(f"Written to {done.folder}: summary.md (to read), results.jsonl. No call was made.")


def _print_summary(summary: Summary, about: About) -> None:
    from referee.cli.output import printable
    from referee.reports.estimates import several
    from referee.reports.eval_summary import left_out_lines, legend, main_table_lines, silence_lines

    if summary.table.cut_line:
        typer.echo(printable(summary.table.cut_line))
    _print_lines(main_table_lines(summary.table))
    table = summary.table
    typer.echo(legend(table))
    _print_lines(silence_lines(table))
    typer.echo(
        f"{several(about.reviews, 'review')}: {table.scored:,} units scored, {table.not_applicable:,} not applicable, "
        f"{table.failed:,} failed."
    )
    for metric, totals in table.totals.items():
        for status, reason, count in totals.reasons[:2]:
            typer.echo(f"  {metric}, {status.replace('_', ' ')}, {count:,}: {printable(reason)}")
        if others := sum(count for _, _, count in totals.reasons[2:]):
            typer.echo(f"  {metric}, for other reasons, {others:,}: see summary.md")
    _print_lines([f"  {printable(line)}" for line in left_out_lines(table)])


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        typer.echo(line)
