import random
from typing import Any

from referee.agents.composer import compose_review, reply_model, summary_fields
from referee.agents.form_reply import FULL, OPEN, StatedScore
from referee.llm.dialects import reply_schema
from referee.schemas.point import PointCheck, ReviewPoint
from referee.testing import ScriptedModel
from referee.venues import list_venues, load_venue
from tests.support import instance

FORM = load_venue("neurips-2025")


def point(name: str, **changes: Any) -> ReviewPoint:
    given: dict[str, Any] = {
        "id": name,
        "claim": f"claim {name}",
        "polarity": "weakness",
        "kind": "design",
        "severity": "minor",
        "raised_severity": "minor",
        "source": "section",
        "confidence": "high",
    }
    return ReviewPoint(**(given | changes))


def reply(points: list[ReviewPoint], **scores: tuple[str, list[str], list[str]]) -> dict[str, Any]:
    schema = reply_schema(reply_model(FORM, tuple(p.id for p in points), FULL))
    made: dict[str, Any] = instance(schema, "", random.Random(3))
    for name in ("quality", "clarity", "significance", "originality", "rating", "confidence"):
        value, supports, opposes = scores.get(name, (OPEN, [], []))
        made[name] = {"reason": "r", "supports": supports, "opposes": opposes, "value": value}
    return made


async def compose(points: list[ReviewPoint], *replies: dict[str, Any]) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(list(replies))
    return await compose_review(FORM, "Title: T", points, door=model), model


async def test_scores_name_the_points_they_rest_on() -> None:
    points = [point("p1"), point("p2", polarity="strength")]
    composed, model = await compose(points, reply(points, quality=("3: good", ["p2"], ["p1"])))
    assert composed.scores["quality"] == StatedScore(value=3, reason="r", supports=("p2",), opposes=("p1",))
    assert composed.scores["rating"].value is None
    assert len(model.history) == 1
    assert "[p1] weakness, minor, design: claim p1" in model.history[0].user


async def test_the_best_option_beside_a_major_weakness_goes_back_once_and_then_stays_open() -> None:
    points = [point("p1", severity="major")]
    best = reply(points, rating=("6: Strong Accept", ["p1"], []))
    composed, model = await compose(points, best, best)
    assert composed.scores["rating"].value is None
    assert "p1" in composed.scores["rating"].reason
    assert len(model.history) == 2
    assert "sent back" in model.history[1].user


async def test_a_better_second_answer_is_taken() -> None:
    points = [point("p1", severity="fatal")]
    first = reply(points, rating=("6: Strong Accept", [], []))
    composed, _ = await compose(points, first, reply(points, rating=("2: Reject", ["p1"], [])))
    assert composed.scores["rating"].value == 2


async def test_the_worst_option_needs_a_major_weakness() -> None:
    points = [point("p1")]
    worst = reply(points, quality=("1: poor", ["p1"], []))
    composed, _ = await compose(points, worst, worst)
    assert composed.scores["quality"].value is None


async def test_the_composer_sees_points_and_card_and_no_checkers_reasons() -> None:
    checked = point("p1", check=PointCheck(verdict="stands", by="m", reason="secret reason"))
    _, model = await compose([checked], reply([checked]))
    assert "check: stands" in model.history[0].user
    assert "secret reason" not in model.history[0].user


async def test_no_point_is_a_valid_review() -> None:
    composed, model = await compose([], reply([]))
    assert all(score.value is None for score in composed.scores.values())
    assert "(no point stands)" in model.history[0].user


def test_every_form_has_a_reply_and_its_overall_comes_last_among_scores() -> None:
    for form in list_venues():
        names = list(reply_model(form, ("p1",), FULL).model_fields)
        scores = [f.name for f in form.reviewer_fields if f.kind == "score"]
        if form.overall and len(scores) > 1:
            places = {name: names.index(name) for name in scores if name in names}
            assert places[form.overall] == max(places.values())
        assert len(summary_fields(form)) <= 2, form.id
