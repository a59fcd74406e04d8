from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from referee.errors import DataError
from referee.llm.minilm import MiniLM, piece_counter
from tests.needs import needs_model

needs_minilm = needs_model("minilm", runtime=False)


def test_not_fetched_yet(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'minilm' is not on this machine") as caught:
        MiniLM.fetched(tmp_path)
    assert "`referee models fetch minilm` (87 MiB)" in caught.value.hint


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_a_damaged_file_is_named(tmp_path: Path, file: str, damage: str) -> None:
    small_model(tmp_path)
    data = (tmp_path / file).read_bytes()
    (tmp_path / file).unlink()
    if damage == "cut":
        (tmp_path / file).write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match=f"the embedding model in {str(tmp_path)!r} cannot be loaded"):
        MiniLM(tmp_path).encode(["a"])


def test_an_array_that_is_missing_is_named(tmp_path: Path) -> None:
    weights = small_model(tmp_path)
    del weights["encoder.layer.1.output.dense.bias"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(DataError, match=r"KeyError: 'encoder\.layer\.1\.output\.dense\.bias'"):
        MiniLM(tmp_path).encode(["a"])


def test_no_texts_need_no_model(tmp_path: Path) -> None:
    assert MiniLM(tmp_path).encode([]).shape == (0, 384)


WIDTH, HEADS, INNER, LAYERS, EPSILON = 8, 2, 12, 2, 1e-5


def small_model(folder: Path, sharpness: float = 1) -> dict[str, np.ndarray]:
    """The files of a small encoder with random weights; word "a" has the id 1, "b" 2, and so on.

    Scores of attention are as many times larger as ``sharpness`` says.
    """
    chance = np.random.default_rng(3)
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (11, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.position_embeddings.weight": (512, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{number}" for number in range(LAYERS)):
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        linear = {f"{layer}.attention.self.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")}
        linear |= {f"{layer}.attention.output.dense": (WIDTH, WIDTH), f"{layer}.output.dense": (WIDTH, INNER)}
        for name, size in (linear | {f"{layer}.intermediate.dense": (INNER, WIDTH)}).items():
            sizes |= {f"{name}.weight": size, f"{name}.bias": size[:1]}
    sizes |= {f"{name}.{part}": (WIDTH,) for name in norms for part in ("weight", "bias")}
    weights = {name: chance.normal(size=size).astype(np.float32) for name, size in sizes.items()}
    for layer in range(LAYERS):
        weights[f"encoder.layer.{layer}.attention.self.query.weight"] *= sharpness
    save_file(weights, folder / "model.safetensors")
    config = {"num_attention_heads": HEADS, "layer_norm_eps": EPSILON, "num_hidden_layers": LAYERS}
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer(WordLevel({"?": 0} | {word: n for n, word in enumerate("abcdefghij", 1)}, unk_token="?"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    return weights


def by_the_book(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """BERT, the mean over the tokens and length one, one head at a time and in double precision."""

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weights[f"{name}.weight"].astype(float).T + weights[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        spread = np.sqrt(x.var(axis=1, keepdims=True) + EPSILON)
        return (x - x.mean(axis=1, keepdims=True)) / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    word, kind, position = (weights[f"embeddings.{n}_embeddings.weight"] for n in ("word", "token_type", "position"))
    x = norm(word[ids].astype(float) + position[: len(ids)] + kind[0], "embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(LAYERS)):
        query, key, value = (linear(x, f"{layer}.attention.self.{n}") for n in ("query", "key", "value"))
        heads = []
        for of in (slice(at, at + WIDTH // HEADS) for at in range(0, WIDTH, WIDTH // HEADS)):
            scores = query[:, of] @ key[:, of].T / math.sqrt(WIDTH // HEADS)
            weight = np.exp(scores - scores.max(axis=1, keepdims=True))
            heads.append(weight / weight.sum(axis=1, keepdims=True) @ value[:, of])
        attended = linear(np.concatenate(heads, axis=1), f"{layer}.attention.output.dense")
        x = norm(x + attended, f"{layer}.attention.output.LayerNorm")
        inner = linear(x, f"{layer}.intermediate.dense")
        inner *= 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean: np.ndarray = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize("sharpness", [1, 50])  # beyond 88 a float's exponential is infinite
def test_a_small_model_against_the_book(tmp_path: Path, sharpness: float) -> None:
    weights = small_model(tmp_path, sharpness)
    texts = ["a b c", "j", "d e f g h i j " * 40, "c b a", "a a"]
    wanted = [by_the_book(weights, ["?abcdefghij".index(word) for word in text.split()]) for text in texts]
    assert np.abs(MiniLM(tmp_path).encode(texts) - wanted).max() < 1e-5 * sharpness


def test_a_small_model_reads_512_tokens_and_no_more(tmp_path: Path) -> None:
    weights = small_model(tmp_path)
    model = MiniLM(tmp_path)
    cut, whole = (model.encode(["a b " * 255 + end])[0] for end in ("c d e", "c d"))
    assert np.abs(cut - whole).max() == 0
    assert np.abs(cut - by_the_book(weights, [1, 2] * 255 + [3, 4])).max() < 1e-5


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM.fetched()


@pytest.mark.local_model
@needs_minilm
def test_published_similarities(model: MiniLM) -> None:
    """The example of the sentence-transformers quickstart, printed there to four digits."""
    vectors = model.encode(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    wanted = [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]]
    assert vectors @ vectors.T == pytest.approx(np.array(wanted), abs=6e-5)
    assert vectors.dtype == np.float32


@pytest.mark.local_model
@needs_minilm
def test_a_text_does_not_depend_on_its_neighbours(model: MiniLM) -> None:
    texts = ["short", "", "a much longer sentence about ablation studies " * 20, "naïve 日本語 \x00"]
    together = model.encode(texts)
    alone = np.concatenate([model.encode([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.local_model
@needs_minilm
def test_reads_512_word_pieces_and_no_more(model: MiniLM) -> None:
    words = ["table"] * 300
    vectors = model.encode(
        [" ".join(words), " ".join([*words, "protein"]), " ".join(words * 2), " ".join([*words * 2, "protein"])]
    )
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4
    assert np.abs(vectors[2] - vectors[3]).max() < 1e-6


@pytest.mark.local_model
@needs_minilm
@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\n ",
        "The ablation of Table 2 is untuned: p<0.05,\nand Fig.3\tlacks error-bars.\r\n\r\n- O(n^2)  cost",
        "naïve Σίσυφος 日本語 ﬁne a\u0301 \u0301b a\x1cb \x85 \u00a0 \u200d\ufeff \x00",
        "[CLS] a[SEP]b ##ing [UNK",
        "supercalifragilistic" * 2 + " " + "x" * 101 + " " + "y" * 5000,
    ],
)
def test_a_text_has_the_pieces_of_its_words(text: str) -> None:
    tokenizer = Tokenizer.from_file(str(MiniLM.fetched()._folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    for _ in range(2):
        assert piece_counter()(text) == len(tokenizer.encode(text, add_special_tokens=False).ids)
