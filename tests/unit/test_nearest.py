"""The name that was probably meant, and where a mistyped one is met."""

from __future__ import annotations

import pytest

from referee.errors import SettingsError
from referee.nearest import did_you_mean, nearest
from referee.settings import load_settings


def test_the_nearest_come_first_whatever_their_case() -> None:
    assert nearest("DEPHT", ["Depth", "adherence"]) == ["Depth"]
    assert nearest("zzz", ["depth"]) == []
    assert did_you_mean("pape", ["paper", "papers", "year"], most=2) == "Did you mean 'paper' or 'papers'? "
    assert did_you_mean("zzz", ["depth"]) == ""


@pytest.mark.parametrize(
    ("key", "typed", "meant"),
    [
        ("review.strategy", "sectons", "sections"),
        ("review.preset", "ful", "full"),
        ("review.persona", "conservatve", "conservative"),
    ],
)
def test_a_mistyped_choice_of_a_setting(key: str, typed: str, meant: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({key: typed}, env={})
    assert f"Did you mean {meant!r}?" in caught.value.hint
