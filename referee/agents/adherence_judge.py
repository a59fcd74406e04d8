"""Whether a review follows its venue's rules: all of them in one call, each answered exactly once.

The reply has one property for each rule, so that no reply can leave one out, answer one twice or invent one; the rules
go by short ids of their place, since a venue may name its own as it likes. Examples of judging stand in the prompt.

Source: *ReviewEval* section 3.5 and Eq. 6.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.venue import Guideline

PROMPT = "eval/adherence"
HIGHEST = 3

_FINDING_CHARS = 280
_TOKENS_A_RULE, _TOKENS_AROUND = 110, 64
_MARKS = {"subjective": "judgement", "objective": "fact"}
_CLOSED = ConfigDict(extra="ignore")
SILENT = "does not occur"
"""The answer for a rule that has nothing in the review to apply to."""
_Score: TypeAlias = Literal["3", "2", "1", "0", "does not occur"]
_Met: TypeAlias = Literal["yes", "no", "does not occur"]


@dataclass(frozen=True)
class Ruling:
    """A judge's answer for one rule.

    ``score`` is 0 to 3, for an objective rule 0 or 3; null where the rule has nothing in the review to apply to.
    """

    rule: str
    score: int | None
    finding: str


def render_adherence(venue_name: str, rules: Sequence[Guideline], filled: str, review: str) -> RenderedPrompt:
    """The prompt for one review.

    Args:
        venue_name: As the form has it.
        rules: What is judged, in the order of the reply's ids.
        filled: The boxes that hold a value rather than prose, a line each; may be empty.
        review: The review's prose.
    """
    shown = "\n".join(
        f"[c{n}] ({_MARKS[rule.kind]}) {' '.join(rule.text.split())}" for n, rule in enumerate(rules, start=1)
    )
    return load_prompt(PROMPT).render(
        # A name may come from a page: what could open a delimiter in it goes.
        venue_name=" ".join(re.sub(r"[<>]", "", venue_name).split()),
        rules=delimit("rules", shown),
        filled=delimit("filled_boxes", filled or "(none)"),
        review=delimit("review", review),
    )


def adherence_tokens(rules: Sequence[Guideline]) -> int:
    """The longest reply, in tokens."""
    return _TOKENS_AROUND + _TOKENS_A_RULE * len(rules)


def adherence_model(kinds: Sequence[Literal["subjective", "objective"]]) -> type[BaseModel]:
    """The reply for rules of these kinds: ``c1`` for the first, and so on; what is not on offer is refused."""
    return _adherence_model(tuple(kinds))


@lru_cache(maxsize=64)
def _adherence_model(kinds: tuple[Literal["subjective", "objective"], ...]) -> type[BaseModel]:
    """Kept, because the reviews of one venue are all asked about the same rules."""
    finding: Any = (str, Field(max_length=_FINDING_CHARS, description="what the review does about this rule"))
    judged = create_model("Judged", __config__=_CLOSED, finding=finding, score=(_Score, ...))
    checked = create_model("Checked", __config__=_CLOSED, finding=finding, met=(_Met, ...))
    shape: dict[str, Any] = {
        f"c{n}": (judged if kind == "subjective" else checked, ...) for n, kind in enumerate(kinds, start=1)
    }
    return create_model("Adherence", __config__=_CLOSED, **shape)


def read_adherence(reply: BaseModel, rules: Sequence[Guideline]) -> tuple[Ruling, ...]:
    """The answers under the rules' own ids, in their order."""
    data = reply.model_dump()
    return tuple(_ruling(rule, data[f"c{n}"]) for n, rule in enumerate(rules, start=1))


def _ruling(rule: Guideline, said: dict[str, Any]) -> Ruling:
    answer = said["score"] if rule.kind == "subjective" else said["met"]
    if answer == SILENT:
        return Ruling(rule.id, None, said["finding"])
    return Ruling(rule.id, int(answer) if rule.kind == "subjective" else HIGHEST * (answer == "yes"), said["finding"])
