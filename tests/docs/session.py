"""Running what a page shows: one page is one session, in one folder, from its first block to its last."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

from referee.cli import main
from tests.support import FakeServer

from .pages import ROOT, Block, Command, blocks, commands

_TOOLS = frozenset({"ls", "cat", "head", "tail", "grep", "cp", "mkdir"})
_ASSIGNMENT = re.compile(r"[A-Z_]+=")
_SHELL_WORDS = frozenset({"|", ">", ">>", "<", "&&", "||", ";", "&"})


@dataclass(frozen=True)
class Done:
    """How a command ended, with all it printed."""

    code: int
    printed: str


class Session:
    """A folder with the example papers, and a server that stands in for the model of every command.

    ``paper.pdf`` there is the example paper under the name by which pages call the reader's own. Commands without
    ``--base-url`` meet the server through the environment, so they are run exactly as they are shown.
    """

    def __init__(self, folder: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._server, self._monkeypatch = folder, server, monkeypatch
        self._code = 0
        (folder / "examples").mkdir()
        for name in ("paper.pdf", "paper.md", "short.md"):
            shutil.copy(ROOT / "examples" / name, folder / "examples" / name)
        shutil.copy(ROOT / "examples" / "paper.pdf", folder / "paper.pdf")
        monkeypatch.chdir(folder)
        monkeypatch.setenv("REFEREE_MODELS__DEFAULT", "fake")
        monkeypatch.setenv("REFEREE_MODELS__BASE_URL", server.base_url)

    def play(self, page: Path, root: Path = ROOT) -> None:
        """Write the files the page shows, then run its blocks in their order; a failure names file and line."""
        shown = blocks(page, root)
        for block in shown:
            if name := block.said("file"):
                (self._folder / name).write_text(block.text, encoding="utf-8")
        for block in filter(lambda block: block.runs, shown):
            if block.language == "python":
                self._python(block, root)
            else:
                self._console(block)

    def _python(self, block: Block, root: Path) -> None:
        source = "\n" * block.line + block.text  # so that a traceback points into the page
        try:
            exec(compile(source, str(root / block.page), "exec"), {"__name__": "__main__"})
        except BaseException as error:
            error.add_note(f"in the block at {block.where}")
            raise

    def _console(self, block: Block) -> None:
        told = commands(block)
        for command, following in zip_longest(told, told[1:]):
            where = f"{block.page}:{command.line}: {command.text}"
            done = self.run(command.text, where)
            asked = following is not None and following.text == "echo $?"
            if done.code and not asked:
                pytest.fail(f"{where}\nended with {done.code}:\n{done.printed}", pytrace=False)
            absent = [] if block.comment == "output differs" else _absent(command, done.printed)
            if absent:
                pytest.fail(f"{where}\ndoes not print {absent!r}, but:\n{done.printed}", pytrace=False)
            self._code = done.code

    def run(self, text: str, where: str) -> Done:
        """Run one command."""
        if text == "echo $?":
            return Done(0, f"{self._code}\n")
        words = shlex.split(text, comments=True)
        if not _SHELL_WORDS.isdisjoint(words):
            pytest.fail(f"{where}\nis more than one plain command", pytrace=False)
        with self._monkeypatch.context() as variables:
            while _ASSIGNMENT.match(words[0]):
                name, _, value = words.pop(0).partition("=")
                variables.setenv(name, value)
            return self._program(words, where)

    def _program(self, words: list[str], where: str) -> Done:
        program, *arguments = words
        if program == "referee":
            return self._referee(arguments)
        if words[:3] == ["python", "-m", "referee"]:
            return self._referee(words[3:])
        if program == "python":
            return self._process([sys.executable, *arguments])
        if program in _TOOLS:
            return self._process(words)
        pytest.fail(f"{where}\nis not run here: give the block a reason, <!-- not run: REASON -->", pytrace=False)

    def _referee(self, arguments: list[str]) -> Done:
        if "--base-url" in arguments:
            arguments[arguments.index("--base-url") + 1] = self._server.base_url
        self._monkeypatch.setattr(sys, "argv", ["referee", *arguments])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                main()
                code = 0
            except SystemExit as ended:
                code = int(ended.code or 0)
        return Done(code, printed.getvalue())

    def _process(self, words: list[str]) -> Done:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(words, cwd=self._folder, env=environment, text=True, timeout=300, **pipes)
        return Done(done.returncode, done.stdout)


def _absent(command: Command, printed: str) -> list[str]:
    """What the page shows and the command did not print.

    Of a line its first word counts, or, where it ends in `` ...``, all that stands before; a line that is ``...``
    stands for any others.
    """
    lines = [line.strip() for line in command.shown if line.strip() not in ("", "...")]
    wanted = [line.removesuffix(" ...") if line.endswith(" ...") else line.split()[0] for line in lines]
    return [text for text in wanted if text not in printed]
