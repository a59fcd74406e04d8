"""Labelled reviews against what the metrics extract: DISAPERE, SubstanReview, and RevUtil as a smoke check."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from metric_validity_mapping import MAPPING, Counts, Step, as_plain, located, row_counts, scores, touched
from metric_validity_means import DATA, Means, gathered

from referee.agents.point_splitter import number_sentences, split_review
from referee.errors import BudgetExceeded, ModelError
from referee.evals.metric import Context
from referee.evals.quality.constructiveness import METRIC as CONSTRUCTIVENESS
from referee.evals.quality.factual_correctness import bounds_for
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

LABELLED = DATA / "labelled"
DISAPERE, SUBSTAN, REVUTIL = "disapere_sentence_labels.jsonl", "substanreview_spans.jsonl", "revutil_points.jsonl"
_SPANS = {
    "Eval_pos": "positive claim",
    "Eval_neg": "negative claim",
    "Jus_pos": "positive evidence",
    "Jus_neg": "negative evidence",
    "Major_claim": "major claim",
}
_HIGH, _LOW = 4, 2


@dataclass(frozen=True)
class Labelled:
    """A review with its sentences and, by label, the places of the sentences that have it."""

    corpus: str
    id: str
    text: str
    units: tuple[tuple[int, int], ...]
    gold: Mapping[str, set[int]]


async def measure_labels(means: Means, reviews: int | None) -> dict[str, Any]:
    """Every row of the mapping on the first reviews of each corpus, and the smoke check.

    Raises:
        BudgetExceeded: The next call could pass a limit.
    """
    corpora = [list(islice(read, reviews)) for read in (disapere(LABELLED / DISAPERE), substan(LABELLED / SUBSTAN))]
    read = [review for corpus in corpora for review in corpus]
    found = await gathered((_found(one, means) for one in read), at_once=means.at_once, what="labels")
    rows = []
    for row in MAPPING:
        counts: dict[str, Counts] = {
            one.id: row_counts(row, steps[row.step] or {}, one.gold, len(one.units))
            for one, steps in zip(read, found, strict=True)
            if one.corpus == row.corpus and steps[row.step] is not None
        }
        unread = sum(one.corpus == row.corpus for one in read) - len(counts)
        about = {"corpus": row.corpus, "row": row.name, "within": row.within, "limit": row.limit}
        rows.append({**about, "reviews": len(counts), "unread": unread, **as_plain(scores(counts))})
    return {"rows": rows, "smoke": await _smoke(means, reviews)}


def disapere(path: Path) -> Iterator[Labelled]:
    """The corpus's own sentences; each has one action, one polarity and one finer kind."""
    for row in _rows(path):
        text, units, gold = "", list[tuple[int, int]](), dict[str, set[int]]()
        for place, sentence in enumerate(row["review_sentences"]):
            units.append((len(text), len(text) + len(sentence["text"])))
            text += sentence["text"] + (sentence["suffix"] or " ")
            for label in _disapere_labels(sentence):
                gold.setdefault(label, set()).add(place)
        yield Labelled("DISAPERE", row["metadata"]["review_id"], text, tuple(units), gold)


def substan(path: Path) -> Iterator[Labelled]:
    """Our sentences; one has a label where a span covers half of the shorter of the two.

    A negative claim is ``substantiated`` where a span of evidence has its number.
    """
    for row in _rows(path):
        text = row["review"]
        units = tuple(span for span in located(text, number_sentences(text).values()) if span)
        gold = dict[str, set[int]]()
        names = {name for *_, name in row["label"]}
        for start, end, name in row["label"]:
            places = touched(units, (start, end))
            kind = next(kind for kind in _SPANS if name.startswith(kind))
            gold.setdefault(_SPANS[kind], set()).update(places)
            if kind == "Eval_neg" and name.replace("Eval", "Jus") in names:
                gold.setdefault("substantiated", set()).update(places)
        yield Labelled("SubstanReview", f"substan-{row['id']}", text, units, gold)


def _disapere_labels(sentence: Mapping[str, str]) -> Iterator[str]:
    action, fine = sentence["review_action"].removeprefix("arg_"), sentence["fine_review_action"]
    if action == "evaluative":
        yield f"evaluative {sentence['polarity'].removeprefix('pol_')}"
    elif action in ("request", "fact"):
        yield action
    if fine in ("arg-request_explanation", "arg-request_clarification"):
        yield "request for explanation"
    if fine == "arg-structuring_summary":
        yield "summary"


async def _found(one: Labelled, means: Means) -> dict[Step, dict[str, set[int]] | None]:
    """What the two steps find in a review, by sentence; None where the judge gave no usable reply."""
    return {"insights": await _insights(one, means), "points": await _points(one, means)}


async def _insights(one: Labelled, means: Means) -> dict[str, set[int]] | None:
    result = await CONSTRUCTIVENESS.measure(_case(one.id, one.text), Context(panel=means.panel))
    listed = _listed(result)
    if listed is None:
        return None
    found = dict[str, set[int]]()
    for insight, span in zip(listed, located(one.text, (insight["quote"] for insight in listed)), strict=True):
        for name in [insight["kind"], *(["specific"] if insight["specificity"] else [])]:
            found.setdefault(name, set()).update(touched(one.units, span))
    return found


async def _points(one: Labelled, means: Means) -> dict[str, set[int]] | None:
    bounds = bounds_for(means.panel)
    try:
        split = await split_review(
            one.text,
            panel=means.panel,
            window_tokens=bounds.window_tokens,
            unit=f"points of {one.id}",
            lean=bounds.by_sentence,
        )
    except BudgetExceeded:
        raise
    except ModelError:
        return None
    found = dict[str, set[int]]()
    for point, span in zip(split.points, located(one.text, (point.words for point in split.points)), strict=True):
        found.setdefault(point.kind, set()).update(touched(one.units, span))
    return found


async def _smoke(means: Means, points: int | None) -> dict[str, Any]:
    """Single points with a human label for actionability: does the metric say anything, and more for the high?"""
    rows = list(islice(_rows(LABELLED / REVUTIL), points))
    jobs = (
        CONSTRUCTIVENESS.measure(_case(f"revutil-{n}", row["review_point"]), Context(panel=means.panel))
        for n, row in enumerate(rows)
    )
    results = await gathered(jobs, at_once=means.at_once, what="smoke check")
    sums: dict[str, list[float]] = {"high": [], "low": []}
    for row, result in zip(rows, results, strict=True):
        label = row["human_actionability"]
        level = _level(label)
        if level and result.parts.get("mean_sum") is not None:
            sums[level].append(float(result.parts["mean_sum"] or 0.0))
    return {
        "points": len(rows),
        "with_insight": sum(result.status == "scored" for result in results),
        "failed": sum(result.status == "failed" for result in results),
        "mean_sum": {level: [fmean(values) if values else None, len(values)] for level, values in sums.items()},
    }


def _level(label: str) -> str:
    try:
        value = float(label)
    except ValueError:
        return ""
    return "high" if value >= _HIGH else "low" if value <= _LOW else ""


def _listed(result: MetricResult) -> list[dict[str, Any]] | None:
    """The insights of the first judge's reading; none is an empty list, no reply is None."""
    readings = [reading for reading in result.details.get("readings", ()) if not reading["error"]]
    if not readings:
        return None
    listed: list[dict[str, Any]] = readings[0]["insights"]
    return listed


def _case(name: str, text: str) -> ReviewCase:
    return ReviewCase(case_id=name, paper_id=name, source="human", kind="human", text=text)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
