"""Review sets of any size, drawn from the sentences of the shared reviews, no two alike."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from referee.data import read_cases
from referee.errors import DataError

SETS = ("human_only", "ai_only", "paired")
REVIEWS_A_PAPER = 4
SENTENCES, NEW_WORDS = 12, 5
SOURCES = (("human", "human"), ("human", "human"), ("model-a", "ai"), ("model-b", "ai"))


def sentences_of(folder: Path) -> list[str]:
    """Different sentences of the shared reviews; a file in no known layout is left out."""
    found: dict[str, None] = {}
    for file in sorted(chain.from_iterable((folder / name).glob("*.jsonl") for name in SETS)):
        try:
            texts = [case.text for case in read_cases(file)]
        except DataError:
            continue
        found.update(dict.fromkeys(f"{one.strip()}." for text in texts for one in text.split(". ") if one.strip()))
    return list(found)


def write_rows(sentences: list[str], wanted: int, file: Path) -> Path:
    """So many rows as a review set: four reviews a paper, two by people and one by each of two models."""
    with file.open("w", encoding="utf-8") as out:
        for row in drawn_rows(sentences, wanted):
            out.write(json.dumps(row) + "\n")
    return file


def drawn_rows(sentences: list[str], wanted: int) -> Iterator[dict[str, object]]:
    """Rows of drawn sentences, each with some words that no other holds; the same in every run."""
    dice = random.Random(20261122)
    for number in range(wanted):
        source, kind = SOURCES[number % REVIEWS_A_PAPER]
        new = (f"{word}ness{number}" for word in dice.choices(("care", "sparse", "robust", "bold"), k=NEW_WORDS))
        yield {
            "paper_id": f"paper-{number // REVIEWS_A_PAPER}",
            "review_id": f"review-{number}",
            "source": source,
            "kind": kind,
            "text": " ".join([*dice.choices(sentences, k=SENTENCES), *new]),
        }
