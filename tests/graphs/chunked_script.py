"""What a scripted model says to each role of ``multi-agent`` and ``progressive``; every reply reacts to its prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support import ChatRequest
from tests.support.script import Script

from .sections_paper import PROMISE, SEEDED, TIED, TUNED
from .sections_script import Raised, Scene

_EXPERT = re.compile(r"You are the expert for (?:novelty and )?(\w+)")
_NUMBERED = re.compile(r"\[(s\d+)\] ([^\n]*?[.!?])(?= |\n|$)")
_COMMENT = re.compile(r"^(?:weakness|strength|question), \w+: (.*)$", re.MULTILINE)
_LINE = re.compile(r"^(\S+) \| [^|]* \| [^|]* \| (.*)$", re.MULTILINE)
_SIFTED = re.compile(r"^\[(\S+)\] (.*?) \| ", re.MULTILINE)


@dataclass(frozen=True)
class Refined:
    """What the refinement says of a comment."""

    verdict: str
    reason: str = "as the chunk says"
    point: Raised | None = None


@dataclass
class TeamScene(Scene):
    """Teams: messages by turn, what workers tell when a message holds a word, points by expert, refinements by claim.

    An expert raises a point only if all its quotations stand in the talk. A worker tells a fact only from its chunk.
    """

    messages: Sequence[str] = ("What was done?", "And the rivals?")
    facts: Mapping[str, str] = field(default_factory=lambda: {SEEDED: "done", PROMISE: "done", TIED: "rivals"})
    points: Mapping[str, Sequence[Raised]] = field(default_factory=dict)
    refined: Mapping[str, Refined] = field(default_factory=dict)
    lean: Mapping[str, Raised] = field(default_factory=dict)
    vague: Sequence[str] = ()

    def script(self) -> Script:
        """The script for a server; nothing is left to chance."""
        experts = {f"review/expert-{name}": self.message for name in ("experiments", "clarity", "impact")}
        return Script(
            {
                **experts,
                "review/team-worker": self.answer,
                "review/team-gather": self.gathered,
                "review/team-refine": self.refinement,
                "review/team-worker-lean": self.lean_points,
                "review/team-sift": self.sift,
                "review/compose": self.composed,
            }
        )

    def message(self, request: ChatRequest) -> dict[str, Any]:
        turn = int(re.findall(r"This is turn (\d+)", request.user)[-1])
        return {"message": self.messages[turn - 1]}

    def answer(self, request: ChatRequest) -> dict[str, Any]:
        asked = "\n".join(request.spans("messages")).rpartition("Expert for ")[2].partition(":")[2]
        chunk = " ".join("\n".join(request.spans("section")).split())
        place = "\n".join(request.spans("places")).strip().splitlines()[0].partition(":")[0]
        told = [fact for fact, word in self.facts.items() if word in asked and fact in chunk]
        return {"answer": "", "findings": [{"note": "see", "section_id": place, "quote": fact} for fact in told]}

    def gathered(self, request: ChatRequest) -> dict[str, Any]:
        expert = _EXPERT.findall(request.system)[0]
        talk = "\n".join(request.spans("messages"))
        known = [r for r in self.points.get(expert, ()) if all(q in talk for _, q, _ in r.quotes)]
        return {"points": [raised.reply(request) for raised in known]}

    def refinement(self, request: ChatRequest) -> dict[str, Any]:
        (claim,) = _COMMENT.findall("\n".join(request.spans("comment")))
        said = self.refined.get(claim, Refined("keep"))
        points = [said.point.reply(request)] if said.point is not None else []
        return {"reason": said.reason, "verdict": said.verdict, "points": points}

    def lean_points(self, request: ChatRequest) -> dict[str, Any]:
        return {"points": lean_replies(self.lean, request)}

    def sift(self, request: ChatRequest) -> dict[str, Any]:
        listed = _SIFTED.findall("\n".join(request.spans("points")))
        told = [(name, "vague" if claim in self.vague else "keep") for name, claim in listed]
        return {"comments": [{"id": name, "reason": "it says so", "verdict": verdict} for name, verdict in told]}


@dataclass
class PassageScene(Scene):
    """A reader in order: points by a sentence of the passage, some only where the summary holds certain words.

    The summary keeps the sentences of ``keeps`` that it was shown, in a passage or in the summary before.
    """

    points: Mapping[str, Sequence[Raised]] = field(default_factory=dict)
    needs: Mapping[str, str] = field(default_factory=dict)
    keeps: Sequence[str] = (SEEDED, PROMISE, TUNED)
    lean: Mapping[str, Raised] = field(default_factory=dict)

    def script(self) -> Script:
        """The script for a server; nothing is left to chance."""
        return Script(
            {
                "review/passage": self.passage,
                "review/passage-lean": self.lean_passage,
                "review/consolidate": self.pairs,
                "review/compose": self.composed,
            }
        )

    def passage(self, request: ChatRequest) -> dict[str, Any]:
        text, summary = _shown(request, "section"), _shown(request, "summary")
        here = [raised for sentence, several in self.points.items() if sentence in text for raised in several]
        seen = [raised for raised in here if self.needs.get(raised.claim, "") in summary]
        return {"points": [raised.reply(request) for raised in seen], "summary": self.summary(request)}

    def lean_passage(self, request: ChatRequest) -> dict[str, Any]:
        return {"points": lean_replies(self.lean, request), "summary": self.summary(request)}

    def summary(self, request: ChatRequest) -> str:
        known = f"{_shown(request, 'section')} {_shown(request, 'summary')}"
        return " ".join(sentence for sentence in self.keeps if sentence in known) or "nothing yet"

    def pairs(self, request: ChatRequest) -> dict[str, Any]:
        ids = {claim: name for name, claim in _LINE.findall("\n".join(request.spans("points")))}
        named = [{"first": ids[a], "second": ids[b]} for a, b in self.duplicates if a in ids and b in ids]
        return {"duplicates": named}


def lean_replies(points: Mapping[str, Raised], request: ChatRequest) -> list[dict[str, Any]]:
    """Short points for the sentences of a numbered chunk."""
    ids = {sentence: name for name, sentence in _NUMBERED.findall("\n".join(request.spans("section")))}
    return [
        {
            "claim": raised.claim,
            "polarity": raised.polarity,
            "kind": raised.kind,
            "sentence": ids[sentence],
            "refuted_by": raised.refuted_by,
            "severity": raised.severity,
        }
        for sentence, raised in points.items()
        if sentence in ids
    ]


def _shown(request: ChatRequest, tag: str) -> str:
    return " ".join("\n".join(request.spans(tag)).split())
