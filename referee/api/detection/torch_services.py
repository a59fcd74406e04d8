"""Models in torch's format as detectors take them: how they are named, a classifier of the table, a filler of gaps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from referee.errors import DataError, SettingsError
from referee.evals.detection.classifiers import CLASSIFIERS, check_labels
from referee.evals.detection.protocols import ModelIdentity, identity_of
from referee.llm.torch_models import TorchClassifier, TorchMaskFiller, download_of, is_folder
from referee.nearest import did_you_mean
from referee.runs import Event, Progress

TORCH = "torch:"
_COMMIT = 40
_UNKNOWN_LICENCE = "see its card there"

T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """A model of detectors as it is asked for.

    Attributes:
        name: Key of an embedded model; in torch's format a folder or an id on huggingface.co.
        is_torch: Whether it is in torch's format.
        dtype: Number format of torch's weights.
        revision: Commit of an id, where a certain one is asked for.
    """

    name: str
    is_torch: bool = False
    dtype: str = "float32"
    revision: str | None = None


def source_of(text: str, dtype: str = "float32", *, is_torch: bool = False) -> Source:
    """A model by its name: ``KEY`` of an embedded one, ``torch:FOLDER`` or ``torch:ID``.

    Args:
        text: The name.
        dtype: Number format, of torch's format.
        is_torch: Whether it is in torch's format without saying so, as fillers and classifiers are.

    Raises:
        SettingsError: The name is empty, or looks like a folder or an id and does not begin with ``torch:``.
    """
    name = text.strip().removeprefix(TORCH).strip()
    marked = is_torch or text.strip().startswith(TORCH)
    if not name:
        raise SettingsError(f"{text!r} names no model.", hint=f"Write a key, or {TORCH}FOLDER or {TORCH}ID.")
    if not marked and "/" in name:
        raise SettingsError(
            f"{name!r} is no embedded model.",
            hint=f"For a folder or an id on huggingface.co write {TORCH}{name}; `referee models list` has the others.",
        )
    return Source(name, marked, dtype if marked else "float32")


def source_again(record: Mapping[str, Any]) -> Source:
    """The model that a result names, to be opened again: the same number format and, of an id, the same commit."""
    digest = str(record.get("sha256", ""))
    if not str(record.get("runtime", "")).startswith("torch "):
        return Source(str(record["name"]))
    revision = digest if len(digest) == _COMMIT else None
    return Source(str(record["name"]), True, str(record.get("quantisation") or "float32"), revision)


async def here_or_fetched(
    make: Callable[[bool], T], source: Source, progress: Progress, *, download: bool, licence: str = _UNKNOWN_LICENCE
) -> T:
    """Open a model in torch's format; one that has to be downloaded is named first, with its licence.

    Args:
        make: Opens it, and is told whether it may be downloaded.
        source: Which it is.
        progress: Told before a download.
        download: Whether one is allowed.
        licence: What is known of its terms.

    Raises:
        MissingExtra: torch or transformers is not installed.
        DataError: It is not here and may not be downloaded, or cannot be loaded.
    """
    try:
        return await asyncio.to_thread(make, False)
    except DataError:
        if is_folder(source.name) or not download:
            raise
    what = await asyncio.to_thread(download_of, source.name, source.revision)
    progress(Event("note", f"downloading {source.name} from huggingface.co, {what}; licence: {licence}"))
    return await asyncio.to_thread(make, True)


class NamedClassifier:
    """A classifier of ``CLASSIFIERS`` with its identity.

    Args:
        name: Its name in the table.
        source: A folder that holds it; by default the published id, which is downloaded.
        device: As torch names it.
        dtype: Number format of the weights.
        revision: Of an id, a commit or a branch.
        download: Whether an id that is not here is downloaded.

    Raises:
        SettingsError: The name is not in the table.
        MissingExtra: torch or transformers is not installed.
        DataError: The model cannot be loaded.
        EvaluationError: Its labels are not those of the table.
    """

    def __init__(
        self,
        name: str,
        *,
        source: str | None = None,
        device: str | None = None,
        dtype: str = "float32",
        revision: str | None = None,
        download: bool = True,
    ) -> None:
        if name not in CLASSIFIERS:
            raise SettingsError(
                f"there is no classifier {name!r}.",
                hint=f"{did_you_mean(name, CLASSIFIERS)}There are: {', '.join(CLASSIFIERS)}.",
            )
        entry = CLASSIFIERS[name]
        self._model = TorchClassifier(
            source or entry.model,
            max_tokens=entry.max_tokens,
            dtype=dtype,
            device=device,
            revision=revision,
            download=download,
        )
        check_labels(entry, self._model.labels)

    @property
    def identity(self) -> ModelIdentity:
        """Which model it is."""
        return identity_of(self._model.model)

    @property
    def parameters(self) -> int:
        """How many it has."""
        return self._model.model.parameters

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

    @property
    def parameters(self) -> int:
        """How many it has."""
        return self._model.model.parameters

    async def fills(self, masked: str, count: int, *, seed: int) -> Sequence[str]:
        """What it puts into the gaps; fewer where it left some out."""
        return await asyncio.to_thread(self._model.fills, masked, count, seed=seed)
