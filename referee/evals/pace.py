"""How long the rest will take, said once a second at most."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """Counts steps and says now and then how long the rest will take."""

    def __init__(self, steps: int, *, clock: Callable[[], float] = time.monotonic, every_s: float = 1.0) -> None:
        self._left = steps
        self._done = 0
        self._clock = clock
        self._every_s = every_s
        self._started = clock()
        self._said = self._started

    def step(self, *, last: bool = False) -> str | None:
        """Count a step; a phrase as ``, about 3 min left``, or None where one was given a moment ago."""
        self._done += 1
        now = self._clock()
        if not last and now - self._said < self._every_s:
            return None
        self._said = now
        remaining = (self._left - self._done) * (now - self._started) / self._done
        return f", about {duration(remaining)} left" if remaining > 0 else ""


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as precisely as an estimate deserves."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
