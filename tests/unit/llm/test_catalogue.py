from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.errors import SettingsError
from referee.llm import catalogue as module
from referee.llm.catalogue import (
    CACHE_VARIABLE,
    CatalogueEntry,
    ModelFile,
    catalogue,
    chat_model_key,
    embedder_key,
    model_path,
    model_status,
    models_dir,
    remove_model,
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> CatalogueEntry:
    files = tuple(ModelFile(name, 3, "0" * 64, "http://127.0.0.1/x", ()) for name in ("a.bin", "b.bin"))
    entry = CatalogueEntry("tiny", "Tiny", "chat", "MIT", "nobody", 8, "a test", files)
    monkeypatch.setattr(module, "catalogue", lambda: {"tiny": entry})
    return entry


def put(folder: Path, *, record: bool, sha256: str = "0" * 64) -> None:
    folder.mkdir(parents=True)
    known = {}
    for name in ("a.bin", "b.bin"):
        (folder / name).write_bytes(b"abc")
        known[name] = {"sha256": sha256, "mtime_ns": (folder / name).stat().st_mtime_ns}
    if record:
        (folder / "verified.json").write_text(json.dumps(known))


def test_every_file_is_pinned_and_licensed() -> None:
    for entry in catalogue().values():
        assert entry.licence == "Apache-2.0"
        for file in entry.files:
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
            assert file.size > 0
            assert re.search(r"/resolve/[0-9a-f]{40}/", file.url), "an address without a revision can change"
            assert file.parts
            assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", part.package) for part in file.parts)


def test_catalogue_names_packages_not_registries() -> None:
    text = Path(module.__file__).with_name("catalogue.toml").read_text("utf-8")
    assert {address.split("/")[2] for address in re.findall(r"https?://[^\"]+", text)} == {"huggingface.co"}


@pytest.mark.parametrize("name", ["local", "qwen-1.5b", "local:qwen-1.5b"])
def test_chat_model_names(name: str) -> None:
    assert chat_model_key(name) == "qwen-1.5b"


def test_default_embedder() -> None:
    assert embedder_key() == embedder_key("local:minilm") == "minilm"


def test_a_scorer_cannot_chat() -> None:
    with pytest.raises(SettingsError, match="'smollm2-135m' is no chat model") as caught:
        chat_model_key("local:smollm2-135m")
    assert "qwen-0.5b, qwen-1.5b" in caught.value.hint


@pytest.mark.parametrize("ask", [model_path, model_status, remove_model])
def test_unknown_key_lists_the_known_ones(ask: object) -> None:
    with pytest.raises(SettingsError, match="no embedded model 'gpt'") as caught:
        ask("gpt")  # type: ignore[operator]
    assert "minilm" in caught.value.hint


def test_folder_comes_from_argument_then_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "set"))
    assert models_dir() == tmp_path / "set" / "models"
    assert models_dir(tmp_path) == tmp_path / "models"
    monkeypatch.setenv(CACHE_VARIABLE, " ")
    assert models_dir().parent.name == "referee"


def test_present_only_with_a_record_of_these_bytes(tiny: CatalogueEntry, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "tiny"
    put(folder, record=True)
    assert model_path("tiny", tmp_path) == folder
    assert model_status("tiny", tmp_path).state == "present"
    (folder / "b.bin").write_bytes(b"abcd")
    assert model_path("tiny", tmp_path) is None
    assert model_status("tiny", tmp_path).state == "partial"


@pytest.mark.parametrize("sha256", ["1" * 64, None])
def test_right_size_without_the_pinned_hash_is_unverified(
    tiny: CatalogueEntry, tmp_path: Path, sha256: str | None
) -> None:
    put(tmp_path / "models" / "tiny", record=sha256 is not None, sha256=sha256 or "")
    status = model_status("tiny", tmp_path)
    assert (status.state, status.path, status.bytes_here) == ("unverified", None, 6)


def test_a_broken_record_counts_as_none(tiny: CatalogueEntry, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "tiny"
    put(folder, record=True)
    (folder / "verified.json").write_text("[")
    assert model_path("tiny", tmp_path) is None


def test_one_file_gives_the_file(monkeypatch: pytest.MonkeyPatch, tiny: CatalogueEntry, tmp_path: Path) -> None:
    entry = CatalogueEntry("tiny", "Tiny", "chat", "MIT", "nobody", 8, "a test", tiny.files[:1])
    monkeypatch.setattr(module, "catalogue", lambda: {"tiny": entry})
    put(tmp_path / "models" / "tiny", record=True)
    assert model_path("tiny", tmp_path) == tmp_path / "models" / "tiny" / "a.bin"


def test_remove_frees_everything_and_may_be_repeated(tiny: CatalogueEntry, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "tiny"
    put(folder, record=True)
    (folder / "a.bin.part").write_bytes(b"12345")
    assert remove_model("tiny", tmp_path) == 11
    assert not folder.exists()
    assert remove_model("tiny", tmp_path) == 0
    assert model_status("tiny", tmp_path).state == "absent"
