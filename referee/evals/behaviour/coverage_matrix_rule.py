"""Whether one item holds what another says, by their words: the backend ``rule``, without a model.

A lexical proxy and no judge of meaning: paraphrases are missed. Read it beside its chance baseline.
"""

from __future__ import annotations

from functools import lru_cache

from referee.evals.behaviour.atomic import RULE
from referee.evals.behaviour.atomic_counts import MatchedPair
from referee.evals.behaviour.coverage_matrix_pairs import PairMatrices, matrices_of
from referee.evidence.stems import stems

THRESHOLD = 0.3
"""The least share of a human item's telling word stems that the generated item has."""
FEWEST = 2
"""The least number of stems in common."""

_GENERIC = frozenset(
    stems(
        "paper papers author authors work manuscript submission approach method methods methodology propose proposed "
        "proposes provide provides more detail details discuss discussion explain explanation clear clearly clarify "
        "unclear lack lacks lacking missing include would could should better beneficial help understand result "
        "results section reviewer make makes use used using show shown shows different need needs "
        "good well strong weak limited"
    )
)
_KEPT = 4_096


def rule_matrices(pair: MatchedPair) -> PairMatrices:
    """The matrices of a pair of reviews by word stems."""
    return matrices_of(pair, RULE, holds)


def holds(human: str, generated: str) -> bool:
    """Whether a generated item has enough of a human item's telling words.

    At least two stems in common, and at least 0.3 of the human item's; words that every review uses do not count.
    """
    wanted = _telling(human)
    shared = len(wanted & _telling(generated))
    return shared >= FEWEST and shared >= THRESHOLD * len(wanted)


@lru_cache(maxsize=_KEPT)
def _telling(item: str) -> frozenset[str]:
    return frozenset(stems(item)) - _GENERIC
