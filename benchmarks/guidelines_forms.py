"""How the form of a compiled venue is compared with what a language model read from its page: gold/README.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from guidelines_gold import GoldField
from rapidfuzz import fuzz

from referee.schemas.venue import FormField, VenueForm

LEAST_ALIKE = 85.0
_RANGE = re.compile(r"[(\[][^)\]]*[)\]]|\bscore\b", re.IGNORECASE)


@dataclass(frozen=True)
class FormComparison:
    """Counts of one form: boxes, and among them scales (values and labels), the policy and the lengths.

    ``invented`` are boxes that the page does not have; the usual ones that are added where it has none are ``added``
    and count neither way. A scale is right where its numbers are the page's; its labels are where each begins alike.
    """

    wanted: int
    found: int
    missed: tuple[str, ...]
    invented: tuple[str, ...]
    added: int
    scales: int
    scales_right: int
    scales_invented: tuple[str, ...]
    labelled: int
    labels_right: int
    aspects: int
    aspects_right: int
    policy_right: bool
    lengths: int
    lengths_found: int


def compare_form(form: VenueForm, gold: Iterable[GoldField], policy: str) -> FormComparison:
    """Compare the boxes by title, then what each holds. One box of the form answers one of the page."""
    fields = list(gold)
    read = [one for one in form.fields if one.fact.confidence != "memory"]
    pairs = _pairs(read, fields)
    firm = [one for one in fields if not one.borderline]
    scales = [one for one in firm if one.kind == "score"]
    labelled = [one for one in firm if any(one.labels)]
    rated = [one for one in firm if one.aspect]
    measured = [one for one in firm if one.length]
    met = {id(one): found for found, one in pairs}
    return FormComparison(
        wanted=len(firm),
        found=sum(id(one) in met for one in firm),
        missed=tuple(one.titles[0] for one in firm if id(one) not in met),
        invented=tuple(one.name for one in read if all(one is not found for found, _ in pairs)),
        added=len(form.fields) - len(read),
        scales=len(scales),
        scales_right=sum(id(one) in met and _numbers(met[id(one)]) == set(one.values) for one in scales),
        scales_invented=tuple(
            one.name for one in read if one.kind == "score" and not any(one is f and g.values for f, g in pairs)
        ),
        labelled=len(labelled),
        labels_right=sum(id(one) in met and _labels_agree(met[id(one)], one) for one in labelled),
        aspects=len(rated),
        aspects_right=sum(id(one) in met and met[id(one)].aspect == one.aspect for one in rated),
        policy_right=form.llm_policy.status == policy,
        lengths=len(measured),
        lengths_found=sum(id(one) in met and _letters(one.length) in _letters(met[id(one)].asks) for one in measured),
    )


def _pairs(read: list[FormField], gold: list[GoldField]) -> list[tuple[FormField, GoldField]]:
    """Boxes that are the same by title, the likest first, each once."""
    likeness = sorted(
        ((_alike(one, other), -at, -to) for at, one in enumerate(read) for to, other in enumerate(gold)), reverse=True
    )
    pairs: list[tuple[FormField, GoldField]] = []
    for score, at, to in likeness:
        one, other = read[-at], gold[-to]
        if score >= LEAST_ALIKE and all(one is not f and other is not g for f, g in pairs):
            pairs.append((one, other))
    return pairs


def _alike(one: FormField, other: GoldField) -> float:
    return max(fuzz.token_sort_ratio(_plain(one.title or one.name), _plain(title)) for title in other.titles)


def _plain(title: str) -> str:
    bare = _RANGE.sub(" ", title).strip() or title
    return " ".join(re.findall(r"\w+", bare.casefold().replace("_", " ")))


def _numbers(field: FormField) -> set[int | float | str]:
    return {option.value for option in field.options if not isinstance(option.value, str)}


def _labels_agree(field: FormField, gold: GoldField) -> bool:
    """Whether each value has a label that begins as the page's; letters are values too."""
    held = {str(option.value).casefold(): option.label for option in field.options}
    wanted = {_shown(value): label for value, label in zip(gold.values, gold.labels, strict=True)}
    read = {_shown(option.value): label for option in field.options if (label := held[str(option.value).casefold()])}
    return all(_letters(read.get(value, "")).startswith(_letters(label)) for value, label in wanted.items())


def _shown(value: float | str) -> str:
    return value.casefold() if isinstance(value, str) else f"{value:g}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
