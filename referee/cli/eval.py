"""``referee eval`` and ``referee rescore``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from referee.api.eval_output import Summary
    from referee.cli.output import ProgressLine
    from referee.evals.estimate import EvalPlan, MetricPlan
    from referee.reports.eval_summary import About
    from referee.runs import Event

_GROUP_BY = "The table's rows: source, kind, venue or year."
_COMPARE = "Two rows of the table, compared paper by paper."
_PAPER_TABLE = "Print the table published with ReviewEval beside ours."


def evaluate(
    reviews: Annotated[Path, typer.Argument(help="The reviews: a file or a folder, AI or human.", show_default=False)],
    papers: Annotated[
        Path | None, typer.Option(help="Their papers: a folder of files named by id, a JSONL, or one paper.")
    ] = None,
    venue: Annotated[str | None, typer.Option(help="The form of reviews that name no known venue.")] = None,
    metrics: Annotated[str | None, typer.Option(metavar="A,B,C", help="What is measured. [default: all]")] = None,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="M", help="A model that judges; several make a panel. [default: local]")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="How often each judge is asked the same.")] = 1,
    embedder: Annotated[str | None, typer.Option(help="The embedding model. [default: local]")] = None,
    base_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server (vLLM, Ollama, llama.cpp).")] = None,
    mapping: Annotated[Path | None, typer.Option(help="A file that says which key of a row is what.")] = None,
    layout: Annotated[str | None, typer.Option(help="The layout of the reviews. [default: by their content]")] = None,
    group_by: Annotated[str, typer.Option(help=_GROUP_BY)] = "source",
    compare: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help=_COMPARE)] = None,
    paper_table: Annotated[bool, typer.Option("--paper-table", help=_PAPER_TABLE)] = False,
    out: Annotated[Path | None, typer.Option(help="The run folder. [default: a new one in referee-runs]")] = None,
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="Continue the run in this folder.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that no call may pass.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens, in and out, that no call may pass.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not use replies of earlier runs.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending.")] = False,
) -> None:
    """Measure peer reviews, AI or human.

    Writes a run folder with summary.md (to read), summary.csv and summary.json, results.jsonl (each unit with all that
    led to it), rejected.jsonl (rows that could not be used), trace.jsonl (each model call) and run.json.
    """
    from referee import api
    from referee.cli.confirm import Confirmation
    from referee.cli.interrupt import run_interruptible
    from referee.cli.output import ProgressLine, describe_usage

    with ProgressLine() as line:
        progress = _WithoutCalls(line)
        done = run_interruptible(
            api.evaluate(
                reviews,
                papers=papers,
                venue=venue,
                metrics=metrics.split(",") if metrics is not None else None,
                judges=judge or [],
                repeats=repeats,
                embedder=embedder,
                base_url=base_url,
                mapping=mapping,
                layout=layout,
                group_by=group_by,
                compare=compare,
                paper_table=paper_table,
                out=out,
                resume=resume,
                max_cost=max_cost,
                max_tokens=max_tokens,
                cache=False if no_cache else None,
                progress=progress,
                confirm=Confirmation(line, yes, estimate_lines),
            ),
            progress,
        )
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
) -> None:
    """Compute the numbers of an evaluation anew from its stored judgements, without a call.

    The run's own files stay; the new ones are in its folder rescored.
    """
    from referee import api

    done = api.rescore(run, group_by=group_by, compare=compare, paper_table=paper_table)
    _print_summary(done.summary, done.about)
    typer.echo(f"Written to {done.folder}: summary.md (to read), results.jsonl. No call was made.")


class _WithoutCalls:
    """Progress by units: an evaluation makes too many calls to print each.

    Where lines pile up, in a file or a pipe, they come the more rarely the longer the run has been going on.
    """

    def __init__(self, line: ProgressLine) -> None:
        import sys

        self._line = line
        self._living = sys.stderr.isatty()
        self._started = self._said = time.monotonic()

    @property
    def run_folder(self) -> str:
        """Where the evaluation lies; empty before there is a folder."""
        return self._line.run_folder

    def __call__(self, event: Event) -> None:
        if event.kind in ("call_started", "call_finished"):
            return
        now = time.monotonic()
        counts = event.kind == "stage" and event.total > event.done
        if counts and not self._living and now - self._said < (now - self._started) / 10:
            return
        self._said = now
        self._line(event)


def estimate_lines(plan: EvalPlan) -> list[str]:
    """The estimate by metric, and what is worth knowing before it is confirmed."""
    judges = ", ".join(plan.judges) or "none"
    repeats = f", each asked {plan.repeats} times" if plan.repeats > 1 and plan.judges else ""
    lines = [f"{plan.reviews:,} reviews of {plan.papers:,} papers; judges: {judges}{repeats}."]
    lines += [f"  {one.metric}: {one.units:,} reviews, {_amount(one)}" for one in plan.metrics]
    lines.append(f"Estimate: {_amount(plan)}.")
    lines += [f"Note: {_printable(note)}." for note in plan.notes]
    return lines


def _amount(plan: EvalPlan | MetricPlan) -> str:
    if not plan.calls:
        return "no call"
    cost = "cost unknown (no price for this model)" if plan.cost_usd is None else f"about ${plan.cost_usd:.4f}"
    most = f" (at most {plan.most_calls:,})" if plan.most_calls > plan.calls else ""
    calls = f"about {plan.calls:,} call{'' if plan.calls == 1 else 's'}{most}"
    return f"{calls}, {plan.input_tokens:,} tokens in and {plan.output_tokens:,} out, {cost}"


def _print_summary(summary: Summary, about: About) -> None:
    from referee.reports.eval_summary import legend, main_table_lines

    _print_lines(main_table_lines(summary.table))
    typer.echo(legend())
    table = summary.table
    typer.echo(
        f"{about.reviews:,} reviews: {table.scored:,} units scored, {table.not_applicable:,} not applicable, "
        f"{table.failed:,} failed."
    )
    for metric, totals in table.totals.items():
        for status, reason, count in totals.reasons[:2]:
            typer.echo(f"  {metric}, {status.replace('_', ' ')}, {count:,}: {_printable(reason)}")


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        typer.echo(line)


def _printable(text: str) -> str:
    from referee.llm.secrets import scrub
    from referee.reports.plain import one_line

    return one_line(scrub(text))
