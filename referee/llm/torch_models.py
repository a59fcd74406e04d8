"""Models in torch's format, for detectors: token logits of any causal model, classifiers, and T5, which fills gaps.

An optional door: torch and transformers come with ``referee[detect]`` and are imported when a model is opened. A model
is a folder, or an id on huggingface.co, which is then downloaded by transformers; code of a model's own is never run.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from referee.errors import DataError, MissingExtra, SettingsError
from referee.llm.logits import BLOCK_TOKENS, MAX_TOKENS, LogitsModel

if TYPE_CHECKING:
    from referee.llm.logits import Logits

_FORMATS = ("float32", "bfloat16", "float16")
_WEIGHTS = (".safetensors", ".bin")
_SENTINEL = re.compile(r"<extra_id_(\d+)>")
_SPECIAL = re.compile(r"<pad>|</s>")
# What a span of two words takes, with its sentinel and some room.
_TOKENS_A_GAP = 8
_HUB_S = 10.0
# As huggingface_hub reads its switches.
_ON = frozenset({"1", "ON", "YES", "TRUE"})
# Tokenizers without a bound name one of 30 digits.
_MOST = 1_000_000


class _TorchModel:
    """A tokenizer and a model that is ready to be asked. Calls from several threads wait for one another.

    Args:
        source: A folder or an id.
        max_tokens: Longer texts lose their end; 512 by default, and fewer where the model reads fewer.
        dtype: Number format of the weights: ``float32``, ``bfloat16``, ``float16``.
        device: As torch names it; by default ``cuda`` where there is one, else ``cpu``.
        revision: Of the id, a commit or a branch.
        download: Whether an id that is not in the hub's own cache here is downloaded.

    Attributes:
        model: What to record with every number.

    Raises:
        MissingExtra: torch or transformers is not installed.
        DataError: There is no such model, or it is of another kind.
    """

    _kind: str
    _most = MAX_TOKENS

    def __init__(
        self,
        source: str,
        *,
        max_tokens: int | None = None,
        dtype: str = "float32",
        device: str | None = None,
        revision: str | None = None,
        download: bool = True,
    ) -> None:
        self._torch, transformers = _libraries()
        self._device = device or ("cuda" if self._torch.cuda.is_available() else "cpu")
        self._lock = threading.Lock()
        if dtype not in _FORMATS:
            raise SettingsError(f"weights have no number format {dtype!r}.", hint=f"Take {', '.join(_FORMATS)}.")
        where: dict[str, Any] = {"revision": revision, "local_files_only": not download}
        try:
            with nullcontext() if download else _without_bars(transformers):
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(source, **where)
                loaded = getattr(transformers, self._kind).from_pretrained(source, **where)
        except (OSError, ValueError, KeyError, ImportError, RuntimeError, httpx.HTTPError) as error:
            raise _unusable(source, error, download) from error
        self._ready: Any = loaded.to(device=self._device, dtype=getattr(self._torch, dtype)).eval()
        self.model = LogitsModel(
            name=source,
            sha256=_digest(Path(source), self._ready.config),
            quantisation=dtype,
            tokenizer=f"{type(self._tokenizer).__name__} {len(self._tokenizer)}",
            runtime=f"torch {self._torch.__version__}, transformers {transformers.__version__}, {self._device}",
            max_tokens=min(max_tokens or self._most, _reads(self._ready.config, self._tokenizer)),
            parameters=int(self._ready.num_parameters()),
        )


class TorchLogits(_TorchModel):
    """A causal language model that says how likely it found every token of a text. Nothing is generated.

    A text is computed in one pass, so its L x V logits are there at once.
    """

    _kind = "AutoModelForCausalLM"

    def tokens(self, text: str) -> list[int]:
        """Ids of the text's tokens without any special one, at most ``max_tokens`` from its head."""
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids[: self.model.max_tokens]

    def blocks(self, tokens: list[int]) -> Iterator[Logits]:
        """For every token the logits of what follows it: arrays of up to 64 x V in float32, in order, L rows in all."""
        if not tokens:
            return
        torch = self._torch
        with self._lock, torch.inference_mode():
            ids = torch.tensor([tokens], device=self._device)
            rows = self._ready(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False).logits[0]
            for start in range(0, len(tokens), BLOCK_TOKENS):
                yield rows[start : start + BLOCK_TOKENS].float().cpu().numpy()


class TorchClassifier(_TorchModel):
    """An encoder that classifies texts; the special tokens count among ``max_tokens``."""

    _kind = "AutoModelForSequenceClassification"

    @property
    def labels(self) -> Mapping[int, str]:
        """The model's own names by index."""
        return {int(index): str(name) for index, name in self._ready.config.id2label.items()}

    def logits(self, text: str) -> list[float]:
        """One logit a label, of the text's head."""
        with self._lock, self._torch.inference_mode():
            given = self._tokenizer([text], truncation=True, max_length=self.model.max_tokens, return_tensors="pt")
            row: list[float] = self._ready(**given.to(self._device)).logits[0].float().cpu().tolist()
        return row


