"""How fast reviews are profiled without a model.

    python benchmarks/profile.py [--part text|alpha|all] [--data DIR] [--reviews 100000] [--units 50000]

Text metrics: all of them over the reviews of the shared data, repeated to so many; reviews a second on one core and on
two, and the memory that takes. Beside them textstat's reading ease and grade alone, on the same texts in turns of a few
thousand, so that both meet the same machine; their values must agree to 1e-9 under the same syllable backend. The
benchmark fails where all text metrics are less than five times as fast per core as these two.

Alpha: Krippendorff's ordinal alpha of so many units beside the package krippendorff (see profile_alpha.py); it fails
where the values differ.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

from profile_alpha import compare_alpha

from referee.data import read_cases
from referee.errors import DataError
from referee.evals.behaviour import measure_batch, measure_texts
from referee.schemas.case import ReviewCase

SETS = ("human_only", "ai_only", "papers", "paired")
TURN = 5000
LEAST_RATIO = 5.0
MOST_DIFFERENCE = 1e-9
MOST_MEMORY_MB = 500


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 where a value or the speed is not what it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--reviews", type=int, default=100_000, help="how many reviews each part measures")
    parser.add_argument("--part", choices=("text", "alpha", "all"), default="all")
    parser.add_argument("--units", type=int, default=50_000, help="how many units alpha is computed of")
    options = parser.parse_args(arguments)
    worst = 0
    if options.part != "alpha":
        worst = _text(options.data, options.reviews)
    if options.part != "text":
        worst = max(worst, compare_alpha(options.units))
    return worst


def _text(data: Path, reviews: int) -> int:
    peer = _textstat()
    cases = _cases(data)
    chars = sum(len(case.text) for case in cases) / len(cases)
    print(f"{len(cases)} reviews of {chars:.0f} characters on average, repeated to {reviews}")
    return max(_text_metrics(cases, reviews, peer), _cores(cases, reviews))


def _text_metrics(cases: Sequence[ReviewCase], reviews: int, peer: Any) -> int:
    """Ours and textstat in turns on one core: CPU seconds of this process, values compared in each turn."""
    # What the benchmark itself holds is nobody's garbage, and is not looked through for any.
    gc.freeze()
    ours = theirs = 0.0
    difference = 0.0
    first = 0.0
    texts = cycle(case.text for case in cases)
    for turn in range(0, reviews, TURN):
        some = list(islice(texts, min(TURN, reviews - turn)))
        start = time.process_time()
        found = measure_batch(some)
        between = time.process_time()
        values = [(peer.flesch_reading_ease(text), peer.flesch_kincaid_grade(text)) for text in some]
        end = time.process_time()
        if turn < len(cases):
            first += between - start
        ours, theirs = ours + between - start, theirs + end - between
        for one, (ease, grade) in zip(found, values, strict=True):
            if one.raw.fre is not None and one.raw.fkg is not None:
                difference = max(difference, abs(one.raw.fre - ease), abs(one.raw.fkg - grade))
    ratio = theirs / ours
    print(f"all text metrics: {1e6 * ours / reviews:.0f} us a review, {reviews / ours:.0f} reviews a second of CPU")
    once = -(-min(reviews, len(cases)) // TURN) * TURN
    print(
        f"  the first time over the data, with an empty word table: {1e6 * first / min(once, reviews):.0f} us a review"
    )
    print(f"textstat, FRE and FKG: {1e6 * theirs / reviews:.0f} us a review, {reviews / theirs:.0f} a second of CPU")
    print(f"ratio {ratio:.2f} (at least {LEAST_RATIO:g} asked for); largest difference of a score {difference:.2g}")
    return int(ratio < LEAST_RATIO or difference > MOST_DIFFERENCE)


def _cores(cases: Sequence[ReviewCase], reviews: int) -> int:
    """Reviews a second on one core and on two, by the clock and by CPU, and whether memory stays where it was."""
    for processes in (1, 2):
        start, spent = time.perf_counter(), _cpu_seconds()
        done, early = 0, 0.0
        for _ in measure_texts(_repeated(cases, reviews), processes):
            done += 1
            if done == reviews // 4:
                early = _memory_mb()
        seconds = time.perf_counter() - start
        print(f"{processes} process(es): {done / seconds:.0f} reviews a second by the clock", end="; ")
        print(f"{1e6 * (_cpu_seconds() - spent) / done:.0f} us of CPU a review with all workers", end="; ")
        print(f"peak {_memory_mb():.0f} MB, after a quarter {early:.0f} MB", end=", ")
        print(f"of a worker {_memory_mb(children=True):.0f} MB")
    return int(max(_memory_mb(), _memory_mb(children=True)) > MOST_MEMORY_MB)


def _repeated(cases: Sequence[ReviewCase], reviews: int) -> Iterator[ReviewCase]:
    return islice(cycle(cases), reviews)


def _cpu_seconds() -> float:
    """User and system time of this process, and of those it started that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _memory_mb(*, children: bool = False) -> float:
    """Most memory held so far, of this process or of the largest that it started and that has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF).ru_maxrss / 1024


def _cases(folder: Path) -> list[ReviewCase]:
    """The reviews of the shared data; files in no known layout (alignments) are named and left out."""
    files = sorted(chain.from_iterable((folder / name).glob("*.jsonl") for name in SETS))
    found: list[ReviewCase] = []
    for file in files:
        try:
            found.extend(read_cases(file))
        except DataError as error:
            print(f"{file.name} is left out: {error.message}")
    if not found:
        sys.exit(f"{str(folder)!r} holds no reviews: give the folder of the shared data with --data.")
    return found


def _textstat() -> Any:
    """The library as the specification's table was computed: unrounded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from textstat.textstat import textstat
    except ImportError as error:
        sys.exit(
            f"this benchmark compares with textstat, which cannot be imported ({error}): pip install textstat==0.7.4"
        )
    textstat.set_rounding(False)
    return textstat


if __name__ == "__main__":
    sys.exit(main())
