"""A chat model whose calls go in batches, behind the same two methods as one that answers at once.

LangChain makes each request and reads each reply as it always does; only the connection below it is ours. It catches
the request's body, and when the batch is done it hands out the reply as if the provider had just sent it. So a call
means the same in a batch and at once, in structured output, tokens, errors and repairs.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from referee.errors import ModelUnavailable
from referee.llm.batches.collecting import Batches, BatchQueue
from referee.llm.batches.protocol import BatchProvider, BatchResult
from referee.llm.clients import Carrier, Connection
from referee.llm.completions import Completion
from referee.llm.failures import classified
from referee.llm.models import Models
from referee.llm.providers import provider_of, require_key
from referee.llm.providers.protocol import WireRequest
from referee.llm.spec import ModelSpec
from referee.llm.wire import Wire
from referee.settings import CallSettings

_DAYS_S = 30 * 24 * 3600.0


@dataclass
class _Exchange:
    """One pass of a call through LangChain: towards a batch it catches the body, back from it the result is read."""

    result: BatchResult | None = None
    body: Mapping[str, Any] | None = None


class _Caught(Exception):
    """The request's body is caught; nothing was sent."""


_exchange: ContextVar[_Exchange] = ContextVar("referee_batch_exchange")


async def _exchanged(body: bytes) -> tuple[int, bytes]:
    """What stands for a provider: the result's status and body, where there is one."""
    exchange = _exchange.get()
    if exchange.result is None:
        exchange.body = json.loads(body)
        raise _Caught
    return exchange.result.status, json.dumps(exchange.result.body).encode()


class BatchWire(Wire):
    """A chat model of one provider, in batches."""

    def __init__(
        self,
        spec: ModelSpec,
        queue: BatchQueue,
        *,
        max_tries: int,
        **reached: Any,
    ) -> None:
        super().__init__(spec, **reached, carrier=Carrier(_exchanged))
        self._queue, self._max_tries = queue, max_tries

    async def send(self, request: WireRequest) -> Completion:
        """Have the call answered by a batch. What another try can mend goes into a later one, so many times.

        A call whose result was lost may have been paid, so that it is sent once more only.

        Raises as ``Wire.send``, for what the batch says of this call; and what the queue raises.
        """
        losses = 0
        for attempt in count(1):
            async with self._queue.answered(request.digest, lambda: self._caught(request)) as result:
                losses += result.lost
                try:
                    with classified(self._spec):
                        async with _passing(_Exchange(result)):
                            return await super().send(request)
                except ModelUnavailable:
                    if attempt == self._max_tries or losses > 1:
                        raise
        raise AssertionError("the last try returns or raises")

    async def stream(self, request: WireRequest, begun: Callable[[], None]) -> Completion:
        """The same: nothing comes in pieces from a batch."""
        return await self.send(request)

    async def _caught(self, request: WireRequest) -> Mapping[str, Any]:
        """The body of the request, as it would be sent at once."""
        async with _passing(_Exchange()) as exchange:
            try:
                await super().send(request)
            except Exception as error:
                if exchange.body is None:
                    raise
                _let_go(error)
        assert exchange.body is not None, "nothing answers before the batch does"
        return exchange.body


def put_into_batches(models: Models, batches: Batches, calls: CallSettings) -> None:
    """Have these models' calls go in batches; their keys and addresses stay what they are."""
    for model in {id(model): model for model in models.by_role.values()}.values():
        spec, key = model.spec, require_key(model.spec)
        queue = batches.queue(spec, partial(open_provider, spec, key=key, timeout_s=calls.timeout_s))
        model.wire = BatchWire(spec, queue, key=key, timeout_s=calls.timeout_s, max_tries=calls.max_tries)


def waiting_calls(calls: CallSettings) -> CallSettings:
    """The settings as the door keeps them: a call may wait for its batch as long as that takes, which tries again."""
    return calls.model_copy(update={"timeout_s": _DAYS_S, "max_tries": 1}) if calls.batch else calls


def open_provider(spec: ModelSpec, **reached: Any) -> BatchProvider:
    """The batches of a model's provider, which has some: ``check_models`` saw to that."""
    return provider_of(spec).batches(Connection(spec, **reached))


def _let_go(error: BaseException | None) -> None:
    """Part what was raised on the way from its frames: in cycles, some 100 KB a call would wait to be found."""
    while error is not None:
        error.__traceback__ = None
        error = error.__context__


@asynccontextmanager
async def _passing(exchange: _Exchange) -> AsyncIterator[_Exchange]:
    before = _exchange.set(exchange)
    try:
        yield exchange
    finally:
        _exchange.reset(before)
