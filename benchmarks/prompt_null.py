"""A null test of experiments on recorded reviews: one prompt under two names, and how often the interval holds 0.

    python benchmarks/prompt_null.py [--draws 500] [--data ../shared/data] [--json FILE]

Pairs are two recorded reviews by one model of the same paper. A draw takes papers at random, calls by a fair coin the
one review of each A and the other B, and compares A with B as an experiment does. The coin makes the two the same in
truth, whatever told the reviews apart, so an interval that says 95% should hold 0 in 95 of 100 draws.

Reviews: 228 papers by gpt-4o, with and without steps of reflection (AI-Scientist's records). Planted errors: the labels
of ``benchmarks/planted`` (a language model's) for the readings ``single`` and ``core`` of six papers; with six papers
there are only 64 ways for the coin to fall.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from referee.evals.metric import Context
from referee.evals.registry import find_metrics
from referee.schemas.case import ReviewCase
from referee.stats import wilson
from referee.stats.differences import mean_difference

HERE = Path(__file__).parent
REVIEWS = "ai_only/iclr2022_ai_scientist_reviews.jsonl"
MODEL = "gpt-4o-2024-05-13_temp_0_1"
CONFIGS = (f"{MODEL}_pages_all", f"{MODEL}_reflect_5_pages_all")
METRICS = ("words", "mattr_100")
PAPERS = (6, 10, 20)
READINGS = ("single", "core")

Pairs = dict[str, tuple[float, float]]


def planted_pairs() -> Pairs:
    """By paper the shares of its planted errors that two readings print."""
    found: Pairs = {}
    for file in sorted((HERE / "planted" / "labels").glob("p*.json")):
        labels = json.loads(file.read_text(encoding="utf-8"))["planted"]
        shares = [float(np.mean([errors[one] == "printed" for errors in labels.values()])) for one in READINGS]
        found[file.stem] = (shares[0], shares[1])
    return found


async def text_pairs(file: Path) -> dict[str, Pairs]:
    """By metric and paper the values of two reviews; ratings are the overall scores that the reviews give."""
    reviews: dict[str, dict[str, dict[str, Any]]] = {}
    with file.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["config"] in CONFIGS:
                reviews.setdefault(row["paper_id"], {})[row["config"]] = row
    both = {paper: [own[config] for config in CONFIGS] for paper, own in reviews.items() if len(own) == len(CONFIGS)}
    found: dict[str, Pairs] = {name: {} for name in (*METRICS, "rating")}
    for paper, rows in both.items():
        found["rating"][paper] = (float(rows[0]["scores"]["overall"]), float(rows[1]["scores"]["overall"]))
        for metric in find_metrics(METRICS):
            results = [await metric.measure(_case(row), Context()) for row in rows]
            values = [one.value for one in results if one.value is not None]
            if len(values) == len(rows):
                found[metric.name][paper] = (values[0], values[1])
    return found


def _case(row: dict[str, Any]) -> ReviewCase:
    return ReviewCase(
        case_id=f"{row['paper_id']} {row['config']}",
        paper_id=row["paper_id"],
        source=row["config"],
        kind="ai",
        text=row["text"],
    )


def held(pairs: Pairs, papers: int, draws: int) -> int:
    """In how many draws the interval of A less B holds 0."""
    rng = np.random.default_rng([papers, len(pairs)])
    names, count = sorted(pairs), 0
    for number in range(draws):
        chosen = rng.choice(len(names), papers, replace=False)
        a, b = {}, {}
        for at, is_turned in zip(chosen, rng.integers(0, 2, papers), strict=True):
            one, other = pairs[names[at]]
            a[names[at]], b[names[at]] = ([other], [one]) if is_turned else ([one], [other])
        found = mean_difference(a, b, seed=number)
        assert found.low is not None
        assert found.high is not None
        count += found.low <= 0 <= found.high
    return count


def rows_of(data: Path, draws: int) -> Iterator[dict[str, Any]]:
    """A row a metric and number of papers."""
    pairs = planted_pairs()
    yield _row("planted recall", pairs, len(pairs), draws)
    for name, own in asyncio.run(text_pairs(data / REVIEWS)).items():
        for papers in PAPERS:
            yield _row(name, own, papers, draws)


def _row(name: str, pairs: Pairs, papers: int, draws: int) -> dict[str, Any]:
    spread = float(np.sqrt(np.mean([(one - other) ** 2 for one, other in pairs.values()])))
    return {
        "metric": name,
        "of": len(pairs),
        "papers": papers,
        "spread": spread,
        "draws": draws,
        "held": held(pairs, papers, draws),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown, with Wilson's interval of each share."""
    lines = ["| metric | papers of | root mean square difference | interval holds 0 |", "| --- | ---: | ---: | ---: |"]
    for row in rows:
        around, share = wilson(row["held"], row["draws"]), row["held"] / row["draws"]
        cell = f"{share:.3f} ({around.low:.3f} to {around.high:.3f})"
        lines.append(f"| {row['metric']} | {row['papers']} of {row['of']} | {row['spread']:.3g} | {cell} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--json", type=Path, help="also write the counts here")
    arguments = parser.parse_args()
    rows = list(rows_of(arguments.data, arguments.draws))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
