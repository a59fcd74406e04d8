"""Break the code on purpose, one small change at a time, and count how many of the changes a test notices.

    nice -n 10 python benchmarks/mutation.py --modules 'referee/runs/*.py' --sample 3 --json mutants.json
    nice -n 10 python benchmarks/mutation.py --again mutants.json

Needs cosmic-ray. Everything happens in copies of the repository. Of each module some places are drawn, of each place
one mutant; a mutant meets the tests of its room that can see its module, until the first fails. ``--again`` tries the
survivors of a report on the tests of today, ``--also`` adds folders of tests to the room's own.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from mutation_mutants import Module, Mutant, diff, module_mutants, mutated
from mutation_report import Tried, room, row, survivors, table
from mutation_run import INCOMPETENT, SURVIVED, Baseline, Copy, Ending
from mutation_tests import Sight

ROOT = Path(__file__).parents[1]
ROOMS = ("evidence", "runs", "llm")
DEFAULT = [f"referee/{room}/**/*.py" for room in ROOMS]
FACTOR = 2.0
SPARE_S = 20.0

T = TypeVar("T")
R = TypeVar("R")


def main() -> int:
    """Print the table and the survivors; 1 where a test fails on the source as it is."""
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="referee-mutants-") as folder:
        first = Copy.of(ROOT, Path(folder) / "0")
        first.check()
        paths = sorted({path for glob in given.modules for path in first.root.glob(glob) if path.stem != "__init__"})
        modules = {
            (m := module_mutants(p.relative_to(first.root).as_posix(), p.read_text("utf-8"))).path: m for p in paths
        }
        chosen = _again(given.again, modules) if given.again else _drawn(modules, given.sample, given.seed)
        sight = Sight(first.root)
        seen = {m: sight.tests_for(m, [f"tests/unit/{room(m)}", *given.also]) for m in {one.module for one in chosen}}
        baselines = baseline(first, seen)
        bench = Bench([first, *(first.twin(Path(folder) / str(job)) for job in range(1, given.jobs))])
        until = time.monotonic() + 60 * given.minutes

        def end_of(copy: Copy, mutant: Mutant) -> Tried | None:
            if time.monotonic() > until:
                return None
            path = mutant.module
            return try_one(copy, mutant, modules[path].source, seen[path], baselines[room(path)])

        tried = [one for one in bench.each(end_of, chosen) if one is not None]
    if len(tried) < len(chosen):
        print(f"the time is over: {len(chosen) - len(tried)} of {len(chosen)} mutants were not tried")
    tried.sort(key=lambda one: (one.mutant.module, one.mutant.line))
    print(table(list(modules.values()), tried), survivors(tried), sep="\n\n")
    if given.json:
        given.json.write_text(json.dumps([row(one) for one in tried], indent=1), encoding="utf-8")
    return 1 if any(of.red for of in baselines.values()) else 0


class Bench:
    """As many copies as jobs; each is used by one thread at a time."""

    def __init__(self, copies: list[Copy]) -> None:
        self._free: SimpleQueue[Copy] = SimpleQueue()
        self._jobs = len(copies)
        for copy in copies:
            self._free.put(copy)

    def each(self, what: Callable[[Copy, T], R], items: list[T]) -> list[R]:
        """Apply to each item with a copy of its own, in the items' order."""

        def held(item: T) -> R:
            copy = self._free.get()
            try:
                return what(copy, item)
            finally:
                self._free.put(copy)

        with ThreadPoolExecutor(self._jobs) as pool:
            return list(pool.map(held, items))


def baseline(copy: Copy, seen: dict[str, list[str]]) -> dict[str, Baseline]:
    """By room: its tests on the source as it is. Those that fail there are named and left out."""
    found = {}
    for name in sorted({room(module) for module in seen}):
        found[name] = copy.baseline(sorted({test for module in seen if room(module) == name for test in seen[module]}))
        print(f"{name}: the tests take {found[name].seconds:.0f} s", flush=True)
        print("".join(f"left out, fails on the source as it is: {test}\n" for test in found[name].red), end="")
    return found


def try_one(copy: Copy, mutant: Mutant, source: str, tests: list[str], of_room: Baseline) -> Tried:
    """Run the tests that see it, at most twice as long as all of the room take on the source as it is."""
    code = mutated(mutant, source)
    if code is None:
        return Tried(mutant, "", Ending(INCOMPETENT, "changes nothing, or is no Python", 0.0))
    left_out = [f"--deselect={test}" for test in of_room.red]
    ending = copy.tried(mutant.module, code, [*left_out, *tests], SPARE_S + FACTOR * of_room.seconds)
    print(f"{ending.outcome:<11} {ending.seconds:5.1f} s  {mutant.key}  {ending.by.partition(chr(10))[0]}", flush=True)
    return Tried(mutant, diff(mutant, source, code), ending)


def _drawn(modules: dict[str, Module], number: int, seed: int) -> list[Mutant]:
    """In random order, so that a run that is stopped has still drawn fairly."""
    drawn = [mutant for module in modules.values() for mutant in module.drawn(number, seed)]
    random.Random(seed).shuffle(drawn)
    return drawn


def _again(report: Path, modules: dict[str, Module]) -> list[Mutant]:
    """The report's survivors; one whose line was changed since is no longer among the mutants, and is named."""
    known = {mutant.key: mutant for module in modules.values() for place in module.places.values() for mutant in place}
    kept = []
    for past in json.loads(report.read_text(encoding="utf-8")):
        if past["outcome"] != SURVIVED:
            continue
        mutant = known.get(past["key"])
        source = modules[mutant.module].source if mutant else ""
        code = mutated(mutant, source) if mutant else None
        if mutant and code and diff(mutant, source, code) == past["diff"]:
            kept.append(mutant)
        else:
            print(f"gone, its line was changed since: {past['key']}", flush=True)
    return kept


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--modules", nargs="+", default=DEFAULT, help="globs of modules; all of three rooms by default")
    parser.add_argument("--sample", type=int, default=3, help="places drawn of each module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--minutes", type=float, default=600, help="when to stop; the order is random, so any time will do"
    )
    parser.add_argument("--jobs", type=int, default=2, help="tests that run at once, each in a copy of its own")
    parser.add_argument("--json", type=Path, help="where to write each mutant and its end")
    parser.add_argument("--again", type=Path, help="a report: try its survivors, draw nothing")
    parser.add_argument("--also", nargs="*", default=[], help="folders or files of tests beside tests/unit/ROOM")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
