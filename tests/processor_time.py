"""Bounds on processor time, so that a busy machine fails nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail where the block computes for longer."""
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds
