"""Whether a review works with the paper's mathematics. Source: PRAIB, mathematical engagement."""

from __future__ import annotations

from referee.evals.reading import ReadMetric

METRICS = (
    ReadMetric(
        "mathematics",
        "whether the review works with the paper's mathematics: 0 or 1",
        unit="fraction",
        range=(0.0, 1.0),
        of=lambda read: None if read.engages is None else float(read.engages),
        why=lambda read: read.engages_why,
    ),
)
