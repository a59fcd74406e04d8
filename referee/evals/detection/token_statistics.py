"""Statistics of one model's or two models' predictions of a text, token by token, in one pass each.

Row t of the logits predicts token t + 1, so T = L - 1 tokens are scored and the first never is. Logarithms are
natural; values are means over the T tokens. Each statistic keeps its native sign (``raw``) beside its score, in which
higher is more likely AI: the sign belongs to the detector and is never taken from data.

Source: the specification's sections 1, 3, 4.1 and 4.2. loglik, rank, entropy: "DetectGPT: Zero-Shot Machine-Generated
Text Detection using Probability Curvature"; logrank, llr: "DetectLLM: Leveraging Log Rank Information for Zero-Shot
Detection of Machine-Generated Text"; gltr: "GLTR: Statistical Detection and Visualization of Generated Text"; llmdev,
mfd, s5: as in the IMGTB framework; "Fast-DetectGPT: Efficient Zero-Shot Detection of Machine-Generated Text via
Conditional Probability Curvature"; "Spotting LLMs With Binoculars: Zero-Shot Detection of Machine-Generated Text".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from referee.errors import EvaluationError
from referee.evals.detection.protocols import Logits, LogitsProvider, Statistic, missing, oriented
from referee.machine import usable_cores
from referee.stats.values import Floats

SMALLEST_LOG_RANK = 1e-6
GLTR_EDGES = (10, 100, 1000)
"""Cut points of the rank counted from 0."""

SAMPLES = 10_000
"""A token, in IMGTB's form of FastDetectGPT."""
FALCON_PAIR = ("tiiuae/falcon-7b", "tiiuae/falcon-7b-instruct")
"""Observer and performer for which alone Fast-DetectGPT's demo has constants."""
_FALCON_NORMALS = ((-0.0707, 0.9520), (2.9306, 1.9039))

# Rows that a thread works on: several copies of 64 rows over Qwen's 151,936 tokens in double precision are half a
# gigabyte. The library's own threads are idle meanwhile: one reader on two cores made a pass a fifth longer.
_ROWS, _MOST_READERS = 16, 4
# Stands for a logit of minus infinity, whose product with a probability of 0 would be no number.
_NEVER = -1e30
_UNHEARD_OF = -1e29


@dataclass(frozen=True, slots=True)
class TokenPass:
    """What one model says of the T scored tokens: log p, the rank (from 1, ties optimistic), and the entropy there."""

    log_p: Floats
    ranks: NDArray[np.int64]
    entropies: Floats

    def __len__(self) -> int:
        return len(self.log_p)


@dataclass(frozen=True, slots=True)
class PairPass:
    """Sums of what two models say of one text; q is the reference (observer), l the log p of the other (performer).

    Attributes:
        tokens: T.
        positions: L, the last row included, which predicts nothing that is there.
        log_p_reference: Sum of the reference's log p of the T tokens.
        log_p_scoring: Sum of l of the T tokens.
        expected: Sum over T of the mean of l under q.
        variance: Sum over T of the variance of l under q.
        expected_everywhere: As ``expected``, over all L rows.
    """

    tokens: int
    positions: int
    log_p_reference: float
    log_p_scoring: float
    expected: float
    variance: float
    expected_everywhere: float


def token_pass(provider: LogitsProvider, text: str) -> TokenPass:
    """One pass of a model over a text; empty for fewer than two tokens.

    Raises:
        EvaluationError: The provider gave too few rows.
    """
    tokens = provider.tokens(text)
    return read_tokens(tokens, provider.blocks(tokens) if len(tokens) > 1 else ())


def read_tokens(tokens: Sequence[int], blocks: Iterable[Logits]) -> TokenPass:
    """The same of rows that are at hand, whatever their blocks.

    Args:
        tokens: The L ids.
        blocks: Arrays of rows x V, L - 1 rows or more in all.

    Raises:
        EvaluationError: There are too few rows, or an id is outside of V.
    """
    following = np.asarray(tokens[1:], dtype=np.int64)
    parts: list[TokenPass] = []
    at = 0
    with _readers() as readers:
        for block in blocks:
            wanted = following[at : at + len(block)]
            rows = _row_slices(len(wanted))
            parts += readers.map(_read_block, [wanted[some] for some in rows], [block[some] for some in rows])
            at += len(block)
    _check_rows(at, len(following))
    return _joined(parts)


