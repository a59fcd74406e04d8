"""DetectGPT and NPR: how much worse a model finds a text after a few of its words were replaced by another model's.

Machine text sits on a peak of the model's probability, so that replacing words lowers it more than it does for a
person's text. About 15% of the words are replaced, in spans of two that are never neighbours.

Source: "DetectGPT: Zero-Shot Machine-Generated Text Detection using Probability Curvature"; "DetectLLM: Leveraging Log
Rank Information for Zero-Shot Detection of Machine-Generated Text"; the specification's sections 4.3 and 4.4.
Deviation: a text too short for even one span is ``too_short``; the published code scores it 0, as if it had been looked
at.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from referee.evals.detection.protocols import MaskFiller, Statistic, missing, oriented

COPIES = 10
"""K; 100 in the paper."""
SPAN = 2
BUFFER = 1
SHARE = 0.3
MOST_WORDS = 512
MOST_TRIES = 10

_PLACES_TRIED = 1000
_SENTINEL = re.compile(r"<extra_id_\d+>")


@dataclass(frozen=True, slots=True)
class Perturbed:
    """Copies of a text with words replaced; ``dropped`` counts those for which the filler left gaps after all tries."""

    copies: tuple[str, ...]
    dropped: int


def spans_of(words: int) -> int:
    """How many spans of a text of so many words are masked."""
    return int(SHARE * words / (SPAN + 2 * BUFFER)) if words > SPAN else 0


def masked(words: Sequence[str], rng: np.random.Generator) -> tuple[str, int]:
    """The words joined by blanks with spans of two replaced by ``<extra_id_0>`` and so on, and how many were.

    No span lies within one word of another.
    """
    taken: list[int] = []
    for _ in range(_PLACES_TRIED):
        if len(taken) >= spans_of(len(words)):
            break
        start = int(rng.integers(0, len(words) - SPAN))
        if all(abs(start - other) >= SPAN + BUFFER for other in taken):
            taken.append(start)
    pieces: list[str] = []
    at = 0
    for number, start in enumerate(sorted(taken)):
        pieces += [*words[at:start], f"<extra_id_{number}>"]
        at = start + SPAN
    return " ".join([*pieces, *words[at:]]), len(taken)


def filled(text: str, fills: Sequence[str]) -> str:
    """The masked text with its gaps filled, in order."""
    parts = _SENTINEL.split(text)
    return "".join(part + fill for part, fill in zip(parts, (*(fill.strip() for fill in fills), ""), strict=True))


async def perturbed(text: str, text_id: str, filler: MaskFiller, copies: int = COPIES) -> Perturbed:
    """So many copies of the text's first 512 words; empty for a text too short to mask.

    Args:
        text: The text, whose words are what single blanks part.
        text_id: With the copy's number the seed of its gaps, so that the same review is always perturbed alike.
        filler: Fills the gaps; where it leaves some out, a copy is tried ten times with other gaps and then dropped.
        copies: K.
    """
    words = text.split(" ")[:MOST_WORDS]
    if not spans_of(len(words)):
        return Perturbed((), 0)
    made = [await _copy(words, text_id, number, filler) for number in range(copies)]
    kept = tuple(copy for copy in made if copy is not None)
    return Perturbed(kept, len(made) - len(kept))


def detect_gpt(own: float, copies: Sequence[float]) -> Statistic:
    """(LL(x) - mean LL of the copies) / their standard deviation; higher is AI.

    The deviation is that of a population; with one copy, or equal ones, the difference itself is the score.

    Args:
        own: Mean log p of the text.
        copies: That of each copy.
    """
    if not copies:
        return missing("too_short")
    spread = float(np.std(copies)) if len(copies) > 1 else 0.0
    return oriented((own - float(np.mean(copies))) / (spread if spread > 0 else 1.0), 1)


def npr(own: float, copies: Sequence[float]) -> Statistic:
    """Mean log rank of the copies over that of the text; higher is AI. No score where the text's is 0.

    Args:
        own: Mean log rank of the text.
        copies: That of each copy.
    """
    if not copies:
        return missing("too_short")
    return oriented(float(np.mean(copies)) / own, 1) if own > 0 else missing("undefined")


async def _copy(words: Sequence[str], text_id: str, number: int, filler: MaskFiller) -> str | None:
    for attempt in range(MOST_TRIES):
        seed = _seed(text_id, number, attempt)
        gaps, count = masked(words, np.random.default_rng(seed))
        fills = await filler.fills(gaps, count, seed=seed)
        if len(fills) == count and all(fill.strip() for fill in fills):
            return filled(gaps, fills)
    return None


def _seed(text_id: str, number: int, attempt: int) -> int:
    digest = hashlib.sha256(f"{text_id}:{number}:{attempt}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big")
