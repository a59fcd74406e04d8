"""What some tests need beside the package; a skip names the command that makes the test run."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest

from referee.llm.catalogue import catalogue, model_path


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


@pytest.fixture
def smallest_chat(monkeypatch: pytest.MonkeyPatch) -> str:
    """The embedded model for scores, taken as one that chats: a grammar holds its replies to the schema too.

    It computes less than the smallest chat model, which README's command runs.
    """
    name = "smollm2-135m"
    require_model(name)
    monkeypatch.setitem(catalogue(), name, replace(catalogue()[name], kind="chat", context_tokens=16_384))
    return name


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
