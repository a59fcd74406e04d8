"""``kill -9`` in the middle of the machine, then ``--resume``: what was written down is not paid again."""

from __future__ import annotations

from pathlib import Path

from .killed_run import assert_killed_and_resumed
from .sections_paper import paper_text
from .sections_run import WINDOW


def test_killed_as_soon_as_a_reply_is_written_down(folder: Path) -> None:
    (folder / "paper.md").write_text(paper_text(3))
    on = ("sections", "--embedder", "embed")
    assert_killed_and_resumed(folder, "paper.md", *on, replies=4, latency=0.2, window=WINDOW)
