from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from referee.errors import CollectionError, RunError, SettingsError
from referee.runs import Event
from referee.runs.lock import FolderLock
from tests.support.openreview_server import FakeOpenReview, PageFault

from .forums import PDF, V1, V2, collect, forum, on_disk

FORUMS = [forum(number) for number in range(5)]


@pytest.fixture(autouse=True)
def _anonymous(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENREVIEW_USERNAME", "OPENREVIEW_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


def pages(server: FakeOpenReview) -> list[str | None]:
    """After which forum each page of the first list was asked for."""
    return [one.query.get("after") for one in server.asked if one.query.get("invitation", "").endswith("-/Submission")]


@pytest.mark.parametrize(("venue", "api"), [(V2, 2), (V1, 1)])
async def test_every_note_is_kept_as_the_api_gave_it(tmp_path: Path, venue: str, api: int) -> None:
    forums = [forum(number, api=api) for number in range(5)]
    with FakeOpenReview(forums, page=2) as server:
        done = await collect(server, tmp_path / "c", venue=venue)

    assert on_disk(done) == forums
    assert done.collected.replies == {"reviews": 5, "rebuttals": 5, "comments": 5, "decisions": 5, "others": 5}
    assert not any(one.has_token for one in server.asked)
    assert json.loads((tmp_path / "c" / "run.json").read_text())["status"] == "finished"


async def test_real_notes_come_back_as_they_were(tmp_path: Path, shared_data: Path) -> None:
    forums = []
    for file in sorted((shared_data / "openreview_raw" / "api_v2_agents4science2025").glob("*.json")):
        notes = json.loads(file.read_text(encoding="utf-8"))["notes"]
        listed = ["Agents4Science/2025/Conference/-/Submission"]
        forums.append({"id": file.stem, "invitations": listed, "content": {}, "details": {"replies": notes}})
    with FakeOpenReview(forums, page=5) as server:
        done = await collect(server, tmp_path / "c", venue="agents4science-2025")

    assert on_disk(done) == forums
    assert done.collected.replies["reviews"] == sum(len(one["details"]["replies"]) for one in forums)


FAULTS = {
    "429, a header": PageFault("status", status=429, retry_after="0"),
    "429, a date": PageFault("status", status=429, retry_after="Wed, 01 Jan 2025 00:00:00 GMT"),
    "429, in words": PageFault("status", status=429, message="Please try again in 0 minutes and 0 seconds"),
    "503, twice": PageFault("status", calls=(0, 1), status=503),
    "broken JSON": PageFault("truncated", calls=(1,)),
    "cut in the middle": PageFault("cut", calls=(1,)),
    "no answer": PageFault("drop", calls=(1,)),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_what_goes_wrong_for_a_moment_changes_nothing(tmp_path: Path, fault: PageFault) -> None:
    told: list[Event] = []
    with FakeOpenReview(FORUMS, page=2, faults=[fault]) as server:
        done = await collect(server, tmp_path / "c", progress=told.append)

    assert on_disk(done) == FORUMS
    assert [event.kind for event in told].count("retry") == len(fault.calls)


LASTING = {
    "an error": (PageFault("status", (1, 2, 3), status=500), "status 500", 4),
    "gone network": (PageFault("drop", (1, 2, 3)), "no connection", 4),
    "a long wait": (PageFault("status", (1,), status=429, message="try again in 90 minutes"), "90 minutes", 2),
    "a web page": (PageFault("challenge", (1,)), "refused", 2),
    "no replies": (PageFault("bare", (1,)), "without their replies", 2),
}


@pytest.mark.parametrize(("fault", "words", "requests"), LASTING.values(), ids=LASTING)
async def test_what_lasts_ends_it_and_what_was_collected_is_kept(
    tmp_path: Path, fault: PageFault, words: str, requests: int
) -> None:
    with FakeOpenReview(FORUMS, page=2, faults=[fault]) as server:
        with pytest.raises(CollectionError, match=words) as failed:
            await collect(server, tmp_path / "c")
        assert len([one for one in server.asked if one.path == "/notes"]) == requests
        assert failed.value.hint
        assert failed.value.ids["run"] == str(tmp_path / "c")
        before = len(server.asked)

        done = await collect(server, tmp_path / "c", venue=None, resume=True)

    assert on_disk(done) == FORUMS
    assert server.asked[before].query["after"] == "forum001", "what is on disk is not asked for again"


async def test_silence_ends_in_time(tmp_path: Path) -> None:
    silent = FakeOpenReview(FORUMS, faults=[PageFault("silent")])
    with silent as server, pytest.raises(CollectionError, match="no answer came in time"):
        await collect(server, tmp_path / "c", timeout_s=0.05, max_tries=1)


@pytest.mark.parametrize("lost", [2, 100_000])
async def test_a_snapshot_cut_anywhere_is_made_whole(tmp_path: Path, lost: int) -> None:
    with FakeOpenReview(FORUMS, page=2) as server:
        whole = (await collect(server, tmp_path / "c")).notes
        content, notes = whole.read_bytes(), []
        os.truncate(whole, max(0, len(content) - lost))
        left = whole.read_bytes().count(b"\n")
        before = len(server.asked)
        done = await collect(server, tmp_path / "c", resume=True, progress=notes.append)

    assert done.notes.read_bytes() == content
    assert server.asked[before].query.get("after") == (f"forum{left - 1:03}" if left else None)
    assert any("is cut" in event.text for event in notes) == (lost < len(content))


async def test_damage_in_the_middle_is_read_again_with_what_follows(tmp_path: Path) -> None:
    with FakeOpenReview(FORUMS, page=2) as server:
        whole = (await collect(server, tmp_path / "c")).notes
        content = whole.read_bytes()
        whole.write_bytes(content.replace(b'"forum002"', b'"forum002', 1))
        done = await collect(server, tmp_path / "c", resume=True)

    assert done.notes.read_bytes() == content


async def test_a_lost_state_is_no_lost_forum(tmp_path: Path) -> None:
    with FakeOpenReview(FORUMS, page=2) as server:
        await collect(server, tmp_path / "c")
        (tmp_path / "c" / "collected.json").write_text("{", encoding="utf-8")
        done = await collect(server, tmp_path / "c", resume=True)

    assert on_disk(done) == FORUMS
    assert done.collected.forums == 5


async def test_a_whole_collection_asks_nothing(tmp_path: Path) -> None:
    with FakeOpenReview(FORUMS) as server:
        await collect(server, tmp_path / "c")
        before = len(server.asked)
        done = await collect(server, tmp_path / "c", resume=True)

    assert len(server.asked) == before
    assert done.collected.forums == 5


def edited(server: FakeOpenReview) -> None:
    server.forums["forum000"] = forum(0, tmdate=1800000000000)
    server.forums["forum003"] = forum(3, tmdate=1800000000000)


def cursor_gone(server: FakeOpenReview) -> None:
    del server.forums["forum001"]


async def test_a_note_edited_between_pages_is_there_once_as_it_was_when_read(tmp_path: Path) -> None:
    with FakeOpenReview(FORUMS, page=2, before={1: edited}) as server:
        done = await collect(server, tmp_path / "c")

    assert on_disk(done) == [*FORUMS[:3], forum(3, tmdate=1800000000000), FORUMS[4]]


async def test_the_list_goes_on_when_the_forum_it_stands_at_is_deleted(tmp_path: Path) -> None:
    with FakeOpenReview(FORUMS, page=2, faults=[PageFault("status", (1, 2, 3))]) as server:
        with pytest.raises(CollectionError):
            await collect(server, tmp_path / "c")
        cursor_gone(server)
        done = await collect(server, tmp_path / "c", resume=True)

    assert on_disk(done) == FORUMS


async def test_the_second_list_too_loses_nothing_when_its_place_is_deleted(tmp_path: Path) -> None:
    withdrawn = [forum(n) | {"invitations": ["ICLR.cc/2025/Conference/-/Withdrawn_Submission"]} for n in range(10, 14)]

    def gone(server: FakeOpenReview) -> None:
        del server.forums["forum011"]

    with FakeOpenReview([*FORUMS[:1], *withdrawn], page=2, before={3: gone}) as server:
        done = await collect(server, tmp_path / "c")

    assert on_disk(done) == [*FORUMS[:1], *withdrawn]


async def test_a_list_that_is_refused_is_no_list_that_is_not_there(tmp_path: Path) -> None:
    refused = PageFault("status", calls=(2,), status=400, message="Invalid sort")
    with FakeOpenReview(FORUMS[:1], faults=[refused]) as server, pytest.raises(CollectionError, match="Invalid sort"):
        await collect(server, tmp_path / "c")


@pytest.mark.parametrize(("files", "stopped"), [(4, False), (30, True)])
async def test_a_file_that_is_private_has_a_reason_and_files_that_all_are_end_it(
    tmp_path: Path, files: int, stopped: bool
) -> None:
    forums = [forum(number, api=1) for number in range(files)]
    forbidden = PageFault("status", calls=(), path="/attachment", status=403, message="not a reader of it")
    with FakeOpenReview(forums, faults=[forbidden]) as server:
        if stopped:
            with pytest.raises(CollectionError, match="not a reader of it"):
                await collect(server, tmp_path / "c", venue=V1, kinds=("pdf",))
            state = json.loads((tmp_path / "c" / "collected.json").read_text(encoding="utf-8"))
            assert state["no_pdf"] == {}, "an account may get them"
            return
        done = await collect(server, tmp_path / "c", venue=V1, kinds=("pdf",))

    assert len(done.collected.no_pdf) == files
    assert "not a reader of it" in done.collected.no_pdf["forum000"]


async def test_deleted_submissions_are_left_out_and_named(tmp_path: Path) -> None:
    gone = forum(1, ddate=1700000000001) | {"details": {}}
    with FakeOpenReview([FORUMS[0], gone]) as server:
        done = await collect(server, tmp_path / "c")

    assert on_disk(done) == FORUMS[:1]
    assert done.collected.deleted == ("forum001",)


async def test_a_forum_on_two_lists_is_taken_once(tmp_path: Path) -> None:
    both = forum(1)
    both["invitations"].append("ICLR.cc/2025/Conference/-/Withdrawn_Submission")
    with FakeOpenReview([FORUMS[0], both]) as server:
        done = await collect(server, tmp_path / "c")

    assert on_disk(done) == [FORUMS[0], both]


async def test_only_the_kinds_asked_for_are_kept_beside_reviews(tmp_path: Path) -> None:
    with FakeOpenReview(FORUMS[:1]) as server:
        done = await collect(server, tmp_path / "c", kinds=("rebuttals",))

    kept = [note["id"] for note in on_disk(done)[0]["details"]["replies"]]
    assert kept == ["forum000-review", "forum000-answer", "forum000-withdrawal"]


async def test_nothing_listed_is_an_error_and_no_empty_set(tmp_path: Path) -> None:
    with FakeOpenReview([]) as server, pytest.raises(CollectionError, match="was not found"):
        await collect(server, tmp_path / "c")


@pytest.mark.parametrize(("venue", "api", "requests"), [(V2, 2, 2 + 3), (V1, 1, 50)])
async def test_pdfs_come_fifty_at_once_where_the_api_can(tmp_path: Path, venue: str, api: int, requests: int) -> None:
    forums = [forum(number, api=api) for number in range(52)]
    forums[0]["content"]["pdf"] = {"value": "https://arxiv.org/pdf/1"} if api == 2 else "https://arxiv.org/pdf/1"
    del forums[1]["content"]["pdf"]
    files = {one["id"]: PDF + one["id"].encode() for one in forums[2:]}
    files["forum002"] = b"<html>no PDF</html>"
    del files["forum003"]
    if api == 2:
        forums += [forum(number) for number in (60, 61)]
        files |= {"forum060": PDF, "forum061": PDF}
    with FakeOpenReview(forums, pdfs=files) as server:
        done = await collect(server, tmp_path / "c", venue=venue, kinds=("pdf",))
        asked = [one for one in server.asked if one.path == "/attachment"]
        again = await collect(server, tmp_path / "c", resume=True, venue=venue)

    wanted = {name: content for name, content in files.items() if name != "forum002"}
    assert {file.stem: file.read_bytes() for file in (tmp_path / "c" / "papers").iterdir()} == wanted
    assert done.collected.pdfs == len(wanted)
    assert sorted(done.collected.no_pdf) == ["forum000", "forum001", "forum002", "forum003"]
    assert len(asked) == (3 if api == 2 else requests)
    assert again.collected == done.collected
    assert [one for one in server.asked if one.path == "/attachment"] == asked, (
        "what has no file is not asked for again"
    )


async def test_a_full_disk_keeps_whole_forums_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages, sync = [], os.fsync

    def full(handle: int) -> None:
        sync(handle)
        if Path(f"/proc/self/fd/{handle}").readlink().suffix == ".jsonl":
            pages.append(handle)
            if len(pages) == 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with FakeOpenReview(FORUMS, page=2) as server:
        with pytest.raises(CollectionError, match=r"No space left on device in .*iclr-2025\.jsonl") as failed:
            await collect(server, tmp_path / "c")
        assert "Make room" in failed.value.hint
        assert (tmp_path / "c" / f"{V2}.jsonl").read_bytes().count(b"\n") == 2
        done = await collect(server, tmp_path / "c", resume=True)

    assert on_disk(done) == FORUMS


async def test_a_folder_takes_one_collector(tmp_path: Path) -> None:
    with FakeOpenReview(FORUMS) as server:
        await collect(server, tmp_path / "c")
        lock = FolderLock(tmp_path / "c")
        lock.acquire()
        with pytest.raises(RunError, match="in use by another process"):
            await collect(server, tmp_path / "c", resume=True)
        lock.release()


@pytest.mark.parametrize("api", [1, 2])
async def test_an_account_logs_in_once_and_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: int
) -> None:
    monkeypatch.setenv("OPENREVIEW_USERNAME", "somebody@example.org")
    monkeypatch.setenv("OPENREVIEW_PASSWORD", "a-password")
    told: list[Event] = []
    forums = [forum(number, api=api) for number in range(2)]
    busy = PageFault("status", path="/login", status=429, retry_after="0")
    with FakeOpenReview(forums, private=True, faults=[busy]) as server:
        await collect(server, tmp_path / "c", venue=V2 if api == 2 else V1, progress=told.append)

    assert next(one.has_token for one in server.asked if one.path == "/notes")
    assert [one.path for one in server.asked].count("/login") == 2
    written = b"".join(file.read_bytes() for file in (tmp_path / "c").rglob("*") if file.is_file())
    assert not any(secret in written for secret in (b"a-password", b"somebody", server.TOKEN.encode()))
    assert "a-password" not in repr(told)


REFUSED: dict[str, tuple[dict[str, str], type[Exception], str]] = {
    "wrong password": (
        {"USERNAME": "me", "PASSWORD": "hunter2hunter2"},
        CollectionError,
        "Invalid username or password",
    ),
    "half a log-in": ({"USERNAME": "me"}, SettingsError, "only one of"),
    "anonymous": ({}, CollectionError, "Please log in"),
}


@pytest.mark.parametrize(("account", "kind", "words"), REFUSED.values(), ids=REFUSED)
async def test_a_refusal_names_the_variables_and_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, account: dict[str, str], kind: type[Exception], words: str
) -> None:
    for name, value in account.items():
        monkeypatch.setenv(f"OPENREVIEW_{name}", value)
    with FakeOpenReview(FORUMS, private=True) as server, pytest.raises(kind, match=words) as refused:
        await collect(server, tmp_path / "c")

    assert "OPENREVIEW_USERNAME" in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "address", ["https://mirror.example", "http://api2.openreview.net", "https://x-openreview.net"]
)
async def test_an_account_is_not_sent_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("OPENREVIEW_USERNAME", "somebody@example.org")
    monkeypatch.setenv("OPENREVIEW_PASSWORD", "a-password")
    with FakeOpenReview(FORUMS) as server, pytest.raises(SettingsError, match=r"not sent to .*not OpenReview's own"):
        await collect(server, tmp_path / "c", api_v1=address)

    assert server.asked == []