def statistic(name: str, seen: TokenPass, *, entropy_sign: Literal[1, -1] = -1) -> Statistic:
    """A statistic of one pass by its name, of ``STATISTICS`` or ``FEATURES``.

    The latter give their numbers without a score: that needs a classifier. ``entropy_sign`` 1 is the direction of
    DetectGPT's baselines; with today's models machine text has the lower entropy.
    """
    if not len(seen):
        return missing("too_short")
    # A row that is no number has no larger logit either: its token would count as the likeliest.
    if not np.isfinite(seen.log_p).all():
        return missing("nonfinite")
    if name in FEATURES:
        values = FEATURES[name](seen)
        return Statistic(values, None, "scored") if all(map(math.isfinite, values)) else missing("nonfinite")
    of, sign = STATISTICS[name]
    return oriented(of(seen), entropy_sign if name == "entropy" else sign)


def gltr_fractions(ranks: NDArray[np.int64]) -> tuple[float, ...]:
    """Shares of tokens whose rank from 0 is below 10, 100, 1000, and above; they sum to 1."""
    bins = np.searchsorted(GLTR_EDGES, ranks - 1, side="right")
    return tuple(float(share) for share in np.bincount(bins, minlength=4) / len(ranks))


def pair_pass(reference: LogitsProvider, scoring: LogitsProvider, text: str) -> PairPass:
    """One pass of two models over a text, block by block; of one model where both are the same object.

    Raises:
        EvaluationError: The two cut the text into different tokens, or a provider gave too few rows.
    """
    tokens = _same_tokens(reference, scoring, text)
    if len(tokens) < 2:
        return PairPass(0, len(tokens), 0.0, 0.0, 0.0, 0.0, 0.0)
    return read_pair(tokens, _pair_blocks(reference, scoring, tokens))


def read_pair(tokens: Sequence[int], blocks: Iterable[tuple[Logits, Logits]]) -> PairPass:
    """The same of rows that are at hand: pairs of blocks with as many rows, reference first.

    Vocabularies of different size are cut to the smaller one.

    Raises:
        EvaluationError: There are fewer than L rows, or an id is outside of the smaller vocabulary.
    """
    following = np.asarray(tokens[1:], dtype=np.int64)
    sums = np.zeros(5)
    at = 0
    with _readers() as readers:
        for reference, scoring in blocks:
            wanted = following[at : at + len(reference)]
            rows = _row_slices(len(reference))
            pieces = ([array[some] for some in rows] for array in (wanted, reference, scoring))
            for some_sums in readers.map(_pair_sums, *pieces):
                sums += some_sums
            at += len(reference)
    _check_rows(at, len(tokens))
    return PairPass(len(following), len(tokens), *(float(value) for value in sums))


def fast_detect_gpt(seen: PairPass) -> Statistic:
    """(sum of l - sum of its means under q) / root of the sum of its variances: sums, not means; higher is AI.

    Source: Fast-DetectGPT, the analytic form. Where nothing varies there is no score.
    """
    if seen.tokens < 1:
        return missing("too_short")
    if not _finite(seen.log_p_scoring, seen.expected, seen.variance):
        return missing("nonfinite")
    if seen.variance <= 0:
        return missing("undefined")
    return oriented((seen.log_p_scoring - seen.expected) / math.sqrt(seen.variance), 1)


def sampled_fast_detect_gpt(
    reference: LogitsProvider, scoring: LogitsProvider, text: str, *, seed: int, samples: int = SAMPLES
) -> Statistic:
    """Fast-DetectGPT by sampling: (mean l of the text - mean over samples) / their deviation; higher is AI.

    A sample puts at each of the T places a token drawn from q, whatever stands elsewhere, and has the mean of l over
    them. The deviation is divided by n - 1. With many samples it comes near the analytic form.

    Args:
        reference: Whose q tokens are drawn from.
        scoring: Whose l counts.
        text: The text.
        seed: The same seed gives the same score.
        samples: How many are drawn.

    Source: Fast-DetectGPT's code where ``discrepancy_analytic`` is off, as IMGTB runs it; its section 4.1.

    Raises:
        EvaluationError: The two cut the text into different tokens, or a provider gave too few rows.
    """
    tokens = _same_tokens(reference, scoring, text)
    if len(tokens) < 2:
        return missing("too_short")
    following = np.asarray(tokens[1:], dtype=np.int64)
    rng = np.random.default_rng(seed)
    own, drawn, at = 0.0, np.zeros(samples), 0
    for first, second in _pair_blocks(reference, scoring, tokens):
        for row in range(min(len(first), len(following) - at)):
            q, log_p = _row_of(first[row : row + 1], second[row : row + 1])
            _check_ids(following[at : at + 1], len(q))
            own += float(_heard(log_p[following[at] : following[at] + 1])[0])
            drawn += log_p[_drawn(q, rng.random(samples))]
            at += 1
    _check_rows(at, len(following))
    return _discrepancy(own, drawn, at)


