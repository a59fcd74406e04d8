"""The metric ``assertions`` on kept reviews, beside language models' labels and preferences, and declared orders."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "planted"))

from metric_validity_table import share, table
from table import kept as labels_of
from table import measured, preferences

from referee.evals.quality.assertions import Assertions, outcome_of
from referee.evidence.stems import stems
from referee.stats import krippendorff_alpha

RIGHT = ("decides", "material")
LABELS = ("decides", "material", "small", "false")
NUMBERS = ("value", "decides", "different", "first_ten", "per_1000_words", "words")
SAME = 0.4
"""From this share of common stems on an assertion and a labelled statement are taken for the same."""
_NAMES = {
    "value": "material in all",
    "decides": "decides",
    "different": "statements",
    "first_ten": "material in the first ten",
}
_PAPERS = ("p1", "p2", "p3", "p4", "p5", "p6")


@dataclass(frozen=True)
class Declared:
    """What must hold for a text made of a review: the sign, and the number of the two that it is about."""

    variant: str
    number: str
    sign: str
    slack: float = 0.0

    def holds(self, base: Mapping[str, float], other: Mapping[str, float]) -> bool:
        """Whether it holds; a slack is a share of the review's own number."""
        mine, theirs = base[self.number], other[self.number]
        return mine > theirs if self.sign == ">" else theirs <= mine * (1 + self.slack)

    def __str__(self) -> str:
        slack = f" (by at most {self.slack:.0%})" if self.slack else ""
        return f"`{self.number}`: review {self.sign} {self.variant}{slack}"


_STUFFED = ("padded", "copied", "absences", "doubled")
# Declared before anything was answered.
EXPECTED = (
    *(Declared(variant, "value", ">=", 0.05) for variant in _STUFFED),
    *(Declared(variant, "per_1000_words", ">") for variant in _STUFFED),
    *(Declared(variant, "first_ten", ">=") for variant in _STUFFED),
    Declared("wrong", "value", ">"),
    Declared("generic", "value", ">"),
    Declared("abstract", "value", ">"),
)


@dataclass(frozen=True)
class Kept:
    """A measured text: its numbers, and what they are computed from."""

    numbers: dict[str, float]
    details: Assertions
    known: Mapping[str, Any]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Kept:
        """Computed anew from the stored assertions."""
        details = Assertions.model_validate(data["details"])
        found = outcome_of(details)
        parts = {name: value for name, value in found.parts.items() if value is not None}
        return cls({"value": found.value or 0.0, **parts, "words": details.words}, details, data["known"])


def report(kept: Mapping[str, Mapping[str, Any]], base: str) -> str:
    """All tables: counts, agreement by assertion and by pair, declared orders; of labels alone without a text."""
    if not kept:
        return "\n".join(["nothing is measured; by language models' labels and preferences alone:", "", *_pairs({})])
    texts = {name: Kept.of(data) for name, data in kept.items()}
    reviews = {name: text for name, text in texts.items() if name.count("-") == 1}
    variants = {name.rpartition("-")[2]: text for name, text in texts.items() if name.startswith(f"{base}-")}
    lines = [f"judge {next(iter(kept.values()))['judge']}, {len(reviews)} reviews", "", *_counts(reviews), ""]
    lines += [*_agreement(reviews), "", *_pairs(reviews), ""]
    return "\n".join([*lines, *(_orders(texts[base], variants) if base in texts else [])])


def _counts(reviews: Mapping[str, Kept]) -> Iterator[str]:
    """The judge's numbers, and behind a slash those of the kept labels."""
    rows = []
    for name, text in reviews.items():
        labels = measured(*name.split("-")) or {}
        own = [(text.numbers[number], labels.get(_NAMES[number])) for number in _NAMES]
        own[3] = (own[3][0] * 10, own[3][1])
        cells = [f"{mine:g} / {'-' if theirs is None else f'{theirs:g}'}" for mine, theirs in own]
        false = f"{text.numbers['false']:g} / {labels.get('false', '-')}"
        rest = [f"{text.numbers[part]:g}" for part in ("undecided", "repeated", "per_1000_words")]
        rows.append([f"`{name}`", *cells, false, *rest[:2], f"{float(rest[2]):.1f}"])
    head = ["judge / labels", "right and material", "decide", "different", "of the first ten", "false"]
    yield from table([*head, "undecided", "repeated", "per 1,000 words"], rows)


