"""Sets of known errors that are published as folders with a file an error: SPECS and FLAWS.

What is read of each, and which fields were described and not seen, stands in docs/known-errors.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from referee.data.entries import EXCERPT_CHARS
from referee.data.keys import text_of
from referee.data.known_sets import Loaded, PaperFound
from referee.data.layouts.known_rows import Row, required_text, row_text
from referee.errors import DataError
from referee.schemas.case import ReviewCase
from referee.schemas.foreign import Unreadable, json_row, utf8_text
from referee.schemas.known import KnownError

# --- SPECS -----------------------------------------------------------------------------------------------------------

_CHANGED = ("modified_text", "modified", "perturbed_text", "perturbed")
_BEFORE = ("original_text", "original")
_SAID = ("description", "explanation", "rationale", "flaw_description")
_WHERE = ("source_location", "location", "section", "file")


def _folders(path: Path, holding: str) -> list[Path]:
    """The folders at or below a path that hold one of this name."""
    if not path.is_dir():
        return []
    if path.name == holding:
        return [path.parent]
    return sorted(inner.parent for inner in path.rglob(holding) if inner.is_dir())


def find_specs(path: Path) -> list[Path]:
    """The folders that hold ``perturbations``."""
    return _folders(path, "perturbations")


def read_specs(folders: Sequence[Path]) -> Iterator[Loaded]:
    """One error a file below ``perturbations``; each makes a paper of its own, PAPER__PERTURBATION."""
    for folder in folders:
        titles = _titles(folder / "papers" / "metadata.json")
        for file in sorted((folder / "perturbations").glob("*/*.json")):
            if not file.name.startswith("."):
                yield from _perturbation(file, titles)
        for file in sorted((folder / "reviews").rglob("*")):
            if file.suffix in (".md", ".txt"):
                yield _specs_review(file)


def _titles(file: Path) -> dict[str, str] | None:
    """Title by paper; None where the set does not say which papers it has."""
    if not file.is_file():
        return None
    held = _document(file)
    listed = held.get("papers", held) if isinstance(held, dict) else held
    rows = listed if isinstance(listed, list) else [{"paper_id": key, **_dict(value)} for key, value in listed.items()]
    return {
        row_text(row, "paper_id", "id", "arxiv_id"): row_text(row, "title", "paper_title") for row in map(_dict, rows)
    }


def _perturbation(file: Path, titles: Mapping[str, str] | None) -> Iterator[Loaded]:
    paper, name = file.parent.name, file.stem
    paper_id, raw = f"{paper}__{name}", ""
    try:
        row = _dict(_document(file))
        raw = json.dumps(row, ensure_ascii=False)[:EXCERPT_CHARS]
        changed, before, said = (row_text(row, *names) for names in (_CHANGED, _BEFORE, _SAID))
        if not said and not changed:
            required_text(row, *_SAID, *_CHANGED)
        kind = [row_text(row, "perturbation_type", "type"), row_text(row, "perturbation_subtype", "subtype")]
        error = KnownError(
            error_id=paper_id,
            paper_id=paper_id,
            description=said or f"The paper was made to say: {changed}" + (f"\nBefore: {before}" if before else ""),
            place=row_text(row, *_WHERE),
            passages=(changed,) if changed else (),
            category="/".join(filter(None, kind)),
        )
    except DataError as problem:
        yield Loaded(file, None, problem, raw)
        return
    if titles is None or paper in titles:
        yield Loaded(file, None, PaperFound(paper_id, (titles or {}).get(paper, "")))
    yield Loaded(file, None, error, raw)


def _specs_review(file: Path) -> Loaded:
    """A review that the set holds, named SYSTEM__PAPER__PERTURBATION."""
    parts = file.stem.split("__")
    if len(parts) != 3:
        return Loaded(file, None, DataError("its name is not SYSTEM__PAPER__PERTURBATION."))
    system, paper, name = parts
    text = file.read_text(encoding="utf-8", errors="replace")
    case_id = file.stem
    return Loaded(
        file,
        None,
        ReviewCase(case_id=case_id, paper_id=f"{paper}__{name}", source=system, kind="ai", text=text),
    )


def _document(file: Path) -> Any:
    try:
        return json_row(utf8_text(file.read_bytes(), repr(str(file))), repr(str(file)))
    except Unreadable as error:
        raise DataError(error.message, hint="Get the file again.") from error


def _dict(value: object) -> Row:
    return value if isinstance(value, dict) else {}


# --- FLAWS -----------------------------------------------------------------------------------------------------------

_TAGGED = re.compile(r":(explanation|claim|modified_text|original_text):\s*(.*?)(?=\n:\w+:|\Z)", re.DOTALL)


def find_flaws(path: Path) -> list[Path]:
    """The folders that hold ``inserted_error``."""
    return _folders(path, "inserted_error")


def read_flaws(folders: Sequence[Path]) -> Iterator[Loaded]:
    """One error a file below ``inserted_error``, with the altered paper's PDF; each is a paper of its own."""
    for folder in folders:
        chosen = _chosen(folder)
        names: set[tuple[str, str]] = set()
        for file in sorted((folder / "inserted_error").glob("*.txt")):
            paper, claim = _named(file)
            if chosen is None or claim in chosen.get(paper, ()):
                names.add((paper, claim))
                yield from _flaw(folder, file, paper, claim)
        for paper, claim in sorted({(p, c) for p, held in (chosen or {}).items() for c in held} - names):
            why = DataError(f"claim {claim} of paper {paper!r} is listed and has no file in inserted_error.")
            yield Loaded(folder, None, why)


