from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.openreview_server import FakeOpenReview, PageFault

from .command import Referee
from .processes import wait_for

COMMAND = ("collect", "openreview")


def note(name: str, at: str, kind: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    boxes = {key: {"value": value} for key, value in content.items()}
    base = {
        "id": name,
        "forum": at,
        "invitations": [f"ICLR.cc/2025/Conference/{kind}"],
        "signatures": [f"{at}/R_{name}"],
    }
    return base | {"domain": "ICLR.cc/2025/Conference", "content": boxes, "tcdate": 1700000000000} | more


def forum(number: int) -> dict[str, Any]:
    at = f"f{number:02}"
    text = "The method is sound and the experiments are broad. See Section 3. Why is Table 2 missing a baseline?"
    boxes = {"summary": text, "strengths": text, "weaknesses": text, "questions": text, "rating": 6, "confidence": 4}
    replies = [note(f"{at}r{n}", at, f"Submission{number}/-/Official_Review", boxes) for n in range(2)]
    listed = note(at, at, "-/Submission", {"title": f"Paper {number}", "abstract": "An abstract."})
    return listed | {"number": number, "details": {"replies": replies}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenReview]:
    for name in ("OPENREVIEW_USERNAME", "OPENREVIEW_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    with FakeOpenReview(map(forum, range(6)), page=2) as running:
        monkeypatch.setenv("REFEREE_COLLECT__API_V2", running.url)
        monkeypatch.setenv("REFEREE_COLLECT__RETRY_WAIT_S", "0")
        yield running


def test_what_is_collected_is_read_by_the_other_commands(referee: Referee, server: FakeOpenReview) -> None:
    done = referee(*COMMAND, "--venue", "iclr-2025", "--out", "iclr")

    assert done.code == 0
    assert "iclr-2025: 6 forums; 12 reviews." in done.out
    assert "Public are the reviews of all submissions." in done.out
    assert "Written to iclr: iclr-2025.jsonl, collected.json." in done.out
    assert "Submission: 6 forums, about 2 s ahead" in done.err
    assert "Submission: 6 of 6 forums" in done.err

    profiled = referee("profile", "iclr", "--out", "profile")
    assert profiled.code == 0
    assert "12 reviews of 6 papers in 1 group" in profiled.out
    assert "not read" not in profiled.err
    rows = [json.loads(line) for line in Path("profile/profile.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["venue"] for row in rows} == {"iclr-2025"}

    again = referee(*COMMAND, "--resume", "iclr")
    assert (again.code, again.out) == (0, done.out)


REFUSALS: dict[str, tuple[tuple[str, ...], str]] = {
    "no venue": ((), "Name one with --venue"),
    "an unknown venue": (("--venue", "iclr-205"), "Did you mean 'iclr-2025'"),
    "a bad kind": (("--venue", "iclr-2025", "--with", "pdfs"), "Did you mean 'pdf'"),
    "another venue": (("--venue", "iclr-2026", "--resume", "iclr"), "started with another venue"),
    "another selection": (("--with", "pdf", "--resume", "iclr"), "started with another selection"),
    "a folder in use": (("--venue", "iclr-2025", "--out", "iclr"), "--resume iclr"),
    "no collection": (("--resume", "nowhere"), "holds no run"),
}


@pytest.mark.parametrize(("options", "words"), REFUSALS.values(), ids=REFUSALS)
def test_bad_input_is_named_with_the_next_step(
    referee: Referee, server: FakeOpenReview, options: tuple[str, ...], words: str
) -> None:
    if "iclr" in options:
        referee(*COMMAND, "--venue", "iclr-2025", "--out", "iclr")
    refused = referee(*COMMAND, *options)

    assert refused.code == 2
    assert words in refused.err
    assert "next:" in refused.err


def test_a_gone_network_says_how_to_go_on(
    referee: Referee, server: FakeOpenReview, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_COLLECT__API_V2", "http://127.0.0.1:9")
    monkeypatch.setenv("REFEREE_COLLECT__MAX_TRIES", "2")
    refused = referee(*COMMAND, "--venue", "iclr-2025", "--out", "iclr")

    assert refused.code == 2
    assert "http://127.0.0.1:9 did not give" in refused.err
    assert "continue with --resume iclr" in refused.err
    assert "Retrying request" not in refused.out, "the client's own retries would print"


def hears_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_collection_goes_on(
    referee: Referee, server: FakeOpenReview, workplace: Path, number: signal.Signals
) -> None:
    waits = PageFault("status", calls=(2,), status=429, retry_after="600")
    with FakeOpenReview(server.forums.values(), page=2, faults=[waits]) as slow:
        command = [sys.executable, "-m", "referee", *COMMAND, "--venue", "iclr-2025", "--out", "iclr"]
        variables = os.environ | {"REFEREE_COLLECT__API_V2": slow.url, "PYTHONPATH": os.pathsep.join(sys.path)}
        running = subprocess.Popen(
            command,
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=hears_ctrl_c,  # whoever runs the tests in the background ignores it
        )
        wait_for(lambda: len(slow.asked) >= 3)
        time.sleep(0.05)  # the third answer arrives, and the pause it asks for begins
        running.send_signal(number)
        try:
            ended = running.wait(120)
        finally:
            running.kill()
            running.wait()
        assert ended == (-9 if number == signal.SIGKILL else 130)
    before = len(Path("iclr/iclr-2025.jsonl").read_text(encoding="utf-8").splitlines())
    done = referee(*COMMAND, "--resume", "iclr")

    assert before == 4
    assert "iclr-2025: 6 forums; 12 reviews." in done.out
    assert [one.query.get("after") for one in server.asked][:2] == ["f03", None], "the list ends at its announced count"
