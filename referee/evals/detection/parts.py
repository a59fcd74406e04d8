"""Which reviews are compared as what: the two classes, and what is in neither since a person stands behind it.

Edited versions, human text that a model polished, and reviews that a model expanded from a person's points are no
model's own. What ``referee detect generate`` edited or expanded is known by its own columns, whatever is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from referee.errors import EvaluationError
from referee.evals.detection.columns import Mask, Reviews
from referee.evals.detection.editing import LEVELS
from referee.evals.detection.evaluation import Cluster
from referee.evals.detection.scores import (
    BULLETS,
    EDIT,
    LEVEL,
    SOURCE_REVIEW,
    is_made_of_another,
    is_of_task,
    is_own_source,
    is_said,
)


@dataclass(frozen=True)
class EvaluationAsked:
    """How detectors are evaluated.

    Attributes:
        seed: For resamples.
        resamples: How many.
        cluster: What is drawn; see ``evaluation.evaluate``.
        edit_levels: A column whose value is an edit level, of ``LEVELS``.
        polished: A column that says that a model polished a person's text, or ``COLUMN=VALUE``.
        assisted: A column, likewise, that says that a model expanded a person's points.
        prompts: A column that names the prompt of an AI review; the most frequent one is the usual.
        forced: Go on where thresholds do not hold; all is then marked.
    """

    seed: int = 0
    resamples: int = 1000
    cluster: Cluster = "paper"
    edit_levels: str = ""
    polished: str = ""
    assisted: str = ""
    prompts: str = ""
    forced: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are asked for."""
        return tuple(filter(None, (self.edit_levels, self.polished, self.assisted, self.prompts)))


@dataclass(frozen=True)
class Parts:
    """Reviews by what they are compared as: for each part which reviews are in it, by place.

    Attributes:
        usual: People's reviews, and those of models with the usual prompt.
        polished: People's, polished by a model.
        assisted: Expanded by a model from a person's points.
        levels: Edited versions, by level, and the originals.
        prompts: Those of models with another prompt, by its name.
        usual_prompt: The name of the most frequent one.
        left_out: Reviews that are in no part, by the reason.
    """

    usual: Mask
    polished: Mask
    assisted: Mask
    levels: Mapping[str, Mask] = field(default_factory=dict)
    prompts: Mapping[str, Mask] = field(default_factory=dict)
    usual_prompt: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)

    def without(self, out: Mask) -> Parts:
        """The parts without these reviews."""
        return replace(
            self,
            usual=self.usual & ~out,
            polished=self.polished & ~out,
            assisted=self.assisted & ~out,
            levels={name: mask & ~out for name, mask in self.levels.items()},
            prompts={name: mask & ~out for name, mask in self.prompts.items()},
        )

    @property
    def any(self) -> Mask:
        """Reviews that are in any part."""
        masks = (self.usual, self.polished, self.assisted, *self.levels.values(), *self.prompts.values())
        return np.asarray(np.logical_or.reduce(masks))


def parted(reviews: Reviews, asked: EvaluationAsked) -> Parts:
    """Part reviews by the columns of ``referee detect generate`` and by those that were asked for.

    Raises:
        EvaluationError: A column is in no review, or its value is no edit level.
    """
    own = is_own_source(reviews)
    edited, levels = _edited(reviews, asked.edit_levels, own)
    polished, assisted = (is_said(reviews, column) & ~own for column in (asked.polished, asked.assisted))
    named = np.where(reviews.is_kind("ai"), reviews.label(asked.prompts), 0)
    is_level = reviews.label(asked.edit_levels) > 0
    for column, found in (
        *((asked.polished, polished), (asked.assisted, assisted)),
        *((asked.edit_levels, is_level), (asked.prompts, named > 0)),
    ):
        if column and not found.any():
            raise EvaluationError(
                f"no review has {column!r}.", hint=f"The columns are {', '.join(reviews.columns) or 'none'}."
            )
    assisted |= is_of_task(reviews, BULLETS)
    made = is_made_of_another(reviews)
    apart = polished | edited | assisted
    named = np.where(apart, 0, named)
    usual_prompt = int(np.bincount(named[named > 0]).argmax()) if named.any() else 0
    others = (named > 0) & (named != usual_prompt)
    without = edited & ~np.logical_or.reduce([np.zeros(len(reviews), dtype=bool), *levels.values()])
    return Parts(
        usual=~(apart | others | made),
        polished=polished,
        assisted=assisted,
        levels=levels,
        prompts={reviews.names[code]: named == code for code in np.unique(named[others]).tolist()},
        usual_prompt=reviews.names[usual_prompt],
        left_out={
            f"review(s) labelled human were made from another one ({SOURCE_REVIEW})": int((made & ~apart).sum()),
            "edited review(s) do not say their level": int((without & ~polished & ~assisted).sum()),
        },
    )


def _edited(reviews: Reviews, column: str, own: Mask) -> tuple[Mask, dict[str, Mask]]:
    """Which reviews were edited; and by level those versions, and the reviews of the set that they were made from.

    Raises:
        EvaluationError: A value of the column is no edit level.
    """
    generated = is_of_task(reviews, EDIT)
    stated = np.where(own, 0, reviews.label(column))
    for name in reviews.named(stated[stated > 0]):
        if name not in LEVELS:
            raise EvaluationError(
                f"the column {column!r} has the value {name!r}, which is no edit level.",
                hint=f"Levels: {', '.join(LEVELS)}.",
            )
    level = np.where((stated == 0) & generated, reviews.label(LEVEL), stated)
    original = reviews.code("original")
    # Nobody labels the reviews that versions were made from.
    sources = np.isin(reviews.review, reviews.label(SOURCE_REVIEW)[level > 0]) & (level == 0) & ~generated
    by_level = {name: (level == reviews.code(name)) & (level > 0) for name in LEVELS}
    by_level["original"] = (by_level["original"] & ~generated) | sources
    found = {name: mask for name, mask in by_level.items() if mask.any()}
    return generated | ((level > 0) & (level != original)), found
