"""The pure parts of ``benchmarks/xref_specificity.py``; no figure is asserted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Load = Callable[[str], ModuleType]


@pytest.mark.shared_data
def test_points_are_read_with_either_raters_labels(load: Load, shared_data: Path) -> None:
    module = load("xref_specificity")
    for who in module.WHO:
        (pair,) = module.correlated(shared_data, who).pairs
        assert (pair.quantity, pair.other, pair.rho.n) == (module.LABEL, module.COUNT, 63)
        assert pair.rho.low < pair.rho.mean < pair.rho.high
