"""What benchmarks compute and what they reach into by name; no figure is asserted."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from referee.evidence.rules import RULES
from tests.needs import needs_model

Load = Callable[[str], ModuleType]


def test_set_ups_are_compared_text_by_text(load: Load) -> None:
    module = load("detection")
    turns = module.Turns()
    turns.run(7, {"a": lambda: None, "b": lambda: None}, random.Random(0))
    turns.spent = {
        "a": [module.Spent(2.0, 1.0), module.Spent(3.0, 1.0), module.Spent(40.0, 1.0)],
        "b": [module.Spent(1.0, 4.0), module.Spent(1.0, 2.0), module.Spent(10.0, 1.0)],
    }
    assert turns.tokens == [7]
    assert turns.ratio("a", "b") == 3.0
    assert turns.ratio("a", "b", "wall") == 0.5


def test_rows_are_the_same_in_every_run_and_no_two_alike(load: Load) -> None:
    rows = list(load("scale_rows").drawn_rows(["One.", "Two.", "Three."], 400))
    assert rows == list(load("scale_rows").drawn_rows(["One.", "Two.", "Three."], 400))
    assert len({str(row["text"]) for row in rows}) == 400
    assert len({row["paper_id"] for row in rows}) == 100


@pytest.mark.parametrize("rule", sorted(RULES))
def test_what_a_rule_compares_by_is_there_to_be_counted(rule: str, load: Load) -> None:
    module = importlib.import_module(RULES[rule].__module__)
    assert callable(getattr(module, load("rules").COMPARES[rule]))


@pytest.mark.local_model
@needs_model("minilm", runtime=False)
@pytest.mark.shared_data
def test_anchor_is_measured_from_scores_to_tables(load: Load, shared_data: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    given = ["--part", "anchor", "--reviews", "60", "--data", str(shared_data), "--json", str(figures)]
    assert load("detection").main(given) == 0
    assert json.loads(figures.read_text())["anchor, seconds"] > 0