class TorchMaskFiller(_TorchModel):
    """T5, which writes what stood at the sentinels of a text. Sampled from the whole distribution (top-p 1, no top-k).

    The source is ``t5-large`` in IMGTB, ``t5-3b`` in DetectGPT's paper. By default it reads all that it can.
    """

    _kind = "AutoModelForSeq2SeqLM"
    _most = _MOST

    def fills(self, masked: str, count: int, *, seed: int) -> list[str]:
        """What it puts for ``<extra_id_0>`` to ``<extra_id_{count - 1}>``; fewer where it left some out.

        The same seed gives the same fills; torch's own random state stays as it was.
        """
        torch, tokenizer = self._torch, self._tokenizer
        ends = tokenizer.convert_tokens_to_ids([f"<extra_id_{count}>", tokenizer.eos_token])
        devices = [self._device] if self._device.startswith("cuda") else []
        with self._lock, torch.inference_mode(), torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            written = self._ready.generate(
                **tokenizer(masked, return_tensors="pt", verbose=False).to(self._device),
                do_sample=True,
                top_p=1.0,
                top_k=0,
                eos_token_id=ends,
                max_new_tokens=_TOKENS_A_GAP * (count + 1),
            )
        return filled(tokenizer.decode(written[0], skip_special_tokens=False), count)


def filled(text: str, count: int) -> list[str]:
    """The texts behind the sentinels of a reply, in order, up to the first that is left out or stands out of order."""
    parts = _SENTINEL.split(_SPECIAL.sub("", text))[1:]
    found: list[str] = []
    for number, said in zip(parts[::2], parts[1::2], strict=True):
        if int(number) != len(found) or len(found) == count:
            break
        found.append(said.strip())
    return found


def _digest(folder: Path, config: Any) -> str:
    """Of the weights in a folder; of an id, its commit."""
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", None) or "")
    whole = hashlib.sha256()
    for file in sorted(path for path in folder.iterdir() if path.suffix in _WEIGHTS):
        with file.open("rb") as stream:
            whole.update(hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()


def _reads(config: Any, tokenizer: Any) -> int:
    """Tokens that the model has positions for."""
    positions: int = getattr(config, "max_position_embeddings", None) or _MOST
    # RoBERTa counts positions from behind the padding's id, so that two are never used.
    if config.model_type in ("roberta", "xlm-roberta", "longformer"):
        positions -= config.pad_token_id + 1
    return min(positions, int(tokenizer.model_max_length), _MOST)


def is_folder(source: str) -> bool:
    """Whether a model is named by a folder that is there; it is an id on huggingface.co otherwise."""
    return Path(source).is_dir()


def is_offline() -> bool:
    """Whether the user forbids downloads by ``HF_HUB_OFFLINE`` or ``TRANSFORMERS_OFFLINE``, the libraries' switches."""
    return any(os.environ.get(name, "").strip().upper() in _ON for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))


def download_of(name: str, revision: str | None = None) -> str:
    """How much is downloaded for an id on huggingface.co, and where to, in words; the hub is asked for the sizes."""
    from huggingface_hub import constants, model_info

    try:
        files = model_info(name, revision=revision, files_metadata=True, timeout=_HUB_S).siblings or []
    except Exception as error:  # whatever the hub or the network says, the download itself will say it better
        return f"of a size that could not be asked for ({type(error).__name__}), to {constants.HF_HUB_CACHE}"
    sizes = {file.rfilename: file.size or 0 for file in files}
    weights = [name for name in sizes if name.endswith(_WEIGHTS[0])] or [n for n in sizes if n.endswith(_WEIGHTS[1])]
    return f"{sum(sizes[name] for name in weights) / 1e6:,.0f} MB, to {constants.HF_HUB_CACHE}"


@contextmanager
def _without_bars(transformers: Any) -> Iterator[None]:
    """The library draws bars of its own, which only a download is worth."""
    drawn = transformers.utils.logging.is_progress_bar_enabled()
    transformers.utils.logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            transformers.utils.logging.enable_progress_bar()


def _unusable(source: str, error: Exception, download: bool) -> DataError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    hint = "Give a folder that holds the model and its tokenizer, or its id on huggingface.co."
    if download or is_folder(source):
        return DataError(f"the model {source!r} cannot be loaded: {lines[0]}", hint=hint, ids={"model": source})
    return DataError(
        f"the model {source!r} is not here, and nothing is downloaded now.",
        hint="Give a folder that holds it, or fetch it where there is a network.",
        ids={"model": source},
    )


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra(
            "models in torch's format need the packages 'torch' and 'transformers', which are not installed.",
            hint="Run `pip install 'referee[detect]'`.",
        ) from error
    return torch, transformers
