"""``referee experiment``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from referee.cli.running import Attended, CorpusFlags, with_run_flags

if TYPE_CHECKING:
    from referee.api import Experiment

_PLAN = (
    "The plan: a TOML file, or one that ships: table2, planted, ablation, card, retrieval, chunks, cross, check, "
    "merge, quota, second-model, example, scores."
)
_MLFLOW = "Log to MLflow too: local (a folder in the store), another folder, or an address."
_REPEAT = "Review each paper N times in every arm: shows how much an arm differs from itself."
_ON = (
    "dev: the papers for work; test: the others, opened once for each plan. Without [splits] each is a half. "
    "[default: dev, or all papers where the plan has no splits]"
)
_STORE = "Where finished reviews and seals lie, for all plans. [default: referee-runs]"


@with_run_flags(CorpusFlags)
def experiment(
    plan: Annotated[str, typer.Argument(help=_PLAN, show_default=False)],
    arm: Annotated[list[str] | None, typer.Option(metavar="A", help="Run this arm; several may be named.")] = None,
    strategy: Annotated[list[str] | None, typer.Option(metavar="S", help="In place of the grid's strategies.")] = None,
    venue: Annotated[str | None, typer.Option(help="In place of the plan's venue.")] = None,
    model: Annotated[list[str] | None, typer.Option(metavar="M", help="In place of the grid's models.")] = None,
    paper: Annotated[
        list[str] | None, typer.Option(metavar="P", help="A file, folder or pattern in place of the plan's papers.")
    ] = None,
    planted: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Planted papers (planted/, clean/, keys/) in place of papers.")
    ] = None,
    metrics: Annotated[str | None, typer.Option(metavar="A,B,C", help="In place of the plan's metrics.")] = None,
    judge: Annotated[list[str] | None, typer.Option(metavar="M", help="In place of the plan's judges.")] = None,
    references: Annotated[Path | None, typer.Option(help="Human reviews in place of the plan's.")] = None,
    embedder: Annotated[str | None, typer.Option(help="The embedding model. [default: local]")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print units, calls and cost, and end.")] = False,
    repeat: Annotated[int | None, typer.Option(metavar="N", help=_REPEAT)] = None,
    on: Annotated[Literal["dev", "test"] | None, typer.Option(help=_ON)] = None,
    store: Annotated[Path | None, typer.Option(help=_STORE)] = None,
    mlflow: Annotated[str | None, typer.Option(metavar="URI", help=_MLFLOW)] = None,
    flags: CorpusFlags = CorpusFlags(),
) -> None:
    """Compare strategies, prompts and models on the same papers.

    Writes a run folder with summary.md (to read), summary.json (everything), summary.csv and comparisons.csv,
    results.jsonl (a line a value), plots/ (SVG and PNG), table2.md (arms beside the human reviews) and the
    measurements of each paper.
    """
    from referee import api
    from referee.api.experiments.running import STORE
    from referee.cli.output import printable
    from referee.cli.progress import Stages
    from referee.reports.estimates import experiment_estimate_lines

    attended = Attended(flags, experiment_estimate_lines, Stages)
    given: dict[str, Any] = {
        "arms": arm or (),
        "strategies": strategy or (),
        "venue": venue,
        "models": model or (),
        "papers": paper or (),
        "planted": planted,
        "metrics": metrics.split(",") if metrics is not None else None,
        "judges": judge or (),
        "references": references,
        "embedder": embedder,
        "repeat": repeat,
        "on": on,
        "store": store or STORE,
        "options": attended.options,
    }
    if not dry_run:
        _print_result(attended.run(api.experiment(plan, **given, mlflow=mlflow)))
        return
    for text in experiment_estimate_lines(attended.run(api.estimate_experiment(plan, **given))):
        typer.echo(printable(text))
    typer.echo("Nothing was sent or written.")


def _print_result(done: Experiment) -> None:
    from referee.cli.output import describe_usage, printable
    from referee.reports.experiment_lead import lead_lines
    from referee.reports.experiment_summary import arm_lines, comparison_lines

    result = done.result
    if result.cut_line:
        typer.echo(printable(result.cut_line))
    for text in lead_lines(result):
        typer.echo(printable(text))
    typer.echo()
    for text in done.table or arm_lines(result):
        typer.echo(text)
    if result.comparisons:
        typer.echo()
        for text in comparison_lines(result):
            typer.echo(text)
    for note in result.notes:
        typer.echo(printable(f"Note: {note}."))
    if result.split == "test":
        typer.echo(f"The test split was opened; the seal is {done.run / 'seal.json'}.")
    typer.echo(f"Paid: {describe_usage(result.paid)}.")
    typer.echo(f"Written to {done.run}: summary.md (to read), summary.json (everything).")
