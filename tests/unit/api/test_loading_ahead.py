"""What a review loads, and when."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pypdfium2
import pytest

from referee.api.loading_ahead import read_and_load
from referee.errors import PaperParseError
from referee.llm.spec import ModelSpec
from referee.runs import Event
from referee.settings import Settings
from tests.support import FakeServer

REVIEW = """
import asyncio, json, sys
from pathlib import Path
import referee
from referee.llm import wire
at_the_call = []
send = wire.Wire.send
async def sent(self, request):
    at_the_call.append(set(sys.modules))
    return await send(self, request)
wire.Wire.send = sent
asyncio.run(referee.review(sys.argv[1], venue="neurips-2025", strategy="single", model="fake",
                           options=referee.RunOptions(base_url=sys.argv[2], out="run", cache=False)))
late = set(sys.modules) - at_the_call[0]
print(json.dumps([sorted(sys.modules), sorted(late)]))
"""
NOT_FOR_A_REVIEW = ("numpy", "chromadb", "matplotlib", "lxml", "trafilatura", "anthropic", "onnxruntime", "rustypaper")
NOT_FOR_THIS_ONE = ("referee.evals", "referee.data", "referee.graphs.sections", "referee.evidence.rules")


@pytest.mark.slow
def test_a_review_loads_what_it_needs_and_before_its_first_call(tmp_path: Path, examples: Path) -> None:
    """The call's own time limit does not pay for libraries that are slow to load."""
    paper = tmp_path / "page.pdf"
    with pypdfium2.PdfDocument(examples / "paper.pdf") as source, pypdfium2.PdfDocument.new() as page:
        page.import_pages(source, [0])
        page.save(paper)
    with FakeServer(context_tokens=32_000) as server:
        given = [sys.executable, "-c", REVIEW, str(paper), server.base_url]
        done = subprocess.run(given, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded, late = map(set, json.loads(done.stdout.splitlines()[-1]))
    assert loaded.isdisjoint({*NOT_FOR_A_REVIEW, *NOT_FOR_THIS_ONE})
    assert {"langchain_openai", "langgraph"} <= loaded
    assert late.isdisjoint({"langchain_openai", "openai", "langgraph", "tiktoken"})


def test_a_provider_whose_library_is_missing_does_not_stop_the_reading(
    examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "langchain_anthropic", None)
    spec = ModelSpec("anthropic", "some-model")
    told: list[Event] = []
    paper = asyncio.run(read_and_load(examples / "short.md", Settings(), [spec], told.append))
    assert paper.title
    assert [event.kind for event in told] == ["note"]
    assert told[0].text.startswith(f"Read {paper.title!r}: ")


def test_a_file_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(PaperParseError, match="There is no file"):
        asyncio.run(read_and_load(tmp_path / "none.pdf", Settings(), [], print))
