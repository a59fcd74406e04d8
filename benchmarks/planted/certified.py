"""What the check of reviews makes of the labelled statements behind docs/planted.md.

    python benchmarks/planted/texts.py DIR
    python benchmarks/planted/certified.py DIR

Exit status 1 where a false statement is proved or a correct one refuted. The labels are a language model's.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from referee.evidence.certificates import Bearings, certify_text, statements_of
from referee.papers import load_paper

LABELS = Path(__file__).parent / "labels"
ORDER = ("refuted", "proved", "sourced", "opinion")


def main(folder: Path) -> int:
    """Print a line a label."""
    said: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(LABELS.glob("p?.json")):
        paper = Bearings(load_paper(folder / f"{path.stem}.md"))
        for row in json.loads(path.read_text(encoding="utf-8"))["statements"]:
            found = {one.status for one in certify_text(statements_of(row["text"]), paper)}
            said[row["label"]][next((status for status in ORDER if status in found), "opinion")] += 1
    for label, counts in said.items():
        print(f"{label:10}", *(f"{status} {counts[status]:3}" for status in ORDER))
    refuted = sum(counts["refuted"] for label, counts in said.items() if label != "false")
    return 1 if refuted or said["false"]["proved"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
