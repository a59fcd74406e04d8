import pytest

from referee.errors import EvaluationError
from referee.stats.student import t_quantile


@pytest.mark.parametrize(
    ("degrees", "value", "within"),
    [
        (1, 12.7062, 1e-3),
        (2, 4.3027, 1e-3),
        (3, 3.1824, 0.05),
        (9, 2.2622, 2e-3),
        (19, 2.0930, 1e-4),
        (39, 2.0227, 1e-4),
    ],
)
def test_printed_quantiles(degrees: int, value: float, within: float) -> None:
    assert t_quantile(0.975, degrees) == pytest.approx(value, abs=within)
    assert t_quantile(0.025, degrees) == pytest.approx(-value, abs=within)


@pytest.mark.parametrize(("p", "degrees"), [(0.0, 5), (1.0, 5), (0.5, 0)])
def test_out_of_range(p: float, degrees: int) -> None:
    with pytest.raises(EvaluationError, match="t quantile"):
        t_quantile(p, degrees)
