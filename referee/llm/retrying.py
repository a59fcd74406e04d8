"""When a failed call is sent again, and how long before: the same for chats and embeddings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_exponential_jitter

from referee.errors import ModelError, ModelUnavailable
from referee.llm.failures import NoReply, NotReached
from referee.settings import CallSettings

_TRIES_WITHOUT_REPLY = 3


def tries(
    calls: CallSettings,
    *,
    answered: Callable[[], bool],
    before_sleep: Callable[[RetryCallState], None],
    sleep: Callable[[float], Awaitable[None]],
) -> AsyncRetrying:
    """The tries of one call, to be looped over; the last one's error is raised as it is.

    Args:
        calls: How many there are at most, and the waits between them.
        answered: Whether this model ever answered: where none did, an address without a server is not tried again, and
            one that gives anything but replies is tried three times.
        before_sleep: Told of each failure that is followed by another try.
        sleep: How to wait.
    """

    def can_help(state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, NotReached):
            return answered()
        if isinstance(error, NoReply):
            return answered() or state.attempt_number < _TRIES_WITHOUT_REPLY
        return isinstance(error, ModelUnavailable)

    return AsyncRetrying(
        stop=stop_after_attempt(calls.max_tries),
        retry=can_help,
        wait=lambda state: _wait_s(state, calls),
        before_sleep=before_sleep,
        sleep=sleep,
        reraise=True,
    )


def _wait_s(state: RetryCallState, calls: CallSettings) -> float:
    """The pause that the provider named, else one that doubles from try to try; a random part spreads callers."""
    error = state.outcome.exception() if state.outcome else None
    named = error.ids.get("retry_after_s") if isinstance(error, ModelError) else None
    if named is not None:
        return min(float(named), calls.retry_max_wait_s)
    backoff = wait_exponential_jitter(initial=calls.retry_wait_s, max=calls.retry_max_wait_s, jitter=calls.retry_wait_s)
    return float(backoff(state))
