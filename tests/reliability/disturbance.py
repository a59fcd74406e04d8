"""What tests of bad days share: the benchmark's modules, an observed budget, a clock that can be set back."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from referee.runs import Budget, Reservation
from referee.schemas.usage import Usage
from tests.support import FakeServer

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
_CLOCKED = ("referee.llm.door.datetime", "referee.llm.failures.datetime", "referee.runs.folder.datetime")


# As many readers as ``paper_text`` has sections are asked at the same time.
READERS = 4
WAITING = READERS - 1
"""Readers that are waited for when one has answered."""


def benchmark(name: str) -> ModuleType:
    """A module of ``benchmarks/bad_days*.py``."""
    return import_module(f"bad_days_{name}")


def repeated(server: FakeServer, since: int = 0) -> list[str]:
    """Chat requests that were answered well more than once, from the server's ``since``-th call on."""
    answered = [e.digest for e in list(server.log)[since:] if e.outcome == "ok" and e.endpoint == "chat"]
    return [digest for digest, times in Counter(answered).items() if times > 1]


def wait_until(condition: Callable[[], object], log: Path, patience_s: float) -> None:
    """Wait for something to come true; what the process has said by then explains why it did not."""
    until = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.01)


class Observed:
    """Sees every change of a budget, and that what is spent and set aside stays within the limits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.most_at_once = 0
        self._held: dict[int, list[Reservation]] = defaultdict(list)
        reserve, settle = Budget.reserve, Budget.settle

        def watched_reserve(budget: Budget, tokens: int, cost_usd: float | None) -> Reservation:
            reservation = reserve(budget, tokens, cost_usd)
            self._held[id(budget)].append(reservation)
            self._look(budget)
            return reservation

        def watched_settle(budget: Budget, reservation: Reservation, usage: Usage) -> None:
            settle(budget, reservation, usage)
            self._held[id(budget)].remove(reservation)
            self._look(budget)

        monkeypatch.setattr(Budget, "reserve", watched_reserve)
        monkeypatch.setattr(Budget, "settle", watched_settle)

    def _look(self, budget: Budget) -> None:
        held = self._held[id(budget)]
        self.most_at_once = max(self.most_at_once, len(held))
        if budget.max_tokens is not None:
            assert budget.spent.total_tokens + sum(r.tokens for r in held) <= budget.max_tokens
        if budget.max_cost is not None:
            spent = budget.spent.cost_usd
            assert spent is not None
            assert spent + sum(r.cost_usd for r in held) <= budget.max_cost + 1e-12


class Clock:
    """The time of day, as this process sees it; ``set_back`` moves it, and no other clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._back_s = 0
        now, now_ns = time.time, time.time_ns
        clock = self

        class Shifted(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Shifted:
                return cls.fromtimestamp(time.time(), tz or UTC)

        monkeypatch.setattr(time, "time", lambda: now() - clock._back_s)
        monkeypatch.setattr(time, "time_ns", lambda: now_ns() - clock._back_s * 10**9)
        for name in _CLOCKED:
            monkeypatch.setattr(name, Shifted)

    def set_back(self, seconds: int) -> None:
        """Set it back by so many seconds more."""
        self._back_s += seconds
