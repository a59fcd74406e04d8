"""Whether the metrics of ``referee eval`` measure what they say: docs/metric_validity.md.

    python benchmarks/metric_validity.py [--part order|labels|falsehoods] [--model scripted] [--base-url URL]
        [--embedder local] [--reviews N] [--points K] [--max-tokens T] [--json FILE]

Order tests without labels, sentence labels of annotators, and planted falsehoods. Needs the shared review data beside
the repository. Replies of models are kept in the reply cache, so that a run that was ended and is started again pays
nothing twice; with --json every part is written when it is done. Ends with 0 when all was measured, whatever came out;
with 2 when it could not be run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from metric_validity_facts import measure_facts
from metric_validity_labels import measure_labels
from metric_validity_means import DATA, SCRIPTED, Means, opened_means
from metric_validity_order import measure_order
from metric_validity_planted import measure_planted
from metric_validity_table import report

import referee
from referee.errors import RefereeError

PARTS = ("order", "labels", "falsehoods")
POINTS = 12


def main() -> int:
    given = _arguments()
    if not DATA.is_dir():
        print("the shared review data is not beside this repository", file=sys.stderr)
        return 2
    try:
        figures = asyncio.run(_measured(given))
    except RefereeError as error:
        print(error, file=sys.stderr)
        return 2
    print(report(figures))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; may be given several times")
    parser.add_argument("--model", default=SCRIPTED, help="'scripted' for the overlap judge, else as for referee eval")
    parser.add_argument("--base-url", help="as for referee eval")
    parser.add_argument("--embedder", default="local", help="'hash' for hashed words, else as for referee eval")
    parser.add_argument("--reviews", type=int, help="papers of the order tests and falsehoods, reviews a corpus")
    parser.add_argument("--points", type=int, default=POINTS, help="most statements a paper of each origin")
    parser.add_argument("--max-tokens", type=int, help="what no call may pass")
    parser.add_argument("--json", type=Path, help="also write everything here")
    given = parser.parse_args()
    if given.points < 1 or (given.reviews is not None and given.reviews < 1):
        parser.error("--points and --reviews must be above 0")
    return given


async def _measured(given: argparse.Namespace) -> dict[str, Any]:
    async with opened_means(
        given.model, base_url=given.base_url, embedder=given.embedder, max_tokens=given.max_tokens
    ) as means:
        figures: dict[str, Any] = {"version": referee.__version__, "judge": means.judge, "embedder": means.embedder.id}
        parts: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
            "order": lambda: _order(means, given.reviews),
            "labels": lambda: measure_labels(means, given.reviews),
            "falsehoods": lambda: measure_planted(means, given.model, given.reviews, given.points),
        }
        for name in given.part or PARTS:
            figures[name] = await parts[name]()
            if given.json:
                given.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return figures


async def _order(means: Means, papers: int | None) -> list[dict[str, Any]]:
    return [*await measure_order(means, papers), *await measure_facts(means, papers)]


if __name__ == "__main__":
    sys.exit(main())
