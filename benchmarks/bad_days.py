"""What a run of ``sections`` survives: faults of the provider, and ``kill -9``; the tables of ``docs/reliability.md``.

    python benchmarks/bad_days.py faults --rate 0.05 0.2 --runs 20
    python benchmarks/bad_days.py kills --kills 100

The model is a server on this machine whose replies are decided by their requests, so that a run that was disturbed can
be compared with one that was not. It ends with 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bad_days_faults import Outcome, disturbed
from bad_days_kills import Tally, killed_runs

EXAMPLES = Path(__file__).parents[1] / "examples"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the two, and print its table."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="bad-days-") as name:
        folder = Path(name)
        os.environ.setdefault("REFEREE_CACHE_DIR", str(folder / "cache"))
        if given.command == "kills":
            return _kills(killed_runs(given.paper, folder, kills=given.kills, seed=given.seed), given.kills)
        outcomes = []
        for rate in given.rate:
            (folder / str(rate)).mkdir()
            tries = {"calls__max_tries": given.tries, "calls__repair_rounds": given.repairs}
            one = disturbed(
                given.paper,
                folder / str(rate),
                rate=rate,
                runs=given.runs,
                seed=given.seed,
                embeddings=given.embeddings,
                **tries,
            )
            outcomes.append(one)
    return _faults(outcomes)


def _faults(outcomes: Sequence[Outcome]) -> int:
    kinds = sorted({kind for outcome in outcomes for kind in outcome.injected})
    rows: dict[str, list[object]] = {
        "share of calls that go wrong": [f"{o.rate:.0%}" for o in outcomes],
        "runs": [o.runs for o in outcomes],
        "calls sent": [o.calls for o in outcomes],
        "faults injected": [sum(o.injected.values()) for o in outcomes],
        **{f"... {kind}": [o.injected[kind] for o in outcomes] for kind in kinds},
        "retries": [o.retries for o in outcomes],
        "repairs": [o.repairs for o in outcomes],
        "repairs of as many undisturbed runs": [o.usual_repairs for o in outcomes],
        "reviews without a gap": [o.whole for o in outcomes],
        "reviews that name a gap": [o.with_gaps for o in outcomes],
        "starts that ended in a named error": [o.failed for o in outcomes],
        "runs resumed to a review": [o.resumed for o in outcomes],
        "ends that name nothing": [o.unnamed for o in outcomes],
        "replies lost, or paid again": [o.lost + o.paid_again for o in outcomes],
        "wall time over undisturbed, median": [f"{o.times_slower:.2f}" for o in outcomes],
    }
    _table(rows)
    for error in sorted({error for outcome in outcomes for error in outcome.errors}):
        print(f"named: {error}")
    return int(any(o.unnamed or o.lost or o.paid_again for o in outcomes))


def _kills(tally: Tally, wanted: int) -> int:
    kept = ", ".join(f"{n} replies: {tally.kept[n]}" for n in sorted(tally.kept))
    _table(
        {
            "kills": [tally.kills],
            "runs, each killed up to three times": [tally.runs],
            "calls of an undisturbed run": [tally.calls],
            "calls cut off and sent again": [tally.lost],
            "replies on the disk that were paid again": [tally.paid_again],
            "reviews that differ from the undisturbed one": [tally.other],
        }
    )
    print(f"on the disk when killed: {kept}")
    for name in tally.differing:
        print(f"differs: {name}")
    return int(bool(tally.paid_again or tally.other or tally.kills < wanted))


def _table(rows: dict[str, list[object]]) -> None:
    width = max(map(len, rows))
    for name, values in rows.items():
        print(f"| {name:<{width}} | " + " | ".join(f"{value!s:>6}" for value in values) + " |")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    faults = commands.add_parser("faults", help="a provider that fails")
    faults.add_argument("--rate", type=float, nargs="+", default=[0.05, 0.2], help="share of calls that go wrong")
    faults.add_argument("--runs", type=int, default=20, help="runs at each rate")
    faults.add_argument("--tries", type=int, default=6, help="calls.max_tries")
    faults.add_argument("--repairs", type=int, default=2, help="calls.repair_rounds")
    faults.add_argument("--embeddings", action="store_true", help="the embedder's calls fail too")
    faults.add_argument("--paper", type=Path, default=EXAMPLES / "paper.md")
    kills = commands.add_parser("kills", help="a process that is killed")
    kills.add_argument("--kills", type=int, default=100)
    kills.add_argument("--paper", type=Path, default=EXAMPLES / "short.md")
    for command in (faults, kills):
        command.add_argument("--seed", type=int, default=0)
    return parser


if __name__ == "__main__":
    sys.exit(main())
