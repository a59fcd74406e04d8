"""Which step of which metric ought to find what annotators marked, and how well it does: precision, recall, F1.

The unit is the sentence. The mapping is ours: no annotation scheme was made for these metrics, so a perfect step would
not reach 1 either; ``limit`` says why for each row. F1 is over all sentences of a corpus (micro), with a bootstrap
interval over reviews; beside it stands the F1 of calling every sentence positive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from referee.stats import Interval, bootstrap_interval

Step = Literal["insights", "points"]
SEED = 0


@dataclass(frozen=True)
class Row:
    """One correspondence: sentences that a step gives one of ``found`` against those labelled one of ``labels``.

    ``within`` restricts both sides to the sentences that have this label and that the step found at all.
    """

    corpus: str
    step: Step
    found: tuple[str, ...]
    labels: tuple[str, ...]
    limit: str
    within: str = ""

    @property
    def name(self) -> str:
        return f"{self.step}: {' or '.join(self.found)} = {' or '.join(self.labels)}"


MAPPING = (
    Row(
        "DISAPERE",
        "insights",
        ("criticism", "methodology", "suggestion"),
        ("request", "evaluative negative"),
        "a neutral remark on what is missing is a `fact` there",
    ),
    Row(
        "DISAPERE",
        "insights",
        ("suggestion",),
        ("request",),
        "typos are requests there, and a question that only asks is one as well",
    ),
    Row(
        "DISAPERE",
        "insights",
        ("criticism", "methodology"),
        ("evaluative negative",),
        "one action a sentence there; a sentence that blames and asks has one of the two",
    ),
    Row("DISAPERE", "points", ("praise",), ("evaluative positive",), "mixed sentences have one polarity there"),
    Row("DISAPERE", "points", ("summary",), ("summary",), "headings and quotations are other kinds there"),
    Row(
        "DISAPERE",
        "points",
        ("question",),
        ("request for explanation",),
        "a request in the imperative is one there, and a claim for us where it implies an absence",
    ),
    Row(
        "DISAPERE",
        "points",
        ("claim",),
        ("fact", "evaluative negative"),
        "nobody labelled there whether a paper could settle the sentence: the nearest, and not the same",
    ),
    Row(
        "SubstanReview",
        "insights",
        ("criticism", "methodology", "suggestion"),
        ("negative claim",),
        "requests are no claims there",
    ),
    Row("SubstanReview", "points", ("praise",), ("positive claim",), "spans there may be half a sentence"),
    Row(
        "SubstanReview",
        "points",
        ("claim",),
        ("negative claim", "negative evidence"),
        "there a claim is subjective; for us it is what the paper can settle",
    ),
    Row(
        "SubstanReview",
        "insights",
        ("specific",),
        ("substantiated",),
        "specific asks for the exact thing that is meant, substantiated for a reason",
        within="negative claim",
    ),
)


@dataclass(frozen=True)
class Counts:
    """Sentences of one review: found and labelled, found only, labelled only, neither."""

    both: int
    found_only: int
    labelled_only: int
    neither: int

    @classmethod
    def of(cls, found: set[int], labelled: set[int], universe: set[int]) -> Counts:
        found, labelled = found & universe, labelled & universe
        both = len(found & labelled)
        rest = len(universe) - len(found | labelled)
        return cls(both, len(found) - both, len(labelled) - both, rest)


@dataclass(frozen=True)
class Scores:
    """Precision, recall and F1 with intervals over reviews; ``all_f1``: were every sentence called positive."""

    precision: Interval
    recall: Interval
    f1: Interval
    all_f1: float | None
    labelled: int
    sentences: int


def scores(by_review: Mapping[str, Counts], seed: int = SEED) -> Scores:
    """The scores over all reviews' sentences together.

    F1 = 2 both / (2 both + found only + labelled only) is the mean of that many ones and zeros, and so are precision
    and recall; a bootstrap of means over reviews therefore is one of micro F1.
    """

    def share(hits: Mapping[str, tuple[int, int]]) -> Interval:
        return bootstrap_interval({name: [1.0] * k + [0.0] * (n - k) for name, (k, n) in hits.items()}, seed=seed)

    labelled = sum(c.both + c.labelled_only for c in by_review.values())
    sentences = labelled + sum(c.found_only + c.neither for c in by_review.values())
    return Scores(
        precision=share({name: (c.both, c.both + c.found_only) for name, c in by_review.items()}),
        recall=share({name: (c.both, c.both + c.labelled_only) for name, c in by_review.items()}),
        f1=share({name: (2 * c.both, 2 * c.both + c.found_only + c.labelled_only) for name, c in by_review.items()}),
        all_f1=2 * labelled / (labelled + sentences) if sentences else None,
        labelled=labelled,
        sentences=sentences,
    )


def row_counts(row: Row, found: Mapping[str, set[int]], gold: Mapping[str, set[int]], sentences: int) -> Counts:
    """One review's counts for a row.

    Args:
        row: The correspondence.
        found: Places of sentences by what the step calls them.
        gold: Places of sentences by label.
        sentences: How many there are.
    """
    universe = set(range(sentences))
    if row.within:
        universe = gold.get(row.within, set()) & _union(found, found)
    return Counts.of(_union(found, row.found), _union(gold, row.labels), universe)


def located(text: str, pieces: Iterable[str]) -> Iterator[tuple[int, int] | None]:
    """Where pieces of a text stand in it, white space aside, each sought behind the last and then from the start."""
    places = [place for place, char in enumerate(text) if not char.isspace()]
    squeezed, behind = "".join(text[place] for place in places), 0
    for piece in pieces:
        wanted = "".join(piece.split())
        start = squeezed.find(wanted, behind) if wanted else -1
        start = squeezed.find(wanted) if wanted and start < 0 else start
        if start < 0:
            yield None
            continue
        behind = start + len(wanted)
        yield places[start], places[behind - 1] + 1


def touched(units: Sequence[tuple[int, int]], span: tuple[int, int] | None) -> set[int]:
    """The places of the units that share at least half of the shorter of the two with a span."""
    if span is None:
        return set()
    start, end = span
    return {
        place
        for place, (low, high) in enumerate(units)
        if 2 * (min(end, high) - max(start, low)) >= min(end - start, high - low) > 0
    }


def as_plain(one: Scores) -> dict[str, Any]:
    """The scores as the JSON holds them."""
    intervals = {name: getattr(one, name) for name in ("precision", "recall", "f1")}
    plain = {name: [value.mean, value.low, value.high] for name, value in intervals.items()}
    return {**plain, "all_f1": one.all_f1, "labelled": one.labelled, "sentences": one.sentences}


def _union(sets: Mapping[str, set[int]], names: Iterable[str]) -> set[int]:
    return set().union(*(sets.get(name, set()) for name in names))
