"""Models in torch's format, on toy ones of the same classes that are made here; skipped where torch is absent."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import referee
from referee import RunOptions
from referee.api.detection.scoring import estimate_detect_score
from referee.api.detection.torch_services import NamedClassifier, NamedFiller
from referee.errors import DataError, EvaluationError, MissingExtra, SettingsError
from referee.evals.detection.classifiers import CLASSIFIERS, classify
from referee.evals.detection.perturbation import perturbed
from referee.evals.detection.protocols import Classifier, LogitsProvider, MaskFiller
from referee.evals.detection.token_statistics import statistic, token_pass
from referee.llm.torch_models import TorchClassifier, TorchLogits, TorchMaskFiller, filled
from tests.needs import require

pytestmark = pytest.mark.filterwarnings("ignore")

TEXT = "the paper is clear and the method is strong with a weak data set"
WORDS = sorted({*TEXT.split(), "good", "bad", "result"})


@pytest.fixture
def torch() -> Any:
    require("transformers", "detect")
    return require("torch", "detect")


def save_tokenizer(folder: Path, *specials: str, most: int = 64, pair: bool = False) -> int:
    """A tokenizer of words; returns the size of its vocabulary."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    named = ["<s>", "<pad>", "</s>", "<unk>", *specials]
    vocabulary = {word: number for number, word in enumerate([*named, *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [("<s>", vocabulary["<s>"]), ("</s>", vocabulary["</s>"])]
    if pair:
        made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    tokens = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=most, additional_special_tokens=list(specials), **tokens
    )
    fast.save_pretrained(folder)
    return len(vocabulary)


@pytest.fixture
def gpt2(torch: Any, tmp_path: Path) -> Path:
    return save_gpt2(torch, tmp_path)


def save_gpt2(torch: Any, folder: Path) -> Path:
    from transformers import GPT2Config, GPT2LMHeadModel

    size = save_tokenizer(folder, most=200)
    torch.manual_seed(1)
    config = GPT2Config(
        vocab_size=size, n_positions=100, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=2
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.fixture
def roberta(torch: Any, tmp_path: Path) -> Path:
    return save_roberta(torch, tmp_path, {0: "Fake", 1: "Real"})


def save_roberta(torch: Any, folder: Path, labels: dict[int, str]) -> Path:
    from transformers import RobertaConfig, RobertaForSequenceClassification

    size = save_tokenizer(folder, most=10_000, pair=True)
    torch.manual_seed(2)
    config = RobertaConfig(
        vocab_size=size, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=34, type_vocab_size=1, bos_token_id=0, pad_token_id=1, eos_token_id=2,
        id2label=labels, label2id={name: index for index, name in labels.items()},
    )  # fmt: skip
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture
def t5(torch: Any, tmp_path: Path) -> Path:
    return save_t5(torch, tmp_path)


def save_t5(torch: Any, folder: Path) -> Path:
    from transformers import T5Config, T5ForConditionalGeneration

    size = save_tokenizer(folder, *(f"<extra_id_{number}>" for number in range(20)), most=600)
    torch.manual_seed(3)
    config = T5Config(
        vocab_size=size, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
        decoder_start_token_id=1, pad_token_id=1, eos_token_id=2,
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def test_a_causal_models_likelihood_is_minus_its_own_loss(torch: Any, gpt2: Path) -> None:
    from transformers import AutoModelForCausalLM

    provider: LogitsProvider = TorchLogits(str(gpt2), device="cpu")
    tokens = provider.tokens(TEXT * 3)
    rows = np.concatenate(list(provider.blocks(tokens)))
    assert rows.shape == (len(tokens), len(WORDS) + 4)
    assert rows.dtype == np.float32
    ids = torch.tensor([tokens])
    loss = float(AutoModelForCausalLM.from_pretrained(gpt2)(input_ids=ids, labels=ids).loss)
    assert statistic("loglik", token_pass(provider, TEXT * 3)).raw[0] == pytest.approx(-loss, abs=1e-5)


def test_a_long_text_comes_in_blocks_and_loses_its_end(gpt2: Path) -> None:
    provider = TorchLogits(str(gpt2), max_tokens=512, device="cpu")
    assert provider.model.max_tokens == 100, "it has positions for no more"
    tokens = provider.tokens("the " * 300)
    assert [len(block) for block in provider.blocks(tokens)] == [64, 36]
    assert list(provider.blocks([])) == []


def test_its_record_names_weights_format_and_libraries(gpt2: Path) -> None:
    record, half = TorchLogits(str(gpt2), device="cpu").model, TorchLogits(str(gpt2), dtype="bfloat16").model
    assert (record.name, len(record.sha256), record.quantisation) == (str(gpt2), 64, "float32")
    assert record.runtime.startswith("torch 2")
    assert (half.sha256, half.quantisation) == (record.sha256, "bfloat16")


def test_a_classifier_names_its_labels_and_cuts_long_texts(roberta: Path) -> None:
    model = TorchClassifier(str(roberta), device="cpu")
    assert dict(model.labels) == {0: "Fake", 1: "Real"}
    assert model.model.max_tokens == 32, "two of RoBERTa's positions are never used"
    assert [len(model.logits(text)) for text in ("good", TEXT, "")] == [2, 2, 2]
    assert model.logits("the " * 500) == pytest.approx(model.logits("the " * 30), abs=1e-6)


def test_a_named_classifier_gives_the_margin_of_its_ai_label(roberta: Path) -> None:
    classifier: Classifier = NamedClassifier("openai_d", source=str(roberta), device="cpu")
    fake, real = classifier.logits(TEXT)
    found = classify(CLASSIFIERS["openai_d"], classifier, TEXT)
    assert found.score == pytest.approx(fake - real)
    assert classifier.identity.name == str(roberta)
    with pytest.raises(SettingsError, match="no classifier 'gptzero'"):
        NamedClassifier("gptzero")


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("openai_d", {0: "Fake", 1: "Real"}),
        ("openai_d_large", {0: "Fake", 1: "Real"}),
        ("chatgpt_d", {0: "Human", 1: "ChatGPT"}),
        ("ntnu_d", {0: "human-produced", 1: "machine-generated"}),
        ("radar_d", {0: "LABEL_0", 1: "LABEL_1"}),
        ("mage_d", {0: "machine-generated", 1: "human-written"}),
    ],
)
def test_each_of_the_six_takes_its_own_labels(torch: Any, tmp_path: Path, name: str, labels: dict[int, str]) -> None:
    save_roberta(torch, tmp_path, labels)
    classifier = NamedClassifier(name, source=str(tmp_path), device="cpu")
    logits = classifier.logits(TEXT)
    ai = CLASSIFIERS[name].ai_index
    assert classify(CLASSIFIERS[name], classifier, TEXT).score == pytest.approx(logits[ai] - logits[1 - ai])


def test_a_longformer_reads_as_far_as_it_has_positions(torch: Any, tmp_path: Path) -> None:
    from transformers import LongformerConfig, LongformerForSequenceClassification

    size = save_tokenizer(tmp_path, most=10_000, pair=True)
    config = LongformerConfig(
        vocab_size=size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=82, attention_window=8, type_vocab_size=1,
        bos_token_id=0, pad_token_id=1, eos_token_id=2,
    )  # fmt: skip
    LongformerForSequenceClassification(config).save_pretrained(tmp_path)
    model = TorchClassifier(str(tmp_path), max_tokens=4096, device="cpu")
    assert model.model.max_tokens == 80
    assert len(model.logits("the " * 500)) == 2


def test_a_classifier_whose_labels_are_the_wrong_way_round_is_refused(torch: Any, tmp_path: Path) -> None:
    save_roberta(torch, tmp_path, {0: "Real", 1: "Fake"})
    with pytest.raises(EvaluationError, match="wrong way"):
        NamedClassifier("openai_d", source=str(tmp_path), device="cpu")


def test_a_filler_fills_by_its_seed_and_leaves_torchs_own_state(torch: Any, t5: Path) -> None:
    model = TorchMaskFiller(str(t5), device="cpu")
    torch.manual_seed(9)
    before = torch.random.get_rng_state()
    masked = "the paper <extra_id_0> good and <extra_id_1> weak"
    runs = [model.fills(masked, 2, seed=seed) for seed in (5, 5, 6, 7, 8)]
    assert runs[0] == runs[1]
    assert all(len(run) <= 2 for run in runs)
    assert torch.equal(before, torch.random.get_rng_state())
    assert model.model.max_tokens == 600, "it has no bound but what it reads"
    filler: MaskFiller = NamedFiller(model)
    assert filler.identity.name == str(t5)
    made = asyncio.run(perturbed(TEXT, "0" * 64, filler, 1))
    assert len(made.copies) + made.dropped == 1


@pytest.mark.parametrize(
    ("reply", "count", "fills"),
    [
        ("<pad><extra_id_0> very good<extra_id_1> is<extra_id_2></s>", 2, ["very good", "is"]),
        ("<extra_id_0> a<extra_id_2> b", 3, ["a"]),
        ("nothing", 2, []),
        ("<extra_id_1> a<extra_id_0> b", 2, []),
    ],
)
def test_fills_are_read_in_order_up_to_the_first_that_is_missing(reply: str, count: int, fills: list[str]) -> None:
    assert filled(reply, count) == fills


def test_what_cannot_be_loaded_is_named(torch: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be loaded"):
        TorchLogits(str(tmp_path))
    with pytest.raises(SettingsError, match="number format 'int8'"):
        TorchLogits(str(tmp_path), dtype="int8")


def test_without_torch_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra) as missing:
        TorchLogits("gpt2")
    assert "pip install 'referee[detect]'" in str(missing.value)


@pytest.mark.slow
async def test_detectors_run_on_folders_and_are_opened_again_by_a_check(torch: Any, tmp_path: Path) -> None:
    for name, make in (("lm", save_gpt2), ("other", save_gpt2), ("t5", save_t5)):
        (tmp_path / name).mkdir()
        make(torch, tmp_path / name)
    (tmp_path / "radar").mkdir()
    save_roberta(torch, tmp_path / "radar", {0: "LABEL_0", 1: "LABEL_1"})
    rows = [
        {"review_id": f"r{n}", "paper_id": f"p{n}", "source": "human", "kind": "human", "year": 2021}
        | {"review": " ".join([*TEXT.split()[n:], *TEXT.split()[:n]])}
        for n in range(3)
    ]
    reviews = tmp_path / "reviews.jsonl"
    reviews.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    names = ("loglik", "binoculars", "fast_detect_gpt_sampled", "npr", "radar_d")
    lm, other = f"torch:{tmp_path / 'lm'}", f"torch:{tmp_path / 'other'}"
    given: dict[str, Any] = {
        "detectors": names,
        "lm": lm,
        "pair": f"{lm},{other}",
        "filler": str(tmp_path / "t5"),
        "classifiers": {"radar_d": str(tmp_path / "radar")},
    }
    plan = await estimate_detect_score(reviews, **given)
    assert all("FLOP" in part.runs for part in plan.metrics)
    done = await referee.detect_score(reviews, **given, options=RunOptions(out=tmp_path / "s"))
    assert {name: counts.scored for name, counts in done.counts.items() if name != "npr"} == {
        name: 3 for name in names if name != "npr"
    }
    assert "left gaps" in str(done.counts["npr"].without) or done.counts["npr"].scored, "the filler knows no English"
    referee.detect_calibrate(tmp_path / "s", out=tmp_path / "c.json", target_fpr=(0.1,))
    (tmp_path / "r.txt").write_text(f"{TEXT}.", encoding="utf-8")
    checked = await referee.detect_check(
        tmp_path / "r.txt", calibration=tmp_path / "c.json", options=RunOptions(out=tmp_path / "ck")
    )
    verdicts = {one.detector: one for one in checked.checked.verdicts}
    assert {"loglik", "radar_d", "binoculars", "fast_detect_gpt_sampled"} <= set(verdicts)
    assert all(one.score is not None and "do not hold" not in one.why for one in verdicts.values())
