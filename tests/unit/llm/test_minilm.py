from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from referee.errors import DataError
from referee.llm import minilm
from referee.llm.catalogue import model_path
from referee.llm.minilm import MiniLM

needs_model = pytest.mark.skipif(
    model_path("minilm") is None, reason="the embedding model is not here: referee models fetch minilm"
)


def test_not_fetched_yet(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'minilm' is not on this machine") as caught:
        MiniLM.fetched(tmp_path)
    assert "`referee models fetch minilm` (87 MiB)" in caught.value.hint


def test_wrong_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(DataError, match="cannot be loaded: SafetensorError"):
        MiniLM(tmp_path).encode(["x"])


def test_no_texts_need_no_model(tmp_path: Path) -> None:
    assert MiniLM(tmp_path).encode([]).shape == (0, 384)


def test_gelu_against_the_error_function() -> None:
    values = np.linspace(-8, 8, 2001, dtype=np.float32).reshape(-1, 1)
    wanted = [0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in values[:, 0].tolist()]
    minilm._gelu(values)
    assert np.abs(values[:, 0] - wanted).max() < 1e-6


@pytest.mark.parametrize(
    ("lengths", "batch_size", "packs"),
    [
        ([5], 32, [[0]]),
        ([5, 5, 5], 2, [[0, 1], [2]]),
        ([400, 112, 100, 600], 32, [[0, 1], [2], [3]]),
    ],
)
def test_packs_are_bounded_in_texts_and_tokens(lengths: list[int], batch_size: int, packs: list[list[int]]) -> None:
    assert [list(pack) for pack in minilm._packs(lengths, batch_size)] == packs


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM.fetched()


@pytest.mark.local_model
@needs_model
def test_published_similarities(model: MiniLM) -> None:
    """The example of the sentence-transformers quickstart, printed there to four digits."""
    vectors = model.encode(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    wanted = [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]]
    assert vectors @ vectors.T == pytest.approx(np.array(wanted), abs=6e-5)
    assert vectors.dtype == np.float32


@pytest.mark.local_model
@needs_model
def test_a_text_does_not_depend_on_its_neighbours(model: MiniLM) -> None:
    texts = ["short", "", "a much longer sentence about ablation studies " * 20, "naïve 日本語 \x00"]
    together = model.encode(texts)
    alone = np.concatenate([model.encode([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.local_model
@needs_model
def test_reads_512_word_pieces_and_no_more(model: MiniLM) -> None:
    words = ["table"] * 300
    vectors = model.encode(
        [" ".join(words), " ".join([*words, "protein"]), " ".join(words * 2), " ".join([*words * 2, "protein"])]
    )
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4
    assert np.abs(vectors[2] - vectors[3]).max() < 1e-6
