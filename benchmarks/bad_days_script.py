"""The server of ``bad_days.py``: every reply is decided by its request alone, some need a repair, and what goes wrong.

A reply that depended on when it is asked could not be compared between a run that was disturbed and one that was not.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.support import ChatRequest, FakeServer, Fault, FaultPlan, Script

POINTS = 4
CONTEXT_TOKENS = 32_000
# One reply in three to a first question is cut in the middle, and has to be asked for again.
_REPAIRED = 3
_STATEMENT = re.compile(r'<statement id="(c\d+)"')
_SHOWN = re.compile(r'<(?:quotation|passage) id="((c\d+)[qp]\d+)"')


def script(spread_s: float = 0.0) -> Script:
    """What each role says. Replies take from 0 to ``spread_s`` seconds, each request always the same."""
    entries = {"review/section": _points, "review/check": _tests, "*": ChatRequest.instance}
    return Script({key: _late(_at_times_broken(answer), spread_s) for key, answer in entries.items()})


def serving(faults: FaultPlan | None = None, *, spread_s: float = 0.0) -> FakeServer:
    """The server; not started yet."""
    return FakeServer(script(spread_s), faults=faults or FaultPlan(), context_tokens=CONTEXT_TOKENS)


class ChatFaults(FaultPlan):
    """Faults of chat calls; embeddings are left alone, unless asked for."""

    def __init__(self, rate: float, *, seed: int, timeout_s: float, embeddings: bool = False) -> None:
        super().__init__(mixed(rate, timeout_s=timeout_s), seed=seed)
        self._embeddings = embeddings

    def choose(self, request: ChatRequest) -> Fault | None:
        """The fault of this call, or null."""
        if request.role == "embedding" and not self._embeddings:
            return None
        return super().choose(request)


def mixed(rate: float, *, timeout_s: float) -> list[Fault]:
    """Faults of every kind that a provider has, equally often, together at this rate; calls time out after so long."""
    kinds: list[dict[str, Any]] = [
        {"kind": "429", "retry_after_s": 0.05},
        {"kind": "429"},
        {"kind": "500"},
        {"kind": "timeout", "seconds": 20 * timeout_s},
        {"kind": "drop"},
        {"kind": "partial"},
        {"kind": "truncated"},
        {"kind": "empty"},
        {"kind": "wrong_schema"},
        {"kind": "slow", "seconds": timeout_s / 4},
    ]
    share = rate / len(kinds)
    # The first fault that applies decides, so a later one meets only what the earlier ones left.
    return [Fault(**given, probability=share / (1 - number * share)) for number, given in enumerate(kinds)]


def _points(request: ChatRequest) -> Any:
    """Some points with quotations that are in the section; the first is a plain weakness."""
    rng = request.rng()
    drawn = [point for seed in range(12) for point in replace(request, seed=seed).instance()["points"]]
    for point in drawn[:POINTS]:
        for quotation in point["evidence"]:
            quotation["quote"] = request.quotation("section", rng)
    plain = {"polarity": "weakness", "kind": "design", "absence": None, "checkable": "paper", "severity": "major"}
    drawn[0] |= plain
    return {"points": drawn[:POINTS]}


def _tests(request: ChatRequest) -> Any:
    """Each statement answered once: one in five is refuted by words that were shown for it."""
    rng, words = request.rng(), {alias: name for name, alias in _SHOWN.findall(request.user)}
    tested = {"finding": "as it stands", "coherent": True, "shown": "yes", "in_scope": True, "matters": True}
    answers = []
    for alias in _STATEMENT.findall(request.user):
        refuted = words.get(alias, "none") if rng.random() < 0.2 else "none"
        answers.append({"statement": alias, **tested, "refuted": refuted, "conceded": "none"})
    return {"answers": answers}


def _at_times_broken(answer: Callable[[ChatRequest], Any]) -> Callable[[ChatRequest], Any]:
    def said(request: ChatRequest) -> Any:
        first = len(request.messages) == 2
        return '{"points": [' if first and int(request.digest[:8], 16) % _REPAIRED == 0 else answer(request)

    return said


def _late(answer: Callable[[ChatRequest], Any], spread_s: float) -> Callable[[ChatRequest], Any]:
    async def said(request: ChatRequest) -> Any:
        await asyncio.sleep(spread_s * int(request.digest[8:16], 16) / 16**8)
        return answer(request)

    return said
