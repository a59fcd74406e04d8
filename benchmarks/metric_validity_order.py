"""Order tests: reviews whose order a metric must get right, without anybody's label.

Of ten papers the first review is the reference and is measured as it is, with its sentences shuffled, and replaced by
the second review of its paper, by the first review of the next paper, and by one generic text. Two more texts try to
earn what they are not worth: the generic text with the paper's abstract behind it (``copied``), and the reference with
the generic text behind it (``padded``). What each metric must say of them is declared here, before anything is
measured.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice
from typing import Any, Literal

from metric_validity_means import DATA, Means, gathered

from referee.agents.point_splitter import number_sentences
from referee.data import read_cases
from referee.evals.metric import Context
from referee.evals.registry import find_metrics
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Converter, Paper
from referee.venues import load_venue

REVIEWS, VENUE = DATA / "papers" / "iclr2026_abstract_reviews_rebuttals.jsonl", "iclr-2026"
PAPERS, LEAST_REVIEWS = 10, 3
ABOUT = 0.1
"""How far apart two values may be that ought to be about equal, and how far the generic text may exceed another's."""

GENERIC = (
    "The paper deals with a relevant problem and is organised in a sensible way. The idea behind the approach is easy "
    "to grasp, and the reported numbers look promising. On the other side, the novelty seems limited, and the "
    "experiments could be broader. Some parts of the text would profit from another round of proofreading. The authors "
    "should compare with more baselines, discuss the limitations at greater length and explain their choices better. "
    "It would also help to know how the approach behaves in other settings. Overall this is a borderline paper."
)

Variant = Literal[
    "self", "shuffled", "same_paper", "other_paper", "generic", "copied", "padded", "true", "wrong", "absences"
]


@dataclass(frozen=True)
class Relation:
    """What must hold between the values of two variants: above, not below (by more than the slack), or about equal."""

    left: Variant
    sign: Literal[">", ">=", "~"]
    right: Variant
    slack: float = 0.0

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}" + (f" ({self.slack:g})" if self.slack >= ABOUT else "")

    def holds(self, values: Mapping[str, float | None]) -> bool | None:
        """Whether it holds; None where one of the two was not measured."""
        left, right = values.get(self.left), values.get(self.right)
        if left is None or right is None:
            return None
        if self.sign == "~":
            return abs(left - right) <= self.slack
        return left > right if self.sign == ">" else left >= right - self.slack


ROUNDING = 1e-6
_AGAINST_A_REFERENCE = (
    Relation("self", ">=", "shuffled", ROUNDING),
    Relation("shuffled", ">", "same_paper"),
    Relation("same_paper", ">", "other_paper"),
    Relation("same_paper", ">", "generic"),
    Relation("other_paper", ">=", "generic", ABOUT),
    Relation("same_paper", ">", "copied"),
    Relation("generic", ">=", "copied", ABOUT),
)
_OF_THE_TEXT = (
    Relation("self", ">", "generic"),
    Relation("self", "~", "shuffled", ABOUT),
    Relation("self", ">=", "padded", ABOUT),
    Relation("generic", ">=", "copied", ABOUT),
)
# A name behind a colon is a part of the metric instead of its value.
EXPECTED: Mapping[str, tuple[Relation, ...]] = {
    "semantic_similarity": _AGAINST_A_REFERENCE,
    "topic_coverage": _AGAINST_A_REFERENCE,
    "constructiveness": _OF_THE_TEXT,
    "constructiveness:mean_share": _OF_THE_TEXT,
    "depth": _OF_THE_TEXT,
    "adherence": _OF_THE_TEXT,
}
_WITHOUT_REFERENCE: tuple[Variant, ...] = ("self", "shuffled", "other_paper", "generic", "copied", "padded")


