"""What detectors cost beside the bare library: the figures on detectors in docs/benchmarks.md.

    python benchmarks/detection.py [--part statistics,pair,memory,embedding,anchor] [--texts 12] [--reviews 10000]

``statistics``: the pass that all nine statistics of one model share, beside the bare forward pass (the library's own
calls, its logits fetched and nothing done with them) and beside nine separate passes, on the same texts in turns whose
order is drawn; each of the nine alone beside the bare pass. ``pair``: FastDetectGPT and both forms of Binoculars from
one pass of two models beside two bare passes.
``memory``: the peaks of processes that read one block of 64 tokens and eight, by one model and by two. ``embedding``:
the embedder as detectors ask it, beside the bare model. ``anchor``: so many reviews with three anchors a paper, each as
long as a review, all embeddings at hand, from ``detect score`` to ``detect evaluate``.

Ratios are medians over texts of CPU time, which other work on the machine disturbs least; wall time stands beside it.
It fails where the shared pass costs more than 1.15 bare ones or less than six times saves, where seven more blocks cost
half the memory that their logits would take, or where Anchor takes a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from part_arguments import with_parts
from review_processes import HERE, ROOT, run_python
from review_table import Row, in_mib, in_seconds, markdown
from scale_rows import SENTENCES, sentences_of, write_rows

from referee.api import RunOptions, detect_calibrate, detect_evaluate, detect_score
from referee.data import read_cases
from referee.evals.detection.canonical import of_text
from referee.evals.detection.services import DetectionServices
from referee.evals.detection.token_statistics import FEATURES, STATISTICS, pair_pass, read_pair, read_tokens, statistic
from referee.llm.catalogue import model_path
from referee.llm.embeddings import Embedder, Vectors, make_embedder
from referee.llm.logits import LlamaLogits
from referee.llm.minilm import MiniLM
from referee.llm.urgency import Urgency

LM, PAIR = "smollm2-135m", ("qwen-0.5b", "qwen-1.5b")
MOST_SHARED = 1.15
LEAST_SAVED = 6.0
MOST_ANCHOR_S = 60.0
MOST_KEPT = 0.5
BLOCK, WHOLE = 64, 512
_ONE_PASS = "import sys; sys.path.insert(0, sys.argv[1]); import detection; detection.one_pass(sys.argv[2:])"
ANCHORS = ("model-x", "model-y", "model-z")
SETS = ("human_only", "ai_only", "paired")


@dataclass(frozen=True)
class Spent:
    """What one call took, in seconds."""

    cpu: float
    wall: float


@dataclass
class Turns:
    """What set-ups took on each text, in the order of the texts."""

    tokens: list[int] = field(default_factory=list)
    spent: dict[str, list[Spent]] = field(default_factory=dict)

    def run(self, tokens: int, works: dict[str, Callable[[], object]], dice: random.Random) -> None:
        """Each set-up once on one text, in a drawn order."""
        self.tokens.append(tokens)
        for name in dice.sample(sorted(works), len(works)):
            self.spent.setdefault(name, []).append(_timed(works[name]))

    def add(self, name: str, parts: Sequence[str]) -> None:
        """A set-up that is several others one after another."""
        each = zip(*(self.spent[part] for part in parts), strict=True)
        self.spent[name] = [Spent(sum(one.cpu for one in some), sum(one.wall for one in some)) for some in each]

    def ratio(self, name: str, beside: str, of: str = "cpu") -> float:
        """The median over texts of one set-up's time over another's."""
        both = zip(self.spent[name], self.spent[beside], strict=True)
        return float(statistics.median(getattr(one, of) / getattr(other, of) for one, other in both))

    def row(self, name: str, beside: str) -> Row:
        """Tokens a second by the clock, mean and deviation, and the ratio in CPU time."""
        rates = [count / one.wall for count, one in zip(self.tokens, self.spent[name], strict=True)]
        spread = f"SD {statistics.stdev(rates):.0f}" if len(rates) > 1 else ""
        wall = f"{self.ratio(name, beside, 'wall'):.2f} by the clock"
        return Row(name, f"{statistics.mean(rates):.0f} tokens a second", spread, wall, self.ratio(name, beside))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where a bar is missed."""
    given = _arguments(arguments)
    figures: dict[str, float] = {}
    for part in given.part.split(","):
        print(f"## {part}\n", flush=True)
        rows, found = PARTS[part](given)
        figures |= found
        print(markdown([*rows, Row("peak memory so far", in_mib(_peak()))]), end="\n\n", flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    missed = [name for name, holds in _bars(figures).items() if not holds]
    print("; ".join(f"MISSED: {name}" for name in missed) or "all bars are met")
    return int(bool(missed))


def one_model(given: argparse.Namespace) -> tuple[list[Row], dict[str, float]]:
    """The shared pass of nine statistics, bare passes, and each of the nine alone (on a third of the texts)."""
    model, dice, turns, apart = _loaded(given.lm), random.Random(given.seed), Turns(), Turns()
    names = (*STATISTICS, *FEATURES)
    for number, tokens in enumerate(_token_lists(given, model)):
        shared = partial(_shared, model, tokens)
        turns.run(len(tokens), {BARE: partial(_bare, model, tokens), SHARED: shared}, dice)
        if number % 3 == 0:
            works: dict[str, Callable[[], object]] = {name: partial(_alone, model, tokens, name) for name in names}
            apart.run(len(tokens), {BARE: partial(_bare, model, tokens), SHARED: shared, **works}, dice)
    model.close()
    apart.add(APART, names)
    saved = apart.ratio(APART, SHARED)
    rows = [turns.row(BARE, BARE), turns.row(SHARED, BARE), apart.row(APART, SHARED)]
    rows += [replace(apart.row(name, BARE), measure=f"{name} alone") for name in names]
    return rows, {"shared over bare": turns.ratio(SHARED, BARE), "separate over shared": saved}


def two_models(given: argparse.Namespace) -> tuple[list[Row], dict[str, float]]:
    """One pass of a pair, which gives three scores, beside two bare passes."""
    keys = given.pair.split(",")
    first, second = (_loaded(key) for key in keys)
    dice, turns = random.Random(given.seed), Turns()
    bare, pair = "two bare passes", f"pair ({', '.join(keys)}): three scores"
    for text in _texts(given)[: max(given.texts // 3, 2)]:
        tokens = first.tokens(text)
        works: dict[str, Callable[[], object]] = {
            bare: partial(_bare_pair, first, second, tokens),
            pair: partial(pair_pass, first, second, text),
        }
        turns.run(len(tokens), works, dice)
    first.close()
    second.close()
    return [turns.row(bare, bare), turns.row(pair, bare)], {"pair over bare": turns.ratio(pair, bare)}


def memory(given: argparse.Namespace) -> tuple[list[Row], dict[str, float]]:
    """Peaks of processes of their own, and what seven more blocks cost beside what their logits would take."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="referee-detection-") as folder:
        for keys in ((given.lm,), (given.lm, given.lm)):
            asked = [[str(HERE), str(given.data), str(tokens), *keys] for tokens in (BLOCK, WHOLE)]
            few, all_ = (run_python(["-c", _ONE_PASS, *one], Path(folder)) for one in asked)
            kept = (all_.peak_bytes - few.peak_bytes) / (int(all_.output) * 4 * (WHOLE - BLOCK) * len(keys))
            beside = f"{in_mib(few.peak_bytes)} with {BLOCK} tokens"
            name = "one model" if len(keys) == 1 else "two models"
            rows.append(Row(f"peak, {name}, {WHOLE} tokens", in_mib(all_.peak_bytes), "", beside, kept))
    return rows, {"memory over all logits": max(row.ratio or 0.0 for row in rows)}


def one_pass(asked: Sequence[str]) -> None:
    """One pass over as many tokens of real reviews as asked for, by one model or by two; prints V."""
    data, tokens, *keys = asked
    given = _arguments(["--data", data])
    models = [_loaded(key) for key in keys]
    ids = [token for text in _texts(given) for token in models[0].tokens(text)][: int(tokens)]
    if len(models) == 1:
        _shared(models[0], ids)
    else:
        read_pair(ids, zip(models[0].blocks(ids), models[1].blocks(ids), strict=True))
    print(models[0].vocabulary)


def embedding(given: argparse.Namespace) -> tuple[list[Row], dict[str, float]]:
    """The embedder as detectors ask it beside the bare model, on batches of reviews."""
    embedder, model = make_embedder("local"), MiniLM.fetched()
    texts = _texts(given, 16 * given.texts)
    model.encode(texts[:2])
    dice, turns = random.Random(given.seed), Turns()
    bare, asked = "bare model, in batches of 16", "through the embedder"
    for start in range(0, len(texts), 16):
        some = texts[start : start + 16]
        turns.run(len(some), {bare: partial(model.encode, some), asked: partial(_asked, embedder, some)}, dice)
    rates = {name: len(texts) / sum(one.wall for one in spent) for name, spent in turns.spent.items()}
    rows = [
        Row(name, f"{rate:.1f} reviews a second", ratio=turns.ratio(name, bare)) for name, rate in sorted(rates.items())
    ]
    return rows, {"embedder over bare": turns.ratio(asked, bare)}


def anchor(given: argparse.Namespace) -> tuple[list[Row], dict[str, float]]:
    """``detect score``, ``calibrate`` and ``evaluate`` of many reviews whose embeddings are at hand."""
    rows: list[Row] = []
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="referee-detection-") as name:
        for count in (given.reviews // 10, given.reviews):
            seconds = _anchored(given, Path(name) / str(count), count)
            rows += [
                Row(f"{step}, {count:,} reviews", in_seconds(one), beside=f"{1000 * one / count:.2f} ms a review")
                for step, one in seconds.items()
            ]
            found["anchor, seconds"] = seconds["score"]
    return rows, found


BARE, SHARED, APART = "bare pass", "nine statistics from one pass", "nine separate passes (beside one)"
PARTS = {"statistics": one_model, "pair": two_models, "memory": memory, "embedding": embedding, "anchor": anchor}


class _AtHand:
    """An embedder whose vectors exist already: directions drawn by the text's digest.

    Texts are cut into the windows of the embedded embedder.
    """

    id, dim = "local:minilm", 384

    async def embed(self, texts: Sequence[str], *, urgency: Urgency = Urgency.PASSAGES) -> Vectors:
        seeds = (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts)
        rows = np.stack([np.random.default_rng(seed).standard_normal(self.dim) for seed in seeds])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    async def aclose(self) -> None:
        """Nothing is open."""


def _anchored(given: argparse.Namespace, folder: Path, count: int) -> dict[str, float]:
    folder.mkdir()
    sentences = sentences_of(given.data)
    reviews = write_rows(sentences, count, folder / "reviews.jsonl")
    papers = {case.paper_id for case in read_cases(reviews)}
    dice = random.Random(given.seed)
    texts = {
        paper: {model: " ".join([*dice.choices(sentences, k=SENTENCES), f"{paper}."]) for model in ANCHORS}
        for paper in sorted(papers)
    }
    services = DetectionServices(anchors=texts, anchor_models=ANCHORS, embedder=_AtHand())
    run, thresholds = folder / "run", folder / "thresholds.json"

    async def score() -> None:
        await detect_score(reviews, detectors=["anchor"], services=services, options=RunOptions(out=run))

    return {
        "score": _timed(lambda: asyncio.run(score())).wall,
        "calibrate": _timed(lambda: detect_calibrate(run, out=thresholds, force=True)).wall,
        "evaluate": _timed(
            lambda: detect_evaluate(
                run, calibration=thresholds, force=True, resamples=100, options=RunOptions(out=folder / "found")
            )
        ).wall,
    }


def _shared(model: LlamaLogits, tokens: list[int]) -> None:
    seen = read_tokens(tokens, model.blocks(tokens))
    for name in (*STATISTICS, *FEATURES):
        statistic(name, seen)


def _alone(model: LlamaLogits, tokens: list[int], name: str) -> None:
    statistic(name, read_tokens(tokens, model.blocks(tokens)))


def _bare(model: LlamaLogits, tokens: list[int]) -> None:
    """The library's calls; its logits are looked at nowhere."""
    for _ in model.blocks(tokens):
        pass


def _bare_pair(first: LlamaLogits, second: LlamaLogits, tokens: list[int]) -> None:
    _bare(first, tokens)
    _bare(second, tokens)


def _asked(embedder: Embedder, texts: list[str]) -> None:
    asyncio.run(_embedded(embedder, texts))


async def _embedded(embedder: Embedder, texts: list[str]) -> None:
    await embedder.embed(texts, urgency=Urgency.COMPARISON)


def _timed(work: Callable[[], object]) -> Spent:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall)


def _loaded(key: str) -> LlamaLogits:
    path = model_path(key)
    if path is None:
        sys.exit(f"the embedded model {key!r} is not here: run `referee models fetch {key}`.")
    model = LlamaLogits(key, path)
    _bare(model, model.tokens("A first text, which nobody counts, so that all memory is there."))
    return model


def _token_lists(given: argparse.Namespace, model: LlamaLogits) -> Iterator[list[int]]:
    yield from (model.tokens(text) for text in _texts(given))


def _texts(given: argparse.Namespace, count: int = 0) -> list[str]:
    """Different real reviews in an order drawn by the seed, each of more than a line."""
    files = sorted(chain.from_iterable((given.data / name).glob("*reviews.jsonl") for name in SETS))
    found = list(dict.fromkeys(of_text(case.text).text for file in files for case in read_cases(file)))
    long = [text for text in found if len(text) > 400]
    if not long:
        sys.exit(f"{str(given.data)!r} holds no reviews: give the folder of the shared data with --data.")
    return random.Random(given.seed).sample(long, min(count or given.texts, len(long)))


def _bars(figures: dict[str, float]) -> dict[str, bool]:
    bars = {
        "shared over bare": lambda value: value <= MOST_SHARED,
        "separate over shared": lambda value: value >= LEAST_SAVED,
        "memory over all logits": lambda value: value <= MOST_KEPT,
        "anchor, seconds": lambda value: value <= MOST_ANCHOR_S,
    }
    return {f"{name} is {figures[name]:.2f}": bars[name](figures[name]) for name in bars if name in figures}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--texts", type=int, default=12, help="reviews that models pass over; 100 in the paper")
    parser.add_argument("--reviews", type=int, default=10_000, help="reviews that Anchor scores")
    parser.add_argument("--lm", default=LM)
    parser.add_argument("--pair", default=",".join(PAIR))
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    return with_parts(parser, arguments, PARTS)


if __name__ == "__main__":
    sys.exit(main())
