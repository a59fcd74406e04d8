import pytest

from referee.errors import EvaluationError
from referee.evals.behaviour import conditional_engagement, cross_references, engages

HUMAN = [[1, 0, 0], [1, 1], [0, 0, 0], [1, 1, 0, 1]]
GENERATED = [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Eq. (2) is wrong", True),
        ("Lemma 3 lacks a proof", True),
        ("Proposition 1 and Assumption 2", True),
        ("the bound $O(n^2)$", True),
        (r"we need \(a \leq b\) here", True),
        (r"and \[x = y\] then", True),
        (r"$$\sum_i x_i$$", True),
        (r"the symbol $\alpha$ is not defined", False),
        (r"within $\pm 1\%$ of the baseline", False),
        (r"$93.2 \pm 0.4$ against \(\approx 90\%\), at $2 \times 10^{5}$ steps", False),
        (r"where $n \geq 10$", True),
        (r"the step $\alpha/2$ is used", True),
        ("the theory is sound and Table 2 shows 95%", False),
        ("it costs $5 + $6", False),
        ("Figure 3, Appendix B, Algorithm 1", False),
        ("", False),
    ],
)
def test_the_heuristic(text: str, verdict: bool) -> None:
    assert engages(text, cross_references(text)) is verdict


@pytest.mark.parametrize(
    ("unit", "positive", "negative"), [("pair", 0.5, 1 / 3), ("majority", 0.5, 0.5), ("any", 2 / 3, 0.0)]
)
def test_the_fixture_of_each_unit(unit: str, positive: float, negative: float) -> None:
    found = conditional_engagement(HUMAN, GENERATED, unit)  # type: ignore[arg-type]
    assert found.given_positive == pytest.approx(positive, abs=1e-6)
    assert found.given_negative == pytest.approx(negative, abs=1e-6)
    assert found.positive + found.negative == (12 if unit == "pair" else 4)


def test_a_condition_that_nothing_meets_has_no_probability() -> None:
    assert conditional_engagement([[1]], [1]) == (1.0, None, 1, 0)
    assert conditional_engagement([], []) == (None, None, 0, 0)
    assert conditional_engagement([[], [0]], [1, 1]) == (None, 1.0, 0, 1)


def test_half_of_the_reviews_is_no_majority() -> None:
    assert conditional_engagement([[1, 0]], [1]).positive == 0


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(EvaluationError, match="2 papers"):
        conditional_engagement([[1], [0]], [1])
    with pytest.raises(EvaluationError, match="'most'"):
        conditional_engagement([[1]], [1], "most")  # type: ignore[arg-type]
