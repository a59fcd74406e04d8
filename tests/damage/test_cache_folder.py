"""A cache folder that is full, read-only, a file, or nowhere: it is said, and where it can, the run goes on."""

from __future__ import annotations

import asyncio
import pwd
import tempfile
from pathlib import Path

import pytest

from referee.errors import DataError, SettingsError
from referee.llm import sources
from referee.llm.catalogue import cache_root, model_status
from referee.llm.fetch import fetch_model
from tests.cli.command import Referee
from tests.cli.refusals import assert_finished
from tests.support import FakeServer
from tests.unit.llm.test_fetch import BODY, Site, pinned, site, use

from .damaged_runs import AUDITED, SECTIONS, SINGLE, asked, assert_refused_with, digests, resumed
from .small_disk import Disk

__all__ = ["site"]


def cached(paper: Path, server: FakeServer, strategy: tuple[str, ...], *more: object) -> tuple[object, ...]:
    """The arguments of a review that uses the cache of replies."""
    return tuple(word for word in asked(paper, server, *more, strategy=strategy) if word != "--no-cache")


def test_a_full_disk_under_the_cache_of_replies_is_said_and_the_run_goes_on(
    referee: Referee, paper: Path, server: FakeServer, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(disk.path))
    disk.fill()
    done = referee(*cached(paper, server, SINGLE, "--out", "run"))
    assert done.code == 0, done.err
    assert_finished(Path("run"))
    assert done.err.count("No space left on device") == 1
    assert f"the reply cache {disk.path / 'replies'} cannot be written" in done.err
    assert "this run goes on without it" in done.err
    disk.clear()
    assert not list(disk.path.rglob("*.part"))
    assert referee(*cached(paper, server, SINGLE, "--out", "second")).code == 0
    assert referee(*cached(paper, server, SINGLE, "--out", "third")).code == 0
    assert len(digests(server)) == 2, "the third run takes the reply of the second"


@pytest.mark.parametrize("leaving", [0, 128 * 1024])
def test_a_full_disk_under_the_index_ends_the_run_which_can_be_resumed(
    referee: Referee, paper: Path, narrow_server: FakeServer, disk: Disk, monkeypatch: pytest.MonkeyPatch, leaving: int
) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(disk.path))
    disk.fill(leaving)
    arguments = asked(paper, narrow_server, strategy=SECTIONS)
    done = referee(*arguments, "--out", "run")
    assert_refused_with(done, f"'{disk.path / 'chroma'}/", "Make room there", "REFEREE_CACHE_DIR", "--resume run")
    paid = digests(narrow_server)
    disk.clear()
    done = resumed(referee, arguments, Path("run"))
    assert done.code == 0, done.err
    assert_finished(Path("run"))
    assert not set(digests(narrow_server)[len(paid) :]) & set(paid)


def taking_nothing(kind: str, disk: Disk) -> tuple[Path, str]:
    """A cache folder that nothing can be written to, and why."""
    if kind == "a file":
        cache = Path("cache").absolute()
        cache.write_text("no folder")
        return cache, "Not a directory"
    disk.read_only()
    return disk.path / "cache", "Read-only file system"


@pytest.mark.parametrize("kind", ["read-only", "a file"])
def test_a_cache_folder_that_takes_nothing_is_said_and_the_run_goes_on(
    referee: Referee, paper: Path, server: FakeServer, disk: Disk, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    cache, cause = taking_nothing(kind, disk)
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(cache))
    done = referee(*cached(paper, server, AUDITED, "--out", "run"))
    assert done.code == 0, done.err
    assert_finished(Path("run"))
    assert done.err.count(f"the reply cache {cache / 'replies'} cannot be written ({cause})") == 1
    assert "index folder" not in done.err, "a paper that is read whole needs none"


@pytest.mark.parametrize("kind", ["read-only", "a file"])
def test_a_cache_folder_that_takes_no_index_is_said_and_the_run_goes_on(
    referee: Referee, paper: Path, narrow_server: FakeServer, disk: Disk, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    cache, cause = taking_nothing(kind, disk)
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(cache))
    mine = Path("temporary").absolute()
    mine.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(mine))
    done = referee(*cached(paper, narrow_server, SECTIONS, "--out", "run"))
    assert done.code == 0, done.err
    assert_finished(Path("run"))
    assert f"the index folder {cache / 'chroma'}/" in done.err
    assert f"cannot be written ({cause}); this run's index" in done.err
    assert f"the reply cache {cache / 'replies'} cannot be written ({cause})" in done.err
    assert list(mine.glob("referee-index-*")) == [], "the index for now is removed"


def test_a_run_folder_in_a_read_only_place(referee: Referee, paper: Path, server: FakeServer, disk: Disk) -> None:
    disk.read_only()
    done = referee(*asked(paper, server, "--out", disk.path / "run"))
    assert_refused_with(done, f"{str(disk.path / 'run')!r}", "Read-only file system", "--out")
    assert "Estimate" not in done.err, "refused before anything is shown or asked"
    assert digests(server) == []


def test_a_finished_run_in_a_read_only_place_cannot_be_resumed_and_stays(
    referee: Referee, paper: Path, server: FakeServer, disk: Disk
) -> None:
    arguments, run = asked(paper, server), disk.path / "run"
    assert referee(*arguments, "--out", run).code == 0
    disk.read_only()
    assert_refused_with(referee(*arguments, "--resume", run), "Read-only file system", str(run))
    assert_finished(run)
    assert len(digests(server)) == 1
    assert referee("show", run).code == 0, "reading needs no right to write"


def test_a_model_without_room(site: Site, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, pinned(site.url))
    with pytest.raises(DataError, match="not enough disk space") as caught:
        asyncio.run(fetch_model("tiny", cache_dir=disk.path))
    assert str(disk.path) in caught.value.message
    assert "REFEREE_CACHE_DIR" in caught.value.hint
    assert site.asked == [], "seen before a byte was asked for"


def test_room_that_ends_during_a_fetch_and_a_second_fetch(
    site: Site, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pinned(site.url))
    monkeypatch.setattr(sources, "_SLACK_BYTES", -(1 << 30))  # another program takes the room after it was looked for
    disk.fill(leaving=1 << 20)
    with pytest.raises(DataError, match=r"cannot be stored in .*No space left on device") as caught:
        asyncio.run(fetch_model("tiny", cache_dir=disk.path))
    assert "Free some space or set REFEREE_CACHE_DIR" in caught.value.hint
    assert model_status("tiny", disk.path).state != "present"
    disk.clear()
    path = asyncio.run(fetch_model("tiny", cache_dir=disk.path))
    assert path.read_bytes() == BODY


def test_a_home_that_nothing_names(monkeypatch: pytest.MonkeyPatch, workplace: Path) -> None:
    def nobody(_: int) -> pwd.struct_passwd:
        raise KeyError("uid not found")

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HOME", "XDG_CACHE_HOME", "REFEREE_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsError, match="HOME is not set") as caught:
        cache_root()
    assert "REFEREE_CACHE_DIR" in caught.value.hint
    monkeypatch.setenv("REFEREE_CACHE_DIR", "~/cache")
    with pytest.raises(SettingsError, match="'~/cache'"):
        cache_root()
    monkeypatch.setenv("REFEREE_CACHE_DIR", "/somewhere")
    assert cache_root() == Path("/somewhere")
