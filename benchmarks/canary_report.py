"""The figures of a run of the canary set as text: a row a point, a line a repetition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from canary_set import Share

_REASON = 60
_HEAD = ("point", "is", "verdict", "struck", "refutation shown", "code alone", "reason")


def report(figures: Mapping[str, Any]) -> str:
    """Everything that ``canary.py`` prints."""
    head = f"referee {figures['version']}, checker {figures['model']}, passages by {figures['embedder']}"
    return "\n".join([head, "", _table([_HEAD, *_rows(figures)]), "", *_totals(figures)])


def _rows(figures: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for place, result in enumerate(figures["runs"][0]["points"]):
        known, every = figures["known"][result["id"]], [run["points"][place] for run in figures["runs"]]
        verdicts = dict.fromkeys(one["verdict"] for one in every)
        yield (
            result["id"],
            "true" if result["true"] else "false",
            " / ".join(verdicts),
            f"{sum(one['struck'] for one in every)} of {len(every)}",
            {None: "", True: "yes", False: "no"}[known["refutation_shown"]],
            known["code"],
            _short(result["reason"]),
        )


def _totals(figures: Mapping[str, Any]) -> Iterator[str]:
    shown = [known["refutation_shown"] for known in figures["known"].values()]
    seen = Share(sum(one is True for one in shown), sum(one is not None for one in shown))
    yield f"false points whose refutation the checker is shown: {seen}"
    for number, run in enumerate(figures["runs"], start=1):
        share = {name: Share(count, total) for name, (count, total, *_) in run["struck"].items()}
        yield (
            f"run {number}: struck {share['false']} false and {share['true']} true points: "
            f"{'passed' if run['passed'] else 'NOT passed'}; {run['calls']} calls, {run['input_tokens']:,} tokens in, "
            f"{run['output_tokens']:,} out, {run['seconds']:.0f} s"
        )


def _short(text: str) -> str:
    line = " ".join(text.replace("|", "/").split())
    return line if len(line) <= _REASON else line[: _REASON - 3] + "..."


def _table(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    head, *body = (
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )
    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join([head, rule, *body])
