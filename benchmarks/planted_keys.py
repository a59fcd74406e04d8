"""The free errors of ``benchmarks/planted`` as keys, and the reviews of its four arms as the matcher takes them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "planted"))

from texts import clean, planted, records, sha256  # noqa: E402

from referee.data import read_cases  # noqa: E402
from referee.evals.planted.places import CopyText  # noqa: E402
from referee.evals.planted.points import Raised, points_of  # noqa: E402
from referee.schemas.planted import PlantedAnchor, PlantedEdit, PlantedKey, PlantedRecord  # noqa: E402
from referee.schemas.review import Review  # noqa: E402

PAPERS = ("p1", "p2", "p3", "p4", "p6")
"""Those whose text is still the one that the records were written for; p5 is not with today's PDF library."""
ARMS = ("single", "whole", "core", "all")
# Kinds that no rule plants; both are statements that another passage denies.
KINDS = {"definition": "contradiction", "method": "contradiction"}


def key_of(paper: str) -> tuple[str, str, PlantedKey]:
    """The clean text, the planted one, and the key."""
    before, after, held = clean(paper), planted(paper), records(paper)
    edits = sorted((e["start"], e["end"], e["after"]) for r in held["records"] for e in r["edits"])
    copies = CopyText(before), CopyText(after)
    return (
        before,
        after,
        PlantedKey(
            copy_id=paper,
            paper=sha256(before),
            title=held["title"],
            seed=0,
            version=held["planter"]["version"],
            clean_sha256=sha256(before),
            planted_sha256=sha256(after),
            records=tuple(_record(r, before, after, edits, copies) for r in held["records"]),
        ),
    )


def raised(paper: str, arm: str) -> Raised:
    """What the arm's review of a planted paper raises."""
    file = HERE / "planted" / "reviews" / f"{paper}-{arm}.json"
    (case,) = read_cases(file)
    return points_of(case, Review.model_validate_json(file.read_bytes()))


def _record(
    row: dict[str, Any],
    before: str,
    after: str,
    edits: list[tuple[int, int, str]],
    copies: tuple[CopyText, CopyText],
) -> PlantedRecord:
    own = [
        PlantedEdit(
            section=e["section"],
            place=e["place"],
            start=e["start"],
            end=e["end"],
            before=before[e["start"] : e["end"]],
            after=e["after"],
        )
        for e in row["edits"]
    ]
    moved = [(_moved(anchor["start"], edits), anchor) for anchor in row["anchors"]]
    start = own[0].start
    return PlantedRecord(
        record_id=row["record_id"],
        kind=KINDS.get(row["kind"], row["kind"]),
        subtype=row["subtype"],
        severity=row["severity"],
        difficulty=row["difficulty"],
        anchor_class=row["anchor_class"],
        edits=tuple(own),
        anchors=tuple(_anchor(at, anchor, after) for at, anchor in moved),
        sentence_before=_sentence(copies[0], start, own[0].end),
        sentence_after=_sentence(copies[1], _moved(start, edits), _moved(start, edits) + len(own[0].after)),
        expected=row["expected"],
        statement=row["statement"],
        also_breaks=tuple(row["also_breaks"]),
        planter=row.get("planter", "a language model that answers no prompt"),
        checks=tuple(name for name, passed in row["checks"].items() if passed),
    )


def _anchor(at: int, row: dict[str, Any], text: str) -> PlantedAnchor:
    end = at + row["end"] - row["start"]
    return PlantedAnchor(section=row["section"], start=at, end=end, text=text[at:end], says=row["says"])


def _moved(offset: int, edits: list[tuple[int, int, str]]) -> int:
    return offset + sum(len(new) - (end - start) for start, end, new in edits if start < offset)


def _sentence(copy: CopyText, start: int, end: int) -> str:
    spot = copy.spot(start, end)
    paragraph = copy.paragraphs[spot.paragraph]
    spans = [paragraph.sentences[number] for number in sorted(spot.sentences)]
    return " ".join(paragraph.text[low:high] for low, high in spans)
