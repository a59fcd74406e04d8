"""``referee plant``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from referee.cli.running import Attended, RunFlags, with_run_flags

if TYPE_CHECKING:
    from referee.api.planting import Planted


@with_run_flags()
def plant(
    papers: Annotated[
        list[Path],
        typer.Argument(help="Papers, folders of them, or rows with full texts (JSONL, Parquet).", show_default=False),
    ],
    kinds: Annotated[str | None, typer.Option(metavar="A,B,C", help="Kinds of errors. [default: all]")] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Errors a paper. [default: one for 700 words, six at most]")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides which of the possible errors are planted.")] = 0,
    neutral: Annotated[
        bool, typer.Option("--neutral", help="Make a third copy too, whose changes keep every fact.")
    ] = False,
    silent: Annotated[
        bool, typer.Option("--silent", help="Also remove promise and delivery both: the paper alone does not tell.")
    ] = False,
    planter: Annotated[
        Literal["rule", "model"], typer.Option(help="Who words the errors; a model words every second one at most.")
    ] = "rule",
    verify: Annotated[bool, typer.Option("--verify", help="Keep only errors that a model calls substantive.")] = False,
    model: Annotated[
        str | None,
        typer.Option(
            help="local, openai:NAME, anthropic:NAME, google_genai:NAME, or a server's name. [default: local]"
        ),
    ] = None,
    model_for: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=M", help="Another model for one role: writer words errors, checker reads them."),
    ] = None,
    flags: RunFlags = RunFlags(),
) -> None:
    """Make copies of papers with known errors, to see how many of them reviews find.

    Each error is contradicted by another passage of the same copy. Writes clean/ and planted/ (the same file names in
    both), keys/ (what is wrong where), rejected.jsonl and yield.md. Rules alone plant without any model or cost.
    """
    from referee import api
    from referee.cli.review import roles_by_name
    from referee.reports.estimates import plant_estimate_lines

    attended = Attended(flags, plant_estimate_lines)
    work = api.plant(
        papers,
        kinds=[kind.strip() for kind in kinds.split(",")] if kinds is not None else None,
        n=n,
        seed=seed,
        neutral=neutral,
        silent=silent,
        planter=planter,
        verify=verify,
        model=model,
        model_for=roles_by_name(model_for or []),
        options=attended.options,
    )
    _print_summary(attended.run(work), n)


def _print_summary(done: Planted, n: int | None) -> None:
    from referee.cli.output import describe_usage, printable
    from referee.experiments.planting.folder import planted_line
    from referee.experiments.planting.offers import MOST

    for planting in done.plantings:
        typer.echo(f"{planting.key.copy_id}: {planted_line(planting)}; {printable(planting.key.title)}")
    for name, why in done.skipped.items():
        typer.echo(f"{printable(name)}: nothing planted: {printable(why)}")
    for kind, one in done.yields.items():
        reasons = "; ".join(f"{reason} ({count})" for reason, count in one.rejected.most_common(3))
        if not one.accepted:
            typer.echo(f"  no place for {kind}: {printable(reasons) or 'no candidate'}")
    for kind, counts in sorted(done.acceptance.verdicts.items()):
        said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        typer.echo(f"  read, {kind}: {said}")
    if n is not None and n > MOST:
        typer.echo(
            f"Note: {n} errors a paper are more than the usual {MOST}: density itself may help or hurt reviewers."
        )
    if done.usage.calls:
        typer.echo(f"Used: {describe_usage(done.usage)}.")
    typer.echo(
        f"Written to {done.run}: give reviewers the files of planted/ or clean/, never keys/; yield.md says more."
    )
