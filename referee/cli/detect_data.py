"""``referee detect anchors`` and ``referee detect generate``: what detection of AI reviews is studied on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.running import Attended, RunFlags, with_run_flags

if TYPE_CHECKING:
    from collections import Counter

_PAPERS = "Their papers: a folder of files named by id, rows (JSONL, Parquet), or one paper."


def add(app: typer.Typer) -> None:
    """Give the group its commands."""
    app.command("anchors")(anchors)


@with_run_flags()
def anchors(
    papers: Annotated[Path, typer.Option(help="A folder of papers named by id, rows (JSONL, Parquet), or one paper.")],
    models: Annotated[str, typer.Option(metavar="A,B,C", help="The models that review; there is no default.")],
    flags: RunFlags = RunFlags(),
) -> None:
    """Let models review papers, plainly asked, so that other reviews can be compared with theirs.

    Writes a run folder with anchors.jsonl: a row for each paper and model.
    """
    from referee.api.detection.anchors import detect_anchors
    from referee.cli.output import describe_usage
    from referee.cli.progress import Stages
    from referee.reports.estimates import several, writing_estimate_lines

    attended = Attended(flags, writing_estimate_lines, Stages)
    done = attended.run(detect_anchors(papers, models=models.split(","), options=attended.options))
    typer.echo(f"{several(len(done.anchors), 'anchor')}: {_counted(done.counts)}.")
    typer.echo(f"Used: {describe_usage(done.usage)}.")
    typer.echo(f"Written to {done.run}: anchors.jsonl.")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {how}" for how, count in sorted(counts.items(), key=lambda one: one[0] != "written"))
