"""Small forums as the two APIs give them, and collecting them from the local server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from referee.api import Collection, RunOptions, collect_openreview
from referee.runs import Event
from referee.settings import load_settings
from tests.support.openreview_server import FakeOpenReview

Note = dict[str, Any]
PDF = b"%PDF-1.4\nnothing to see"
V2, V1 = "iclr-2025", "iclr-2020"


def forum(number: int, *, api: int = 2, **more: Any) -> Note:
    """A submission with a review, an answer of the authors, a comment, a decision, and a key that no library knows."""
    group = "ICLR.cc/2025/Conference" if api == 2 else "ICLR.cc/2020/Conference"
    at, own = f"forum{number:03}", f"{group}/{'Submission' if api == 2 else 'Paper'}{number}"
    replies = [
        _note(f"{at}-review", at, f"{own}/-/Official_Review", {"review": "Sound. Ünïcode 😀", "rating": 6}, api),
        _note(f"{at}-answer", at, f"{own}/-/Official_Comment", {"comment": "We agree."}, api, [f"{own}/Authors"]),
        _note(f"{at}-comment", at, f"{own}/-/Public_Comment", {"comment": "Nice."}, api),
        _note(f"{at}-decision", at, f"{own}/-/Decision", {"decision": "Accept (Poster)"}, api),
        _note(f"{at}-withdrawal", at, f"{own}/-/Withdrawal", {"confirmation": "yes"}, api),
    ]
    listed = f"{group}/-/{'Submission' if api == 2 else 'Blind_Submission'}"
    content = {"title": f"Paper {number}", "abstract": "A.", "pdf": f"/pdf/{at}.pdf"}
    return _note(at, at, listed, content, api) | {"number": number, "details": {"replies": replies}} | more


def _note(name: str, at: str, invitation: str, content: Note, api: int, signed: list[str] | None = None) -> Note:
    named = {"invitations": [invitation, "ICLR.cc/2025/Conference/-/Edit"]} if api == 2 else {"invitation": invitation}
    boxes = {key: {"value": value} for key, value in content.items()} if api == 2 else content
    own = {"id": name, "forum": at, "content": boxes, "signatures": signed or ["Reviewer_x"], "a_key_of_tomorrow": 1.50}
    return own | named | {"tcdate": 1700000000000, "ddate": None}


async def collect(
    server: FakeOpenReview | str,
    folder: Path,
    *,
    venue: str | None = V2,
    resume: bool = False,
    kinds: tuple[str, ...] | None = None,
    progress: Callable[[Event], None] = lambda _: None,
    **more: float | str,
) -> Collection:
    """Collect a venue from the server, or the one at an address, without pauses."""
    address = server if isinstance(server, str) else server.url
    settings = {"api_v1": address, "api_v2": address, "retry_wait_s": 0, "max_tries": 3, **more}
    most = {"paper.max_bytes": settings.pop("max_bytes")} if "max_bytes" in settings else {}
    settled = load_settings({f"collect.{key}": value for key, value in settings.items()} | most, env={})
    where = {"resume" if resume else "out": folder}
    return await collect_openreview(
        venue, kinds=kinds, options=RunOptions(settings=settled, progress=progress, **where)
    )


def on_disk(done: Collection) -> list[Note]:
    """The forums of the snapshot."""
    return [json.loads(line) for line in done.notes.read_text(encoding="utf-8").splitlines()]
