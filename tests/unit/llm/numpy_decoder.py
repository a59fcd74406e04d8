"""A Llama or Qwen2 forward pass in numpy, written from the architecture's papers: a second opinion on logits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


class NumpyDecoder:
    """The model of a GGUF file, its weights as float32. Slow and large: for small models only."""

    def __init__(self, path: Path) -> None:
        import gguf
        from gguf.quants import dequantize

        reader = gguf.GGUFReader(path)
        self._fields = {name: field.contents() for name, field in reader.fields.items() if "tokenizer" not in name}
        self._weights: dict[str, Array] = {
            tensor.name: dequantize(tensor.data, tensor.tensor_type).astype(np.float32, copy=False)
            for tensor in reader.tensors
        }
        self._is_llama = self._fields["general.architecture"] == "llama"

    def logits(self, tokens: list[int]) -> Array:
        """L x V: for every token the logits of what follows it."""
        x = self._weights["token_embd.weight"][tokens]
        for index in range(self._setting("block_count")):
            x = x + self._attention(f"blk.{index}.", self._norm(x, f"blk.{index}.attn_norm"))
            x = x + self._feed_forward(f"blk.{index}.", self._norm(x, f"blk.{index}.ffn_norm"))
        head = self._weights.get("output.weight", self._weights["token_embd.weight"])
        return self._norm(x, "output_norm") @ head.T

    def _attention(self, layer: str, x: Array) -> Array:
        n, heads, groups = len(x), self._setting("attention.head_count"), self._setting("attention.head_count_kv")
        query = self._rotated(self._linear(f"{layer}attn_q", x).reshape(n, heads, -1))
        key = self._rotated(self._linear(f"{layer}attn_k", x).reshape(n, groups, -1))
        value = self._linear(f"{layer}attn_v", x).reshape(n, groups, -1)
        key, value = (np.repeat(one, heads // groups, axis=1) for one in (key, value))
        scores = np.einsum("qhd,khd->hqk", query, key) / np.sqrt(query.shape[-1])
        scores += np.triu(np.full((n, n), -np.inf, dtype=np.float32), 1)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        return self._linear(f"{layer}attn_output", np.einsum("hqk,khd->qhd", shares, value).reshape(n, -1))

    def _feed_forward(self, layer: str, x: Array) -> Array:
        gate = self._linear(f"{layer}ffn_gate", x)
        return self._linear(f"{layer}ffn_down", gate / (1 + np.exp(-gate)) * self._linear(f"{layer}ffn_up", x))

    def _rotated(self, x: Array) -> Array:
        """Rotary positions: neighbouring numbers are a pair in Llama's files, the halves of a head in Qwen's."""
        size = x.shape[-1]
        rates = self._setting("rope.freq_base") ** (-np.arange(0, size, 2) / size)
        angles = (np.arange(len(x))[:, None] * rates).astype(np.float32)[:, None, :]
        first, second = (x[..., 0::2], x[..., 1::2]) if self._is_llama else np.split(x, 2, axis=-1)
        turned = (
            first * np.cos(angles) - second * np.sin(angles),
            first * np.sin(angles) + second * np.cos(angles),
        )
        return np.stack(turned, -1).reshape(x.shape) if self._is_llama else np.concatenate(turned, -1)

    def _norm(self, x: Array, name: str) -> Array:
        scale = np.sqrt((x * x).mean(-1, keepdims=True) + self._setting("attention.layer_norm_rms_epsilon"))
        return x / scale * self._weights[f"{name}.weight"]

    def _linear(self, name: str, x: Array) -> Array:
        return x @ self._weights[f"{name}.weight"].T + self._weights.get(f"{name}.bias", np.float32(0))

    def _setting(self, name: str) -> Any:
        return self._fields[f"{self._fields['general.architecture']}.{name}"]
