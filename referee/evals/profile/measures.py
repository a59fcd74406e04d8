"""What a profile measures of each review, as numbers with names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from referee.evals.behaviour import Checked, TextMetrics
from referee.evals.behaviour.atomic import AtomicItems
from referee.evals.behaviour.atomic_counts import quantity
from referee.evals.behaviour.cross_references import distinct
from referee.evals.behaviour.fidelity import fidelity, redundancy

NOT_CHECKED = "citations were not checked: no records were given"
NO_CITATION = "the review has no formal citation"
UNRESOLVED = "none of the formal citations could be looked up"
NO_RANK = "the form is unknown, or the rating lies outside of its values"
NO_RATING = "the review states no number"


class Measure(NamedTuple):
    """A number of one review.

    ``scaled`` ones are on the scale of a form, and only compared within one scale. What is nearly the same as another
    measure is a variant of it: it is shown, and p values are corrected for the other alone.
    """

    name: str
    about: str
    scaled: bool = False
    variant_of: str = ""


TEXT = (
    Measure("tokens", "words and punctuation marks (TKC, profile praib)", variant_of="words"),
    Measure("words", "words (profile words)"),
    Measure("characters", "characters of the view raw", variant_of="words"),
    Measure("ttr", "distinct tokens / tokens (profile praib); falls with length", variant_of="mattr_100"),
    Measure("ttr_words", "the same of words alone (profile words)", variant_of="mattr_100"),
    Measure("mattr_100", "mean TTR of sliding windows of 100 tokens"),
    Measure("fre", "Flesch reading ease, view raw; higher is easier"),
    Measure("fkg", "Flesch-Kincaid grade, view raw; a school year", variant_of="fre"),
    Measure("fre_clean", "Flesch reading ease, view clean", variant_of="fre"),
    Measure("fkg_clean", "Flesch-Kincaid grade, view clean", variant_of="fre"),
    Measure("words_per_sentence", "as readability counts them, view raw"),
    Measure("syllables_per_word", "as readability counts them, view raw"),
    Measure("xref", "mentions of the paper's figures, tables, sections, equations, theorems, pages, lines"),
    Measure("xref_ext", "mentions of its algorithms, appendices, propositions and the like"),
    Measure("xref_targets", "different parts that both name", variant_of="xref"),
    Measure("xref_density", "xref per 100 words", variant_of="xref"),
    Measure("citations", "formal citations: APA, MLA, IEEE"),
    Measure("citations_verified", "share of the formal citations that exist, of those that could be looked up"),
    Measure("citations_informal", "author-year mentions, arXiv ids, DOIs outside of formal citations"),
    Measure("mathematics", "whether the review works with the paper's mathematics: 0 or 1"),
)
SCORES = (
    Measure("rating", "the overall rating, on the form's own values", scaled=True),
    Measure("confidence", "the reviewer's confidence, on the form's own values", scaled=True),
)
RANK = Measure("rating_rank", "the rating's rank among its form's values, 0 to 1", variant_of="rating")
ATOMIC = (
    Measure("strengths", "atomic strengths"),
    Measure("weaknesses", "atomic weaknesses"),
    Measure("weaknesses_per_strength", "W/S; reviews without a strength are left out"),
    Measure("strength_chars", "mean length of a strength in characters"),
    Measure("weakness_chars", "mean length of a weakness in characters"),
    Measure("fidelity_rouge_l", "share of an item's words that its source has in this order, mean over items"),
    Measure("fidelity_contained", "share of the items that stand in their source", variant_of="fidelity_rouge_l"),
    Measure(
        "fidelity_jaccard",
        "Jaccard of an item's and its source's words, mean over items",
        variant_of="fidelity_rouge_l",
    ),
    Measure("redundancy_rouge_l", "ROUGE-L F1 of two items of the review, mean over pairs"),
)

Values = dict[str, float | None]
Reasons = dict[str, str]


def measures(*, atomic: bool, ranks: bool = False) -> tuple[Measure, ...]:
    """The measures of a profile, in their order of printing; ``ranks`` adds the rating's rank within its form."""
    return (*TEXT, *SCORES, *((RANK,) if ranks else ()), *(ATOMIC if atomic else ()))


