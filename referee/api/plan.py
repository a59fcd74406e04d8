"""What a run is going to do, before it does it: calls, tokens, cost."""

from __future__ import annotations

from dataclasses import dataclass

from referee.agents.form_reply import lengths_for, output_tokens
from referee.agents.single_reviewer import ROLE
from referee.llm.models import Models
from referee.schemas.paper import Paper
from referee.schemas.venue import VenueForm
from referee.venues import render_form, render_guidelines

# Of the longest reply a form allows, a typical reply takes about this share.
_TYPICAL_SHARE = 0.5
_INSTRUCTIONS_TOKENS = 900


@dataclass(frozen=True)
class Plan:
    """An estimate before the first call. ``cost_usd`` is null where a model's price is unknown.

    Tokens are typical, not bounds: what bounds a run is ``--max-cost`` and ``--max-tokens``. Repairs and retries come
    on top and are reported.
    """

    strategy: str
    models: dict[str, str]
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    notes: tuple[str, ...] = ()


def plan_single(paper: Paper, form: VenueForm, models: Models) -> Plan:
    """The estimate for strategy ``single``: one call with the form, the guidelines and the paper."""
    model = models[ROLE]
    lengths = lengths_for(form, model.context_tokens)
    longest = output_tokens(form, lengths)
    rules = (
        model.count(render_form(form, brief=lengths.brief))
        + model.count(render_guidelines(form))
        + _INSTRUCTIONS_TOKENS
    )
    body = sum(model.count(section.text) for section in paper.content)
    body = min(body, model.reading_tokens or body)
    tokens_in = min(body + rules, model.context_tokens - longest)
    tokens_out = int(longest * _TYPICAL_SHARE)
    return Plan(
        strategy="single",
        models=models.ids(),
        calls=1,
        input_tokens=max(tokens_in, 0),
        output_tokens=tokens_out,
        cost_usd=model.cost(max(tokens_in, 0), tokens_out),
        notes=tuple(model.notes),
    )
