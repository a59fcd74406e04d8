"""How well a model reads abstracts for a review, against labels made before: literature/works.jsonl and labels.toml.

    referee review PAPER --venue neurips-2025 --literature benchmarks/literature/works.jsonl \\
        --references benchmarks/literature/works.jsonl --support --as-of 2024-06-01 --out RUN ...
    python benchmarks/literature_reading.py RUN

PAPER is ai_scientist_rl_lr_adaptation.pdf of the shared PDFs, or the paper ``rates`` of figure_papers.py.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

LABELS = Path(__file__).parent / "literature" / "labels.toml"


def main() -> int:
    """Print what was found and judged beside the labels; 2 where the run holds no search."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    review = json.loads((Path(sys.argv[1]) / "review.json").read_text(encoding="utf-8"))
    labels = tomllib.loads(LABELS.read_text(encoding="utf-8"))
    if not review.get("literature") or not review.get("references"):
        print("this run looked nothing up", file=sys.stderr)
        return 2
    _bearings(review["literature"], labels["bearing"])
    _support(review["references"], labels["support"])
    return 0


def _bearings(literature: dict[str, list[dict[str, str]]], labels: dict[str, list[str]]) -> None:
    titles = {work["id"]: work["title"] for work in literature["works"]}
    said: dict[str, list[str]] = {title: [] for title in labels}
    for one in literature["bearings"]:
        said[titles[one["work"]]].append(one["bearing"])
    print(f"{len(literature['claims'])} claims, {len(titles)} of {len(labels)} works read\n")
    print("| work | labelled | said | right |\n| --- | --- | --- | --- |")
    right = 0
    for title, wanted in labels.items():
        given = said[title]
        ok = all(one in wanted for one in given) and (bool(given) or not wanted or "" in wanted)
        right += ok
        shown = title in titles.values()
        told = ", ".join(dict.fromkeys(given)) or ("nothing" if shown else "not read")
        print(f"| {title} | {' or '.join(filter(None, wanted)) or 'nothing'} | {told} | {'yes' if ok else 'no'} |")
    print(f"\n{right} of {len(labels)} right\n")


def _support(references: dict[str, list[dict[str, str]]], labels: dict[str, list[str]]) -> None:
    print("| reference | labelled | said | right |\n| --- | --- | --- | --- |")
    said = {str(one["number"]): one["verdict"] for one in references["support"]}
    for number, wanted in labels.items():
        given = said.get(number, "not asked")
        print(f"| {number} | {' or '.join(wanted)} | {given} | {'yes' if given in wanted else 'no'} |")


if __name__ == "__main__":
    sys.exit(main())