def published_probability(score: float | None, observer: str, performer: str) -> float | None:
    """The probability that Fast-DetectGPT's demo shows for a score; None for any pair of models but its own.

    Of two normals with equal weight, one of people's texts and one of models'. To be shown and no more: it is fitted to
    the demo's texts, and no threshold is taken from it.
    """
    if score is None or (observer, performer) != FALCON_PAIR:
        return None
    human, machine = (_normal(score, mean, deviation) for mean, deviation in _FALCON_NORMALS)
    return machine / (human + machine) if human + machine else None


def binoculars(seen: PairPass, variant: Literal["released", "paper"] = "released") -> Statistic:
    """Log perplexity over log cross-perplexity, B; low is AI, so the score is -B.

    ``released`` takes the performer's log perplexity over T and the cross-entropy over all L rows, as the published
    code does; ``paper`` the observer's, and both over T.
    """
    if seen.tokens < 1:
        return missing("too_short")
    numerator = -(seen.log_p_scoring if variant == "released" else seen.log_p_reference) / seen.tokens
    everywhere = -seen.expected_everywhere / seen.positions
    cross = everywhere if variant == "released" else -seen.expected / seen.tokens
    if not _finite(numerator, cross):
        return missing("nonfinite")
    return oriented(numerator / cross, -1) if cross > 0 else missing("undefined")


def _mean_log_p(seen: TokenPass) -> float:
    return float(seen.log_p.mean())


def _mean_rank(seen: TokenPass) -> float:
    return float(seen.ranks.mean())


def mean_log_rank(seen: TokenPass) -> float:
    """LR, the mean of ln rank; 0 where every token was the likeliest."""
    return float(np.log(seen.ranks).mean())


def _mean_entropy(seen: TokenPass) -> float:
    return float(seen.entropies.mean())


def _squared_log_rank(seen: TokenPass) -> float:
    return float((np.log(seen.ranks) ** 2).mean())


def _log_likelihood_log_rank_ratio(seen: TokenPass) -> float:
    """-LL / LR; a text of likeliest tokens alone is extremely machine-like, not 0."""
    return -_mean_log_p(seen) / max(mean_log_rank(seen), SMALLEST_LOG_RANK)


Of = Callable[[TokenPass], float]

STATISTICS: Mapping[str, tuple[Of, Literal[1, -1]]] = {
    "loglik": (_mean_log_p, 1),
    "rank": (_mean_rank, -1),
    "logrank": (mean_log_rank, -1),
    "entropy": (_mean_entropy, -1),
    "llmdev": (_squared_log_rank, -1),
    "llr": (_log_likelihood_log_rank_ratio, 1),
}
"""By name: the statistic in its native sign, and the sign of the AI side."""

FEATURES: Mapping[str, Callable[[TokenPass], tuple[float, ...]]] = {
    "gltr": lambda seen: gltr_fractions(seen.ranks),
    "mfd": lambda seen: tuple(STATISTICS[name][0](seen) for name in FEATURE_NAMES["mfd"]),
    "s5": lambda seen: tuple(STATISTICS[name][0](seen) for name in FEATURE_NAMES["s5"]),
}
FEATURE_NAMES: Mapping[str, tuple[str, ...]] = {
    "gltr": ("below_10", "below_100", "below_1000", "above"),
    "mfd": ("logrank", "loglik", "entropy", "llmdev"),
    "s5": ("loglik", "entropy", "rank", "logrank", "llmdev"),
}


def _read_block(wanted: NDArray[np.int64], block: Logits) -> TokenPass:
    _check_ids(wanted, block.shape[1])
    own = block[np.arange(len(wanted)), wanted]
    ranks = 1 + np.count_nonzero(block > own[:, None], axis=1)
    log_p = _log_softmax(block)
    entropies = -(np.exp(log_p) * log_p).sum(axis=1)
    return TokenPass(_heard(log_p[np.arange(len(wanted)), wanted]), ranks.astype(np.int64), entropies)


def _pair_sums(wanted: NDArray[np.int64], reference: Logits, scoring: Logits) -> Floats:
    """The five sums of ``PairPass`` over some rows; the last row of a text has no token that follows."""
    size = min(reference.shape[1], scoring.shape[1])
    _check_ids(wanted, size)
    own, other = _log_softmax(reference[:, :size]), _log_softmax(scoring[:, :size])
    q = np.exp(own)
    mean = (q * other).sum(axis=1)
    # The variance about the mean: the difference of the two moments would lose digits where it is small.
    variance = (q * (other - mean[:, None]) ** 2).sum(axis=1)
    n = len(wanted)
    at = np.arange(n), wanted
    return np.array(
        [_heard(own[at]).sum(), _heard(other[at]).sum(), mean[:n].sum(), variance[:n].sum(), mean.sum()],
        dtype=np.float64,
    )


