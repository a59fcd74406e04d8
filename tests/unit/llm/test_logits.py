from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest

from referee.errors import DataError, ModelError, SettingsError
from referee.llm import llama_library as library
from referee.llm.catalogue import model_path
from referee.llm.logits import BLOCK_TOKENS, LlamaLogits
from tests.needs import needs_model, require
from tests.unit.llm.numpy_decoder import NumpyDecoder

SMOLLM = "smollm2-135m"
TEXT = """The paper proposes a regulariser for graph encoders and reports gains on four datasets. The ablation in
Table 3 does not vary the number of layers, so it is unclear whether the gain comes from depth. I would ask the
authors to report the variance over seeds, and to compare with the simpler baseline of dropping edges at random."""

needs_smollm = [
    pytest.mark.local_model,
    needs_model(SMOLLM),
]


class TestAnotherBuildIsRefused:
    def test_another_version(self, monkeypatch: pytest.MonkeyPatch) -> None:
        require("xllamacpp", "local")
        monkeypatch.setattr(library, "version", lambda _: "2099.1.1")
        library.llama_library.cache_clear()
        with pytest.raises(SettingsError, match=r"no other build: version 2099\.1\.1 is installed") as caught:
            library.llama_library()
        assert f"pip install xllamacpp=={library.BUILD}" in caught.value.hint

    def test_a_field_that_moved(self) -> None:
        with pytest.raises(SettingsError, match=r"its field 'n_batch' holds 7 and not 2048"):
            library.require_defaults(SimpleNamespace(n_ctx=512, n_batch=7), {"n_ctx": 512, "n_batch": 2048})


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaLogits]:
    path = model_path(SMOLLM)
    assert path is not None
    loaded = LlamaLogits(SMOLLM, path, max_tokens=100)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def whole(model: LlamaLogits) -> npt.NDArray[np.float32]:
    """The rows of the whole text."""
    return all_rows(model, model.tokens(TEXT))


class TestLogits:
    pytestmark = needs_smollm

    def test_a_closed_model_refuses_instead_of_reaching_into_freed_memory(self) -> None:
        path = model_path(SMOLLM)
        assert path is not None
        closed = LlamaLogits(SMOLLM, path, max_tokens=16)
        blocks = closed.blocks([1, 2])
        closed.close()
        closed.close()
        with pytest.raises(ModelError, match="was closed while a text waited for it"):
            next(blocks)
        with pytest.raises(ModelError, match="was closed"):
            closed.tokens("a")

    def test_a_second_implementation_agrees(self, model: LlamaLogits) -> None:
        tokens = model.tokens(TEXT)[: BLOCK_TOKENS + 4]
        path = model_path(SMOLLM)
        assert path is not None
        ours, others = (
            log_p_of_next(logits, tokens) for logits in (all_rows(model, tokens), NumpyDecoder(path).logits(tokens))
        )
        assert len(tokens) > BLOCK_TOKENS, "the text must span blocks"
        assert float(np.corrcoef(ours, others)[0, 1]) > 0.999
        assert float(np.abs(ours - others).mean()) < 0.1
        assert ours.mean() == pytest.approx(others.mean(), abs=0.03)

    @pytest.mark.parametrize("n", [1, BLOCK_TOKENS - 1, BLOCK_TOKENS, BLOCK_TOKENS + 1])
    def test_what_follows_does_not_change_what_went_before(
        self, model: LlamaLogits, whole: npt.NDArray[np.float32], n: int
    ) -> None:
        np.testing.assert_array_equal(all_rows(model, model.tokens(TEXT)[:n]), whole[:n])

    def test_the_text_before_leaves_nothing_behind(self, model: LlamaLogits) -> None:
        tokens = model.tokens(TEXT)[:30]
        first = all_rows(model, tokens)
        all_rows(model, model.tokens("Something else altogether."))
        np.testing.assert_array_equal(all_rows(model, tokens), first)

    def test_a_long_text_keeps_its_head(self, model: LlamaLogits) -> None:
        assert model.tokens(TEXT * 20) == model.tokens(TEXT * 2)
        assert len(model.tokens(TEXT * 20)) == 100

    def test_what_stands_with_every_number(self, model: LlamaLogits) -> None:
        assert model.model.quantisation == "q4_1"
        assert model.model.tokenizer == "gpt2/smollm 49152"
        assert model.model.sha256.startswith("b179c952")
        assert library.BUILD in model.model.runtime

    def test_nothing_has_no_rows(self, model: LlamaLogits) -> None:
        assert model.tokens("") == []
        assert list(model.blocks([])) == []


@pytest.mark.local_model
def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    require("xllamacpp", "local")
    broken = tmp_path / "x.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(DataError, match=f"the model '{SMOLLM}' cannot be loaded from"):
        LlamaLogits(SMOLLM, broken)


def all_rows(model: LlamaLogits, tokens: list[int]) -> npt.NDArray[np.float32]:
    return np.concatenate([block.copy() for block in model.blocks(tokens)])


def log_p_of_next(logits: npt.NDArray[np.float32], tokens: list[int]) -> npt.NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return log_p[np.arange(len(tokens) - 1), tokens[1:]]