def text_values(found: TextMetrics, checked: list[Checked] | None, engages: bool | None) -> tuple[Values, Reasons]:
    """The text's numbers, and for each that is null the reason.

    Args:
        found: What was measured of the text.
        checked: What became of its formal citations; None where they were not looked up.
        engages: Mathematical engagement by whatever backend; None where that gave no verdict.
    """
    raw, diverse = found.raw, found.diversity
    read = bool(diverse.tokens)
    values: Values = {
        "tokens": diverse.tokens if read else None,
        "words": diverse.words if read else None,
        "characters": found.characters if read else None,
        "ttr": diverse.ttr,
        "ttr_words": diverse.ttr_words,
        "mattr_100": diverse.mattr,
        "fre": raw.fre,
        "fkg": raw.fkg,
        "fre_clean": found.clean.fre,
        "fkg_clean": found.clean.fkg,
        "words_per_sentence": raw.words / raw.sentences if raw.sentences else None,
        "syllables_per_word": raw.syllables / raw.words if raw.words else None,
        "xref": found.references.xref if read else None,
        "xref_ext": found.references.xref_ext if read else None,
        "xref_targets": distinct((*found.references.core, *found.references.extra)) if read else None,
        "xref_density": found.xref_density,
        "citations": len(found.formal) if read else None,
        "citations_verified": None,
        "citations_informal": found.informal.total if read else None,
        "mathematics": None if engages is None else float(engages),
    }
    reasons = dict.fromkeys((name for name, value in values.items() if value is None), found.reason)
    share, why = _verified(checked)
    values["citations_verified"] = share
    if share is None:
        reasons["citations_verified"] = found.reason if not read else why
    else:
        reasons.pop("citations_verified", None)
    return values, reasons


def score_values(rating: float | None, confidence: float | None, rank: float | None) -> tuple[Values, Reasons]:
    """What the review states in numbers, and for each that is null the reason."""
    values: Values = {"rating": rating, "confidence": confidence, "rating_rank": rank}
    reasons = {name: NO_RATING for name, value in values.items() if value is None}
    if rank is None and rating is not None:
        reasons["rating_rank"] = NO_RANK
    return values, reasons


def atomic_values(items: AtomicItems) -> tuple[Values, Reasons]:
    """The numbers of a review's atomic items, and for each that is null the reason."""
    faithful, repeated = fidelity(items), redundancy(items.all)
    counts = {name: quantity(items, name) for name in ("strengths", "weaknesses", "strength_chars", "weakness_chars")}
    strengths, weaknesses = counts["strengths"], counts["weaknesses"]
    values: Values = {
        "strengths": strengths,
        "weaknesses": weaknesses,
        "weaknesses_per_strength": weaknesses / strengths if strengths and weaknesses is not None else None,
        "strength_chars": counts["strength_chars"],
        "weakness_chars": counts["weakness_chars"],
        "fidelity_rouge_l": faithful.rouge_l,
        "fidelity_contained": faithful.contained,
        "fidelity_jaccard": faithful.jaccard,
        "redundancy_rouge_l": repeated.rouge_l,
    }
    why: Mapping[str, str] = {
        "weaknesses_per_strength": "the review has no strength",
        "strength_chars": "the review has no strength",
        "weakness_chars": "the review has no weakness",
        "redundancy_rouge_l": repeated.reason,
    }
    reasons = {name: items.reason or why.get(name, faithful.reason) for name, value in values.items() if value is None}
    return values, reasons


def _verified(checked: list[Checked] | None) -> tuple[float | None, str]:
    if checked is None:
        return None, NOT_CHECKED
    resolved = [one for one in checked if one.status != "unresolved"]
    if not resolved:
        return None, UNRESOLVED if checked else NO_CITATION
    return sum(one.status == "verified" for one in resolved) / len(resolved), ""
