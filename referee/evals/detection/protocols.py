"""What detectors are given (models, injected) and what they give back (a statistic, or why there is none)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from referee.schemas.base import Frozen

Logits = NDArray[np.float32]
Status = Literal["scored", "too_short", "nonfinite", "undefined"]


class Described(Protocol):
    """How a model of logits says which it is; ``referee.llm.logits.LogitsModel`` is one."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def sha256(self) -> str: ...  # noqa: D102

    @property
    def quantisation(self) -> str: ...  # noqa: D102

    @property
    def tokenizer(self) -> str: ...  # noqa: D102

    @property
    def runtime(self) -> str: ...  # noqa: D102

    @property
    def max_tokens(self) -> int: ...  # noqa: D102


@runtime_checkable
class Sized(Protocol):
    """Says how many parameters a model has; 0 where that is not known."""

    @property
    def parameters(self) -> int: ...  # noqa: D102


class ModelIdentity(Frozen):
    """Which model made a score. Scores of two identities are never compared and no threshold holds for both.

    Attributes:
        name: As it is asked for.
        sha256: Of the model file; empty for a model behind a server.
        quantisation: Of its weights, as ``q4_k_m``; or the number format, as ``fp16``.
        tokenizer: Names the tokenizer.
        runtime: What computed it, with its build.
        max_tokens: Longer texts lose their end.
    """

    name: str
    sha256: str = ""
    quantisation: str = ""
    tokenizer: str = ""
    runtime: str = ""
    max_tokens: int = 512


class LogitsProvider(Protocol):
    """A causal language model that says for each token of a text how likely every token after it is.

    ``blocks`` streams, so that L x V is never kept; special tokens and padding never leave the provider. Calls may come
    from several threads; a provider that computes one text at a time lets the others wait.

    Attributes:
        model: Which model it is.
    """

    @property
    def model(self) -> Described: ...  # noqa: D102

    def tokens(self, text: str) -> list[int]:
        """Ids of the text's tokens, L at most ``max_tokens`` from its head."""
        ...

    def blocks(self, tokens: list[int]) -> Iterator[Logits]:
        """Arrays of some rows x V, in order, L rows in all; row t predicts token t + 1.

        A block may be overwritten by the next one.
        """
        ...


class TextGenerator(Protocol):
    """Writes on where a text stops."""

    @property
    def identity(self) -> ModelIdentity: ...  # noqa: D102

    async def continuations(
        self, prefix: str, count: int, *, seed: int, temperature: float, max_tokens: int
    ) -> Sequence[str]:
        """So many sampled continuations, each without the prefix."""
        ...


class MaskFiller(Protocol):
    """Fills the gaps of a text, as T5 does."""

    @property
    def identity(self) -> ModelIdentity: ...  # noqa: D102

    async def fills(self, masked: str, count: int, *, seed: int) -> Sequence[str]:
        """What it puts for ``<extra_id_0>`` to ``<extra_id_{count - 1}>``, sampled; fewer where it left some out."""
        ...


class Classifier(Protocol):
    """An encoder with a label for human and one for machine text.

    Attributes:
        labels: The model's own names by index (``id2label``).
    """

    @property
    def identity(self) -> ModelIdentity: ...  # noqa: D102

    @property
    def labels(self) -> Mapping[int, str]: ...  # noqa: D102

    def logits(self, text: str) -> Sequence[float]:
        """One logit a label, of the text's head; blocks the thread."""
        ...


@dataclass(frozen=True, slots=True)
class Statistic:
    """What a detector says of one text.

    Attributes:
        raw: The statistic in its native sign, as its paper has it; several numbers for those that need a classifier.
        score: Oriented, higher is more likely AI; None where ``status`` is not ``scored``.
        status: Why there is no score. None is never flagged.
    """

    raw: tuple[float, ...]
    score: float | None
    status: Status


def identity_of(model: Described) -> ModelIdentity:
    """The record of a model of logits."""
    return ModelIdentity(**{name: getattr(model, name) for name in ModelIdentity.model_fields})


def parameters_of(model: object) -> int:
    """How many parameters a model has, where it says so; 0 where that is not known."""
    return model.parameters if isinstance(model, Sized) else 0


def oriented(raw: float, sign: Literal[1, -1]) -> Statistic:
    """A statistic with its score, sign times raw; ``nonfinite`` where it is no finite number."""
    if not math.isfinite(raw):
        return missing("nonfinite")
    return Statistic((raw,), sign * raw, "scored")


def missing(status: Status) -> Statistic:
    """No score, and why."""
    return Statistic((), None, status)
