"""What ``strategies.py`` measures inside a process of its own: reviews by one strategy, as one line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.api import Plan
    from referee.schemas.venue import VenueForm


def reviews(
    paper: Path, venue: str, strategy: str, options: dict[str, Any], base_url: str, runs: int, out: Path
) -> dict[str, Any]:
    """When each review began and ended, and how many calls were planned for the last."""
    from referee import review

    plans: list[Plan] = []

    def confirm(plan: Plan, _: VenueForm) -> bool:
        plans.append(plan)
        return True

    times = []
    for number in range(runs):
        began_at, began = time.time(), time.perf_counter()
        work = review(
            paper,
            venue=venue,
            strategy=strategy,
            strategy_options=options,
            model="fake",
            base_url=base_url,
            out=out / str(number),
            cache=False,
            confirm=confirm,
        )
        asyncio.run(work)
        times.append({"seconds": time.perf_counter() - began, "began_at": began_at, "ended_at": time.time()})
    return {"reviews": times, "planned_calls": plans[-1].calls}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", type=Path)
    for name in ("--venue", "--strategy", "--base-url"):
        parser.add_argument(name, required=True)
    parser.add_argument("--options", type=json.loads, default={})
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    print(json.dumps(reviews(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
