"""Who reads what has no formula: rules without a model, or a panel of judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from referee.evals.behaviour import TextMetrics
from referee.evals.behaviour.atomic import RULE, AtomicItems, MatchedPair, atomic_items
from referee.evals.behaviour.coverage_matrix import PairMatrices, rule_matrices
from referee.evals.behaviour.judged import judged_items, judged_mathematics, judged_matrices
from referee.evals.behaviour.mathematics import HEURISTIC
from referee.evals.judging import Panel
from referee.schemas.case import ReviewCase


class Reader(Protocol):
    """Reads items, coverage and mathematics out of reviews."""

    @property
    def id(self) -> str:
        """The backend of items and coverage."""
        ...

    @property
    def mathematics(self) -> str:
        """The backend of mathematical engagement."""
        ...

    async def items(self, case: ReviewCase) -> AtomicItems:
        """A review's strengths and weaknesses."""
        ...

    async def engages(self, case: ReviewCase, found: TextMetrics) -> tuple[bool | None, str]:
        """Whether the review works with the paper's mathematics, or why that is not known."""
        ...

    async def matrices(self, pair: MatchedPair) -> PairMatrices:
        """Which items of a human review a generated one holds."""
        ...


class RuleReader:
    """Rules alone."""

    id = RULE
    mathematics = HEURISTIC

    async def items(self, case: ReviewCase) -> AtomicItems:
        """See ``atomic_items``."""
        return atomic_items(case)

    async def engages(self, case: ReviewCase, found: TextMetrics) -> tuple[bool | None, str]:
        """The text's own heuristic verdict."""
        return (found.engages, "") if found.status == "scored" else (None, found.reason)

    async def matrices(self, pair: MatchedPair) -> PairMatrices:
        """See ``rule_matrices``."""
        return rule_matrices(pair)


@dataclass(frozen=True)
class JudgeReader:
    """A panel of judges."""

    panel: Panel

    @property
    def id(self) -> str:
        """``judge:`` and the models' ids."""
        return f"judge:{','.join(self.panel.ids)}"

    @property
    def mathematics(self) -> str:
        """The same."""
        return self.id

    async def items(self, case: ReviewCase) -> AtomicItems:
        """See ``judged_items``."""
        return await judged_items(case, self.panel)

    async def engages(self, case: ReviewCase, found: TextMetrics) -> tuple[bool | None, str]:
        """See ``judged_mathematics``."""
        verdict = await judged_mathematics(case.text, self.panel, f"mathematics of review {case.case_id!r}")
        return verdict.engages, verdict.reason

    async def matrices(self, pair: MatchedPair) -> PairMatrices:
        """See ``judged_matrices``."""
        return await judged_matrices(pair, self.panel)
