"""What made a review, as a small Markdown table."""

from __future__ import annotations

from collections.abc import Mapping

from referee.reports.markdown_text import inline
from referee.schemas.review import Provenance
from referee.schemas.usage import Usage

_DIGEST_CHARS = 12


def provenance_table(provenance: Provenance) -> str:
    """Run, strategy, models, prompts with the beginning of their digests, tokens and cost, one to a row."""
    rows = (f"| {name} | {inline(value)} |" for name, value in provenance_rows(provenance))
    return "\n".join(["| What | Value |", "| --- | --- |", *rows])


def provenance_rows(provenance: Provenance) -> list[tuple[str, str]]:
    """The same as names and values."""
    return [
        ("Run", provenance.run_id),
        ("Strategy", provenance.strategy),
        ("Model", _listed(provenance.models)),
        ("Prompts", _listed({name: digest[:_DIGEST_CHARS] for name, digest in provenance.prompts.items()})),
        ("Venue file", provenance.venue_digest[:_DIGEST_CHARS]),
        ("Paper read by", provenance.converter),
        ("Calls", _calls(provenance.usage)),
        ("Tokens", _tokens(provenance.usage)),
        ("Cost", _cost(provenance.usage)),
        ("referee", provenance.package_version),
        *(("Note", note) for note in provenance.notes),
    ]


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in values.items()) or "none"


def _calls(usage: Usage) -> str:
    return f"{usage.calls}" + (f", and {usage.reused_calls} reused" if usage.reused_calls else "")


def _tokens(usage: Usage) -> str:
    cached = f" ({usage.cached_tokens:,} of them from the provider's cache)" if usage.cached_tokens else ""
    return f"{usage.input_tokens:,} in{cached}, {usage.output_tokens:,} out"


def _cost(usage: Usage) -> str:
    return "unknown (no price for this model)" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
