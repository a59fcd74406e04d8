"""How fast reviews are profiled without a model.

    python benchmarks/profile.py [--part text|alpha|all] [--data DIR] [--reviews 100000] [--units 50000]

Text metrics: all of them over the different reviews of the shared data, each read once by a new process, and in turns
of some hundred textstat's reading ease and grade alone on the same texts, so that both meet the same machine. Imports
do not count; what either side keeps of words is built within the measure. The scores must agree to 1e-9 under the same
syllable backend. The benchmark fails where all text metrics take more than 1.2 times the CPU time of these two.

Memory and workers: so many reviews of drawn sentences and made-up words, none like another, measured by one process
and by two. The benchmark fails where either takes more than 500 MB.

Alpha: Krippendorff's ordinal alpha of so many units beside the package krippendorff (see profile_alpha.py); it fails
where the values differ.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from profile_alpha import compare_alpha

from referee.data import read_cases
from referee.errors import DataError
from referee.evals.behaviour import measure_texts, text_metrics
from referee.schemas.case import ReviewCase

SETS = ("human_only", "ai_only", "papers", "paired")
TURN = 200
MOST_RATIO = 1.2
MOST_DIFFERENCE = 1e-9
MOST_MEMORY_MB = 500
SENTENCES, NEW_WORDS = 20, 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 where a value, the speed or the memory is not what it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--reviews", type=int, default=100_000, help="how many drawn reviews memory is measured with")
    parser.add_argument("--part", choices=("text", "alpha", "all"), default="all")
    parser.add_argument("--units", type=int, default=50_000, help="how many units alpha is computed of")
    options = parser.parse_args(arguments)
    worst = 0
    if options.part != "alpha":
        texts = _texts(options.data)
        worst = max(_ratio(texts), _memory(texts, options.reviews))
    if options.part != "text":
        worst = max(worst, compare_alpha(options.units))
    return worst


def _ratio(texts: Sequence[str]) -> int:
    """Ours and textstat in turns on one core: CPU seconds of this process, values compared in each turn."""
    peer = _textstat()
    # What the benchmark itself holds is nobody's garbage, and is not looked through for any.
    gc.freeze()
    ours = theirs = difference = 0.0
    for turn in range(0, len(texts), TURN):
        some = texts[turn : turn + TURN]
        start = time.process_time()
        found = [text_metrics(text) for text in some]
        between = time.process_time()
        values = [(peer.flesch_reading_ease(text), peer.flesch_kincaid_grade(text)) for text in some]
        theirs += time.process_time() - between
        ours += between - start
        for one, (ease, grade) in zip(found, values, strict=True):
            if one.raw.fre is not None and one.raw.fkg is not None:
                difference = max(difference, abs(one.raw.fre - ease), abs(one.raw.fkg - grade))
    ratio = ours / theirs
    print(f"{len(texts)} different reviews of {sum(map(len, texts)) / len(texts):.0f} characters on average, read once")
    print(f"all text metrics: {1e6 * ours / len(texts):.0f} us of CPU a review")
    print(f"textstat, FRE and FKG: {1e6 * theirs / len(texts):.0f} us of CPU a review")
    print(f"ratio {ratio:.2f} (at most {MOST_RATIO:g} asked for); largest difference of a score {difference:.2g}")
    return int(ratio > MOST_RATIO or difference > MOST_DIFFERENCE)


def _memory(texts: Sequence[str], reviews: int) -> int:
    """Reviews a second on one core and on two, by the clock and by CPU, and whether memory stays where it was."""
    sentences = [f"{one}." for text in texts for one in text.split(". ")]
    for processes in (1, 2):
        start, spent = time.perf_counter(), _cpu_seconds()
        done, early = 0, 0.0
        for _ in measure_texts(_drawn(sentences, reviews), processes):
            done += 1
            if done == reviews // 4:
                early = _memory_mb()
        seconds = time.perf_counter() - start
        print(f"{processes} process(es), {done} drawn reviews: {done / seconds:.0f} a second by the clock", end="; ")
        print(f"{1e6 * (_cpu_seconds() - spent) / done:.0f} us of CPU a review, drawing and workers included", end="; ")
        print(f"peak {_memory_mb():.0f} MB, after a quarter {early:.0f} MB", end=", ")
        print(f"of a worker {_memory_mb(children=True):.0f} MB")
    return int(max(_memory_mb(), _memory_mb(children=True)) > MOST_MEMORY_MB)


def _drawn(sentences: Sequence[str], reviews: int) -> Iterator[ReviewCase]:
    """Reviews of sentences drawn from the real ones, each with some words that no other holds."""
    drawn = random.Random(20261122)
    for number in range(reviews):
        new = (f"{word}ness{number}" for word in drawn.choices(("care", "sparse", "robust", "bold"), k=NEW_WORDS))
        text = " ".join([*drawn.choices(sentences, k=SENTENCES), *new])
        yield ReviewCase(case_id=f"r{number}", paper_id="p", source="human", kind="human", text=text)


def _cpu_seconds() -> float:
    """User and system time of this process, and of those it started that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _memory_mb(*, children: bool = False) -> float:
    """Most memory held so far, of this process or of the largest that it started and that has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF).ru_maxrss / 1024


def _texts(folder: Path) -> list[str]:
    """The different reviews of the shared data; files in no known layout (alignments) are named and left out."""
    found: dict[str, None] = {}
    for file in sorted(chain.from_iterable((folder / name).glob("*.jsonl") for name in SETS)):
        try:
            found.update(dict.fromkeys(case.text for case in read_cases(file)))
        except DataError as error:
            print(f"{file.name} is left out: {error.message}")
    if not found:
        sys.exit(f"{str(folder)!r} holds no reviews: give the folder of the shared data with --data.")
    return list(found)


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
