"""The table of ``audited`` beside ``single`` in docs/planted.md, from what is kept: marks, verdicts and calls.

    python benchmarks/planted/audited.py

``labels/audited.json`` holds under ``audited``, per paper and by language models, the ``records`` (what became of each
planted error), the ``statements`` with their labels, and the ``preferences``; ``words`` are those of what the judges
read. The draft is the first call of ``calls/PAPER-audited.json``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from table import FIRST, MATERIAL, kept

WORK, NEW = ("p4", "p6"), ("p7", "p8", "p9")
ARMS = ("single", "audited")
SERVED = 0.1

Mark = dict[str, Any]


def printed(mark: Mark) -> int:
    """How many planted errors a review prints."""
    return sum(record["mark"] == "printed" for record in mark["records"].values())


def labelled(*labels: str, first: int | None = None) -> Callable[[Mark], int]:
    """How many of the statements, or of the first of them, have one of these labels."""
    return lambda mark: sum(s["label"] in labels for s in sorted(mark["statements"], key=lambda s: s["n"])[:first])


ROWS: dict[str, Callable[[Mark], int]] = {
    "planted errors printed, of 8 and of 10": printed,
    "false statements": labelled("false"),
    "misleading statements": labelled("misleading"),
    "correct and material": labelled(*MATERIAL),
    "the same among the first ten": labelled(*MATERIAL, first=FIRST),
    "repeats": lambda mark: sum(s["label"].startswith("duplicate") for s in mark["statements"]),
    "statements": lambda mark: len(mark["statements"]),
    "words without what made the review": lambda mark: int(mark["words"]),
    "calls": lambda mark: len(mark["calls"]),
    "input tokens": lambda mark: sum(call["shared_tokens"] + call["own_tokens"] for call in mark["calls"]),
    "input bill, equal beginnings at a tenth": lambda mark: round(bill(mark["calls"])),
    "output tokens": lambda mark: sum(call["output_tokens"] for call in mark["calls"]),
}


def bill(calls: list[dict[str, int]]) -> float:
    """Input tokens in tokens at the full price: the first call pays all, the others a tenth of what they share."""
    first, *others = calls
    later = sum(call["own_tokens"] + SERVED * call["shared_tokens"] for call in others)
    return first["shared_tokens"] + first["own_tokens"] + later


def marks(paper: str) -> dict[str, Mark]:
    """What is known of both reviews of a paper."""
    calls = kept("calls", f"{paper}-audited")
    own = {"single": calls[:1], "audited": calls}
    return {arm: mark | {"calls": own[arm]} for arm, mark in kept("labels", "audited")["audited"][paper].items()}


def lines() -> Iterator[str]:
    """The table, row by row."""
    papers = {paper: marks(paper) for paper in (*WORK, *NEW)}
    yield f"| `single`, then `audited` | {' | '.join(papers)} | p7 to p9 |"
    yield f"| --- |{' ---: |' * (len(papers) + 1)}"
    for name, count in ROWS.items():
        pairs = [[count(mark[arm]) for arm in ARMS] for mark in papers.values()]
        one, two = (sum(column) for column in zip(*pairs[len(WORK) :], strict=True))
        ratio = f" ({two / one:.2f})" if one and two else ""
        told = [f"{a:,}, {b:,}" for a, b in pairs]
        yield f"| {name} | {' | '.join(told)} | {one:,}, {two:,}{ratio} |"
    verdicts = kept("labels", "audited")["audited"]["preferences"]
    for role in ("author", "chair"):
        groups = [*((paper,) for paper in papers), NEW]
        said = [[one[role] for one in verdicts if one["paper"] in group] for group in groups]
        told = [f"{own.count('audited')} of {len(own)}" for own in said]
        yield f"| preferred as {role}, by judges | {' | '.join(told)} |"


if __name__ == "__main__":
    sys.stdout.write("\n".join([*lines(), ""]))
