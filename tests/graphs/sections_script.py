"""What a scripted model says to each role of strategy ``sections``; every reply reacts to its prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.agents.form_reply import offered
from referee.schemas.venue import VenueForm
from referee.venues import load_venue
from tests.support import ChatRequest
from tests.support.script import Script

VENUE = "neurips-2025"
REMEDY = "repeat it with five zanzibar seeds"

_STATEMENT = re.compile(r'<statement id="(c\d+)">\n(.*?)\nWould be refuted by: (.*?)\n</statement>', re.DOTALL)
_WORDS = re.compile(r'<(?:passage|quotation) id="((?:c\d+q|p)\d+)">\n(.*?)\n</(?:passage|quotation)>', re.DOTALL)
_PLACE = re.compile(r"^([^\s:]+): (.*)$", re.MULTILINE)
_LISTED = re.compile(r"^(\S+) \| [^|]* \| (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Raised:
    """A point as a reviewer writes it. ``quotes`` are (heading, words, role); an unknown heading is the first place."""

    claim: str
    quotes: tuple[tuple[str, str, str], ...] = ()
    polarity: str = "weakness"
    kind: str = "unsupported"
    severity: str = "major"
    threatens: str | None = "C1"
    refuted_by: str = "a sentence that says the opposite"
    terms: tuple[str, ...] = ()
    checkable: str = "paper"
    fix: str = "text"

    def reply(self, request: ChatRequest) -> dict[str, Any]:
        """The point in the shape that the request asks for."""
        places = {heading: name for name, heading in _PLACE.findall("\n".join(request.spans("places")))}
        first = next(iter(places.values()))
        quotes = [{"section_id": places.get(h, first), "quote": q, "role": role} for h, q, role in self.quotes]
        absence = {"what": self.claim[:100], "terms": list(self.terms), "expected_in": first} if self.terms else None
        return {
            "claim": self.claim,
            "polarity": self.polarity,
            "kind": self.kind,
            "evidence": quotes,
            "absence": absence,
            "refuted_by": self.refuted_by,
            "criterion": [_choices(request, "criterion")[0]],
            "threatens": self.threatens,
            "severity": self.severity,
            "checkable": self.checkable,
            "fix": {"kind": self.fix, "what": REMEDY},
            "confidence": "high",
        }


@dataclass(frozen=True)
class Answers:
    """What the checker says of a statement. ``refuted`` and ``conceded`` are words that a shown passage must hold."""

    shown: str = "yes"
    refuted: str = ""
    conceded: str = ""
    coherent: bool = True
    in_scope: bool = True


Supports = Callable[[list[str]], list[str]]


@dataclass
class Scene:
    """A paper's reviewers: points by heading, points and duplicate claims across, tests by claim, scores."""

    sections: Mapping[str, Sequence[Raised]] = field(default_factory=dict)
    cross: Sequence[Raised] = ()
    duplicates: Sequence[tuple[str, str]] = ()
    tests: Mapping[str, Answers] = field(default_factory=dict)
    scores: Mapping[str, tuple[int, Supports]] = field(default_factory=dict)
    mapped: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def script(self) -> Script:
        """The script for a server; nothing is left to chance."""
        return Script(
            {
                "review/section": self.section,
                "review/section-bare": self.section,
                "review/section-quota": self.section,
                "review/cross": self.across,
                "review/check": self.checks,
                "review/compose": self.composed,
                "review/compose-paper": self.composed,
                "review/map": self.mapping,
            }
        )

    def section(self, request: ChatRequest) -> dict[str, Any]:
        heading = heading_of(request)
        return {"points": [raised.reply(request) for raised in self.sections.get(heading, ())]}

    def across(self, request: ChatRequest) -> dict[str, Any]:
        ids = {claim: name for name, claim in _LISTED.findall("\n".join(request.spans("points")))}
        pairs = [{"first": ids[a], "second": ids[b]} for a, b in self.duplicates if a in ids and b in ids]
        reply: dict[str, Any] = {"points": [raised.reply(request) for raised in self.cross]}
        return {**reply, "duplicates": pairs} if len(ids) > 1 else reply

    def checks(self, request: ChatRequest) -> dict[str, Any]:
        return {"answers": [self._tested(alias, claim, request) for alias, claim, _ in statements(request)]}

    def composed(self, request: ChatRequest) -> dict[str, Any]:
        ids = re.findall(r"^\[(\S+)\]", "\n".join(request.spans("points")), re.MULTILINE)
        reply: dict[str, Any] = request.instance(summary="The paper describes a method and compares it.")
        for form_field in load_venue(VENUE).reviewer_fields:
            if form_field.kind != "score":
                continue
            value, supports = self.scores.get(form_field.name, (None, lambda ids: []))
            option = next((text for text, known in offered(form_field).items() if known == value), "open")
            reply[form_field.name] = {"reason": "the points", "supports": supports(ids), "opposes": [], "value": option}
        return reply

    def mapping(self, request: ChatRequest) -> dict[str, Any]:
        outline = re.findall(r"^(\S+) \|.*\| [\d ]*(.*)$", "\n".join(request.spans("outline")), re.MULTILINE)
        parts = {heading: name for name, heading in outline}
        items = [{"prompt": rule, "parts": [parts[h] for h in there]} for rule, there in self.mapped.items()]
        return {"mapping": items}

    def _tested(self, alias: str, claim: str, request: ChatRequest) -> dict[str, Any]:
        test = self.tests.get(claim, Answers())
        shown = [(name, text) for name, text in _WORDS.findall(request.user) if name.startswith("p")]
        shown += [(name, text) for name, text in _WORDS.findall(request.user) if name.startswith(f"{alias}q")]

        def holding(words: str) -> str:
            return next((name for name, text in shown if words and words in " ".join(text.split())), "none")

        return {
            "statement": alias,
            "finding": f"tested: {claim[:60]}",
            "coherent": test.coherent,
            "shown": test.shown,
            "refuted": holding(test.refuted),
            "conceded": holding(test.conceded),
            "in_scope": test.in_scope,
            "matters": True,
        }


def with_own_rule(rule_id: str) -> VenueForm:
    """The venue's form with one more guideline, which nobody has mapped to kinds of sections: a model is asked."""
    form = load_venue(VENUE)
    known = form.guidelines[0]
    rule = known.model_copy(update={"id": rule_id, "text": "Say whether lanterns were compared fairly."})
    return form.model_copy(update={"guidelines": (*form.guidelines, rule)})


def heading_of(request: ChatRequest) -> str:
    """The heading of the part that a section prompt shows."""
    return request.spans("section")[-1].strip().splitlines()[0].lstrip("# 0123456789")


def statements(request: ChatRequest) -> list[tuple[str, str, str]]:
    """Alias, claim and what would refute it, for each statement of a check prompt."""
    return _STATEMENT.findall(request.user)


def _choices(request: ChatRequest, name: str) -> list[str]:
    """What the request's schema offers for a property, wherever it stands."""

    def found(node: Any) -> list[str]:
        if isinstance(node, dict):
            properties = node.get("properties")
            if isinstance(properties, dict) and name in properties:
                items = properties[name].get("items", {})
                return items.get("enum") or [items["const"]]
            return next((hit for value in node.values() if (hit := found(value))), [])
        if isinstance(node, list):
            return next((hit for value in node if (hit := found(value))), [])
        return []

    return found(request.schema)
