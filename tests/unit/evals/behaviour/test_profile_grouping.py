from __future__ import annotations

import pytest

from referee.errors import SettingsError
from referee.evals.grouping import Grouping, conference_of, era_of, year_of
from referee.schemas.case import ReviewCase


def case(**given: object) -> ReviewCase:
    about = {"case_id": "r", "paper_id": "p", "source": "human", "kind": "human", "text": "Fine."}
    return ReviewCase.model_validate({**about, **given})


def test_a_group_is_labelled_by_its_values_and_says_what_is_missing() -> None:
    grouping = Grouping()
    assert grouping.of(case(venue="iclr-2020", year=2020)).label == "human / iclr-2020"
    assert grouping.of(case(venue="iclr-2020")).label == "human / iclr-2020 / no year"
    assert grouping.of(case()).label == "human / no venue / no year"


def test_a_column_of_the_data_is_a_key_and_tells_systems_apart() -> None:
    grouping = Grouping(["source", "config"])
    one = case(source="m", kind="ai", extra={"config": "few-shot"})
    assert grouping.of(one).label == "m / few-shot"
    assert grouping.system(one) == "m / few-shot"
    grouping.require_columns()


def test_a_column_that_no_review_has_is_refused() -> None:
    grouping = Grouping(["source", "cofnig"])
    grouping.of(case())
    with pytest.raises(SettingsError, match="'cofnig'"):
        grouping.require_columns()


@pytest.mark.parametrize("by", [[], ["source", ""], ["venue", "venue"], ["era"]])
def test_keys_that_make_no_groups_are_refused(by: list[str]) -> None:
    with pytest.raises(SettingsError):
        Grouping(by)


@pytest.mark.parametrize("era", ["yesterday", "2022-13", "2022-11-40", "22"])
def test_an_era_needs_a_date(era: str) -> None:
    with pytest.raises(SettingsError, match="no date"):
        Grouping(era=era)


@pytest.mark.parametrize(
    ("date", "year", "era", "expected"),
    [
        ("2022-11-29", None, "2022-11-30", "before 2022-11-30"),
        ("2022-11-30", None, "2022-11-30", "from 2022-11-30"),
        ("2022-11-30T08:00:00Z", 2021, "2022-11-30", "from 2022-11-30"),
        ("2022-11", None, "2022-11-30", ""),
        ("2022-10", None, "2022-11-30", "before 2022-11-30"),
        ("", 2022, "2022-11-30", ""),
        ("", 2023, "2022-11-30", "from 2022-11-30"),
        ("", 2021, "2022-11-30", "before 2022-11-30"),
        ("", 2022, "2022", "from 2022"),
        ("", None, "2022", ""),
    ],
)
def test_an_era_is_told_by_the_review_s_date_else_by_its_year(
    date: str, year: int | None, era: str, expected: str
) -> None:
    assert era_of(case(date=date, year=year), era) == expected


@pytest.mark.parametrize(
    ("venue", "expected"),
    [("iclr-2023", "pre"), ("iclr-2024", "post"), ("NeurIPS 2022", "pre"), ("neurips-2023", "post"), ("icml-2025", "")],
)
def test_praib_s_eras_go_by_conference_and_year(venue: str, expected: str) -> None:
    assert era_of(case(venue=venue), "praib") == expected


def test_a_year_is_found_in_the_venue_s_name() -> None:
    assert year_of(case(venue="iclr-2019")) == 2019
    assert year_of(case(venue="iclr")) is None
    assert conference_of("agents4science-2025") == "agents4science"
