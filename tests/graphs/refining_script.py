"""A venue of a few rules, and a model that criticises and revises its prompts as it is told to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from referee.agents.supervisor import DIMENSIONS
from referee.schemas.venue import Guideline, VenueForm
from referee.venues import load_venue
from tests.support import ChatRequest
from tests.support.script import Script

OWN = {
    "lanterns": "Lanterns are compared with torches, and the price of oil is stated.",
    "bridges": "Bridges are measured in winter; their load is tested twice.",
    "wells": "Wells are deep. Ropes are replaced each year.",
}
STEPS = {
    "lanterns": ["Compare each lantern with a torch.", "Find the stated price of the oil."],
    "bridges": ["Look for bridges measured in winter.", "Check that the load was tested twice."],
    "wells": ["Check how deep the wells are.", "Check that ropes are replaced each year."],
}
OBJECTIONS = (
    "The verb of step 1 is vague.",
    "Nobody knows which season counts as cold.",
    "Brightness has two meanings here.",
    "Numbers without units can mislead a reader.",
    "The negation in the end is doubled.",
    "Say what fibres are allowed.",
)
_POINT = re.compile(r"^(P\d+): (.*)$", re.MULTILINE)
_STEP = re.compile(r"^\d+\. (.*)$", re.MULTILINE)


def small_venue(*names: str, shipped: Sequence[str] = ()) -> VenueForm:
    """A form with the named rules of ``OWN`` and, of its own rules, those that ship with steps."""
    form = load_venue("neurips-2025")
    known = form.guidelines[0]
    own = [_rule(known, name) for name in names]
    kept = [guideline for guideline in form.guidelines if guideline.id in shipped]
    return form.model_copy(update={"id": "small-2026", "name": "Small 2026", "guidelines": (*kept, *own)})


def _rule(known: Guideline, name: str) -> Guideline:
    return known.model_copy(update={"id": name, "text": OWN[name], "words": ""})


def rule_of(request: ChatRequest) -> str:
    """Which of ``OWN`` a prompt is about; the rule's own text for any other."""
    text = request.spans("guideline")[-1].strip()
    return next((name for name in OWN if text.lower().startswith(name)), text)


def steps_in(request: ChatRequest) -> list[str]:
    """The steps a prompt shows."""
    return _STEP.findall(request.spans("steps")[-1])


def objection(request: ChatRequest) -> Any:
    """Something else in each round."""
    said = request.spans("earlier")[-1].count("\n- ") + request.spans("earlier")[-1].startswith("- ")
    return findings(clarity=[OBJECTIONS[said % len(OBJECTIONS)]])


def findings(**found: list[str]) -> dict[str, list[str]]:
    """A criticism in which the other respects are empty."""
    return {name: found.get(name, []) for name in DIMENSIONS}


def kept_and_one(request: ChatRequest) -> dict[str, list[str]]:
    """The steps, and another last one each time."""
    steps = [step for step in steps_in(request) if not step.startswith("Write down")]
    return {"steps": [*steps, f"Write down what look {crc32(request.user.encode())} showed."]}


def serving(request: ChatRequest) -> dict[str, Any]:
    """Each point is served by the step that shares the beginning of a longer word with it, as far as there is one."""
    return {"points": [_answer(name, point, steps_in(request)) for name, point in points_in(request)]}


def points_in(request: ChatRequest) -> list[tuple[str, str]]:
    """The points that are asked about, by id."""
    return _POINT.findall(request.spans("points")[-1])


def _answer(name: str, point: str, steps: list[str]) -> dict[str, str]:
    step = next((step for step in steps if _begins(step) & _begins(point)), "")
    return {"point": name, "words": step, "served": "yes" if step else "no"}


def _begins(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{4,}", text.casefold())}


@dataclass
class Refining:
    """The model of a refinement."""

    written: Callable[[ChatRequest], Any] = lambda request: {"steps": STEPS[rule_of(request)]}
    criticism: Callable[[ChatRequest], Any] = objection
    revision: Callable[[ChatRequest], Any] = kept_and_one
    covering: Callable[[ChatRequest], Any] = serving
    more: dict[str, Any] = field(default_factory=dict)

    def script(self) -> Script:
        """The script for a server."""
        return Script(
            {
                "refinement/write": self.written,
                "refinement/criticise": self.criticism,
                "refinement/revise": self.revision,
                "refinement/covered": self.covering,
                **self.more,
            }
        )
