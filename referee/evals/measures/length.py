"""How long a review is. Source: PRAIB, TKC."""

from __future__ import annotations

from referee.evals.reading import ReadMetric

METRICS = (
    ReadMetric(
        "tokens",
        "words and punctuation marks (TKC, profile praib)",
        unit="tokens",
        of=lambda read: read.text.diversity.tokens,
        variant_of="words",
    ),
    ReadMetric("words", "words (profile words)", unit="words", of=lambda read: read.text.diversity.words),
    ReadMetric(
        "characters",
        "characters of the view raw",
        unit="characters",
        of=lambda read: read.text.characters,
        variant_of="words",
    ),
)
