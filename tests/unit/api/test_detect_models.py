"""How models of detectors are named, opened again, and said before they are downloaded."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.api.detection.opening import named_models
from referee.api.detection.torch_services import Source, here_or_fetched, source_again, source_of
from referee.errors import DataError, MissingExtra, SettingsError
from referee.llm.torch_models import is_offline
from referee.runs import Event


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("smollm2-135m", Source("smollm2-135m")),
        ("torch:gpt2-medium", Source("gpt2-medium", True, "bfloat16")),
        (" torch:tiiuae/falcon-7b ", Source("tiiuae/falcon-7b", True, "bfloat16")),
        ("torch:./models/gpt2", Source("./models/gpt2", True, "bfloat16")),
    ],
)
def test_models_are_named_by_a_key_a_folder_or_an_id(text: str, source: Source) -> None:
    assert source_of(text, "bfloat16") == source
    record = {"name": source.name, "runtime": "torch 2.13" if source.is_torch else "xllamacpp", "sha256": "a" * 64}
    assert source_again({**record, "quantisation": "bfloat16" if source.is_torch else "q4_1"}) == source


def test_fillers_and_classifiers_need_no_mark_and_the_number_format_is_for_all_of_torch() -> None:
    given = named_models(pair="torch:a/b, torch:a/c", filler="t5-large", classifiers={"radar_d": "r"}, dtype="float16")
    assert given.pair == (Source("a/b", True, "float16"), Source("a/c", True, "float16"))
    assert given.filler == Source("t5-large", True, "float16")
    assert given.classifiers == {"radar_d": Source("r", True, "float16")}
    assert given.lm == Source("smollm2-135m")


@pytest.mark.parametrize("text", ["", "torch:", " torch: "])
def test_an_empty_name_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="names no model"):
        source_of(text)


def test_an_id_is_opened_again_at_its_commit() -> None:
    record = {"name": "gpt2", "runtime": "torch 2.13, cpu", "sha256": "b" * 40, "quantisation": "float32"}
    assert source_again(record) == Source("gpt2", True, "float32", "b" * 40)


class Hub:
    """Opens a model that has to be downloaded, and remembers how it was asked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[bool] = []
        self.error = error or DataError("it is not here.")

    def __call__(self, download: bool) -> str:
        self.asked.append(download)
        if not download:
            raise self.error
        return "opened"


async def test_size_place_and_licence_are_said_before_the_download(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"model.safetensors": 1_500_000_000, "pytorch_model.bin": 1_600_000_000, "tokenizer.json": 2_000_000}
    files = [SimpleNamespace(rfilename=name, size=size) for name, size in sizes.items()]
    monkeypatch.setattr("huggingface_hub.model_info", lambda name, **how: SimpleNamespace(siblings=files))
    said: list[Event] = []
    hub = Hub()
    source = Source("TrustSafeAI/RADAR-Vicuna-7B", True)
    assert await here_or_fetched(hub, source, said.append, download=True, licence="not for commercial use") == "opened"
    assert hub.asked == [False, True]
    assert [event.kind for event in said] == ["note"]
    assert "TrustSafeAI/RADAR-Vicuna-7B from huggingface.co, 1,500 MB, to " in said[0].text
    assert "; licence: not for commercial use" in said[0].text


async def test_a_hub_that_does_not_answer_keeps_nothing_from_being_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(name: str, **how: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.model_info", silent)
    said: list[Event] = []
    assert await here_or_fetched(Hub(), Source("gpt2", True), said.append, download=True) == "opened"
    assert "of a size that could not be asked for (OSError)" in said[0].text


async def test_what_may_not_or_cannot_be_downloaded_is_not_tried(tmp_path: Path) -> None:
    said: list[Event] = []
    for source, download, error in (
        (Source("gpt2", True), False, None),
        (Source(str(tmp_path), True), True, None),
        (Source("gpt2", True), True, MissingExtra("torch is not installed.")),
    ):
        hub = Hub(error)
        with pytest.raises((DataError, MissingExtra)):
            await here_or_fetched(hub, source, said.append, download=download)
        assert hub.asked == [False]
    assert said == []


@pytest.mark.parametrize(("value", "offline"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_the_libraries_own_switch_forbids_downloads(monkeypatch: pytest.MonkeyPatch, value: str, offline: bool) -> None:
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert is_offline() is offline
