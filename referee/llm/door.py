"""The one door to models: a rendered prompt and a reply model in, a validated reply with its usage out.

Retry, timeout, limits, repair, cache, ledger, budget and trace live here and nowhere else. Of calls that begin alike
the first goes ahead, so that the provider's cache serves the others; equal questions asked at the same time are asked
once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel
from tenacity import RetryCallState

from referee.errors import RefereeError, ReplyCut, ReplyInvalid, ReplyRefused
from referee.llm.cache import ReplyCache
from referee.llm.completions import CUT_OFF, Completion
from referee.llm.dialects import reply_schema
from referee.llm.failures import RequestRefused, classified
from referee.llm.images import PromptImage
from referee.llm.json_text import UnusableReply
from referee.llm.models import Model, Models
from referee.llm.providers import provider_of
from referee.llm.providers.protocol import WireRequest
from referee.llm.replies import read_reply
from referee.llm.requests import (
    beginning,
    counted,
    first_request,
    refuse_cut_prompt,
    request_digest,
    used_by,
    with_repair,
)
from referee.llm.retrying import tries
from referee.llm.substitutes import STREAM, accepted, substitute
from referee.llm.turns import SingleFlight, Turn, Turns, watch_cache
from referee.prompts import RenderedPrompt
from referee.runs import Budget, Event, Ledger, Progress, silent
from referee.runs.billing import charge
from referee.runs.stopping import current_stop
from referee.schemas.run import CallRecord
from referee.schemas.usage import Usage
from referee.settings import CallSettings

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A validated reply. ``notes`` say what was cut or worked around to get it."""

    value: T
    usage: Usage
    call_id: str
    model: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Ask:
    """One question while it is being answered."""

    prompt: RenderedPrompt
    prompt_digest: str
    role: str
    base: str
    wire: WireRequest
    repair_round: int = 0


