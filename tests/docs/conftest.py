from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.llm.catalogue import models_dir
from tests.cli.command import leave_plots_undrawn
from tests.reading import read_here
from tests.support import ChatRequest, FakeServer
from tests.support.openreview_server import FakeOpenReview

from .session import Session

_REVIEW = "The method is sound and the experiments are broad. See Section 3. Why does Table 2 lack a baseline?"


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of the tests' own, from which a page may remove what it likes.

    Models that were fetched already are there as links: README's command finds them, and CI runs it before the tests.
    """
    cache = tmp_path_factory.mktemp("cache")
    fetched = models_dir()
    for file in fetched.glob("*/*"):
        link = cache / "models" / file.relative_to(fetched)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file)
    return cache


@pytest.fixture
def session(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(cache_folder))
    leave_plots_undrawn(monkeypatch)
    read_here(monkeypatch)
    with (
        FakeServer({"guidelines/read": _read}, context_tokens=32_000) as server,
        FakeOpenReview(map(_forum, range(3))) as openreview,
    ):
        monkeypatch.setenv("REFEREE_COLLECT__API_V2", openreview.url)
        yield Session(tmp_path, server, monkeypatch)


def _forum(number: int) -> dict[str, object]:
    """A submission to ICLR 2025 with a review."""
    at, group = f"forum{number}", "ICLR.cc/2025/Conference"
    content = {"summary": _REVIEW, "strengths": _REVIEW, "weaknesses": _REVIEW, "questions": _REVIEW, "rating": 6}
    review = {
        "id": f"review{number}",
        "forum": at,
        "domain": group,
        "invitations": [f"{group}/Submission{number}/-/Official_Review"],
        "signatures": [f"{group}/Submission{number}/Reviewer_x"],
        "content": {name: {"value": value} for name, value in content.items()},
    }
    title = {"title": {"value": f"Paper {number}"}, "pdf": {"value": "/pdf/x.pdf"}}
    listed = {"id": at, "forum": at, "number": number, "domain": group, "invitations": [f"{group}/-/Submission"]}
    return {**listed, "content": title, "details": {"replies": [review]}}


def _read(request: ChatRequest) -> dict[str, Any]:
    """What a reader of the page on venues would say of the guidelines that it shows."""
    (page,) = request.spans("page")
    asked = [line.removeprefix("- ") for line in page.splitlines() if line.startswith("- ") and line[-1] in "?."]
    overall = {
        "words": "Overall recommendation",
        "title": "Overall recommendation",
        "kind": "score",
        "measures": "overall",
        "scale": "",
        "options": [{"value": value, "label": label} for value, label in _VERDICTS],
        "length": "",
        "late": "no",
    }
    return {
        "criteria": [{"words": words, "says": "", "kind": "subjective"} for words in asked],
        "boxes": [overall],
        "policy": {"words": ["Reviewers must not use language models to write reviews."], "status": "forbidden"},
        "missing": [],
        "about": "Guidelines for the reviewers of a workshop.",
        "for_reviewers": "yes",
    }


_VERDICTS = (("3", "accept"), ("2", "borderline"), ("1", "reject"))
