"""Help is shown without the libraries that reviews are made with: they take seconds to import."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = (
    "langgraph",
    "langchain",
    "langchain_anthropic",
    "langchain_core",
    "langchain_google_genai",
    "langchain_openai",
    "openai",
    "anthropic",
    "google.genai",
    "chromadb",
    "rustypaper",
    "pypdfium2",
    "numpy",
    "tiktoken",
    "xllamacpp",
    "openreview",
)

SHOW_HELP = """
import json, sys
from referee.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("\\n" + json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("command", [[], ["review"]], ids=["referee", "review"])
def test_help_imports_no_heavy_library(command: list[str]) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", SHOW_HELP, *command, "--help"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    imported = set(json.loads(shown[-1]))

    assert any("Usage" in line for line in shown)
    assert "referee.cli.review" in imported
    assert imported.isdisjoint(HEAVY)
