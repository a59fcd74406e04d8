"""Whoever answers the questions of ``answers:DIR``: valid instances of their schemas."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.runs.files import write_atomically
from tests.support.instances import instance


def answer_questions(box: Path) -> int:
    """Write an answer to each question in the folder that has none; returns how many there were."""
    waiting = [ask for ask in sorted(box.glob("*.ask.md")) if not _answer(ask).exists()]
    for ask in waiting:
        prompt, _, schema = ask.read_text(encoding="utf-8").rpartition("```json\n")
        value = instance(json.loads(schema.removesuffix("```\n")), prompt, random.Random(ask.name))
        write_atomically(_answer(ask), json.dumps(value))
    return len(waiting)


@contextmanager
def answering(box: Path) -> Iterator[None]:
    """Somebody who answers in another thread, until this is left."""
    done = threading.Event()

    def work() -> None:
        while not done.wait(0.02):
            answer_questions(box)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _answer(ask: Path) -> Path:
    return ask.with_name(ask.name.replace(".ask.md", ".answer.txt"))
