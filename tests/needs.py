"""What some tests need beside the package; a skip names the command that makes the test run."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import pytest

from referee.llm.catalogue import model_path


def needs_model(name: str, *, runtime: bool = True) -> pytest.MarkDecorator:
    """Skip a test where an embedded model is not here; ``runtime``: or what runs a chat model is not."""
    reason = _missing(name, runtime)
    return pytest.mark.skipif(bool(reason), reason=reason)


def require_model(name: str) -> None:
    """Skip the running test where an embedded chat model or its runtime is not here; in CI that is a failure."""
    reason = _missing(name, runtime=True)
    if reason and "CI" in os.environ:
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def require(module: str, extra: str) -> Any:
    """The module; skip the running test, or the file, where the extra of the package that brings it is missing."""
    return pytest.importorskip(module, reason=f"{module} is not installed: pip install '.[{extra}]'")


def _missing(name: str, runtime: bool) -> str:
    reasons = []
    if runtime and find_spec("xllamacpp") is None:
        reasons.append("xllamacpp is not installed: pip install '.[local]'")
    if model_path(name) is None:
        reasons.append(f"the embedded model {name} is not here: referee models fetch {name}")
    return "; ".join(reasons)
