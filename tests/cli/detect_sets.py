"""Reviews for ``referee detect``, and toy models in place of the embedded ones."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from referee.api.detection import opening
from tests.unit.evals.detection.fakes import BigramLogits, WordEmbedder

HUMAN = (
    "I am not convinced by table three since the baseline seems untuned and sigma is fixed without a word on why.",
    "The idea is neat but I got lost in section four, where the proof of lemma two uses a bound that I cannot find.",
    "A solid paper with minor gripes, for the figures are unreadable and the abstract claims more than it shows.",
)
MACHINE = (
    "The paper presents a novel approach and the experiments are comprehensive, but the authors should add ablations.",
    "This work addresses an important problem and the results demonstrate significant improvements over the baselines.",
)


class Toy(BigramLogits):
    """A model of what machines write, that says when it is closed."""

    def __init__(self, name: str) -> None:
        super().__init__(" ".join(MACHINE) * 3, name=name)
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class Toys:
    """Opens toy models in place of the embedded ones, and remembers them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[Toy] = []
        monkeypatch.setattr(opening, "load_logits", self._load)
        monkeypatch.setattr(opening, "llama_library", lambda: None)
        monkeypatch.setattr("referee.api.session.opened_embedder", self._embedder)

    async def _load(self, key: str, download: bool = True, progress: object = None) -> Toy:
        self.opened.append(Toy(key))
        return self.opened[-1]

    async def _embedder(self, *_: object) -> WordEmbedder:
        return WordEmbedder()


def text(rnd: random.Random, of: tuple[str, ...]) -> str:
    words = rnd.choice(of).split()
    return f"{rnd.choice(of)} {' '.join(rnd.sample(words, len(words)))}."


def reviews(papers: int, seed: int, people: int = 2, models: tuple[str, ...] = ("gpt",)) -> list[dict[str, Any]]:
    """So many human reviews of each paper, and one of each model."""
    rnd = random.Random(seed)
    rows = []
    for at in range(papers):
        about = {"paper_id": f"p{seed}-{at}", "venue": "iclr-2021", "rating": 6, "date": "2021-01-02"}
        who = [("human", f"h{n}", HUMAN) for n in range(people)] + [(name, name, MACHINE) for name in models]
        for source, ending, of in who:
            kind = "human" if source == "human" else "ai"
            own = {
                "review_id": f"{about['paper_id']}-{ending}",
                "source": source,
                "kind": kind,
                "review": text(rnd, of),
            }
            rows.append({**about, **own, "confidence": 3 if kind == "human" else 4})
    return rows


def saved(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
