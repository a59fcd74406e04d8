"""Papers, predictions and human reviews for ``referee arena`` on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from referee.data.predictions import Prediction, read_predictions, write_predictions
from tests.support import ChatRequest

SECRET = "the human reviewer dislikes purple herons"
MARKDOWN = """# Lanterns {n}

## Abstract

We count the lanterns of harbour {n}.

## 1 Method

Each lantern of harbour {n} is counted twice by two clerks who do not speak to each other.

## 2 Results

There are {n} lanterns in the harbour, and the two clerks agree on each of them.
"""


def row(n: int, conference: str = "ICLR", year: int | None = 2024, **more: Any) -> dict[str, Any]:
    """A paper as ReviewArena publishes it, with two human reviews."""
    reviews = [
        {
            "review_id": f"r{n}{k}",
            "rating": rating,
            "summary": f"{SECRET}, {n}.",
            "strengths": "Lanterns.",
            "confidence": 4,
        }
        for k, rating in enumerate((5, 6) if conference == "ICLR" else (3, 5))
    ]
    return {
        "forum_id": f"f{n}",
        "conference": conference,
        "year": year,
        "title": f"Lanterns {n}",
        "markdown": MARKDOWN.format(n=n),
        "decision": "Accept (poster)" if n % 2 else "Reject",
        "reviews_json": json.dumps(reviews),
        **more,
    }


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    return path


def rated(request: ChatRequest, value: str = "6: marginally above the acceptance threshold") -> dict[str, Any]:
    """A reply that fits any form, with this overall rating on ICLR's of 2024."""
    quoted = {"where": "Abstract", "quote": request.quotation("submission")}
    empty = {"argument": "", "absent": [], "should_be": "", "would_settle": ""}
    counts = {"kind": "merit", "severity": "small", "topic": "design", "claim": "It counts.", "evidence": [quoted]}
    if "ICLR" not in request.user + request.system:
        return dict(request.instance())
    return dict(
        request.instance(
            points=[{**empty, **counts}], rating={"reason": "the evidence says so", "points": [1], "value": value}
        )
    )


def many(folder: Path, one: Path, ratings: list[float], human: list[tuple[float, ...]]) -> tuple[Path, Path]:
    """As many predictions as ratings, like the first answered one of a run, and the human reviews of their papers."""
    like = next(
        p for p in read_predictions(one / "predictions.jsonl") if p.status == "answered" and p.rating is not None
    )
    made = [
        Prediction.model_validate(like.model_dump() | {"paper_id": f"p{n}", "rating": rating})
        for n, rating in enumerate(ratings)
    ]
    folder.mkdir()
    write_predictions(folder / "predictions.jsonl", made)
    rows = [
        {
            "paper_id": f"p{n}",
            "review_id": f"h{n}-{k}",
            "source": "human",
            "venue": like.venue,
            "text": "Good.",
            "rating": r,
        }
        for n, values in enumerate(human)
        for k, r in enumerate(values)
    ]
    return folder / "predictions.jsonl", write_rows(folder / "human.jsonl", rows)
