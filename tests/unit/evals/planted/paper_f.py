"""Paper F of the specification's section 10, with plants at offsets that are found by the words they replace."""

from __future__ import annotations

import hashlib
from typing import Any

from referee.schemas.planted import PlantedAnchor, PlantedEdit, PlantedKey, PlantedRecord

CLEAN = """# TinyRank

## Abstract

We present TinyRank. On the Harbor benchmark it reaches an accuracy of 74.9, which is 3.7 points above DeepSet, the \
strongest baseline. It is trained on 4,800 queries.

## 1 Setup

Training uses 4,800 queries and the test split holds 1,200. Table 1 gives the split. Every model is trained with five \
seeds; we report means and standard deviations.

The loss is $L = \\sum_i \\ell(x_i) + \\lambda \\|w\\|^2$, where $\\lambda > 0$ penalises large weights.

Table 1: Queries per split.

| split | queries |
| --- | --- |
| train | 4,800 |
| test | 1,200 |

## 2 Results

Table 2 shows that TinyRank improves accuracy from 71.2 to 74.9 (t(8) = 12.9, p < .001; 95% interval of the gain \
[3.0, 4.4]). Removing the pair loss lowers accuracy to 72.0, which suggests that pairs carry most of the gain.

At inference TinyRank is slower than DeepSet (3.1 ms against 1.9 ms).

Table 2: Accuracy on Harbor.

| model | accuracy |
| --- | --- |
| Linear | 65.4 ± 0.6 |
| DeepSet | 71.2 ± 0.5 |
| TinyRank | 74.9 ± 0.4 |

## 3 Limitations

We evaluate on Harbor only.
"""

RECORDS: dict[str, dict[str, Any]] = {
    "F1": {
        "kind": "number",
        "edit": ("accuracy of 74.9", "74.9", "79.4"),
        "anchors": ("from 71.2 to 74.9", "TinyRank | 74.9 ± 0.4"),
        "also_breaks": ("3.7 points",),
        "statement": "The abstract says 79.4, Table 2 and Section 2 say 74.9.",
    },
    "F3": {
        "kind": "direction",
        "edit": ("TinyRank is slower", "slower", "faster"),
        "anchors": ("(3.1 ms against 1.9 ms)",),
        "statement": "3.1 ms against 1.9 ms is slower, not faster.",
    },
    "F4": {
        "kind": "equation",
        "edit": ("+ \\lambda", "+ \\lambda", "- \\lambda"),
        "anchors": ("where $\\lambda > 0$ penalises large weights",),
        "statement": "With a minus sign the loss rewards large weights, which lambda is said to penalise.",
    },
    "F5": {
        "kind": "stats",
        "edit": ("t(8) = 12.9", "12.9", "1.29"),
        "anchors": ("p < .001",),
        "statement": "t(8) = 1.29 gives p = .23, not p < .001.",
    },
    "F7": {
        "kind": "size",
        "edit": ("Training uses 4,800", "4,800", "48,000"),
        "anchors": ("trained on 4,800 queries", "train | 4,800"),
        "statement": "Setup says 48,000 training queries, the abstract and Table 1 say 4,800.",
    },
    "F8": {
        "kind": "reference",
        "edit": ("Table 2 shows", "Table 2", "Table 1"),
        "anchors": ("Table 1: Queries per split.", "Table 2: Accuracy on Harbor."),
        "statement": "Table 1 gives queries per split; the accuracies stand in Table 2.",
    },
    "F9": {
        "kind": "overclaim",
        "edit": ("On the Harbor benchmark", "On the Harbor benchmark", "Across ranking benchmarks"),
        "anchors": ("We evaluate on Harbor only.",),
        "statement": "The abstract claims ranking benchmarks, Section 3 says that only Harbor was used.",
    },
    "F12": {
        "kind": "missing-variance",
        "edit": ("65.4 ± 0.6", " ± 0.6", ""),
        "anchors": ("we report means and standard deviations",),
        "statement": "Setup promises standard deviations over five seeds, Table 2 has none.",
    },
    "F15": {
        "kind": "contradiction",
        "edit": ("DeepSet, the strongest", "DeepSet", "Linear"),
        "anchors": ("DeepSet | 71.2 ± 0.5", "Linear | 65.4 ± 0.6"),
        "statement": "Linear has 65.4 and is not the strongest baseline; DeepSet has 71.2.",
    },
}


def plant(*names: str, silent: frozenset[str] = frozenset()) -> tuple[str, PlantedKey]:
    """The planted copy and its key, with these records."""
    spans = {name: _span(*RECORDS[name]["edit"][:2]) for name in names}
    planted = CLEAN
    for name in sorted(names, key=lambda one: -spans[one][0]):
        low, high = spans[name]
        planted = planted[:low] + RECORDS[name]["edit"][2] + planted[high:]
    records = tuple(_record(name, spans[name], planted, name in silent) for name in names)
    return planted, PlantedKey(
        copy_id="0123456789ab",
        paper=digest(CLEAN),
        seed=1,
        version=1,
        clean_sha256=digest(CLEAN),
        planted_sha256=digest(planted),
        records=records,
    )


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _span(around: str, before: str) -> tuple[int, int]:
    low = CLEAN.index(around) + around.index(before)
    return low, low + len(before)


def _record(name: str, span: tuple[int, int], planted: str, silent: bool) -> PlantedRecord:
    given = RECORDS[name]
    _, before, after = given["edit"]
    line = next(line for line in CLEAN.splitlines() if given["edit"][0] in line)
    sentence = next(one for one in line.split(". ") if given["edit"][0] in one)
    # Where the words stand twice, the edit's own sentence is none of its anchors.
    anchors = [(planted.index(text), text) for text in given["anchors"]]
    return PlantedRecord(
        record_id=name,
        kind=given["kind"],
        severity="H",
        difficulty="far",
        anchor_class="A1",
        silent=silent,
        edits=(PlantedEdit(start=span[0], end=span[1], before=before, after=after),),
        anchors=tuple(PlantedAnchor(start=at, end=at + len(text), text=text) for at, text in anchors),
        sentence_before=sentence,
        sentence_after=sentence.replace(before, after),
        expected=before,
        statement=given["statement"],
        also_breaks=given.get("also_breaks", ()),
        planter="rules",
    )
