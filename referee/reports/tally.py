"""What a command has consumed so far, in phrases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.schemas.usage import Usage

if TYPE_CHECKING:
    from referee.runs import Event


class Tally:
    """The calls of a command: how many have ended, of about how many, and what the run has consumed.

    Attributes:
        expected: The estimate; 0 before there is one.
        done: Calls that were answered, replies that were there already among them.
        usage: What was paid, in earlier starts of the run as well.
    """

    def __init__(self) -> None:
        self.expected = 0
        self.done = 0
        self.usage = Usage()

    def count(self, event: Event) -> None:
        """Take in an event of a call, or the usage a resumed run begins with."""
        if event.kind == "run" and event.usage is not None:
            self.usage += event.usage
        if event.kind == "call_finished":
            self.done += 1
            self.usage += event.spent or Usage()

    def phrases(self, *, short: bool = False) -> list[str]:
        """Calls, tokens and money, each in a phrase; nothing before there is anything to count."""
        if not (self.expected or self.done):
            return []
        usd = self.usage.cost_usd
        return [self._calls(), _tokens(self.usage, short=short), "cost unknown" if usd is None else money(usd)]

    def _calls(self) -> str:
        if not self.expected:
            return _several_calls(self.done)
        if self.done > self.expected:
            return f"{self.done:,} calls, about {self.expected:,} estimated"
        return f"{self.done:,} of about {_several_calls(self.expected)}"


def _several_calls(number: int) -> str:
    return f"{number:,} call{'' if number == 1 else 's'}"


def _tokens(usage: Usage, *, short: bool) -> str:
    into, out = ((_thousands(n) if short else f"{n:,}") for n in (usage.input_tokens, usage.output_tokens))
    return f"{into} tokens in, {out} out"


def _thousands(number: int) -> str:
    return f"{number / 1000:,.0f}k" if number >= 1000 else str(number)


def money(usd: float) -> str:
    """US dollars, small amounts with more digits."""
    return f"${usd:.2f}" if usd >= 0.1 or not usd else f"${usd:.4f}"


def fetched(event: Event) -> str:
    """How far a download has come; its event knows the whole size."""
    return f"{event.text}: {100 * event.done // event.total}% of {event.total / 1e6:.0f} MB"
