from pathlib import Path

from referee.runs import Ledger
from referee.schemas.run import CallRecord
from referee.schemas.usage import Usage


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


def test_a_line_cut_by_a_crash_is_counted_and_what_follows_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    Ledger(path).append(call("a"))
    with path.open("ab") as file:
        file.write(b'{"call_id": "c2", "requ')
    broken = Ledger(path)
    assert broken.damaged_lines == 1
    broken.append(call("b"))
    again = Ledger(path)
    assert again.damaged_lines == 1
    assert again.reply("a")
    assert again.reply("b")


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
