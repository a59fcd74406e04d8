from __future__ import annotations

import pytest

from referee.agents.grouper import group_points, neutral_ids
from referee.errors import ReplyInvalid
from referee.schemas.point import Correction

from .whole_run import SEED, TIE, Recording, quoted, raised, run_on

SLIP = Correction(place="Table 2", printed="0.78", should_be="0.87")
POINTS = [
    raised("p-F1-1", "A tie is sold as a gain.", evidence=(quoted(TIE, "s3"),), severity="fatal", argument="WHY"),
    raised("p-W-1", "The gain is a tie.", evidence=(quoted(TIE, "s3"),)),
    raised("c-F2-1", "One seed.", correction=SLIP, evidence=(quoted(SEED, "s2"),)),
    raised("m-F1-1", "The data are new.", polarity="strength"),
]


async def grouped(*groups: tuple[str, ...]) -> tuple[list[tuple[str, ...]], Recording]:
    model = Recording({"review/group": {"groups": [{"ids": list(ids)} for ids in groups]}})
    return await group_points(run_on(model), POINTS), model


async def test_groups_come_back_with_the_points_own_ids() -> None:
    """Neutral names follow the places: the seed of s2, then the two of s3 by their words, then what has no place."""
    groups, model = await grouped(("a2", "a3"))
    assert groups == [("p-F1-1", "p-W-1")]
    (asked,) = model.history
    assert asked.role == "checker"
    assert asked.user.count("[a") == 4
    assert "[a1] correction (s2): Table 2: “0.78” should be “0.87”\n" in asked.user
    assert "[a4] merit: The data are new." in asked.user


async def test_an_item_is_cut_where_it_is_long() -> None:
    model = Recording({"review/group": {"groups": []}})
    await group_points(run_on(model), [raised("p-F1-1", "A tie is sold as a gain. " * 20), *POINTS[1:]])
    assert "A tie is sold as a …\n" in model.history[0].user


async def test_no_item_says_who_raised_it_how_gravely_or_why() -> None:
    _, model = await grouped()
    items = model.history[0].user.partition("<points>")[2]
    for told in ("F1", "F2", "W-1", "p-", "fatal", "major", "WHY"):
        assert told not in items


async def test_an_id_stands_in_one_group_and_a_group_has_two() -> None:
    groups, _ = await grouped(("a3", "a3", "a2"), ("a2", "a1"))
    assert groups == [("p-W-1", "p-F1-1")]


async def test_a_reply_that_fits_nothing_is_the_callers_to_handle() -> None:
    model = Recording({"review/group": ReplyInvalid("no JSON")})
    with pytest.raises(ReplyInvalid):
        await group_points(run_on(model), POINTS)


def test_neutral_names_do_not_follow_the_order_in_which_points_were_raised() -> None:
    named = neutral_ids(POINTS)
    assert list(named) == ["a1", "a2", "a3", "a4"]
    assert neutral_ids(reversed(POINTS)) == named
    far = [raised("p-1", evidence=(quoted(TIE, "s10"),)), raised("p-2", evidence=(quoted(TIE, "s9"),))]
    assert [p.id for p in neutral_ids(far).values()] == ["p-2", "p-1"]
