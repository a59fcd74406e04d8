"""Which of several versions is kept: successive halving, one test on development papers, held-out papers at the end.

The procedure is a generator that asks for measurements and is sent them, so that a command, which pays for them, and a
simulation, which draws them, run the same lines. It looks at nothing but paired differences by paper.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from referee.schemas.refinement import Gain, Selection, Stage, Verdict
from referee.stats.comparisons import rise

LEVEL = 0.05
"""How often, at most, a version is kept that is no better than the base."""

FEWEST_DEVELOPMENT, FEWEST_HELD_OUT = 3, 2
HELD_OUT_SHARE = 0.25

Values = Mapping[str, Mapping[str, float]]
"""By version (the base among them) and paper; a paper without a value is left out."""


@dataclass(frozen=True)
class Ask:
    """What is to be measured next: these versions and the base, on papers that none of them was measured on."""

    versions: tuple[str, ...]
    papers: tuple[str, ...]
    held_out: bool = False


def rounds_of(versions: int, papers: int) -> tuple[tuple[int, int], ...]:
    """The rounds of halving: how many versions are in each, and on how many papers they stand at its end.

    The better half goes on and the papers double, until one version stands on all of them; no round has fewer than
    two papers, and one that would bring no new paper is left out.

    Args:
        versions: How many there are, 1 at least.
        papers: Development papers, 2 at least.
    """
    counts = [versions]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // 2))
    sizes = [min(papers, max(2, -(-papers // 2**later))) for later in reversed(range(len(counts)))]
    found: list[tuple[int, int]] = []
    for count, size in zip(counts, sizes, strict=True):
        if not found or size > found[-1][1]:
            found.append((count, size))
    return tuple(found)


def most_reviews(versions: int, development: int, held_out: int) -> tuple[int, int]:
    """Reviews on development papers, and on held-out ones where they are opened; those by the base included."""
    grown = pairwise((0, *(size for _, size in rounds_of(versions, development))))
    new = [after - before for before, after in grown]
    counts = [count for count, _ in rounds_of(versions, development)]
    return sum((count + 1) * size for count, size in zip(counts, new, strict=True)), 2 * held_out


def gain_of(version: Mapping[str, float], base: Mapping[str, float], level: float, sign: int = 1) -> Gain:
    """The version less the base over the papers that both have.

    Args:
        version: Values by paper.
        base: Those of the base.
        level: Of the one-sided interval.
        sign: 1 where more is better, -1 where less is.
    """
    return rise_gain([sign * (version[paper] - base[paper]) for paper in sorted(version.keys() & base.keys())], level)


def rise_gain(differences: Sequence[float], level: float) -> Gain:
    """The gain of paired differences, one a paper."""
    found = rise(differences, level=level)
    return Gain(pairs=len(differences), mean=found.mean, low=found.low, p=found.p)


def select(
    versions: Sequence[str],
    development: Sequence[str],
    held_out: Sequence[str],
    *,
    base: str,
    proposals: int | None = None,
    sign: int = 1,
    level: float = LEVEL,
) -> Generator[Ask, Values, Selection]:
    """Choose among versions, or keep none.

    A version is kept if (1) it comes through the halving; (2) its gain on all development papers is above zero by a
    one-sided paired t test at 2 level / proposals; (3) its mean gain on the held-out papers is above zero.

    Why so. The versions that were left behind would have been tested at the same level: by the union bound their number
    is paid for, though they were chosen on the papers that test them, and no paper is set aside for choosing. Twice the
    level, because of versions that are no better half fail on papers that nothing was chosen by: the two together keep
    one in level of the runs. The t test, because the spread of paired differences holds all noise there is (that of the
    paper, the sampling of replies, the judge), and because an exact test by signs cannot come below 2 level / proposals
    with fewer than five papers. That the whole holds its level, also with four papers and one error a paper, is
    measured (``benchmarks/refine_power.py``).

    Args:
        versions: Names of the versions.
        development: Papers in the order in which they are taken.
        held_out: Papers that are asked for once, for one version, and only if it passed the test.
        base: The name of what they are compared with.
        proposals: By how many the level is divided, where more were made than are tried; by default the versions.
        sign: 1 where more is better, -1 where less is.
        level: How often a version that is no better may be kept.

    Returns:
        The verdict on each version, with all that led to it.

    Source: successive halving, Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter
    Optimization", 2016; the union bound is Bonferroni's.
    """
    if not versions:
        return Selection(verdicts={}, level=level)
    per_test = 2 * level / max(proposals or 0, len(versions))
    values: dict[str, dict[str, float]] = {name: {} for name in (base, *versions)}
    verdicts: dict[str, Verdict] = dict.fromkeys(versions, "behind")
    stages: list[Stage] = []
    alive, rounds = tuple(versions), rounds_of(len(versions), len(development))
    for number, (_, size) in enumerate(rounds):
        before = rounds[number - 1][1] if number else 0
        yield_to = Ask(alive, tuple(development[before:size]))
        _add(values, (yield yield_to))
        gains = {name: gain_of(values[name], values[base], per_test, sign) for name in alive}
        keep = rounds[number + 1][0] if number + 1 < len(rounds) else 1
        alive = _best(gains, keep)
        stages.append(Stage(papers=yield_to.papers, gains=gains, went_on=alive))
    (best,) = alive
    tested, confirmed = stages[-1].gains[best], None
    verdicts[best] = _tested(tested, per_test)
    if verdicts[best] == "kept":
        asked = Ask((best,), tuple(held_out), held_out=True)
        answered = yield asked
        confirmed = gain_of(answered.get(best, {}), answered.get(base, {}), per_test, sign)
        verdicts[best] = _confirmed(confirmed)
        stages.append(Stage(held_out=True, papers=asked.papers, gains={best: confirmed}))
    return Selection(
        stages=tuple(stages),
        verdicts=verdicts,
        level=level,
        kept=best if verdicts[best] == "kept" else "",
        tested=tested,
        confirmed=confirmed,
    )


def held_out_count(papers: int, share: float = HELD_OUT_SHARE) -> int:
    """How many of so many papers a share holds out: rounded, and at least ``FEWEST_HELD_OUT``."""
    return max(FEWEST_HELD_OUT, round(share * papers))


def taken_in_order(papers: Mapping[str, str], seed: int) -> list[str]:
    """The names in an order that neither names nor scores decide: by the digests of their bytes and the seed.

    Args:
        papers: Name to digest.
        seed: Another order.
    """
    return sorted(papers, key=lambda name: hashlib.sha256(f"{seed} {papers[name]}".encode()).hexdigest())


TRUE_GAINS = (0.05, 0.1, 0.2)
POWER: Mapping[int, tuple[float, ...]] = {
    6: (0.02, 0.05, 0.17),
    10: (0.03, 0.10, 0.39),
    20: (0.06, 0.21, 0.77),
    40: (0.12, 0.44, 0.97),
}
"""The share of searches among three proposals that keep the one that is better by so much, by papers in all: printed by
``benchmarks/refine_power.py``."""


def power_line(papers: int) -> str:
    """What a search among three proposals lets through, by the row of the table at or below so many papers."""
    row = max((count for count in POWER if count <= papers), default=min(POWER))
    seen = ", ".join(f"+{gain:g} in {share:.0%}" for gain, share in zip(TRUE_GAINS, POWER[row], strict=True))
    return f"with {row} papers a version that is truly better by so much is kept: {seen} of searches"


def few_papers(development: int, held_out: int) -> str:
    """What cannot be seen with so many papers; empty where half of the gains of .2 are."""
    papers = development + held_out
    row = max((count for count in POWER if count <= papers), default=min(POWER))
    if POWER[row][-1] >= 0.5:
        return ""
    return f"{development} development and {held_out} held-out papers are few: {power_line(papers)}"


def _add(values: dict[str, dict[str, float]], measured: Values) -> None:
    for name, found in measured.items():
        values[name].update(found)


def _best(gains: Mapping[str, Gain], keep: int) -> tuple[str, ...]:
    """So many with the highest mean; ties go by the order of the versions, and one without a pair goes last."""
    in_order = sorted(gains, key=lambda name: -math.inf if (mean := gains[name].mean) is None else mean, reverse=True)
    return tuple(in_order[:keep])


def _tested(gain: Gain, level: float) -> Verdict:
    if gain.pairs < FEWEST_DEVELOPMENT or gain.p is None:
        return "not measured"
    return "kept" if gain.p <= level else "within the noise"


def _confirmed(gain: Gain) -> Verdict:
    if gain.mean is None or gain.pairs < FEWEST_HELD_OUT:
        return "not measured"
    return "kept" if gain.mean > 0 else "not confirmed"
