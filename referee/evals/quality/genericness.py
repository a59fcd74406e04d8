"""How generic a review is: the share of three factors that a judge finds in it.

No references to prior work, no details of the paper, criticism that could stand in any review. Each is 0 or 1 by every
judge; several judges or repeats: the mean per factor, and the value is the mean of the three, in [0, 1], lower is
better. A review that criticises nothing has the third factor.

What ties a review to its paper is shown by words of the review: where the words that were named do not stand in it, the
factor holds, and it counts under ``dropped`` (the mean number a reply). A reply of which no such quotation stands there
has judged another text, and counts as none.

It is no detector: people write generic reviews and models write specific ones. No threshold is taken from it.

Source: "Is Your Paper Being Reviewed by an LLM? Benchmarking AI Text Detection in Peer Review", the factors that it
lets a model judge. That they are answered one by one, with quotations that must be traced, and their mean are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any, Self

from pydantic import model_validator

from referee.agents.review_judges import (
    GENERIC_PROMPT,
    GENERIC_TOKENS,
    PRESENCES,
    GenericReply,
    render_generic,
)
from referee.evals.metric import Better, Context, Known, Load, Need, Quantity, Range, failed, not_applicable
from referee.evals.quality.judged import (
    NO_JUDGE,
    NO_TEXT,
    Outcome,
    OwnWords,
    Question,
    Reading,
    Traced,
    answered,
    ask_judges,
    judge_score,
    nobody_answered,
    over_judges,
    rescored,
    result,
    rough_tokens,
)
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult

FACTORS: Mapping[str, str] = dict(zip(("no_prior_work", "no_details", "generic_criticism"), PRESENCES, strict=True))
"""Each factor, and what a review without it has."""

_PROMPT_TOKENS = 800


class Genericness(Quantity):
    """The metric ``genericness``."""

    name = "genericness"
    about = "share of three factors of a review that could be of any paper"
    unit = "fraction"
    range: Range = (0.0, 1.0)
    better: Better = "lower"
    needs: frozenset[Need] = frozenset({"judge"})
    prompts = (GENERIC_PROMPT,)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Have the three factors judged at once; one call a judge and repeat."""
        panel = context.panel
        if not case.text.strip():
            return not_applicable(self, case, NO_TEXT)
        if panel is None:
            return not_applicable(self, case, NO_JUDGE)
        asked = await ask_judges(QUESTION, case.text, panel, f"{self.name} of {case.case_id}")
        if asked.no_room:
            return failed(self, case, asked.no_room)
        details = {"readings": asked.readings, "cut": asked.cut}
        return result(self, case, outcome_of(PresenceReadings.model_validate(details)), details, asked.usage)

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored answers."""
        return rescored(self, stored, PresenceReadings, outcome_of)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One judged call."""
        return Load(input_tokens=_PROMPT_TOKENS + rough_tokens(case.text), output_tokens=GENERIC_TOKENS // 2)


class StoredPresence(Stored):
    """Whether the judge says that the review has it, and whether the words named for it are in the review."""

    present: bool
    traced: bool


_ABSENT = StoredPresence(present=False, traced=False)


class PresenceReading(Reading):
    """One judge's answers, by what was looked for; none where there is an error."""

    prior_work: StoredPresence = _ABSENT
    details: StoredPresence = _ABSENT
    criticism: StoredPresence = _ABSENT

    @model_validator(mode="after")
    def _all_answered(self) -> Self:
        if missing := [name for name in PRESENCES if not self.error and name not in self.model_fields_set]:
            raise ValueError(f"there is no answer on {missing[0]}")
        return self

    def factor(self, name: str) -> bool:
        """Whether the factor holds."""
        one: StoredPresence = getattr(self, FACTORS[name])
        return not (one.present and one.traced)

    @property
    def dropped(self) -> int:
        """How many answers named words that are not in the review."""
        return sum(one.present and not one.traced for one in (self.prior_work, self.details, self.criticism))

    @property
    def is_of_another_text(self) -> bool:
        """Whether nothing of what it names is in the review."""
        return self.dropped > 0 and all(self.factor(name) for name in FACTORS)


class PresenceReadings(Stored):
    """What a result of this metric keeps and is computed from."""

    readings: tuple[PresenceReading, ...]


def outcome_of(details: PresenceReadings) -> Outcome:
    """What follows from the stored answers of all judges. ``parts`` hold the mean of each factor, in [0, 1]."""
    readings = details.readings
    judges = tuple(_judged(reading) for reading in readings)
    said = answered(readings)
    if not said:
        return nobody_answered(readings)
    usable = [reading for reading in said if not reading.is_of_another_text]
    if not usable:
        reason = f"none of the {sum(reading.dropped for reading in said)} quotations named is in the review"
        return Outcome("failed", reason=reason, judges=judges)
    means = {name: over_judges([(reading.judge, reading.factor(name)) for reading in usable]) for name in FACTORS}
    dropped = over_judges([(reading.judge, reading.dropped) for reading in usable])
    return Outcome("scored", fmean(means.values()), parts={**means, "dropped": dropped}, judges=judges)


def _judged(reading: PresenceReading) -> JudgeScore:
    if reading.error:
        return judge_score(reading, None)
    if reading.is_of_another_text:
        return judge_score(reading, None, f"none of the {reading.dropped} quotations named is in the review")
    return judge_score(reading, fmean(reading.factor(name) for name in FACTORS))


def _kept(reply: GenericReply, shown: str) -> dict[str, Any]:
    """Each answer, and whether the words named for it are in the review."""
    words = OwnWords(shown)
    kept: dict[str, Any] = {}
    for name in PRESENCES:
        one = getattr(reply, name)
        found = words.find(one.quote) if one.quote.strip() else None
        traced = isinstance(found, Traced)
        named = found.words if isinstance(found, Traced) else one.quote
        kept[name] = {"present": one.present == "yes", "finding": one.finding, "words": named, "traced": traced}
    return kept


QUESTION = Question(render_generic, GenericReply, GENERIC_TOKENS, _kept)
METRIC = Genericness()
