"""Models in torch's format as detectors take them: a classifier of the table, a filler of gaps."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from referee.errors import SettingsError
from referee.evals.detection.classifiers import CLASSIFIERS, check_labels
from referee.evals.detection.protocols import ModelIdentity, identity_of
from referee.llm.torch_models import TorchClassifier, TorchMaskFiller


class NamedClassifier:
    """A classifier of ``CLASSIFIERS`` with its identity.

    Args:
        name: Its name in the table.
        source: A folder that holds it; by default the published id, which is downloaded.
        device: As torch names it.

    Raises:
        SettingsError: The name is not in the table.
        MissingExtra: torch or transformers is not installed.
        DataError: The model cannot be loaded.
        EvaluationError: Its labels are not those of the table.
    """

    def __init__(self, name: str, *, source: str | None = None, device: str | None = None) -> None:
        if name not in CLASSIFIERS:
            raise SettingsError(f"there is no classifier {name!r}.", hint=f"There are: {', '.join(CLASSIFIERS)}.")
        entry = CLASSIFIERS[name]
        self._model = TorchClassifier(source or entry.model, max_tokens=entry.max_tokens, device=device)
        check_labels(entry, self._model.labels)

    @property
    def identity(self) -> ModelIdentity:
        """Which model it is."""
        return identity_of(self._model.model)

    @property
    def labels(self) -> Mapping[int, str]:
        """The model's own names by index."""
        return self._model.labels

    def logits(self, text: str) -> Sequence[float]:
        """One logit a label; blocks the thread."""
        return self._model.logits(text)


class NamedFiller:
    """T5 with its identity, asked without blocking others."""

    def __init__(self, model: TorchMaskFiller) -> None:
        self._model = model

    @property
    def identity(self) -> ModelIdentity:
        """Which model it is."""
        return identity_of(self._model.model)

    async def fills(self, masked: str, count: int, *, seed: int) -> Sequence[str]:
        """What it puts into the gaps; fewer where it left some out."""
        return await asyncio.to_thread(self._model.fills, masked, count, seed=seed)
