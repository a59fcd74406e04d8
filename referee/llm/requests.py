"""What is sent, from a prompt and a schema: the request, its digest, its repair, and what its answer consumed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from referee.errors import PromptCut
from referee.llm.bounds import shown_again
from referee.llm.completions import Completion
from referee.llm.dialects import Schema
from referee.llm.images import PromptImage
from referee.llm.models import Model
from referee.llm.prices import image_tokens
from referee.llm.providers.protocol import WireRequest
from referee.prompts import RenderedPrompt
from referee.schemas.usage import Usage

_LEFT_OUT = "(left out: it does not fit the window)"


def first_request(
    prompt: RenderedPrompt,
    schema: Schema,
    model: Model,
    *,
    role: str,
    max_output_tokens: int,
    images: tuple[PromptImage, ...] = (),
) -> WireRequest:
    """A prompt as it is sent first: a system message, and one of the user that begins with the prompt's prefix."""
    return WireRequest(
        messages=(("system", prompt.system), ("user", prompt.prefix + prompt.user)),
        schema=schema,
        max_output_tokens=max_output_tokens,
        temperature=model.temperature,
        native=True,
        role=role,
        prompt=f"{prompt.id}@{prompt.version}",
        prefix_chars=len(prompt.prefix),
        images=images,
    )


def request_digest(model_id: str, wire: WireRequest, samples: tuple[int, int]) -> str:
    """What makes two requests the same: model, messages, pictures, schema, parameters, and which sample of call and run
    it is.
    """
    sample, of_run = samples
    parts: dict[str, object] = {
        "model": model_id,
        "messages": wire.messages,
        "schema": wire.schema,
        "max_output_tokens": wire.max_output_tokens,
        "temperature": wire.temperature,
        "sample": sample,
    }
    if of_run:  # left out of the first sample, so that replies that were kept before are found
        parts["sample of the run"] = of_run
    if wire.images:  # likewise
        parts["images"] = [image.said for image in wire.images]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def beginning(model: Model, wire: WireRequest) -> str:
    """The digest of what a request begins with: its system text and its prefix; empty where no call goes ahead.

    That is where there is no prefix, and in batches, whose calls are answered side by side.
    """
    if not wire.prefix_chars or model.spec.is_local or model.batched:
        return ""
    return hashlib.sha256(json.dumps([model.spec.id, wire.messages[0][1], prefix(wire)]).encode()).hexdigest()


def prefix(wire: WireRequest) -> str:
    """What the request shares with others of its run, in its first user message."""
    return wire.messages[1][1][: wire.prefix_chars]


def counted(model: Model, wire: WireRequest) -> tuple[int, int]:
    """The request's tokens as we count them, all and those it begins with; schema, repairs and pictures count among
    all.
    """
    (_, system), (_, user), *rest = wire.messages
    shared = model.count(system) + (model.count(prefix(wire)) if wire.prefix_chars else 0)
    own = [user[wire.prefix_chars :], *(text for _, text in rest), json.dumps(wire.schema)]
    seen = sum(image_tokens(model.spec, image) for image in wire.images)
    return shared + seen + sum(model.count(text) for text in own), shared if wire.prefix_chars else 0


def with_repair(first: WireRequest, reply: str, problem: str, repair_round: int, model: Model) -> WireRequest:
    """The first request, the latest reply that did not fit, and what was wrong with it.

    Where that is more than the model's window holds, the reply is left out: the first request alone fits.
    """
    ask_again = (
        f"{problem}\n\nRepair {repair_round}: write the whole reply again as one JSON object that fits the schema."
    )
    shown = shown_again(reply, first.max_output_tokens) or "(empty)"
    whole = replace(first, messages=(*first.messages, ("assistant", shown), ("user", ask_again)))
    if counted(model, whole)[0] + first.max_output_tokens <= model.context_tokens:
        return whole
    return replace(first, messages=(*first.messages, ("assistant", _LEFT_OUT), ("user", ask_again)))


def used_by(model: Model, completion: Completion, estimated_in: int) -> Usage:
    """Tokens as the provider counted them, else as we did."""
    tokens_in = completion.input_tokens if completion.input_tokens is not None else estimated_in
    tokens_out = completion.output_tokens if completion.output_tokens is not None else model.count(completion.text)
    cached, written = completion.cached_tokens, completion.cache_write_tokens
    return Usage(
        calls=1,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cached_tokens=cached,
        cache_write_tokens=written,
        cost_usd=model.cost(tokens_in, tokens_out, cached, written),
    )


# Tokenizers, and servers' ways of counting, differ by less than this; below so many, templates and margins weigh too
# much.
_READ_SHARE, _LONG_PROMPT = 0.25, 2_000
_OWN_COUNT = "by its own count"


def refuse_cut_prompt(model: Model, completion: Completion, wire: WireRequest) -> None:
    """See that a server of one's own has read the whole prompt: some cut it to their window without a word.

    Servers count as they like (some leave out what they had in a cache), so that a number alone proves nothing: the
    reply is used, with a note, unless the window is known and cannot have held the prompt.

    Raises:
        PromptCut: It was cut to a window that is known to be shorter; the reply is of a part of the paper.
    """
    read = completion.input_tokens
    if not model.spec.is_server or read is None:
        return
    sent = sum(model.count(text) for _, text in wire.messages[:2])
    if sent < _LONG_PROMPT or sent * _READ_SHARE <= read < model.context_tokens:
        return
    seen = f"{model.spec.id!r} read {read:,} of about {sent:,} tokens of the prompt"
    set_it = f"set models.context_tokens to what it has, about {read:,}"
    if model.context_known and model.context_tokens < sent:
        raise PromptCut(
            f"{seen}: it cut it to its window of {model.context_tokens:,}. The reply is not used.",
            hint="Give the server a longer context (Ollama: OLLAMA_CONTEXT_LENGTH; LM Studio: the model's settings; "
            f"llama.cpp: -c), or {set_it}.",
            ids={"model": model.spec.id},
        )
    if not any(_OWN_COUNT in note for note in model.notes):
        model.notes.append(f"{seen}, {_OWN_COUNT}; if it cuts prompts, {set_it}")