def matched(text: Kept, statements: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Pairs of (the judge's label, the kept label) of assertions and statements that are each other's nearest."""
    ours = [one for one in text.details.readings[0].assertions if one.counted != "repeated"]
    mine, theirs = [set(stems(one.statement)) for one in ours], [set(stems(one["text"])) for one in statements]
    near = {(a, b): 2 * len(x & y) / max(1, len(x) + len(y)) for a, x in enumerate(mine) for b, y in enumerate(theirs)}
    pairs, used = [], (set[int](), set[int]())
    for a, b in sorted(near, key=lambda pair: -near[pair]):
        if near[a, b] >= SAME and a not in used[0] and b not in used[1]:
            used[0].add(a)
            used[1].add(b)
            pairs.append((str(ours[a].counted), str(statements[b]["label"])))
    return pairs


def _agreement(reviews: Mapping[str, Kept]) -> Iterator[str]:
    """How often an assertion has the label of the statement it was matched to, and all labels against all."""
    rows, every = [], list[tuple[str, str]]()
    for name, text in reviews.items():
        paper, arm = name.split("-")
        labelled = labels_of("labels", paper)
        if labelled is None:
            continue
        statements = [one for one in labelled["statements"] if one["in"].get(arm)]
        pairs = matched(text, statements)
        every += pairs
        rows.append([f"`{name}`", f"{len(pairs)} of {len(statements)}", *_agreed(pairs)])
    rows.append(["**all**", str(len(every)), *_agreed(every)])
    yield from table(["", "matched statements", "same label", "material or not", "alpha (ordinal)"], rows)
    counted = Counter(every)
    judged = [*LABELS, "undecided"]
    yield ""
    yield from table(
        ["labelled", *(f"judged {label}" for label in judged)],
        [[given, *(str(counted[label, given]) for label in judged)] for given in LABELS],
    )


def _agreed(pairs: Sequence[tuple[str, str]]) -> list[str]:
    same = sum(ours == theirs for ours, theirs in pairs)
    side = sum((ours in RIGHT) == (theirs in RIGHT) for ours, theirs in pairs)
    rank = {label: float(place) for place, label in enumerate(reversed(LABELS))}
    units = [(rank.get(ours), rank[theirs]) for ours, theirs in pairs]
    alpha = krippendorff_alpha(units, level="ordinal")
    return [share(same, len(pairs)), share(side, len(pairs)), "-" if alpha is None else f"{alpha:.2f}"]


def _pairs(reviews: Mapping[str, Kept]) -> Iterator[str]:
    """By number and role: in how many decided pairs the preferred review has more of it, judged and by labels."""
    rows = []
    for number in NUMBERS:
        judged = {name: text.numbers[number] for name, text in reviews.items()}
        cells = [_concordant(judged, role) for role in ("author", "chair")]
        if reviews:
            rows.append([f"`{number}`, judged", *cells])
    for number in NUMBERS:
        kept = {
            f"{paper}-{arm}": value
            for paper in _PAPERS
            for arm in ("single", "whole", "core")
            if (value := _by_labels(paper, arm, number)) is not None
        }
        rows.append(
            [f"`{number}`, a language model's labels", *(_concordant(kept, role) for role in ("author", "chair"))],
        )
    yield from table(["more of", "preferred as author", "preferred as chair"], rows)


def _by_labels(paper: str, arm: str, number: str) -> float | None:
    row = measured(paper, arm)
    if row is None or "statements" not in row:
        return None
    if number == "per_1000_words":
        return float(1_000 * row["material in all"] / row["words"])
    return float(row[_NAMES.get(number, number)])


def _concordant(values: Mapping[str, float], role: str) -> str:
    """Of the pairs of one paper's reviews with a winner, those whose winner has the higher number, and those level."""
    right = decided = level = 0
    for first, second in combinations(sorted(values), 2):
        paper, arm = first.split("-")
        other = second.split("-")
        winner = preferences(paper, arm, other[1]).get(role) if other[0] == paper else None
        if winner in (arm, other[1]):
            decided += 1
            loser = other[1] if winner == arm else arm
            right += values[f"{paper}-{winner}"] > values[f"{paper}-{loser}"]
            level += values[f"{paper}-{winner}"] == values[f"{paper}-{loser}"]
    return share(right, decided) + (f", {level} level" if level else "")


def _orders(base: Kept, variants: Mapping[str, Kept]) -> Iterator[str]:
    shown = ("value", "first_ten", "per_1000_words", "share_false", "repeated")
    rows = [
        [name, str(text.details.words), *(f"{text.numbers[number]:.2f}" for number in shown)]
        for name, text in {"review": base, **variants}.items()
    ]
    yield from table(["text", "words", *(f"`{number}`" for number in shown)], rows)
    yield ""
    known = [one for one in EXPECTED if one.variant in variants]
    said = [[str(one), "holds" if one.holds(base.numbers, variants[one.variant].numbers) else "FAILS"] for one in known]
    yield from table(["declared", ""], said)
    yield ""
    if "wrong" in variants:
        yield f"Sentences that were made wrong and of which an assertion is found false: {_caught(variants['wrong'])}."
    if "doubled" in variants:
        yield f"Assertions of doubled sentences that are found repeated: {_repeated(variants['doubled'])}."


def _caught(text: Kept) -> str:
    made = text.known["made_wrong"]
    assertions = text.details.readings[0].assertions
    found = [name for name in made if any(name in one.sentences and one.counted == "false" for one in assertions)]
    return share(len(found), len(made))


def _repeated(text: Kept) -> str:
    last = list(text.details.sentences)[-text.known["doubled"] :]
    own = [one for one in text.details.readings[0].assertions if one.sentences[0] in last]
    return share(sum(one.counted == "repeated" for one in own), len(own))
