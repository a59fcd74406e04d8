"""Generated reviews out: beside the human reviews they were made from, in the tree of the detection benchmark."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.runs.files import write_atomically
from referee.schemas.case import FieldText, ReviewCase

TREE = "dataset"

_FIRST = ("paper_id", "conference", "year", "author_type", "llm", "review_id", "source_review", "task", "level")
_FAMILIES = ("claude", "gemini", "llama", "qwen")
_CONFERENCES: Mapping[str, str] = {"neurips": "NeurIPS"}


@dataclass(frozen=True)
class Pair:
    """A generated review and the human one it was made from.

    ``made.extra`` holds ``task``, ``level`` (empty for tasks without), ``source_review`` and ``split``. ``on_form``:
    it fills the boxes of a form; both are then written box by box, else both as one text.
    """

    source: ReviewCase
    made: ReviewCase
    on_form: bool


def llm_tag(model: str) -> str:
    """A model's name as a file's name can bear it: ``gpt-4o``."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", model).strip("-.") or "model"


def llm_folder(model: str) -> str:
    """The benchmark's name of a model's family, as ``claude``; else the model's own without marks, as ``gpt4o``."""
    tag = llm_tag(model).lower()
    return next((family for family in _FAMILIES if family in tag), re.sub(r"[^a-z0-9]", "", tag))


def write_tree(root: Path, pairs: Iterable[Pair], model: str) -> list[Pair]:
    """Write ``TASK[-LEVEL]/{split}/{llm}/{CONF}{YEAR}.{split}.{tag}.csv``, with a human row for each AI row.

    Args:
        root: Made where it is not there.
        pairs: What is written.
        model: The name of the model that wrote.

    Returns:
        Those whose review names no conference or no year: the layout has no place for them.

    Raises:
        OSError: The folder cannot be written.
    """
    files: dict[Path, list[Pair]] = defaultdict(list)
    unplaced: list[Pair] = []
    for pair in pairs:
        place = _place(pair, model)
        if place is None:
            unplaced.append(pair)
        else:
            files[root / place].append(pair)
    for path, held in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, _table([row for pair in held for row in _rows(pair)]))
    return unplaced


def _place(pair: Pair, model: str) -> Path | None:
    extra, made = pair.made.extra, pair.made
    name = re.sub(r"[-_ ]?\d{4}$", "", made.venue or "")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name) or made.year is None:
        return None
    conference = _CONFERENCES.get(name.lower(), name.upper())
    split = str(extra["split"])
    folder = "-".join(part for part in (str(extra["task"]), str(extra["level"])) if part)
    file = f"{conference}{made.year}.{split}.{llm_tag(model)}.csv"
    return Path(folder) / split / llm_folder(model) / file


def _rows(pair: Pair) -> list[dict[str, object]]:
    return [_row(pair.source, "human", pair), _row(pair.made, "ai", pair)]


def _row(case: ReviewCase, author: str, pair: Pair) -> dict[str, object]:
    extra = pair.made.extra
    boxes = {name: _cell(value) for name, value in case.fields.items()} if pair.on_form else {}
    return {
        "paper_id": case.paper_id,
        "conference": pair.made.venue,
        "year": pair.made.year,
        "author_type": author,
        "llm": pair.made.source if author == "ai" else "",
        "review_id": case.case_id,
        "source_review": extra["source_review"],
        "task": extra["task"],
        "level": extra["level"],
        "rating": case.rating,
        "confidence": case.confidence,
        **({} if any(boxes.values()) else {"text": case.text}),
        **boxes,
    }


def _cell(value: FieldText) -> object:
    return "\n".join(value) if isinstance(value, list) else value


def _table(rows: Sequence[Mapping[str, object]]) -> str:
    names = list(dict.fromkeys((*_FIRST, *(name for row in rows for name in row))))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
