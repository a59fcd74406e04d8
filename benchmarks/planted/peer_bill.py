"""The input bill of another system on the same papers: PeerReviewAgents against the stand-in server.

    python benchmarks/planted/peer_bill.py --peer PATH/TO/peerreview [PAPER ...]

The peer is installed by whoever runs this (``pip install peerreviewagents==0.6.1``, in an environment of its own) and
talks to the stand-in server, which answers at once: an instance of the schema where one is asked for, else prose long
enough for its reviewers. The server serves equal beginnings from a cache and says which share of each prompt that was.
Printed per paper: calls, input tokens (o200k, as for the arms), and the bill at cache prices (the first 1.25, then
0.1), beside that of the arms.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from table import ARMS, PAPERS, SERVED, WRITTEN, bill, kept
from texts import planted

from referee.llm.tokens import count_tokens
from tests.support import FakeServer, Script
from tests.support.request import ChatRequest
from tests.support.script import generated

_PROSE_WORDS = 450


class Prose:
    """Answers of a review's length where no schema is asked for; keeps how long the prompts were."""

    def __init__(self) -> None:
        self.tokens = 0

    def __call__(self, request: ChatRequest) -> str:
        self.tokens += count_tokens("\n".join(message.text for message in request.messages))
        text = generated(request)
        if text.lstrip().startswith("{"):
            return text
        lines = [f"{number}. {text}" for number in range(1, 2 + _PROSE_WORDS // max(1, len(text.split())))]
        return "## Assessment\n\n" + "\n\n".join(lines)


def peer(paper: str, command: str) -> tuple[int, int, float, str]:
    """Calls, input tokens, bill, and whether the peer came to its end."""
    prose = Prose()
    with tempfile.TemporaryDirectory() as folder, FakeServer(Script({"*": prose}), models=("gpt-5",)) as server:
        path = Path(folder) / f"{paper}.md"
        path.write_text(planted(paper), encoding="utf-8")
        flags = ["--provider", "openai", "--reasoning-model", "gpt-5", "--single-model", "--no-tui", "--offline"]
        done = subprocess.run(
            [command, str(path), *flags, "--output-dir", folder],
            env={**os.environ, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.base_url, "HOME": folder},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        calls = list(server.log.entries)
    counted = sum(call.input_tokens or 0 for call in calls)
    scale = prose.tokens / counted if counted else 1.0
    cached = sum(call.cached_tokens or 0 for call in calls)
    longest = max((call.cached_tokens or 0 for call in calls), default=0)
    cost = counted - cached + cached * SERVED + longest * (WRITTEN - 1)
    status = "failed" if "FAILED" in done.stdout or done.returncode else "ended"
    return len(calls), prose.tokens, cost * scale, status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", default=list(PAPERS))
    parser.add_argument("--peer", required=True, help="the peer's command")
    args = parser.parse_args()
    print("| paper | calls | input | bill | end |" + "".join(f" {arm}: bill |" for arm in ARMS))
    print("| --- |" + " ---: |" * (4 + len(ARMS)))
    for paper in args.papers:
        calls, tokens, cost, end = peer(paper, args.peer)
        own = [kept("calls", f"{paper}-{arm}") for arm in ARMS]
        bills = "".join(f" {bill(c):,.0f} |" if c else " - |" for c in own)
        print(f"| {paper} | {calls} | {tokens:,} | {cost:,.0f} | {end} |{bills}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
