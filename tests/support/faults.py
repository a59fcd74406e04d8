"""Fault plans: which call goes wrong, and how."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tests.support.request import ChatRequest

FaultKind = Literal[
    "400",  # the provider rejects the request itself
    "401",  # wrong key
    "context",  # the prompt is longer than the model's context
    "429",  # rate limit, with retry-after where `retry_after_s` is set
    "500",  # the provider's own error
    "503",  # overloaded (Anthropic: 529)
    "timeout",  # accepted and never answered, for at most `seconds` or until the client leaves
    "drop",  # connection closed without a byte
    "partial",  # connection closed in the middle of the body
    "page",  # a web page with status 200
    "slow",  # answered well, `seconds` late
    "empty",  # content ""
    "garbage",  # random characters
    "prose",  # friendly sentences where JSON was asked for
    "truncated",  # JSON cut in the middle, reported as finished
    "length",  # JSON cut in the middle, reported as cut by the token limit
    "refusal",  # the model declines
    "wrong_schema",  # well-formed JSON with other types
    "out_of_range",  # right shape; numbers and enums outside what was on offer
    "too_long",  # right shape; strings longer than their maxLength
    "nan",  # NaN where a number belongs
]
KINDS: tuple[str, ...] = get_args(FaultKind)


@dataclass(frozen=True)
class Fault:
    """One rule of a plan: calls that match everything given here go wrong in the way ``kind`` names.

    ``Fault("500")`` fails every call for ever; ``Fault("429", first=3, role="judge")`` the judge's first three;
    ``Fault("empty", first_tries=2)`` each request twice before it is answered.

    Attributes:
        kind: See ``FaultKind``.
        probability: Chance per matching call. It depends on the plan's seed, the request and how often that request
            was seen, not on the order of arrival, so that concurrent runs repeat exactly.
        role: Only calls of this role.
        prompt_id: Only calls of this prompt, with or without its ``@version``.
        model: Only calls of this model.
        first: Only the first so many calls that match role, prompt and model.
        calls: Only these of the calls that match role, prompt and model, counted from 0.
        first_tries: Only the first so many times that one and the same request arrives.
        seconds: How long ``timeout`` waits at most and ``slow`` waits.
        message: The error's text for ``400`` to ``503`` and ``context``, in place of the usual one.
        retry_after_s: What ``429`` and ``503`` tell the client to wait; null sends no such advice.
    """

    kind: FaultKind
    probability: float = 1.0
    role: str | None = None
    prompt_id: str | None = None
    model: str | None = None
    first: int | None = None
    calls: tuple[int, ...] | None = None
    first_tries: int | None = None
    seconds: float = 30.0
    retry_after_s: float | None = None
    message: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown fault {self.kind!r}; there are: {', '.join(KINDS)}.")
        if not 0 <= self.probability <= 1:
            raise ValueError(f"the probability of fault {self.kind!r} is {self.probability!r}, not within 0 to 1.")

    def concerns(self, request: ChatRequest) -> bool:
        """Whether role, prompt and model match."""
        return (
            self.role in (None, request.role)
            and self.prompt_id in (None, request.prompt_id, request.prompt_id.partition("@")[0])
            and self.model in (None, request.model)
        )


class FaultPlan:
    """An ordered list of faults; the first that applies to a call decides. It counts calls, so use one per server.

    Args:
        faults: The rules, most special first.
        seed: For the probabilities.
    """

    def __init__(self, faults: Iterable[Fault] = (), *, seed: int = 0) -> None:
        self.faults = tuple(faults)
        self.seed = seed
        self._matched: Counter[int] = Counter()
        self._tries: Counter[str] = Counter()

    @classmethod
    def load(cls, path: Path) -> FaultPlan:
        """Read a JSON file: a list of faults, or ``{"seed": 1, "faults": [...]}``; keys are those of ``Fault``.

        Raises:
            ValueError: A fault or a key is unknown.
        """
        data = json.loads(path.read_text(encoding="utf-8"))
        data = {"faults": data} if isinstance(data, list) else data
        return cls([_fault(entry, path) for entry in data["faults"]], seed=data.get("seed", 0))

    def choose(self, request: ChatRequest) -> Fault | None:
        """The fault for this call, or null; counts the call."""
        attempt = self._tries[request.digest]
        self._tries[request.digest] += 1
        chosen = None
        for position, fault in enumerate(self.faults):
            if not fault.concerns(request):
                continue
            seen = self._matched[position]
            self._matched[position] += 1
            if chosen is None and self._applies(fault, position, seen, attempt, request.digest):
                chosen = fault
        return chosen

    def _applies(self, fault: Fault, position: int, seen: int, attempt: int, digest: str) -> bool:
        if fault.first is not None and seen >= fault.first:
            return False
        if fault.calls is not None and seen not in fault.calls:
            return False
        if fault.first_tries is not None and attempt >= fault.first_tries:
            return False
        chance = random.Random(f"{self.seed}:{position}:{attempt}:{digest}").random()
        return chance < fault.probability


def _fault(entry: dict[str, object], path: Path) -> Fault:
    unknown = sorted(set(entry) - set(Fault.__dataclass_fields__))
    if unknown or "kind" not in entry:
        raise ValueError(f"fault plan {str(path)!r}: " + (f"unknown key {unknown[0]!r}." if unknown else "no 'kind'."))
    calls = entry.get("calls")
    values = {**entry, "calls": tuple(calls) if isinstance(calls, list) else None}
    return Fault(**values)  # type: ignore[arg-type]  # keys checked above, values in __post_init__ and by use
