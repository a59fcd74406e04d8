"""Points whose claim is the prompt's own: dropped before they are merged, checked or printed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.evidence import QuotationIndex
from referee.graphs.sections.points import verified
from referee.papers import load_paper
from referee.prompts import load_prompt
from referee.schemas.point import ReviewPoint

PAPER = load_paper(Path(__file__).parents[2] / "examples" / "short.md")
PROMPT = load_prompt("review/section-lean")


def checked(claim: str) -> ReviewPoint:
    context: Any = SimpleNamespace(
        instructions=f"{PROMPT.system}\n{PROMPT.user}",
        index=QuotationIndex(PAPER),
        card=SimpleNamespace(claim_ids=("C1",)),
        takes=lambda step: True,
    )
    values = {"kind": "unsupported", "polarity": "weakness", "severity": "major", "raised_severity": "major"}
    raised = ReviewPoint.model_validate({"id": "p1", "claim": claim, "source": "section", "evidence": (), **values})
    (done,) = verified([raised], context)
    return done


@pytest.mark.parametrize("numbers", [("41", "21"), ("4.1", "2.1"), ("four", "two")])
def test_the_worked_example_is_dropped_whatever_its_numbers(numbers: tuple[str, str]) -> None:
    first, second = numbers
    done = checked(f"The dragon tamers report {first} calm dragons, their stable ledger lists {second}")
    assert done.outcome == "dropped"
    assert done.reason.endswith("its claim only repeats an example of the reviewer's instructions")


def test_a_claim_with_decimals_of_its_own_stays() -> None:
    assert checked("The abstract says 4.1 points, the table shows 2.1").outcome != "dropped"
