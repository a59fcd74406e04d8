"""When a failed call is sent again, and how long before: the same for chats and embeddings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from referee.errors import ModelError, ModelUnavailable
from referee.llm.failures import NotReached
from referee.settings import CallSettings


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
        answered: Whether this model ever answered: where none did, an address without a server is not tried again.
        before_sleep: Told of each failure that is followed by another try.
        sleep: How to wait.
    """

    def can_help(error: BaseException) -> bool:
        if isinstance(error, NotReached):
            return answered()
        return isinstance(error, ModelUnavailable)

    return AsyncRetrying(
        stop=stop_after_attempt(calls.max_tries),
        retry=retry_if_exception(can_help),
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
