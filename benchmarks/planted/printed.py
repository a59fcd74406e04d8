"""What a review prints, as a reader of the form sees it: text fields and scores, nothing of how it was made.

python benchmarks/planted/printed.py REVIEW.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from referee.venues import load_venue


def printed(review: dict[str, Any]) -> str:
    """The text fields under their titles, then the scores with their labels."""
    form = load_venue(review["venue"])
    parts, scores = [], []
    for field in form.reviewer_fields:
        value, title = review["fields"].get(field.name), field.title or field.name.replace("_", " ").capitalize()
        if value is None:
            continue
        if field.kind == "text":
            parts.append(f"## {title}\n\n{value}")
        elif field.kind == "score":
            label = next((option.label for option in field.options if option.value == value), "")
            scores.append(f"{title}: {value:g}{f' ({label})' if label else ''}")
    return "\n\n".join([*parts, "## Scores\n\n" + "\n".join(scores)]) + "\n"


def words(review: dict[str, Any]) -> int:
    """Words of the text fields."""
    form = load_venue(review["venue"])
    texts = [review["fields"].get(f.name) or "" for f in form.reviewer_fields if f.kind == "text"]
    return sum(len(str(text).split()) for text in texts)


if __name__ == "__main__":
    print(printed(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
