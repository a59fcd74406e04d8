"""How varied a review's words are. Source: PRAIB, TTR; MATTR: Covington and McFall, 2010."""

from __future__ import annotations

from referee.evals.reading import ReadMetric

METRICS = (
    ReadMetric(
        "ttr",
        "distinct tokens / tokens (profile praib); falls with length",
        unit="fraction",
        range=(0.0, 1.0),
        of=lambda read: read.text.diversity.ttr,
        variant_of="mattr_100",
    ),
    ReadMetric(
        "ttr_words",
        "the same of words alone (profile words)",
        unit="fraction",
        range=(0.0, 1.0),
        of=lambda read: read.text.diversity.ttr_words,
        variant_of="mattr_100",
    ),
    ReadMetric(
        "mattr_100",
        "mean TTR of sliding windows of 100 tokens",
        unit="fraction",
        range=(0.0, 1.0),
        of=lambda read: read.text.diversity.mattr,
    ),
)
