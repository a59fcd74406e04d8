"""What a run is going to do, before it does it: calls, tokens, cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from referee.agents.single_reviewer import ROLE, write_single_review
from referee.errors import ContextTooLong
from referee.llm.dialects import reply_schema
from referee.llm.door import Answer
from referee.llm.models import Model, Models
from referee.prompts import RenderedPrompt
from referee.schemas.paper import Paper
from referee.schemas.venue import VenueForm

# Of the longest reply a form allows, a typical reply takes about this share.
_TYPICAL_SHARE = 0.5

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Plan:
    """An estimate before the first call. ``cost_usd`` is null where a model's price is unknown.

    Input tokens are those of the prompt and schema that will be sent; output tokens are typical. What bounds a run is
    ``--max-cost`` and ``--max-tokens``. Repairs and retries come on top and are reported.
    """

    strategy: str
    models: dict[str, str]
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    notes: tuple[str, ...] = ()


async def plan_single(paper: Paper, form: VenueForm, models: Models, prompt_versions: Mapping[str, str]) -> Plan:
    """The estimate for strategy ``single``: the reviewer is run up to its one question, which is not asked.

    Raises:
        ContextTooLong: Form and paper do not fit into the writer's context; the message names the model.
    """
    model = models[ROLE]
    door = _ClosedDoor()
    try:
        await write_single_review(
            paper,
            form,
            door=door,
            context_tokens=model.context_tokens,
            count=model.count,
            reading_tokens=model.reading_tokens,
            prompt_versions=prompt_versions,
        )
    except _Reached as question:
        tokens_in = model.count(question.prompt.system) + model.count(question.prompt.user)
        if not model.spec.is_local:  # the embedded model's grammar takes no room in its prompt
            tokens_in += model.count(json.dumps(reply_schema(question.reply)))
        tokens_out = int(question.max_output_tokens * _TYPICAL_SHARE)
    except ContextTooLong as error:
        raise _too_long(error, model, form) from error
    return Plan(
        strategy="single",
        models=models.ids(),
        calls=1,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=model.cost(tokens_in, tokens_out),
        notes=tuple(model.notes),
    )


def _too_long(error: ContextTooLong, model: Model, form: VenueForm) -> ContextTooLong:
    return ContextTooLong(
        f"model {model.spec.id!r} has a context of {model.context_tokens:,} tokens, too few for the form of "
        f"{form.id!r} and this paper: {error.message}",
        hint="Use a model with a longer context; where the server really has more, set models.context_tokens (in "
        "referee.toml, or as REFEREE_MODELS__CONTEXT_TOKENS).",
        ids={**error.ids, "model": model.spec.id},
    )


class _Reached(Exception):
    """The question could be asked."""

    def __init__(self, prompt: RenderedPrompt, reply: type[BaseModel], max_output_tokens: int) -> None:
        super().__init__(prompt.id)
        self.prompt = prompt
        self.reply = reply
        self.max_output_tokens = max_output_tokens


class _ClosedDoor:
    async def ask(
        self, prompt: RenderedPrompt, reply: type[T], *, role: str, max_output_tokens: int, sample: int = 0
    ) -> Answer[T]:
        raise _Reached(prompt, reply, max_output_tokens)
