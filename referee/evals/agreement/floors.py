"""What a model must beat: one constant for all papers, chance, and one human reviewer against the others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.evals.agreement.rated import RatedPaper
from referee.evals.agreement.scales import Scale
from referee.stats import Interval, bootstrap_interval


@dataclass(frozen=True, slots=True)
class Floors:
    """Mean absolute errors and biases without any model, over ``n`` papers, in points of the scale; None without them.

    ``constant_value`` is the mean of the papers' mean human ratings: it knows the answers, and so has no bias.
    ``random_mae`` and ``random_bias`` are what a uniform draw among the form's values comes to in the long run.
    ``human_mae`` is one review against the mean of the paper's others, averaged within each paper first,
    over the papers with two reviews or more.
    """

    n: int
    constant_value: float | None
    constant_mae: float | None
    random_mae: float | None
    random_bias: float | None
    human_mae: Interval


def floors(papers: Sequence[RatedPaper], scale: Scale, *, seed: int = 0) -> Floors:
    """The floors of one form over papers with human ratings, whatever was predicted for them."""
    several = {paper.paper_id: [leave_one_out(paper.human)] for paper in papers if len(paper.human) > 1}
    human = bootstrap_interval(several, seed=seed)
    if not papers:
        return Floors(0, None, None, None, None, human)
    targets = [sum(paper.human) / len(paper.human) for paper in papers]
    constant = sum(targets) / len(targets)
    draws = [(value, target) for target in targets for value in scale.allowed]
    return Floors(
        n=len(papers),
        constant_value=constant,
        constant_mae=sum(abs(constant - target) for target in targets) / len(targets),
        random_mae=sum(abs(value - target) for value, target in draws) / len(draws),
        random_bias=sum(value - target for value, target in draws) / len(draws),
        human_mae=human,
    )


def leave_one_out(ratings: Sequence[float]) -> float:
    """The mean over a paper's ratings (two at least) of |rating - mean of the others|."""
    total, others = sum(ratings), len(ratings) - 1
    return sum(abs(value - (total - value) / others) for value in ratings) / len(ratings)


def random_predictions(papers: Sequence[RatedPaper], scale: Scale, *, seed: int) -> list[RatedPaper]:
    """The same papers with a value of the form drawn for each, alike for the same seed and ids in any order."""
    return [
        replace(
            paper,
            predicted=random.Random(f"{seed}:{paper.paper_id}").choice(scale.allowed),
            reason="",
            predicted_scores={},
            other_form="",
        )
        for paper in papers
    ]


def constant_predictions(papers: Sequence[RatedPaper], value: float) -> list[RatedPaper]:
    """The same papers with one rating predicted for all."""
    return [replace(paper, predicted=value, reason="", predicted_scores={}, other_form="") for paper in papers]
