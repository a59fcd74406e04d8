"""What ``strategies.py`` measures inside a process of its own: reviews by one strategy, as one line of JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from review_probe import timed_reviews


def reviews(
    paper: Path, venue: str, strategy: str, options: dict[str, Any], base_url: str, runs: int, out: Path
) -> dict[str, Any]:
    """When each review began and ended, and how many calls were planned for the last."""
    given = {"venue": venue, "strategy": strategy, "strategy_options": options, "base_url": base_url}
    times, plan = timed_reviews(paper, runs, out, **given)
    return {"reviews": times, "planned_calls": plan.calls}


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
