"""Strategies on the planted papers of ``benchmarks/planted``, and on their clean twins: the table of the metrics.

    python benchmarks/planted_strategies.py RUN ...          run folders of `referee review`, of either twin
    python benchmarks/planted_strategies.py --keys DIR       write the layout of `referee eval --planted`

A run is of the twin whose digest is its paper's. Verdicts are those of the matcher without a judge. Where
``planted_strategy_labels.json`` holds a language model's labels (by strategy and record, whether it found the error in
print), recall by these stands beside. Strategies are compared over the papers that all of them have.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from planted_keys import HERE, PAPERS, key_of

from referee.data import read_cases
from referee.evals.planted.counts import ArmCount, PaperCount, cells, comparable, difference
from referee.evals.planted.matching import Matcher, matched
from referee.evals.planted.points import points_of
from referee.schemas.planted import PlantedKey
from referee.schemas.review import Review

LABELS = HERE / "planted_strategy_labels.json"
TWO = 2


@dataclass(frozen=True)
class Run:
    """One review of one twin.

    ``tokens`` are those of its answered calls, in and out.
    """

    strategy: str
    paper: str
    twin: str
    count: PaperCount
    recorded: int
    refuted: int
    words: int
    tokens: int


def read_run(folder: Path, keys: Mapping[str, tuple[str, str, PlantedKey]]) -> Run | None:
    """A finished run; None where there is no review, or it is of no paper of the keys."""
    file = folder / "review.json"
    if not file.is_file():
        return None
    review = Review.model_validate_json(file.read_bytes())
    for paper, (clean, planted, key) in keys.items():
        twins = {key.planted_sha256: planted, key.clean_sha256: clean}
        if review.paper_id in twins:
            twin = "planted" if review.paper_id == key.planted_sha256 else "clean"
            (case,) = read_cases(file)
            raised = points_of(case, review)
            matcher = Matcher(key, twins[review.paper_id], "planted" if twin == "planted" else "clean")
            used, made = review.provenance.usage if review.provenance else None, review.provenance
            return Run(
                made.strategy if made else folder.name,
                paper,
                twin,
                PaperCount(matched(matcher, raised), len(raised.printed)),
                len(raised.recorded),
                sum(point.refuted for point in raised.recorded),
                matcher.copy.words,
                (used.input_tokens + used.output_tokens) if used else 0,
            )
    return None


def arms_of(runs: Iterable[Run]) -> dict[str, dict[str, PaperCount]]:
    """By strategy and paper, the planted copy's count with the ghosts of its clean twin."""
    held = list(runs)
    ghosts = {(run.strategy, run.paper): len(run.count.found) for run in held if run.twin == "clean"}
    arms: dict[str, dict[str, PaperCount]] = {}
    for run in held:
        if run.twin == "planted":
            own = replace(run.count, ghosts=ghosts.get((run.strategy, run.paper)))
            arms.setdefault(run.strategy, {})[run.paper] = own
    return arms


def table(runs: list[Run]) -> None:
    """One line a strategy, over its own papers."""
    labels = json.loads(LABELS.read_text(encoding="utf-8")) if LABELS.is_file() else {}
    columns = (
        *("papers", "records", "found (recall_low)", "recall_high", "raised", "top 3", "top 5", "top 10"),
        *("precision_low", "ghosts", "corrected", "remarks per 1,000 words, clean", "refuted, clean", "tokens"),
        *(("by a language model",) if labels else ()),
    )
    print(f"| strategy | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")
    for name, papers in arms_of(runs).items():
        arm = ArmCount(papers)
        clean = [run for run in runs if run.strategy == name and run.twin == "clean"]
        tokens = sum(run.tokens for run in runs if run.strategy == name and run.twin == "planted")
        cells_ = [
            str(len(papers)),
            str(arm.n),
            f"{arm.found} ({_number(arm.recall_low)})",
            _number(arm.recall_high),
            _number(arm.recall_raised),
            *(_number(arm.recall_at(k)) for k in (3, 5, 10)),
            _number(arm.precision_low),
            _ghosts(papers.values()),
            _number(arm.corrected),
            _number(1_000 * sum(r.count.points for r in clean) / sum(r.words for r in clean) if clean else None),
            str(sum(run.refuted for run in clean)) if any(run.recorded for run in clean) else "-",
            f"{tokens:,}",
        ]
        if labels:
            cells_.append(_labelled(labels.get(name, {}), papers))
        print(f"| {name} | {' | '.join(cells_)} |")


def pairs(runs: list[Run]) -> None:
    """Each two strategies over the papers that both have."""
    arms = arms_of(runs)
    names = list(arms)
    for first, second in ((a, b) for n, a in enumerate(names) for b in names[n + 1 :]):
        both = comparable({first: arms[first], second: arms[second]})
        if len(both[first].papers) >= TWO:
            found = difference(both[first], both[second])
            interval = "-" if found.low is None else f"[{found.low:.3f}, {found.high:.3f}]"
            print(
                f"- `{second}` less `{first}`, {len(both[first].papers)} papers: {_number(found.mean)} {interval}; "
                f"records that only one found: {found.only_second} against {found.only_first}"
            )


def by_kind(runs: list[Run]) -> None:
    """Counts by kind; a share from 20 records on."""
    for name, papers in arms_of(runs).items():
        records = [record for paper in papers.values() for record in paper.records]
        said = [f"{kind} {hit} of {n}" for kind, (hit, n, _) in cells(records, "kind").items()]
        print(f"- `{name}`: {', '.join(said)}")


def write_keys(folder: Path) -> None:
    """The folder layout of planted papers, under opaque names."""
    for paper in PAPERS:
        clean, planted, key = key_of(paper)
        named = key.model_copy(update={"copy_id": key.clean_sha256[:12]})
        texts = {"clean": clean, "planted": planted}
        for twin, text in texts.items():
            (folder / twin).mkdir(parents=True, exist_ok=True)
            (folder / twin / f"{named.copy_id}.md").write_bytes(text.encode())
        (folder / "keys").mkdir(exist_ok=True)
        (folder / "keys" / f"{named.copy_id}.json").write_text(named.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _ghosts(papers: Iterable[PaperCount]) -> str:
    known = [(paper.ghosts, paper.n) for paper in papers if paper.ghosts is not None]
    return f"{sum(g for g, _ in known)} of {sum(n for _, n in known)}" if known else "-"


def _labelled(labels: Mapping[str, bool], papers: Mapping[str, PaperCount]) -> str:
    """``labels``: record id to whether a language model found it in print."""
    own = [labels[r.record_id] for paper in papers.values() for r in paper.records if r.record_id in labels]
    return f"{sum(own)} of {len(own)}" if own else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--keys", type=Path, metavar="DIR")
    args = parser.parse_args()
    if args.keys:
        write_keys(args.keys)
    keys = {paper: key_of(paper) for paper in PAPERS} if args.runs else {}
    read = [(folder, read_run(folder, keys)) for folder in args.runs]
    for folder, run in read:
        if run is None:
            print(f"left out: {folder.name}, which holds no finished review of these papers", file=sys.stderr)
    runs = [run for _, run in read if run is not None]
    if runs:
        table(runs)
        print()
        pairs(runs)
        print()
        by_kind(runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
