"""Planted papers by hand, and stand-ins for the metrics that are measured on them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from referee.evals import registry
from referee.evals.metric import Context, Quantity, Share, not_applicable, scored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.planted import PlantedEdit, PlantedKey, PlantedRecord
from referee.schemas.review import Review

_PAPER = """# Lanterns {n}

## Abstract

We count {count} lanterns of harbour {n}.

## 1 Method

Each lantern of harbour {n} is counted twice by two clerks who do not speak to each other.

## 2 Results

There are 40 lanterns in the harbour, and the two clerks agree on each of them.
"""
RECALL = {"a": 0.25, "b": 0.75}


def write_plants(folder: Path, numbers: Iterable[int]) -> None:
    """A folder as ``referee plant`` writes it: another number in the abstract."""
    for n in numbers:
        copy = hashlib.sha256(str(n).encode()).hexdigest()[:12]
        texts = {"clean": _PAPER.format(n=n, count=40), "planted": _PAPER.format(n=n, count=70)}
        for name, text in texts.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / f"{copy}.md").write_text(text)
        (folder / "keys").mkdir(exist_ok=True)
        (folder / "keys" / f"{copy}.json").write_text(_key(copy, texts).model_dump_json())


def _key(copy: str, texts: dict[str, str]) -> PlantedKey:
    start = texts["clean"].index("40 lanterns")
    record = PlantedRecord(
        record_id="r1",
        kind="number",
        severity="H",
        difficulty="far",
        anchor_class="A1",
        edits=(PlantedEdit(start=start, end=start + 2, before="40", after="70"),),
        sentence_before="We count 40 lanterns.",
        sentence_after="We count 70 lanterns.",
        expected="40",
        statement="The abstract says 70, the results 40.",
        planter="rule",
    )
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return PlantedKey(
        copy_id=copy,
        paper="0" * 64,
        seed=0,
        version=1,
        clean_sha256=digests["clean"],
        planted_sha256=digests["planted"],
        records=(record,),
    )


def _twin(case: ReviewCase, context: Context) -> str:
    """Which copy a review is of, by the keys alone, as far as paper and record are the ones that belong to it."""
    folder = Path(getattr(context.planted, "folder", context.planted))
    assert context.paper is not None
    assert context.paper.paper_id == case.paper_id
    assert case.origin is not None
    assert Review.model_validate_json(Path(case.origin.file).read_text()).paper_id == case.paper_id
    for file in (folder / "keys").iterdir():
        key = PlantedKey.model_validate_json(file.read_text())
        if case.paper_id in (key.planted_sha256, key.clean_sha256):
            return "planted" if case.paper_id == key.planted_sha256 else "clean"
    raise AssertionError(case.paper_id)


class PlantedRecall(Share):
    """Found by name of the arm."""

    name, needs, uses = "planted_recall", frozenset({"paper"}), frozenset({"judge"})

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        if _twin(case, context) == "clean":
            return not_applicable(self, case, "nothing is planted in this copy")
        return scored(self, case, RECALL[case.source])


class FalseAlarms(Quantity):
    """One on each clean copy."""

    name, needs, better = "false_alarms", frozenset({"paper"}), "lower"

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        if _twin(case, context) == "planted":
            return not_applicable(self, case, "alarms are counted on the clean copy")
        return scored(self, case, 1.0)


METRICS = (PlantedRecall(), FalseAlarms())


def install_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-ins in place of the metrics, whether these ship or not."""
    stand_ins = dict.fromkeys((metric.name for metric in METRICS), "tests.cli.planted_sets")
    monkeypatch.setattr(registry, "BUILT_IN", {**registry.BUILT_IN, **stand_ins})