class Door:
    """Calls models for one run. ``sample`` tells whole runs that ask the same apart; providers are not sent it."""

    def __init__(
        self,
        models: Models,
        *,
        calls: CallSettings,
        ledger: Ledger | None = None,
        budget: Budget | None = None,
        cache: ReplyCache | None = None,
        progress: Progress = silent,
        sample: int = 0,
    ) -> None:
        self.models = models
        self.sample = sample
        self.ledger = ledger or Ledger()
        self._calls = calls
        self._budget = budget or Budget()
        self._cache = cache
        self._progress = progress
        self._stop = current_stop()
        self._turns = Turns()
        self._flights: SingleFlight[CallRecord] = SingleFlight()

    async def ask(
        self,
        prompt: RenderedPrompt,
        reply: type[T],
        *,
        role: str,
        max_output_tokens: int,
        sample: int = 0,
        images: Sequence[PromptImage] = (),
    ) -> Answer[T]:
        """Ask a role's model and return its validated reply.

        Args:
            prompt: What is sent.
            reply: The pydantic model the reply must fit; its JSON schema and docstrings reach the model.
            role: Whose model is asked.
            max_output_tokens: The longest reply, in tokens.
            sample: Tells repeated askings of the same question apart.
            images: Pictures that go with the prompt; whether the model takes any, ``vision.takes_images`` tells.

        Raises:
            ReplyInvalid: No valid reply after the repair rounds; two in a row that are copied, or hold several objects
                that differ.
            ReplyCut: The reply was cut off and is not usable; it is not asked for again.
            ReplyRefused: The model declined, or its provider stopped it; likewise.
            ModelUnavailable: The provider did not answer after all tries.
            ModelRefused: The provider rejected the request.
            ContextTooLong: The prompt does not fit.
            BudgetExceeded: The call could pass a limit; nothing was sent.
        """
        model = self.models[role]
        schema = reply_schema(reply)
        wire = first_request(
            prompt, schema, model, role=role, max_output_tokens=max_output_tokens, images=tuple(images)
        )
        samples = (sample, self.sample)
        base = request_digest(model.spec.id, wire, samples)
        ask = _Ask(prompt, prompt_digest(prompt, schema), role, base, wire)
        material = "\n".join(text for _, text in wire.messages)
        spent: list[Usage] = []
        last = UnusableReply("")
        for repair_round in range(self._calls.repair_rounds + 1):
            request = base if repair_round == 0 else request_digest(model.spec.id, ask.wire, samples)
            ask = replace(ask, repair_round=repair_round, wire=replace(ask.wire, digest=request))
            record = await self._answered_once(ask, request, model)
            spent.append(record.usage)
            try:
                value, notes = read_reply(record.reply or "", reply, material=material)
            except UnusableReply as problem:
                logger.info("reply %s to %s does not fit: %s", record.call_id, prompt.id, problem.fields)
                ended, last = record.error or (last.once and problem.once), problem
                if ended:
                    break
                ask = replace(ask, wire=with_repair(wire, record.reply or "", str(problem), repair_round + 1, model))
                continue
            if record.origin == "provider" and self._cache is not None and record.reply:
                self._cache.put(base, record.reply, record.usage)
            return Answer(value, sum(spent, Usage()), record.call_id, model.spec.id, (*model.notes, *notes))
        raise self._given_up(ask, model, last, record.error, spent)

    def forget(self, call_ids: Collection[str]) -> None:
        """Have these calls' questions asked anew: no run finds their replies any more, in the ledger or the cache.

        For replies that are valid and that whoever asked could not use.
        """
        for call in self.ledger.records if call_ids else ():
            known = self.ledger.reply(call.request) if call.call_id in call_ids else None
            if known is None or known.call_id != call.call_id:
                continue
            void = {"request": call.base, "status": "failed", "reply": None, "error": UNUSED, "usage": Usage()}
            self.ledger.append(call.model_copy(update={**void, "call_id": self.ledger.next_call_id(), "messages": ()}))
            if self._cache is not None:
                self._cache.drop(call.base)

    async def _answered_once(self, ask: _Ask, request: str, model: Model) -> CallRecord:
        """The reply to one request; who asks what is being asked already gets that reply, or its failure."""
        record, first = await self._flights.once(request, lambda: self._answered(ask, request, model))
        if first and record.usage.calls:
            charge(record.call_id)
        return record if first else self._reused(ask, record, Usage(reused_calls=1))

    async def _answered(self, ask: _Ask, request: str, model: Model) -> CallRecord:
        """The reply to one request: from the ledger, from the cache, or from the provider."""
        known = self.ledger.reply(request)
        if known is not None:
            return self._reused(ask, known, self.ledger.claim(known))
        kept = None if model.spec.is_answers else self._cache  # its folder keeps answers, which people may change
        cached = kept.get(request) if kept else None
        if cached is not None:
            record = self._record(ask, request, model, Usage(reused_calls=1), reply=cached, origin="cache")
        else:
            record = await self._paid(ask, request, model)
        await self.ledger.keep(record)
        self._say("call_finished", ask, record.usage)
        return record

    def _reused(self, ask: _Ask, known: CallRecord, used: Usage) -> CallRecord:
        """The reply of another call; nothing is paid now, though an earlier start's payment may be counted here."""
        self._say("call_finished", ask, Usage(reused_calls=1))
        return known.model_copy(update={"origin": "ledger", "usage": used})

    async def _paid(self, ask: _Ask, request: str, model: Model) -> CallRecord:
        started = time.monotonic()
        tokens_in, shared = counted(model, ask.wire)
        most_out = ask.wire.max_output_tokens
        most_cost = model.cost(tokens_in, most_out, cache_write_tokens=shared)
        reservation = self._budget.reserve(tokens_in + most_out, most_cost)
        used = Usage()
        try:
            async with (
                self._turns.turn(beginning(model, ask.wire)) as turn,
                model.limits.slot(tokens_in + most_out),
                self._stop.call(),
            ):
                self._say("call_started", ask)
                completion, sent = await self._tried(ask, model, turn)
            refuse_cut_prompt(model, completion, ask.wire)
            used = used_by(model, completion, tokens_in)
            if turn is not None and turn.later and completion.input_tokens is not None:
                watch_cache(model, shared, used)
        except RefereeError as error:
            sent, seconds = int(error.ids.get(_TRIES, 1)), time.monotonic() - started
            self.ledger.append(
                self._record(ask, request, model, Usage(), error=str(error), attempt=sent, seconds=seconds)
            )
            raise
        finally:
            self._budget.settle(reservation, used)
        return self._record(
            ask,
            request,
            model,
            used,
            reply=completion.text,
            error=completion.ended,
            attempt=sent,
            seconds=time.monotonic() - started,
        )

    async def _tried(self, ask: _Ask, model: Model, turn: Turn | None) -> tuple[Completion, int]:
        """Send, and send again where that can help; meanwhile another call with this beginning goes ahead."""

        def failed(state: RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            cause = error.message if isinstance(error, RefereeError) else error
            self._progress(Event("retry", f"try {state.attempt_number} failed: {cause}", self.ledger.usage()))
            if turn is not None:
                turn.failed()

        attempts = tries(self._calls, answered=lambda: model.answered, before_sleep=failed, sleep=self._stop.pause)
        try:
            async for attempt in attempts:
                with attempt:
                    completion = await self._sent(ask, model, turn)
        except RefereeError as error:
            error.ids[_TRIES] = str(attempts.statistics["attempt_number"])
            raise
        model.answered = True
        if completion.place and (note := f"{model.spec.id} put a reply {completion.place}") not in model.notes:
            model.notes.append(note)
        if turn is not None:
            turn.begun()
        # As it can be written to a file: halves of surrogate pairs, which some servers send, are replaced.
        text = completion.text.encode("utf-8", "replace").decode()
        return replace(completion, text=text), attempt.retry_state.attempt_number

    async def _sent(self, ask: _Ask, model: Model, turn: Turn | None) -> Completion:
        """Send once; what the server refuses is replaced, each feature once, and what helped is remembered.

        Only a call that goes ahead is streamed: for the others nobody waits, and pieces cost a quarter of a
        millisecond each.
        """
        tried: dict[str, int] = {}
        cause: RequestRefused | None = None  # the refusal from which on there were only guesses
        while True:
            refused = {**model.refused, **tried}
            request = accepted(ask.wire, refused)
            ahead = turn if turn is not None and not turn.later and STREAM not in refused else None
            try:
                with classified(model.spec):
                    async with asyncio.timeout(None if model.spec.is_answers else self._calls.timeout_s):
                        sending = model.wire.stream(request, ahead.begun) if ahead else model.wire.send(request)
                        completion = await sending
                break
            except RequestRefused as failure:
                found = substitute(
                    failure.said,
                    request,
                    tried,
                    streamed=ahead is not None,
                    has_names=bool(provider_of(model.spec).limit_names),
                    guess=not model.batched,
                )
                cause = None if found and found[2] else cause or failure
                if found is None:
                    raise cause or failure from failure.__cause__
                tried[found[0]] = found[1]
        if ahead and not completion.streamed:
            tried[STREAM] = 0
        model.remember(tried)
        return completion

    def _say(self, kind: Literal["call_started", "call_finished"], ask: _Ask, spent: Usage | None = None) -> None:
        text = f"{ask.role}: {ask.wire.prompt}"
        self._progress(Event(kind, text, self.ledger.usage(), prompt=ask.prompt.id, spent=spent))

    def _given_up(
        self, ask: _Ask, model: Model, problem: UnusableReply, ended: str, spent: Sequence[Usage]
    ) -> ReplyInvalid:
        """The error of a question that is not asked again; its replies are not found any more when a run is resumed."""
        self.ledger.append(self._record(ask, ask.base, model, Usage(), error=f"no valid reply: {ended or problem}"))
        fields = f" (field {', '.join(problem.fields[:3])})" if problem.fields else ""
        kind, hint = ReplyInvalid, "Use a stronger model for this role; the replies are in the run's trace.jsonl."
        why = f"{fields} in {len(spent)} tries: {problem}"
        if ended.startswith(CUT_OFF):
            kind, why = ReplyCut, f": {ended}, which is {ask.wire.max_output_tokens:,} tokens."
            hint = (
                "Use a model that reasons less or writes shorter for this role; the reply is in the run's trace.jsonl."
            )
        elif ended:
            kind, why = ReplyRefused, f": {ended}."
            hint = "It was not asked again, as the same prompt ends alike; use another model for this role."
        return kind(
            f"model {model.spec.id!r} gave no valid reply to prompt {ask.prompt.id!r}{why}",
            hint=hint,
            ids={"model": model.spec.id, "prompt": ask.prompt.id, "role": ask.role},
            usage=sum(spent, Usage()).model_dump(),
        )

    def _record(
        self,
        ask: _Ask,
        request: str,
        model: Model,
        usage: Usage,
        *,
        reply: str | None = None,
        error: str = "",
        origin: str = "provider",
        attempt: int = 1,
        seconds: float = 0.0,
    ) -> CallRecord:
        return CallRecord.model_validate(
            {
                "call_id": self.ledger.next_call_id(),
                "request": request,
                "base": ask.base,
                "role": ask.role,
                "prompt": ask.wire.prompt,
                "prompt_digest": ask.prompt_digest,
                "model": model.spec.id,
                "status": "answered" if reply is not None else "failed",
                "origin": origin,
                "attempt": attempt,
                "repair_round": ask.repair_round,
                "seconds": round(seconds, 3),
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "usage": usage,
                "messages": ask.wire.messages,
                "images": tuple(image.said for image in ask.wire.images),
                "reply": reply,
                "error": error,
            }
        )


UNUSED = "the reply is valid, and what asked for it could not use it"
_TRIES = "tries"


def prompt_digest(prompt: RenderedPrompt, schema: dict[str, object]) -> str:
    """The identity of a prompt: template and reply schema together."""
    return hashlib.sha256(f"{prompt.digest}\x00{json.dumps(schema, sort_keys=True)}".encode()).hexdigest()
