"""What the planter finds in the shared papers, kind by kind: candidates, accepted, rejected by reason.

With ``--draw N --seed S`` it adds N plants to a file, drawn over all papers, to be read one by one: at most two of a
kind in a paper come into the draw. Usage: python benchmarks/plant_yield.py ../shared/data [--draw 20 --seed 0 --out
FILE]
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from referee.data.papers import read_papers
from referee.errors import DataError
from referee.experiments.planting.checks import applied
from referee.experiments.planting.folder import yield_table
from referee.experiments.planting.offers import KindYield, Wanted, find_offer
from referee.papers import load_paper
from referee.schemas.paper import Paper

EXAMPLE = Path(__file__).parent.parent / "examples" / "paper.md"


def papers(data: Path) -> Iterator[tuple[str, Paper]]:
    yield EXAMPLE.name, load_paper(EXAMPLE)
    for pdf in sorted((data / "pdfs").glob("*.pdf")):
        yield pdf.name, load_paper(pdf)
    for rows in sorted((data / "papers").glob("*.jsonl")):
        try:
            store = read_papers(rows)
        except DataError:
            continue  # abstracts alone
        for name in sorted({id(reader): name for name, reader in store.readers.items()}.values()):
            paper = store.get(name)
            if paper is not None:
                yield f"{rows.name}: {name}", paper


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    pooled: dict[str, KindYield] = {}
    with_any: Counter[str] = Counter()
    drawn = []
    read = 0
    for name, paper in papers(asked.data):
        offer = find_offer(paper, Wanted(n=6, seed=asked.seed, neutral=True))
        read += 1
        for kind, one in offer.yields.items():
            into = pooled.setdefault(kind, KindYield())
            into.candidates += one.candidates
            into.accepted += one.accepted
            into.rejected.update(one.rejected)
            with_any[kind] += bool(one.accepted)
        for kind, candidates in offer.candidates.items():
            for candidate in candidates[:2] if kind != "neutral" else []:
                first = candidate.edits[0]
                drawn.append(
                    {
                        "paper": name,
                        "kind": kind,
                        "before": first.passage.text,
                        "after": applied(first.passage, candidate.edits),
                        "anchors": [applied(a.passage, candidate.edits) for a in candidate.anchors],
                        "statement": candidate.statement,
                        "label": "",
                        "why": "",
                    }
                )
    for kind, one in pooled.items():
        one.planted = with_any[kind]
    print(f"{read} papers; the column 'planted' counts papers with at least one accepted\n")
    print(yield_table(pooled))
    if asked.draw and asked.out:
        random.Random(asked.seed).shuffle(drawn)
        before = json.loads(asked.out.read_text())["draws"] if asked.out.exists() else []
        draws = [*before, {"seed": asked.seed, "plants": drawn[: asked.draw]}]
        asked.out.write_text(json.dumps({"draws": draws}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