@dataclass(frozen=True)
class Ranked:
    """One metric on one reference review: values by variant, what was not measured and why, which relations hold."""

    metric: str
    paper: str
    values: dict[str, float | None]
    reasons: dict[str, str]
    holds: dict[str, bool | None]

    @classmethod
    def of(
        cls,
        metric: str,
        paper: str,
        results: Mapping[str, MetricResult],
        relations: Iterable[Relation],
        part: str = "",
    ) -> Ranked:
        """The ranking by the results' values, or by one of their parts."""
        values = {name: one.parts.get(part) if part else one.value for name, one in results.items()}
        reasons = {name: one.reason for name, one in results.items() if one.value is None}
        return cls(metric, paper, values, reasons, {str(one): one.holds(values) for one in relations})

    def record(self) -> dict[str, Any]:
        """As it is written and printed."""
        return asdict(self) | {"ranking": self.ranking}

    @property
    def ranking(self) -> str:
        """The variants from the highest value down, with signs between them."""
        known = [(name, value) for name, value in self.values.items() if value is not None]
        known.sort(key=lambda pair: -pair[1])
        text, last = "", None
        for name, value in known:
            sign = "" if last is None else (" = " if abs(last - value) <= ROUNDING else " > ")
            text, last = f"{text}{sign}{name} {value:.2f}", value
        return text


async def measure_order(means: Means, papers: int | None) -> list[dict[str, Any]]:
    """Every metric on every variant of every reference review; a record for each metric and paper."""
    # With a single paper there would be no other.
    chosen = chosen_reviews(read_cases(REVIEWS), max(2, papers or PAPERS))
    form, papers_of = load_venue(VENUE), abstracts()
    sets = [variants_of(chosen, place, papers_of[own[0].paper_id].abstract) for place, own in enumerate(chosen)]
    jobs = (
        _ranked(
            name,
            cases,
            Context(
                references=(reviews[0],),
                paper=papers_of[reviews[0].paper_id],
                form=form,
                panel=means.panel,
                embedder=means.embedder,
            ),
        )
        for reviews, cases in zip(chosen, sets, strict=True)
        for name in EXPECTED
    )
    return [one.record() for one in await gathered(jobs, at_once=means.at_once, what="order")]


def abstracts() -> dict[str, Paper]:
    """The papers by id, as far as the set has them: title and abstract."""
    with REVIEWS.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {row["forum_id"]: paper_of(row["title"], row["abstract"]) for row in rows}


def paper_of(title: str, abstract: str) -> Paper:
    """A paper of which only the abstract is known."""
    return Paper(
        paper_id=hashlib.sha256(abstract.encode()).hexdigest(),
        title=title,
        abstract=abstract,
        format="text",
        sections=(),
        converter=Converter(name="none", version="0"),
    )


def chosen_reviews(cases: Iterable[ReviewCase], papers: int) -> list[list[ReviewCase]]:
    """The reviews of the first papers of a set that have at least three, in the set's order."""
    by_paper = (list(own) for _, own in groupby(cases, key=lambda case: case.paper_id))
    return list(islice((own for own in by_paper if len(own) >= LEAST_REVIEWS), papers))


def variants_of(chosen: Sequence[Sequence[ReviewCase]], place: int, abstract: str) -> dict[Variant, ReviewCase]:
    """The texts that are measured against one paper's first review; only their texts differ."""
    first, second = chosen[place][:2]
    texts: dict[Variant, str] = {
        "self": first.text,
        "shuffled": shuffled(first.text, first.case_id),
        "same_paper": second.text,
        "other_paper": chosen[(place + 1) % len(chosen)][0].text,
        "generic": GENERIC,
        "copied": f"{GENERIC}\n{abstract}",
        "padded": f"{first.text}\n{GENERIC}",
    }
    bare: dict[str, Any] = {"fields": {}, "rating": None, "confidence": None}
    return {
        name: first.model_copy(update={"case_id": f"{first.case_id}/{name}", "text": text, **bare})
        for name, text in texts.items()
    }


def shuffled(text: str, seed: str) -> str:
    """The same sentences in another order, one a line."""
    sentences = list(number_sentences(text).values())
    random.Random(seed).shuffle(sentences)
    return "\n".join(sentences)


async def _ranked(name: str, cases: Mapping[Variant, ReviewCase], context: Context) -> Ranked:
    metric_name, _, part = name.partition(":")
    metric = find_metrics([metric_name])[0]
    measured = cases if "references" in metric.needs else {key: cases[key] for key in _WITHOUT_REFERENCE}
    results = {variant: await metric.measure(case, context) for variant, case in measured.items()}
    paper = next(iter(cases.values())).paper_id
    return Ranked.of(name, paper, results, EXPECTED[name], part)
