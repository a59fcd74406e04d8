"""The same cases on every machine, and whatever ran before in the same process."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .fuzz_budget import tries


def tried() -> list[object]:
    """The examples of a test of text and numbers."""
    seen: list[object] = []

    @tries(100)
    @given(st.text(max_size=30), st.integers(), st.floats(allow_nan=False))
    def check(text: str, number: int, fraction: float) -> None:
        seen.append((text, number, fraction))

    check()
    return seen


def test_examples_do_not_depend_on_what_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tried()
    source = tmp_path / "loaded_later.py"
    source.write_text("\n".join(f"A{n} = ('constant number {n}', {700_001 + n}, {n}.625)" for n in range(300)))
    spec = importlib.util.spec_from_file_location("loaded_later", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "loaded_later", module)
    spec.loader.exec_module(module)
    assert tried() == before
