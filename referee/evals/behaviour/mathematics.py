"""Mathematical engagement: whether a review works with the paper's mathematics, and who does so on the same papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from referee.errors import EvaluationError
from referee.evals.behaviour.cross_references import CrossReferences
from referee.evals.behaviour.text import FORMULA, may_hold_formula

HEURISTIC = "heuristic"
"""Name of the backend in this file; a judged verdict carries the judge's name."""
Unit = Literal["majority", "pair", "any"]

_FORMAL = frozenset({"equation", "theorem", "lemma", "corollary", "definition", "proposition", "assumption"})
_OPERATOR = re.compile(
    r"[=<>+*/^|±×·≤≥≠≈∈∑∏∫∇∂→−]|(?<=[\w})])\s*-\s*(?=[\w\\({])"
    r"|\\(?:sum|prod|int|frac|sqrt|lim|log|exp|min|max|arg|sup|inf|nabla|partial|times|cdot|leq?|geq?|neq?|approx|sim|in|"
    r"notin|subset|to|rightarrow|mapsto|mid|forall|exists|cup|cap|oplus|otimes|propto|equiv|pm)(?![a-zA-Z])"
)
# What may stand beside digits in a measured number: 1\%, \pm 0.4, 2 \times 10^5. Any other name is mathematics.
_BESIDE_NUMBERS = re.compile(r"\\(?:(?:pm|mp|times|cdot|approx|sim|leq?|geq?|neq?)(?![a-zA-Z])|[%,;:! ])")
_NAME = re.compile(r"[^\W\d_]|[∑∏∫∇∂]|\\[a-zA-Z]")


def engages(text: str, references: CrossReferences) -> bool:
    """The heuristic verdict: the review names an equation or formal result by number, or writes a formula.

    A formula is a LaTeX span that holds an operator and a name; a lone symbol is none, nor is a measured number.

    Args:
        text: The review, view ``raw``.
        references: Its cross-references.
    """
    if any(target.kind in _FORMAL for target in (*references.core, *references.extra)):
        return True
    return writes_formula(text)


def writes_formula(text: str) -> bool:
    """Whether the text holds a LaTeX span with an operator and something that is named, not numbers alone."""
    if not may_hold_formula(text):
        return False
    return any(_OPERATOR.search(span) and _holds_name(span) for span in (s.strip("$") for s in FORMULA.findall(text)))


def _holds_name(span: str) -> bool:
    return bool(_NAME.search(_BESIDE_NUMBERS.sub(" ", span)))


class Conditional(NamedTuple):
    """P(+|+) and P(+|-): how often a generated review engages where the human ones do, and where they do not.

    Null where no unit meets the condition; ``positive`` and ``negative`` count the units that do.
    """

    given_positive: float | None
    given_negative: float | None
    positive: int
    negative: int


def conditional_engagement(
    human: Sequence[Sequence[bool | int]], generated: Sequence[bool | int], unit: Unit = "majority"
) -> Conditional:
    """Engagement of generated reviews given that of the human reviews of the same papers.

    Args:
        human: For each paper the verdicts on its human reviews.
        generated: For each paper, in the same order, the verdict on its generated review.
        unit: ``majority``: a paper, positive iff more than half of its human reviews are; ``any``: a paper, positive
            iff one is; ``pair``: each human review with the generated one. PRAIB does not say which it took. Papers
            without a human review count in none.

    Raises:
        EvaluationError: The two lists differ in length, or the unit is unknown.
    """
    if len(human) != len(generated):
        raise EvaluationError(
            f"{len(human)} papers have human verdicts, {len(generated)} a generated one.", hint="Give the same papers."
        )
    pairs = [
        pair for own, other in zip(human, generated, strict=True) if own for pair in engagement_units(own, other, unit)
    ]
    given = {state: [other for own, other in pairs if own is state] for state in (True, False)}
    return Conditional(_share(given[True]), _share(given[False]), len(given[True]), len(given[False]))


def engagement_units(human: Sequence[bool | int], generated: bool | int, unit: Unit) -> Iterable[tuple[bool, bool]]:
    """Whether people engage, and whether the generated review does, for each unit of one paper."""
    if unit == "pair":
        return [(bool(verdict), bool(generated)) for verdict in human]
    if unit == "majority":
        return [(2 * sum(map(bool, human)) > len(human), bool(generated))]
    if unit == "any":
        return [(any(human), bool(generated))]
    raise EvaluationError(f"there is no unit {unit!r}.", hint="Use majority, pair or any.")


def _share(verdicts: Sequence[bool]) -> float | None:
    return sum(verdicts) / len(verdicts) if verdicts else None
