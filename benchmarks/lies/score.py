"""What the check of reviews makes of a hundred lies and two hundred true statements, by kind.

    python benchmarks/lies/score.py [FOLDER]

FOLDER (``../shared/data``) holds the five papers of ``papers.json``. Of each review the whole text is checked, and each
labelled sentence takes the gravest thing that is said of its parts. Exit status 1 where a true statement is refuted or
a lie is proved, 2 where a paper is not there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from referee.evidence.certificates import Bearings, certify_text, statements_of
from referee.papers import load_paper
from referee.schemas.certificate import Certificate

HERE = Path(__file__).parent
FOLDER = HERE.parents[2] / "shared" / "data"
ORDER = ("refuted", "proved", "sourced", "opinion")


def main() -> int:
    """Print a line a kind of statement, and the sums that the goals name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    folder = parser.parse_args().folder
    key = [json.loads(line) for line in (HERE / "key.jsonl").read_text(encoding="utf-8").splitlines()]
    said: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    two, seconds = Counter[str](), 0.0
    for about in json.loads((HERE / "papers.json").read_text(encoding="utf-8")):
        path = folder / about["path"]
        if not path.is_file():
            print(f"{path} is not there", file=sys.stderr)
            return 2
        paper = load_paper(path)
        for kind in ("true", "lies"):
            name = f"{about['paper']}.{kind}.md"
            begun = time.process_time()
            text = (HERE / "reviews" / name).read_text(encoding="utf-8")
            found = certify_text(statements_of(text), Bearings(paper))
            seconds += time.process_time() - begun
            for row in (row for row in key if row["paper"] == about["paper"] and row["file"] == f"reviews/{name}"):
                status = worst(row["sentence"], found)
                label = "true" if row["true"] else "refutable" if row["refutable"] else "other lie"
                said[label, row["kind"]][status] += 1
                two[status] += bool(row["true"] and len(row.get("values") or ()) > 1)
    for (label, kind), counts in sorted(said.items()):
        print(f"{label:10} {kind:11}", *(f"{name} {counts[name]:3}" for name in (*ORDER, "not found")))
    sums = {label: sum((c for (one, _), c in said.items() if one == label), Counter[str]()) for label, _ in said}
    lies, true = sums["refutable"], sums["true"]
    proved = lies["proved"] + sums["other lie"]["proved"]
    print(f"\nrefuted of the refutable lies: {lies['refuted']} of {lies.total()}; lies proved: {proved}")
    print(f"true statements refuted: {true['refuted']} of {true.total()}")
    print(f"proved of the true statements with two values: {two['proved']} of {two.total()}")
    print(f"{seconds:.1f} s of CPU for ten reviews, without reading the papers")
    return 1 if true["refuted"] or proved else 0


def worst(sentence: str, found: Sequence[Certificate]) -> str:
    """The gravest status among the parts of a sentence; ``not found`` where none is part of it."""
    plain = " ".join(sentence.split())
    own = {
        one.status for one in found if (text := " ".join(one.statement.split())) and (text in plain or plain in text)
    }
    return next((status for status in ORDER if status in own), "not found")


if __name__ == "__main__":
    sys.exit(main())