def _same_tokens(reference: LogitsProvider, scoring: LogitsProvider, text: str) -> list[int]:
    tokens = reference.tokens(text)
    if scoring is not reference and scoring.tokens(text) != tokens:
        raise EvaluationError(
            f"the models {reference.model.name!r} and {scoring.model.name!r} cut the text into different tokens.",
            hint="Use two models with one tokenizer and the same max_tokens, as a base model and its instruct version.",
        )
    return tokens


def _pair_blocks(
    reference: LogitsProvider, scoring: LogitsProvider, tokens: list[int]
) -> Iterator[tuple[Logits, Logits]]:
    if scoring is reference:
        return ((block, block) for block in reference.blocks(tokens))
    return _aligned(reference.blocks(tokens), scoring.blocks(tokens))


def _row_of(reference: Logits, scoring: Logits) -> tuple[Floats, Floats]:
    """Q and l of one place, over the smaller vocabulary."""
    size = min(reference.shape[1], scoring.shape[1])
    return np.exp(_log_softmax(reference[:, :size])[0]), _log_softmax(scoring[:, :size])[0]


def _drawn(q: Floats, places: Floats) -> NDArray[np.intp]:
    """A token for each number in [0, 1)."""
    ends = np.cumsum(q)
    tokens: NDArray[np.intp] = np.searchsorted(ends, places * ends[-1], side="right")
    return tokens.clip(max=len(q) - 1)


def _discrepancy(own: float, drawn: Floats, tokens: int) -> Statistic:
    """Of sums over the tokens."""
    if not _finite(own, float(drawn.min()), float(drawn.max())):
        return missing("nonfinite")
    means = drawn / tokens
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return oriented((own / tokens - float(means.mean())) / spread, 1) if spread > 0 else missing("undefined")


def _normal(value: float, mean: float, deviation: float) -> float:
    return math.exp(-(((value - mean) / deviation) ** 2) / 2) / deviation


def _log_softmax(block: Logits) -> Floats:
    raised: Floats = np.maximum(block.astype(np.float64), _NEVER)
    with np.errstate(invalid="ignore"):  # an infinite logit becomes no number, which is looked for in the end
        raised -= raised.max(axis=1, keepdims=True)
        raised -= np.log(np.exp(raised).sum(axis=1, keepdims=True))
    return raised


def _heard(log_p: Floats) -> Floats:
    """A token that the model rules out has no finite log p."""
    return np.where(log_p < _UNHEARD_OF, -np.inf, log_p)


def _finite(*values: float) -> bool:
    return all(math.isfinite(value) and abs(value) < -_UNHEARD_OF for value in values)


def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(_MOST_READERS, usable_cores()), "logits")


def _row_slices(count: int) -> list[slice]:
    """Rows that one thread reads at a time, up to ``count``."""
    return [slice(start, min(start + _ROWS, count)) for start in range(0, count, _ROWS)]


def _aligned(first: Iterator[Logits], second: Iterator[Logits]) -> Iterator[tuple[Logits, Logits]]:
    """Pairs of as many rows of both, though their blocks differ; a block is used up before the next is asked for."""
    a, b = next(first, None), next(second, None)
    while a is not None and b is not None:
        rows = min(len(a), len(b))
        yield a[:rows], b[:rows]
        a = a[rows:] if rows < len(a) else next(first, None)
        b = b[rows:] if rows < len(b) else next(second, None)


def _joined(parts: Sequence[TokenPass]) -> TokenPass:
    if not parts:
        return TokenPass(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0))
    return TokenPass(
        np.concatenate([part.log_p for part in parts]),
        np.concatenate([part.ranks for part in parts]),
        np.concatenate([part.entropies for part in parts]),
    )


def _check_rows(given: int, wanted: int) -> None:
    if given < wanted:
        raise EvaluationError(
            f"a model gave {given} rows of logits for a text of which {wanted} were wanted.",
            hint="The provider has to give one row a token; mend it before any score is believed.",
        )


def _check_ids(wanted: NDArray[np.int64], size: int) -> None:
    if len(wanted) and (wanted.max() >= size or wanted.min() < 0):
        raise EvaluationError(
            f"token {int(wanted.max())} is outside of a vocabulary of {size}.",
            hint="Use models with the same tokenizer.",
        )
