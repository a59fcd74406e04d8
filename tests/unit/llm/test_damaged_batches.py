"""Results of batches that are damaged, without end, or elsewhere: what they cost in calls, bytes and time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ModelRefused, ModelUnavailable
from referee.llm.batches import protocol
from referee.llm.batches.protocol import parsed_lines
from referee.llm.door import Answer
from referee.runs import Event
from tests.support import BatchPlan, FakeServer
from tests.unit.web.page_server import serving

from .shared import GOOD
from .test_batches import THREE, ask_all, batched, tasks, values

Spoil = Callable[[Any, int, list[bytes]], bytes]


def deep(line: bytes) -> bytes:
    return line.rstrip()[:-1] + b', "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"


def less_deep(line: bytes) -> bytes:
    """As deep as the parser takes and nobody else does."""
    return line.rstrip()[:-1] + b', "x": ' + b"[" * 500 + b"]" * 500 + b"}\n"


LINES: dict[str, Callable[[bytes], bytes]] = {
    "deep": deep,
    "less deep": less_deep,
    "a byte that is not UTF-8": lambda line: line.rstrip()[:-1] + b', "x": "\xff"}\n',
    "thousands of digits": lambda line: line.rstrip()[:-1] + b', "x": ' + b"1" * 5_000 + b"}\n",
    "a constant": lambda line: line.rstrip()[:-1] + b', "x": NaN}\n',
    "too long": lambda line: line.rstrip()[:-1] + b" " * 70_000 + b"}\n",
    "cut": lambda line: line[: len(line) // 2] + b"\n",
    "no object": lambda line: b"[" + line.rstrip() + b"]\n",
    "gone": lambda line: b"",
}


@pytest.mark.parametrize("provider", THREE)
@pytest.mark.parametrize("spoil", LINES.values(), ids=LINES)
async def test_a_bad_line_costs_one_call(
    provider: str, spoil: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "_LONGEST_LINE", 60_000)
    events: list[Event] = []

    def spoilt(batch: Any, read: int, lines: list[bytes]) -> bytes:
        first = batch.id.endswith("000001")
        return b"".join([*lines[:2], spoil(lines[2]) if first else lines[2], *lines[3:]] if len(lines) > 2 else lines)

    with FakeServer({"*": GOOD}, batches=BatchPlan(spoil=spoilt)) as server:
        async with batched(provider, server, tmp_path, events=events) as door:
            assert values(await ask_all(door, tasks(5))) == [GOOD] * 5
    assert [len(batch.calls) for batch in server.batches] == [5, 1]
    assert server.batches[0].read == 3
    assert any("stay damaged: 1 of its calls" in event.text for event in events)


FILES: dict[str, bytes] = {"a page": b"<html>Bad gateway</html>", "nothing": b"", "bytes": b"\xff\xfe\x00" * 1_000}


@pytest.mark.parametrize("provider", THREE)
@pytest.mark.parametrize("body", FILES.values(), ids=FILES)
async def test_a_damaged_file_is_read_again_before_anything_is_paid_again(
    provider: str, body: bytes, tmp_path: Path
) -> None:
    def spoilt(batch: Any, read: int, lines: list[bytes]) -> bytes:
        return body if read < 2 else b"".join(lines)

    with FakeServer({"*": GOOD}, batches=BatchPlan(spoil=spoilt)) as server:
        async with batched(provider, server, tmp_path) as door:
            assert values(await ask_all(door, tasks(3))) == [GOOD] * 3
    assert [len(batch.calls) for batch in server.batches] == [3]
    assert server.batches[0].read == 3


@pytest.mark.parametrize("provider", THREE)
async def test_a_file_that_stays_damaged_is_paid_twice_and_no_more(provider: str, tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan(spoil=lambda *_: FILES["a page"])) as server:
        async with batched(provider, server, tmp_path) as door:
            answers = await ask_all(door, tasks(2))
    assert all(isinstance(answer, ModelUnavailable) for answer in answers)
    assert [len(batch.calls) for batch in server.batches] == [2, 2]


async def test_a_batch_that_names_no_file_is_looked_at_again(tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan(endings=["no file"])) as server:
        async with batched("openai", server, tmp_path) as door:
            assert values(await ask_all(door, tasks(2))) == [GOOD] * 2
    assert [len(batch.calls) for batch in server.batches] == [2, 2]
    assert server.batches[0].looked_at == 3


@pytest.mark.parametrize("provider", THREE)
async def test_results_have_a_limit_in_bytes_and_what_came_before_it_counts(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "_MORE_BYTES", 100_000)
    monkeypatch.setattr(protocol, "_LONGEST_LINE", 50_000)
    sizes: list[int] = []
    real = protocol.parsed_lines

    def measured(path: Path, key: str) -> Any:
        sizes.append(path.stat().st_size if path.exists() else 0)
        return real(path, key)

    monkeypatch.setattr(protocol, "parsed_lines", measured)

    def endless(batch: Any, read: int, lines: list[bytes]) -> bytes:
        return b"".join(lines) + (b"x" * 10_000_000 if batch.id.endswith("000001") else b"")

    with FakeServer({"*": GOOD}, batches=BatchPlan(spoil=endless)) as server:
        async with batched(provider, server, tmp_path) as door:
            answers = await ask_all(door, tasks(3))
    assert all(isinstance(answer, Answer | ModelUnavailable) for answer in answers)
    assert max(sizes) <= 100_000 + 3 * 50_000
    assert sum(server.submitted.values()) <= 6


async def test_results_are_not_fetched_from_another_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that sends on to another host gets neither its key there nor an answer."""
    from tests.support.batches import BatchDesk
    from tests.support.http1 import HttpResponse

    with serving() as elsewhere:
        address = elsewhere.url("/results")
        monkeypatch.setattr(BatchDesk, "_content", lambda self, name: HttpResponse(302, b"", {"location": address}))
        with FakeServer({"*": GOOD}, batches=BatchPlan(), expected_key="k") as server:
            async with batched("openai", server, tmp_path) as door:
                answers = await ask_all(door, tasks(1))
        assert all(isinstance(answer, ModelRefused) and "another host" in str(answer) for answer in answers)
        assert len(server.batches) == 1
        assert elsewhere.seen == []


def test_lines_are_read_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_LONGEST_LINE", 100)
    file = tmp_path / "results"
    sound = [json.dumps({"custom_id": name}).encode() for name in "abc"]
    file.write_bytes(b"\n".join([sound[0], b"x" * 1_000, sound[1], b'{"custom_id": 7}', b"", sound[2]]))
    assert [line["custom_id"] for line in parsed_lines(file, "custom_id") if line] == ["a", "b", "c"]
    assert list(parsed_lines(tmp_path / "none", "custom_id")) == []