def _named(file: Path) -> tuple[str, str]:
    """Paper and claim of a file PAPER_CLAIM_MODEL.txt."""
    paper, _, claim = file.stem.rpartition("_")[0].rpartition("_")
    return paper, claim


def _chosen(folder: Path) -> dict[str, set[str]] | None:
    """By paper the claims that belong to the benchmark, as ``*_all.json`` lists them; None without such a list."""
    found: dict[str, set[str]] = {}
    files = sorted(folder.glob("*_all.json"))
    for file in files:
        for paper, claims in _dict(_document(file)).items():
            held = claims if isinstance(claims, list) else [claims]
            found.setdefault(paper, set()).update(map(text_of, held))
    return found if files else None


def _flaw(folder: Path, file: Path, paper: str, claim: str) -> Iterator[Loaded]:
    said = file.read_text(encoding="utf-8", errors="replace")
    tagged: dict[str, list[str]] = {}
    for tag, text in _TAGGED.findall(said):
        tagged.setdefault(tag, []).append(text.strip())
    where = folder / "location_error" / file.name
    located = where.read_text(encoding="utf-8", errors="replace").split("error:")[1:] if where.is_file() else []
    passages = tuple(filter(None, (*tagged.get("modified_text", ()), *(text.strip() for text in located))))
    wrong = " ".join(filter(None, tagged.get("explanation", ())))
    if not paper or not wrong or not passages:
        lacks = "a name PAPER_CLAIM_MODEL" if not paper else ":explanation:" if not wrong else ":modified_text:"
        tags = ", ".join(f":{tag}:" for tag in tagged) or "none"
        yield Loaded(file, None, DataError(f"it has no {lacks}; its tags are {tags}."), said[:EXCERPT_CHARS])
        return
    altered = folder / "altered_papers" / paper
    pdf = next(
        (p for p in (altered / f"altered_{claim}_small.pdf", altered / f"altered_{claim}.pdf") if p.exists()), None
    )
    yield Loaded(file, None, PaperFound(file.stem, paper, file=pdf))
    error = KnownError(error_id=file.stem, paper_id=file.stem, description=wrong, passages=passages)
    yield Loaded(file, None, error, said[:EXCERPT_CHARS])
