"""Processes that are killed while they hold a lock do not block the next one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.llm.fetch import fetch_model
from referee.retrieval.store import VectorStore
from referee.runs.lock import FolderLock
from tests.cli.processes import PATIENCE_S
from tests.unit.llm.test_fetch import BODY, Site, pinned, site, use

__all__ = ["site"]

HOLDERS = {
    "a run folder": "from referee.runs.lock import FolderLock; lock = FolderLock(path); lock.acquire()",
    "an index": "import asyncio; from referee.retrieval.store import VectorStore; "
    "lock = VectorStore('x', path).only_writer(); asyncio.new_event_loop().run_until_complete(lock.__aenter__())",
    "a fetch": "import fcntl; lock = (path / '.lock').open('w'); fcntl.flock(lock, fcntl.LOCK_EX)",
}
HOLD = """
import sys, time
from pathlib import Path
path = Path(sys.argv[1])
{}
print("held", flush=True)
time.sleep(600)
"""


@contextmanager
def holder(path: Path, what: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a lock until it is killed."""
    code = HOLD.format(HOLDERS[what])
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], env={"PYTHONPATH": root}, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_run_folder(tmp_path: Path) -> None:
    with holder(tmp_path, "a run folder"), pytest.raises(Exception, match="in use by another process"):
        FolderLock(tmp_path).acquire()
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


async def test_an_index(tmp_path: Path) -> None:
    with holder(tmp_path, "an index"):
        waiting = asyncio.create_task(_written(tmp_path, "x"))
        assert await asyncio.wait_for(_written(tmp_path, "another paper"), PATIENCE_S)
        await asyncio.sleep(0.2)
        assert not waiting.done(), "it waits for as long as the holder lives"
    assert await asyncio.wait_for(waiting, PATIENCE_S)


async def _written(cache: Path, paper_id: str) -> bool:
    async with VectorStore(paper_id, cache).only_writer():
        return True


async def test_a_fetch(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned(site.url))
    folder = tmp_path / "models" / "tiny"
    folder.mkdir(parents=True)
    (folder / "model.bin.part").write_bytes(BODY[:1000])
    waits = asyncio.Event()

    def heard(text: str, done: int, total: int) -> None:
        if "waiting for another process" in text:
            waits.set()

    with holder(folder, "a fetch"):
        fetching = asyncio.create_task(fetch_model("tiny", cache_dir=tmp_path, progress=heard))
        await asyncio.wait_for(waits.wait(), PATIENCE_S)
        assert not fetching.done()
    path = await asyncio.wait_for(fetching, PATIENCE_S)
    assert path.read_bytes() == BODY
    assert site.asked == ["bytes=1000-"], "it goes on where the killed one stopped"
