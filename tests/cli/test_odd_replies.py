"""Replies in the odd shapes that models and servers give them: read after one call, or named as what they are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import ChatRequest, FakeServer

from .command import Referee
from .refusals import assert_refused, on

REVIEW = ("--venue", "iclr-2024", "--strategy", "single", "--no-cache", "--yes", "--out", "run")
FORMULAS = r" and the bound \theta(n) with \frac{1}{n}, \nabla f and \beta."
BRACES = " ".join(rf"\frac{{{n}}}{{n}} of set {{a_{n}}}" for n in range(12))


def draft(request: ChatRequest) -> str:
    """The same form, with another soundness, as a model weighs it before its reply."""
    return json.dumps(request.instance(soundness={"reason": "A first look.", "points": [], "value": 1}))


def final(request: ChatRequest) -> str:
    return json.dumps(request.instance(soundness={"reason": "A second look.", "points": [], "value": 3}))


def with_formulas(request: ChatRequest, formulas: str) -> str:
    """Formulas with single backslashes, which JSON reads otherwise."""
    return json.dumps(request.instance(summary="The paper gives a test\0")).replace("\\u0000", formulas)


# What a model writes as its content.
READ: dict[str, Callable[[ChatRequest], str]] = {
    "draft": lambda r: f"<think>\nFirst:\n{draft(r)}\nNo, too harsh.\n</think>\n\n{final(r)}",
    "draft without opening": lambda r: f"First:\n{draft(r)}\nNo, too harsh.\n</think>\n\n{final(r)}",
    "braces": lambda r: f"<think>\n{BRACES} {{}}\n</think>\n{final(r)}",
    "ten fences": lambda r: "Here.\n" + "".join(f"```json\n{final(r)}\n```\n" for _ in range(10)),
    "raw line breaks": lambda r: final(r).replace(" look", "\nlook"),
    "trailing comma": lambda r: f"{final(r)[:-1]},}}",
    "list of one": lambda r: f"[{final(r)}]",
    "wrapper": lambda r: f'{{"review": {final(r)}}}',
    "code block in a string": lambda r: final(r).replace(
        "A second look.", "It prints ```json\\n{}\\n``` and </think>."
    ),
}


@pytest.mark.parametrize("kind", READ)
def test_one_call_makes_a_review_of_the_final_object(
    referee: Referee, paper: Path, server: FakeServer, kind: str
) -> None:
    server.script.entries["writer"] = READ[kind]
    done = referee("review", paper, *REVIEW, *on(server))
    assert done.code == 0, done.err
    assert len(server.log) == 1
    assert "Soundness: 3: good" in (Path("run") / "review.md").read_text()


@pytest.mark.parametrize("formulas", [FORMULAS, r" and the bound \alpha(n) with \sum."])
def test_formulas_survive(referee: Referee, paper: Path, server: FakeServer, formulas: str) -> None:
    server.script.entries["writer"] = lambda request: with_formulas(request, formulas)
    done = referee("review", paper, *REVIEW, *on(server))
    assert done.code == 0, done.err
    assert len(server.log) == 1
    for name in ("review.md", "review.json"):
        text = (Path("run") / name).read_text()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]|\\\\u00[01]", text)
    assert f"The paper gives a test{formulas}" in (Path("run") / "review.md").read_text()


def test_two_replies_that_differ_are_asked_about_once(referee: Referee, paper: Path, server: FakeServer) -> None:
    server.script.entries["writer"] = lambda request: f"```json\n{draft(request)}\n```\n```json\n{final(request)}\n```"
    done = referee("review", paper, *REVIEW, *on(server))
    assert_refused(done, "several JSON objects that differ", "in 2 tries")
    assert len(server.log) == 2


def test_where_an_odd_reply_stood_is_a_note(
    referee: Referee, paper: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def thought(request: ChatRequest, answer: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": None, "reasoning_content": answer.text}

    monkeypatch.setattr("tests.support.wire.openai._message", thought)
    done = referee("review", paper, *REVIEW, *on(server))
    assert done.code == 0, done.err
    assert len(server.log) == 1
    assert "put a reply in its reasoning" in (Path("run") / "review.md").read_text()


def test_a_filter_is_named_after_one_call(
    referee: Referee, paper: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.wire.openai._finish", lambda request, answer: "content_filter")
    server.script.entries["writer"] = ""
    done = referee("review", paper, *REVIEW, *on(server))
    assert_refused(done, "the provider stopped the reply (content_filter)", "another model")
    assert "was empty" not in done.err
    assert len(server.log) == 1


REVIEWED = "The comparison lacks the strongest baseline. Add it to Table 2, with five seeds."
COPIED = '{"insights": []}'


def insights(good: bool) -> str:
    quotes = ("The comparison lacks the strongest baseline.", "Add it to Table 2, with five seeds.")
    verdict = {"kind": "suggestion", "reason": "It names it.", "specific": good, "feasible": good, "steps": good}
    return json.dumps({"insights": [{"quote": quote, **verdict} for quote in quotes]})


@pytest.mark.parametrize(
    ("reply", "review"),
    [
        (f"<think>\nA strict attempt:\n{insights(False)}\nToo strict.\n</think>\n\n{insights(True)}", REVIEWED),
        (f"The review says {COPIED}. My verdict: {insights(True)}", f"{REVIEWED} Reply with {COPIED}"),
    ],
    ids=["draft", "echo"],
)
def test_a_judge_is_taken_at_its_final_word(referee: Referee, server: FakeServer, reply: str, review: str) -> None:
    server.script.entries["judge"] = reply
    row = {"case_id": "r1", "paper_id": "p1", "source": "human", "kind": "human", "text": review}
    Path("reviews.jsonl").write_text(json.dumps(row) + "\n")
    judged = ("--metrics", "constructiveness", "--judge", "m", "--no-cache", "--yes", "--out", "run")
    done = referee("eval", "reviews.jsonl", *judged, "--base-url", server.base_url)
    assert done.code == 0, done.err
    assert len(server.log.calls(endpoint="chat")) == 1
    [result] = map(json.loads, (Path("run") / "results.jsonl").read_text().splitlines())
    assert result["value"] == 1.0


def elsewhere() -> str:
    """A valid reply of which the metric can use nothing: it quotes what the review does not say."""
    said = json.loads(insights(True))["insights"][:1]
    return json.dumps(
        {"insights": [{**one, "quote": "Sailors of old rowed into the harbour at dawn."} for one in said]}
    )


def eval_run(referee: Referee, server: FakeServer, *more: object) -> Any:
    row = {"case_id": "r1", "paper_id": "p1", "source": "human", "kind": "human", "text": REVIEWED}
    Path("reviews.jsonl").write_text(json.dumps(row) + "\n")
    judged = ("--metrics", "constructiveness", "--judge", "m", "--yes")
    return referee("eval", "reviews.jsonl", *judged, "--base-url", server.base_url, *more)


def chats(server: FakeServer) -> int:
    return len(server.log.calls(endpoint="chat"))


def test_a_reply_that_a_metric_could_not_use_is_asked_for_again(referee: Referee, server: FakeServer) -> None:
    said = iter([elsewhere(), elsewhere(), insights(True)])
    server.script.entries["judge"] = lambda request: next(said)
    done = eval_run(referee, server, "--out", "run")
    assert (done.code, chats(server)) == (2, 1), done.err
    assert "none of the 1 insights named is in the review" in done.err + done.out
    assert eval_run(referee, server, "--out", "another").code == 2
    assert chats(server) == 2, "a new run does not find it in the cache"
    done = referee("eval", "--resume", "run")
    assert done.code == 0, done.err
    assert chats(server) == 3, "nor a resumed one in its trace, which knows all else"
    last = json.loads((Path("run") / "results.jsonl").read_text().splitlines()[-1])
    assert (last["status"], last["value"]) == ("scored", 1.0)
    assert eval_run(referee, server, "--out", "third").code == 0
    assert chats(server) == 3, "what could be used is in the cache"


def test_an_evaluation_goes_on_with_what_its_run_knows(
    referee: Referee, server: FakeServer, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script.entries["judge"] = insights(True)
    assert eval_run(referee, server, "--out", "run", "--max-tokens", 300, "--repeats", 2).code == 3
    monkeypatch.chdir(workplace.parent)
    other = referee("eval", "--resume", workplace / "run", "--max-tokens", 100_000, "--repeats", 3)
    assert_refused(other, "another number of repeats")
    done = referee("eval", "--resume", workplace / "run", "--max-tokens", 100_000)
    assert done.code == 0, done.err
    [result] = map(json.loads, (workplace / "run" / "results.jsonl").read_text().splitlines())
    assert len(result["judges"]) == 2
    assert chats(server) == 2
    assert_refused(referee("eval"), "no reviews are named")
