"""``referee detect anchors`` and ``referee detect generate``: what detection of AI reviews is studied on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.running import Attended, CorpusFlags, RunFlags, with_run_flags

if TYPE_CHECKING:
    from collections import Counter

    from referee.api import Generation

_PAPERS = "Their papers: a folder of files named by id, rows (JSONL, Parquet), or one paper."


def add(app: typer.Typer) -> None:
    """Give the group its commands."""
    app.command("anchors")(anchors)
    app.command("generate")(generate)


@with_run_flags(CorpusFlags)
def anchors(
    papers: Annotated[Path, typer.Option(help="A folder of papers named by id, rows (JSONL, Parquet), or one paper.")],
    models: Annotated[str, typer.Option(metavar="A,B,C", help="The models that review; there is no default.")],
    flags: CorpusFlags = CorpusFlags(),
) -> None:
    """Let models review papers, plainly asked, so that other reviews can be compared with theirs.

    Writes a run folder with anchors.jsonl: a row for each paper and model.
    """
    from referee import api
    from referee.cli.output import describe_usage, printable
    from referee.cli.progress import Stages
    from referee.reports.estimates import several, writing_estimate_lines

    attended = Attended(flags, writing_estimate_lines, Stages)
    done = attended.run(api.detect_anchors(papers, models=models.split(","), options=attended.options))
    if done.cut_line:
        typer.echo(printable(done.cut_line))
    typer.echo(f"{several(len(done.anchors), 'anchor')}: {_counted(done.counts)}.")
    typer.echo(f"Used: {describe_usage(done.usage)}.")
    typer.echo(f"Written to {done.run}: anchors.jsonl.")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {how}" for how, count in sorted(counts.items(), key=lambda one: one[0] != "written"))


@with_run_flags()
def generate(
    reviews: Annotated[Path, typer.Argument(help="A set with human reviews: a file or a folder.", show_default=False)],
    task: Annotated[str, typer.Option(help="aligned, archetype, enriched, edit or bullets.")],
    model: Annotated[str, typer.Option(help="The model that writes; there is no default.")],
    papers: Annotated[Path | None, typer.Option(help=_PAPERS)] = None,
    levels: Annotated[
        str | None, typer.Option(metavar="A,B", help="Of edit: minimum, moderate, extensive, maximum. [default: all]")
    ] = None,
    venue: Annotated[str | None, typer.Option(help="The form of reviews that name no known venue.")] = None,
    split: Annotated[str, typer.Option(help="Of the written files, where the set does not say it.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Take so many human reviews only.")] = None,
    embedder: Annotated[
        str | None, typer.Option(help="Measures how far edits are from their originals. [default: local]")
    ] = None,
    mapping: Annotated[Path | None, typer.Option(help="A file that says which key of a row is what.")] = None,
    layout: Annotated[str | None, typer.Option(help="The layout of the reviews. [default: by their content]")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the prompts of the first review (of --limit ones) and end.")
    ] = False,
    flags: RunFlags = RunFlags(),
) -> None:
    """Let a model write, edit or expand reviews, to study how they are detected. For research on reviewing only.

    Writes a run folder with generated.jsonl (each review with its task, level and the id of its human source), dataset
    (the layout of the detection benchmark, each AI row beside its human one) and, for edits, similarity.json.
    """
    from referee import api
    from referee.cli.output import describe_usage, printable
    from referee.cli.progress import Stages
    from referee.reports.estimates import several, writing_estimate_lines

    asked = api.Generation(
        reviews=reviews,
        task=task,  # type: ignore[arg-type]
        model=model,
        papers=papers,
        levels=tuple(level.strip() for level in levels.split(",")) if levels else (),
        venue=venue,
        split=split,
        limit=limit,
        mapping=mapping,
        layout=layout,
        embedder=embedder,
    )
    attended = Attended(flags, writing_estimate_lines, Stages)
    if dry_run:
        _show(asked, attended, limit or 1)
        return
    done = attended.run(api.detect_generate(asked, options=attended.options))
    if done.cut_line:
        typer.echo(printable(done.cut_line))
    typer.echo(f"{several(len(done.reviews), 'review')} ({task}): {_counted(done.counts)}.")
    for reason, count in done.skipped.items():
        typer.echo(printable(f"  skipped, {count:,}: {reason}"))
    if done.unplaced:
        typer.echo(f"{done.unplaced:,} name no conference and year: they are in generated.jsonl and not in dataset.")
    for line in done.similarity.lines() if done.similarity else ():
        typer.echo(line)
    typer.echo(f"Used: {describe_usage(done.usage)}.")
    typer.echo(f"Written to {done.run}: generated.jsonl, dataset.")


def _show(asked: Generation, attended: Attended, each: int) -> None:
    from referee import api

    for shown in attended.run(api.generation_prompts(asked, each=each, options=attended.options)):
        typer.echo(f"=== {shown.piece}")
        for role, text in shown.messages:
            typer.echo(f"--- {role}\n{text}")
