"""The matcher of planted errors against a language model's labels, on 60 pairs of a remark and a record.

    python benchmarks/planted_matcher.py --draw            write benchmarks/planted_pairs.json, without labels
    python benchmarks/planted_matcher.py --show SEED       the pairs in another order, for the model that labels them
    python benchmarks/planted_matcher.py                   agreement and kappa, from the two labellings

For each of 40 records one remark is drawn that quotes a sentence of its places or shares the wrong or the right number,
and for 20 of them one that does neither. The labels (``same``, ``related``, ``other``) stand in
``planted_pairs_labels.json``, two a pair.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from typing import Any

from planted_keys import ARMS, HERE, PAPERS, key_of, raised

from referee.evals.planted.content import Window, sides_of
from referee.evals.planted.matching import Matcher, Pair, matched
from referee.evals.planted.points import Point
from referee.schemas.planted import PlantedKey

PAIRS, LABELS = HERE / "planted_pairs.json", HERE / "planted_pairs_labels.json"
SEED, CLEAR = 17, 20
LABELLED = ("single", "whole", "core")


def draw() -> list[dict[str, Any]]:
    """Sixty pairs in a shuffled order; nothing in them says which were drawn as clear."""
    rng = random.Random(SEED)
    hard, clear = [], []
    for paper in PAPERS:
        _, planted, key = key_of(paper)
        pairs = all_pairs(paper, planted, key)
        for record in key.records:
            own = [pair for pair in pairs if pair[1].record.record_id == record.record_id]
            near = [pair for pair in own if is_near(pair[1])]
            far = [pair for pair in own if not is_near(pair[1])]
            hard.append(_row(*rng.choice(near)))
            clear.append(_row(*rng.choice(far)))
    rows = hard + rng.sample(clear, CLEAR)
    rng.shuffle(rows)
    return [{"pair": number, **row} for number, row in enumerate(rows, start=1)]


def all_pairs(paper: str, planted: str, key: PlantedKey) -> list[tuple[str, Pair]]:
    """Arm and pair, of all remarks of all arms beside all records."""
    matcher = Matcher(key, planted)
    return [(f"{paper}-{arm}", pair) for arm in ARMS for pair in matcher.pairs(raised(paper, arm).all)]


def is_near(pair: Pair) -> bool:
    """Whether a remark quotes a sentence at a record's places, or shares the wrong or the right number."""
    sides, said = sides_of(pair.record), Window.of(pair.point.text)
    return pair.place == "yes" or sides.wrong.valued(said) or sides.right.valued(said)


def _row(review: str, pair: Pair) -> dict[str, Any]:
    point, record = pair.point, pair.record
    return {
        "review": review,
        "point": point.id,
        "text": point.text,
        "quotations": list(point.quotations),
        "record": record.record_id,
        "statement": record.statement,
        "sentence_before": record.sentence_before,
        "sentence_after": record.sentence_after,
    }


def show(seed: int) -> None:
    """The pairs as the labelling model reads them."""
    rows = json.loads(PAIRS.read_text(encoding="utf-8"))
    random.Random(seed).shuffle(rows)
    for row in rows:
        print(f"#{row['pair']} [{row['record']}] {row['statement']}\n  NOW: {row['sentence_after'][:400]}")
        print(f"  POINT: {row['text'][:1200]}")
        for quote in row["quotations"][:4]:
            print(f"  QUOTES: {quote[:160]}")
        print()


def verdicts(rows: list[dict[str, Any]]) -> dict[int, str]:
    """The matcher's verdict of each pair, remark and record alone."""
    found: dict[int, str] = {}
    for paper in PAPERS:
        own = [row for row in rows if row["record"].startswith(f"{paper}-")]
        _, planted, key = key_of(paper)
        matcher = Matcher(key, planted)
        for row in own:
            point = Point(row["point"], row["text"], tuple(row["quotations"]))
            (pair,) = (p for p in matcher.pairs([point]) if p.record.record_id == row["record"])
            found[row["pair"]] = pair.verdict
    return found


def kappa(first: list[str], second: list[str]) -> float:
    """Cohen's kappa of two labellings of the same things."""
    n = len(first)
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    one, two = Counter(first), Counter(second)
    chance = sum(one[label] * two[label] for label in one) / n**2
    return (agreed - chance) / (1 - chance)


def report() -> None:
    """Both labellings against each other, and the matcher against what they agree on."""
    rows = json.loads(PAIRS.read_text(encoding="utf-8"))
    labels = json.loads(LABELS.read_text(encoding="utf-8"))
    first, second = ([labels[name][str(row["pair"])] for row in rows] for name in ("first", "second"))
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    print(f"labels: {agreed} of {len(rows)} agree, kappa {kappa(first, second):.3f}: {dict(Counter(first))}")
    said = verdicts(rows)
    print("\n| label (both agree) | n | found | judge | near | missed |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    kept = [(a, said[row["pair"]], row) for a, b, row in zip(first, second, rows, strict=True) if a == b]
    for label in ("same", "related", "other"):
        own = Counter(verdict for a, verdict, _ in kept if a == label)
        print(f"| {label} | {own.total()} |" + "".join(f" {own[v]} |" for v in ("found", "judge", "near", "missed")))
    decided = [(a == "same", verdict == "found") for a, verdict, _ in kept if verdict != "judge"]
    mine, code = ([str(pair[n]) for pair in decided] for n in (0, 1))
    right = sum(a == b for a, b in decided)
    print(f"\ndecided by code: {right} of {len(decided)} as labelled, kappa {kappa(mine, code):.3f}; ", end="")
    print(f"left to a judge: {len(kept) - len(decided)} of {len(kept)}")
    for label, verdict, row in kept:
        if (verdict == "found") != (label == "same") and verdict != "judge":
            print(f"  pair {row['pair']}, {row['record']}: labelled {label}, the matcher says {verdict}")


def records() -> None:
    """The matcher's verdict of each record in each labelled review, against what a language model found in print."""
    counts: Counter[tuple[str, str]] = Counter()
    for paper in PAPERS:
        labels = json.loads((HERE / "planted" / "labels" / f"{paper}.json").read_text(encoding="utf-8"))["planted"]
        _, planted, key = key_of(paper)
        matcher = Matcher(key, planted)
        for arm in LABELLED:
            for outcome in matched(matcher, raised(paper, arm)):
                state = labels[outcome.record_id].get(arm)
                counts["printed" if state == "printed" else "not printed", outcome.printed.verdict] += state is not None
    print("\n| a language model says | n | found | ambiguous | near or missed |\n| --- | ---: | ---: | ---: | ---: |")
    for label in ("printed", "not printed"):
        own = Counter({verdict: n for (said, verdict), n in counts.items() if said == label})
        missed = own["near"] + own["missed"]
        print(f"| {label} | {own.total()} | {own['found']} | {own['ambiguous']} | {missed} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--show", type=int, metavar="SEED")
    args = parser.parse_args()
    if args.draw:
        PAIRS.write_text(json.dumps(draw(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    elif args.show is not None:
        show(args.show)
    else:
        report()
        records()
    return 0


if __name__ == "__main__":
    sys.exit(main())
