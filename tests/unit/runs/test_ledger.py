import asyncio
import errno
import threading
from pathlib import Path

import pytest

from referee.runs import Ledger
from referee.runs.lines import JsonLines
from referee.schemas.run import CallRecord
from referee.schemas.usage import Usage
from tests.held import PATIENCE_S, happened


def call(
    request: str, reply: str | None = "{}", *, base: str = "", role: str = "writer", tokens: int = 5
) -> CallRecord:
    return CallRecord(
        call_id="c1",
        request=request,
        base=base or request,
        role=role,
        prompt="review/single@v1",
        prompt_digest="d",
        model="m",
        status="failed" if reply is None else "answered",
        usage=Usage(calls=1, input_tokens=tokens, cost_usd=0.5),
        reply=reply,
    )


def test_replies_survive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    Ledger(path).append(call("a", '{"x": "ü\u2028"}'))
    again = Ledger(path)
    found = again.reply("a")
    assert found is not None
    assert found.reply == '{"x": "ü\u2028"}'
    assert again.reply("b") is None


def test_usage_adds_up_per_role() -> None:
    ledger = Ledger()
    ledger.append(call("a", tokens=5))
    ledger.append(call("b", tokens=7, role="judge"))
    assert ledger.usage().input_tokens == 12
    assert ledger.usage().cost_usd == 1.0
    assert ledger.usage_by_role()["judge"].input_tokens == 7


def test_a_question_that_was_given_up_is_asked_anew(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "trace.jsonl")
    ledger.append(call("base", "nonsense"))
    ledger.append(call("repair", "nonsense", base="base"))
    ledger.append(call("other"))
    assert ledger.reply("repair")
    ledger.append(call("base", None))
    for opened in (ledger, Ledger(tmp_path / "trace.jsonl")):
        assert opened.reply("base") is None
        assert opened.reply("repair") is None
        assert opened.reply("other")


def test_a_failed_repair_call_does_not_forget_the_first_reply() -> None:
    ledger = Ledger()
    ledger.append(call("base", "nonsense"))
    ledger.append(call("repair", None, base="base"))
    assert ledger.reply("base")


def test_what_an_earlier_start_paid_and_nothing_counted_is_claimed_once(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    before = Ledger(path)
    for request in ("counted", "owed"):
        before.append(call(request).model_copy(update={"call_id": before.next_call_id()}))
    again = Ledger(path)
    counted, owed = again.records
    reused = Usage(reused_calls=1)
    assert again.claim(owed) == reused, "nothing is owed before it is said"
    again.owe_earlier([counted.call_id, "of another run"])
    new = call("new").model_copy(update={"call_id": again.next_call_id()})
    again.append(new)
    assert [again.claim(one) for one in (counted, owed, owed, new)] == [reused, owed.usage, reused, reused]


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


async def test_lines_that_come_together_are_flushed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is with the system at once, and nobody goes on before it is on the disk."""
    path, flushed, go = tmp_path / "trace.jsonl", list[int](), threading.Event()

    def flush(trace: JsonLines) -> None:
        lines = lines_of(path)
        assert go.wait(PATIENCE_S)
        flushed.append(lines)

    monkeypatch.setattr(JsonLines, "flush", flush)
    ledger = Ledger(path)

    async def kept(request: str) -> None:
        await ledger.keep(call(request))
        assert any(request in line for line in path.read_text().splitlines()[: flushed[-1]])

    keeping = [asyncio.create_task(kept(f"r{n:02}")) for n in range(40)]
    await happened(lambda: lines_of(path) == 40)
    go.set()
    await asyncio.gather(*keeping)
    assert flushed[-1] == 40
    assert len(flushed) <= 2, "the first line alone, then all others"
    go.clear()
    late = asyncio.create_task(kept("late"))
    await happened(lambda: lines_of(path) == 41)
    late.cancel()
    go.set()
    assert ledger.reply("late") is not None, "a call that was paid is kept, whoever waits for it"
    await asyncio.gather(late, return_exceptions=True)


async def test_a_flush_that_fails_is_told_to_all_who_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(trace: JsonLines) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(JsonLines, "flush", full)
    ledger = Ledger(tmp_path / "trace.jsonl")
    ended = await asyncio.gather(*(ledger.keep(call(request)) for request in "abc"), return_exceptions=True)
    assert [type(one) for one in ended] == [OSError] * 3
