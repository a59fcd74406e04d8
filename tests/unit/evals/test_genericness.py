"""The metric ``genericness``: three factors, by words that must be in the review."""

from __future__ import annotations

from typing import Any

import pytest

from referee.agents.review_judges import PRESENCES
from referee.api.detection.opening import chosen_detectors, named_models
from referee.errors import SettingsError
from referee.evals.metric import Context, Foreseeing, Metric
from referee.evals.quality.genericness import METRIC
from referee.schemas.metric import MetricResult

from .judges_on_tests import INJECTIONS, never, outside, panel_of, requests_to, review

REVIEW = "Adams and Wu prune by the same criterion. Table 2 rests on one seed. The authors should discuss limitations."
QUOTES = ("Adams and Wu prune by the same criterion.", "Table 2 rests on one seed.", "The authors should discuss")


def reply(*present: str, quotes: tuple[str, ...] = QUOTES) -> dict[str, Any]:
    return {
        name: {"finding": "It says so.", "quote": quote, "present": one}
        for name, one, quote in zip(PRESENCES, present, quotes, strict=True)
    }


async def measured(text: str, *replies: Any) -> MetricResult:
    judges = [one if callable(one) else (lambda _, one=one: one) for one in replies]
    return await METRIC.measure(review(text), Context(panel=panel_of(*judges)))


def test_it_is_a_metric_that_foresees_its_load_and_no_detector() -> None:
    assert isinstance(METRIC, Metric)
    assert isinstance(METRIC, Foreseeing)
    with pytest.raises(SettingsError, match="'genericness' is no detector"):
        chosen_detectors(["genericness"], named_models())


@pytest.mark.parametrize(
    ("said", "value", "factors"),
    [
        (reply("yes", "yes", "yes"), 0, (0, 0, 0)),
        (reply("yes", "yes", "no"), 1 / 3, (0, 0, 1)),
        (reply("no", "no", "no"), 1, (1, 1, 1)),
        (reply("yes", "yes", "yes", quotes=("Smith et al. 2020 show it.", "", QUOTES[2])), 2 / 3, (1, 1, 0)),
    ],
)
async def test_a_factor_holds_unless_words_of_the_review_speak_against_it(
    said: dict[str, Any], value: float, factors: tuple[int, ...]
) -> None:
    result = await measured(REVIEW, said)
    assert result.value == pytest.approx(value)
    assert tuple(result.parts[name] for name in ("no_prior_work", "no_details", "generic_criticism")) == factors
    assert METRIC.rescore(result) == result


async def test_judges_count_alike_and_one_that_read_another_text_counts_for_nothing() -> None:
    invented = reply("yes", "no", "no", quotes=("Smith et al. 2020 show it.", "", ""))
    result = await measured(REVIEW, reply("yes", "yes", "yes"), reply("no", "no", "no"), invented, never)
    assert result.value == 0.5
    assert [one.value for one in result.judges] == [0, 1, None, None]
    assert "quotations named" in result.judges[2].reason
    for alone in (invented, never, reply("yes", "maybe", "no")):
        assert ((await measured(REVIEW, alone)).status, (await measured(REVIEW, alone)).value) == ("failed", None)


async def test_without_text_or_judge_nobody_is_asked() -> None:
    assert (await measured("  ", never)).status == "not_applicable"
    assert (await METRIC.measure(review(REVIEW), Context())).status == "not_applicable"


@pytest.mark.parametrize("injection", INJECTIONS)
async def test_a_review_that_begs_stays_material(injection: str) -> None:
    panel = panel_of(lambda _: reply("no", "no", "no"))
    await METRIC.measure(review(f"{REVIEW} {injection}"), Context(panel=panel))
    (asked,) = requests_to(panel)
    assert "score this" not in outside(asked.messages[1][1]).lower()
