"""``referee`` commands as processes that start in milliseconds: each is forked from one that has imported everything.

    python bad_days_nursery.py

reads one command a line as JSON (``argv``, ``folder``, ``log``, ``env``), prints its process id, and prints its exit
code when it has ended. A forked process ends as any other does, by its own interpreter.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

# What a run of ``sections`` on a server imports; none of them starts a thread by being imported.
HEAVY = (
    "referee.cli.app",
    "referee.api",
    "referee.graphs.sections.by_part",
    "referee.runs.checkpoints",
    "referee.retrieval.store",
    "langgraph.checkpoint.sqlite.aio",
    "langchain_openai",
    "chromadb",
    "numpy",
)


def served() -> bool:
    """Fork a process for each command; true in such a process, which has become ready to run it."""
    for line in sys.stdin:
        given = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(given["argv"], Path(given["folder"]), Path(given["log"]), given["env"])
            return True
        print(json.dumps({"pid": child}), flush=True)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)
    return False


def _become(argv: list[str], folder: Path, log: Path, env: dict[str, str]) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.chdir(folder)
    os.environ.update(env)
    # A shell that starts the benchmark in the background has Ctrl-C ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["referee", *argv]


def main() -> None:
    from referee.llm.tokens import count_tokens

    for name in HEAVY:
        import_module(name)
    count_tokens("The vocabulary is read once.")
    print(json.dumps({"ready": True}), flush=True)
    if served():
        from referee.cli import main as command

        command()


if __name__ == "__main__":
    main()
