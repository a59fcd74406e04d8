from __future__ import annotations

import pytest

from referee.errors import DataError, EvaluationError
from referee.evals.agreement.scales import Scale, check_scale, free_scale, one_scale, outside_share, scale_of
from referee.venues.registry import list_venues, load_venue

ICLR = Scale("iclr-2024", "rating", (1, 3, 5, 6, 8, 10), 6)
NEURIPS = Scale("neurips-2025", "rating", (1, 2, 3, 4, 5, 6), 4)


def scale(venue: str) -> Scale:
    found = scale_of(load_venue(venue))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("venue", "allowed", "accept_at"),
    [
        ("iclr-2019", range(1, 11), 6),
        ("iclr-2020", (1, 3, 6, 8), 6),
        ("iclr-2021", range(1, 11), 6),
        ("iclr-2022", (1, 3, 5, 6, 8, 10), 6),
        ("iclr-2025", (1, 3, 5, 6, 8, 10), 6),
        ("iclr-2026", (0, 2, 4, 6, 8, 10), 6),
        ("neurips-2025", range(1, 7), 4),
        ("icml-2025", range(1, 6), 3),
        ("corl-2024", range(1, 5), 3),
        ("colm-2025", range(1, 11), 6),
        ("emnlp-2023", range(1, 6), 3),
    ],
)
def test_the_specification_s_forms_have_their_scales(venue: str, allowed: range, accept_at: float) -> None:
    found = scale(venue)
    assert found.allowed == tuple(allowed)
    assert found.accept_at == accept_at


def test_a_form_without_an_overall_rating_has_no_scale() -> None:
    assert scale_of(load_venue("tmlr")) is None


def test_every_bundled_scale_rises_and_offers_its_threshold() -> None:
    for form in list_venues():
        found = scale_of(form)
        if found is None:
            continue
        assert list(found.allowed) == sorted(set(found.allowed))
        assert found.span > 0
        assert found.accept_at is None or found.offers(found.accept_at)


def test_a_score_field_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(EvaluationError, match=r"'beauty'.*soundness"):
        scale_of(load_venue("neurips-2024"), "beauty")
    assert scale_of(load_venue("neurips-2024"), "soundness") == Scale("neurips-2024", "soundness", (1, 2, 3, 4))


def test_offered_and_spanned_are_two_things() -> None:
    assert (ICLR.offers(7), ICLR.spans(7), ICLR.spans(11), ICLR.midpoint) == (False, True, False, 5.5)


def test_ranks_run_from_nought_to_one_and_in_between_in_between() -> None:
    assert [ICLR.rank(value) for value in ICLR.allowed] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert ICLR.rank(7) == pytest.approx(0.7)
    assert ICLR.rank(11) is None
    assert Scale("x", "rating", (3,)).rank(3) is None


def test_a_free_scale_is_of_the_values_seen() -> None:
    assert free_scale("new-2030", [3, None, 1, 3]) == Scale("new-2030", "rating", (1, 3), known=False)
    assert free_scale("new-2030", [None]) is None


def test_years_of_the_same_values_are_one_scale_and_two_scales_are_refused_by_name() -> None:
    assert one_scale([scale("iclr-2024"), scale("iclr-2025")]).form == "iclr-2024"
    with pytest.raises(EvaluationError, match=r"iclr-2025.*iclr-2026") as refused:
        one_scale([scale("iclr-2025"), scale("iclr-2026")])
    assert "--compare-scales" in refused.value.hint
    with pytest.raises(EvaluationError, match="no rating scale"):
        one_scale([])


def test_the_guard_against_a_wrong_scale_names_the_form_and_the_strange_values() -> None:
    with pytest.raises(DataError, match=r"'neurips-2025'.*: 7, 8\.") as refused:
        check_scale(NEURIPS, [4, 5, 7, 8, 6])
    assert refused.value.ids["venue"] == "neurips-2025"
    mistyped = [4.0] * 99 + [7.0]
    assert check_scale(NEURIPS, mistyped) == pytest.approx(0.01)
    with pytest.raises(DataError):
        check_scale(NEURIPS, mistyped[1:])
    assert check_scale(NEURIPS, []) is None
    assert check_scale(Scale("new", "rating", (1, 2), known=False), [9, 9]) == 1
    assert outside_share(ICLR, [7, 8]) == 0.5
