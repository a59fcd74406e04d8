"""Which calls a piece of work has paid: so that a later start knows which ones no result has counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_OPEN: ContextVar[list[str] | None] = ContextVar("referee_bill", default=None)


@contextmanager
def billed() -> Iterator[list[str]]:
    """The ids of the calls that are paid inside, by tasks that begin inside too, in the order of their answers."""
    bill: list[str] = []
    before = _OPEN.set(bill)
    try:
        yield bill
    finally:
        _OPEN.reset(before)


def charge(call_id: str) -> None:
    """Put a call on the bill of the work that runs here, if it has one."""
    bill = _OPEN.get()
    if bill is not None:
        bill.append(call_id)
