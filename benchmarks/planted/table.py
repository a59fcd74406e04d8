"""The table of the arms, from what is kept: reviews, calls and labels. No model is asked.

    python benchmarks/planted/table.py [--json]

``labels/PAPER.json`` holds, per paper and by language models, ``statements`` (each with its label, the words of the
paper that show it, and the places at which each arm says it), ``planted`` (per error and arm: printed, or the step that
lost it) and ``preferences`` (verdicts by role and order).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from printed import words

HERE = Path(__file__).parent
PAPERS = ("p1", "p2", "p3", "p4", "p5", "p6")
ARMS = ("single", "whole", "core")
MATERIAL = ("decides", "material")
FIRST = 10
# A provider's price for input that it writes to its cache, and for input that it serves from it.
WRITTEN, SERVED = 1.25, 0.1


def kept(folder: str, name: str) -> Any:
    path = HERE / folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def bill(calls: list[dict[str, Any]]) -> float:
    """Input tokens at cache prices, in tokens at the full price."""
    shared = calls[0]["shared_tokens"] if len(calls) > 1 else 0
    own = sum(call["own_tokens"] for call in calls)
    return own + shared * (WRITTEN + SERVED * (len(calls) - 1)) if shared else float(own)


def chain(calls: list[dict[str, Any]]) -> int:
    """The most calls that wait for one another: one a step that was taken."""
    steps = {"whole": 1, "focus": 1, "group": 2, "verify": 3, "amend": 3, "write": 4, "single": 1}
    taken = {steps[call["prompt"].partition("@")[0].rpartition("/")[2]] for call in calls}
    return len(taken) + sum(call["repair"] > 0 for call in calls)


def measured(paper: str, arm: str) -> dict[str, Any] | None:
    """One arm on one paper; null where it was not run or not labelled."""
    calls, review, labels = kept("calls", f"{paper}-{arm}"), kept("reviews", f"{paper}-{arm}"), kept("labels", paper)
    if calls is None or review is None:
        return None
    row: dict[str, Any] = {
        "words": words(review),
        "calls": len(calls),
        "chain": chain(calls),
        "input": sum(call["shared_tokens"] + call["own_tokens"] for call in calls),
        "bill": bill(calls),
        "output": sum(call["output_tokens"] for call in calls),
    }
    if labels is None:
        return row
    said = [s for s in labels["statements"] if s["in"].get(arm)]
    order = sorted(said, key=lambda s: min(s["in"][arm]))
    counts = Counter(s["label"] for s in said)
    row |= {
        "statements": len(said),
        **{label: counts[label] for label in ("decides", "material", "small", "false")},
        "material in all": sum(counts[label] for label in MATERIAL),
        "material in the first ten": sum(s["label"] in MATERIAL for s in order[:FIRST]),
        "share false": counts["false"] / len(said) if said else 0.0,
        "duplicates": sum(len(s["in"][arm]) - 1 for s in said),
    }
    planted = {key: states[arm] for key, states in labels["planted"].items() if arm in states}
    row |= {
        "planted": len(planted),
        "planted printed": sum(state == "printed" for state in planted.values()),
        "planted lost": {key: state for key, state in planted.items() if state not in ("printed", "not raised")},
    }
    return row


def preferences(paper: str, arm: str, other: str = "single") -> dict[str, str]:
    """By role, the winner of ``arm`` against ``other`` where both orders agree; else ``no winner``."""
    labels = kept("labels", paper) or {}
    verdicts: dict[str, list[str]] = {}
    for item in labels.get("preferences", []):
        if set(item["arms"]) == {other, arm}:
            verdicts.setdefault(item["role"], []).append(item["verdict"])
    return {
        role: given[0] if len(given) > 1 and len(set(given)) == 1 and given[0] != "tie" else "no winner"
        for role, given in verdicts.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = {arm: {p: row for p in PAPERS if (row := measured(p, arm)) is not None} for arm in ARMS}
    if args.json:
        print(json.dumps(rows, indent=1))
        return 0
    summary(rows)
    unlabelled("all")
    for arm, own in rows.items():
        print(f"\n### {arm}\n")
        show(arm, own)
    return 0


def summary(rows: dict[str, dict[str, dict[str, Any]]]) -> None:
    """All papers together, one column an arm, and what each comes to beside ``single``."""
    print(f"| all papers | {' | '.join(rows)} |\n| --- |{' ---: |' * len(rows)}")
    for name in _SUMMED:
        sums = {arm: sum(row.get(name, 0) for row in own.values()) for arm, own in rows.items()}
        ratios = {arm: f" ({value / sums['single']:.2f})" if arm != "single" else "" for arm, value in sums.items()}
        print(f"| {name} | {' | '.join(f'{value:,.0f}{ratios[arm]}' for arm, value in sums.items())} |")
    for other in ("single", "whole"):
        for role in ("author", "chair"):
            cells = [_verdicts(arm, other, role, rows[arm]) for arm in rows]
            print(f"| to `{other}`, the {role} | {' | '.join(cells)} |")


def unlabelled(arm: str) -> None:
    """What an arm costs that was answered and not labelled."""
    paid = {p: calls for p in PAPERS if (calls := kept("calls", f"{p}-{arm}")) is not None}
    if not paid:
        return
    bills, one = sum(map(bill, paid.values())), sum(bill(kept("calls", f"{p}-single")) for p in paid)
    calls, longest = sum(map(len, paid.values())), max(map(chain, paid.values()))
    print(f"\n`{arm}`: {calls} calls, chain {longest}, bill {bills:,.0f} ({bills / one:.2f})")


_SUMMED = (
    *("planted printed", "statements", "material in all", "material in the first ten", "decides", "small", "false"),
    *("duplicates", "words", "calls", "input", "bill", "output"),
)


def _verdicts(arm: str, other: str, role: str, papers: Iterable[str]) -> str:
    if ARMS.index(arm) <= ARMS.index(other):
        return "-"
    judged = [preferences(paper, arm, other).get(role) for paper in papers]
    return f"{judged.count(arm)} won, {judged.count(other)} lost, {judged.count('no winner')} open"


def show(arm: str, rows: dict[str, dict[str, Any]]) -> None:
    names = [
        *("planted printed", "statements", "material in all", "material in the first ten", "decides", "small", "false"),
        *("duplicates", "words", "calls", "chain", "input", "bill", "output"),
    ]
    print(f"| | {' | '.join(rows)} | all |\n| --- |{' ---: |' * (len(rows) + 1)}")
    for name in names:
        values = [row.get(name) for row in rows.values()]
        known = [value for value in values if value is not None]
        total = max(known) if name == "chain" and known else sum(known)
        print(f"| {name} | {' | '.join(_number(value) for value in values)} | {_number(total if known else None)} |")
    for paper, row in rows.items():
        for key, state in row.get("planted lost", {}).items():
            print(f"\nlost: {paper} {key}: {state}")
        if arm != "single":
            print(f"\npreferred in {paper}: {preferences(paper, arm) or 'not judged'}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


if __name__ == "__main__":
    sys.exit(main())
