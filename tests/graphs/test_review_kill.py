"""``kill -9`` in the middle of the machine, then ``--resume``: what was written down is not paid again."""

from __future__ import annotations

from pathlib import Path

import pytest

from .killed_run import assert_killed_and_resumed
from .sections_paper import paper_text
from .sections_run import WINDOW


@pytest.mark.slow
def test_killed_as_soon_as_a_reply_is_written_down(folder: Path) -> None:
    (folder / "paper.md").write_text(paper_text(3))
    on, window = ("sections", "--embedder", "embed"), f"[models]\ncontext_tokens = {WINDOW}\n"
    assert_killed_and_resumed(folder, "paper.md", *on, replies=4, settings=window)


@pytest.mark.slow
@pytest.mark.parametrize("replies", [1, 2])
def test_killed_after_the_draft_or_the_audit(folder: Path, replies: int) -> None:
    (folder / "paper.md").write_text(paper_text(3))
    assert_killed_and_resumed(folder, "paper.md", "audited", replies=replies)
