"""What a profile is asked for, its estimate where judges are asked, and what makes two runs the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.evaluations.review_set import ReviewSet
from referee.evals.behaviour.readability import BackendName
from referee.evals.grouping import Grouping
from referee.llm.models import Models
from referee.prompts import load_prompt, prompt_digests
from referee.schemas.estimate import Estimate, SetEstimate
from referee.schemas.venue import VenueForm
from referee.stats.agreement import Weighting
from referee.venues import venue_digest

PROMPTS = ("eval/atomic", "eval/covers", "eval/mathematics")
_OUT_TOKENS, _VERDICT_TOKENS, _PROMPT_TOKENS = 600, 120, 700
_SAMPLE = 200


@dataclass(frozen=True)
class ProfileAsked:
    """The choices of one profile.

    Attributes:
        grouping: How reviews are grouped.
        atomic: Whether atomic items and coverage are measured.
        compare_scales: Whether ratings of different forms may stand side by side, by rank.
        rated_on: The form that systems rated on, where the data do not say.
        venue: The form of reviews that name no known venue.
        weighting: Of Krippendorff's alpha; ``pairs`` is the variant that PRAIB prints.
        processes: How many processes measure texts.
        syllables: The backend of readability.
        dictionary: The file for backend ``cmu``.
        seed: For intervals and draws.
    """

    grouping: Grouping
    atomic: bool = True
    compare_scales: bool = False
    rated_on: VenueForm | None = None
    venue: VenueForm | None = None
    weighting: Weighting = "ratings"
    processes: int = 1
    syllables: BackendName = "pyphen"
    dictionary: Path | None = None
    seed: int = 0


def profile_inputs(read: ReviewSet, asked: ProfileAsked, judges: Sequence[str], citations: str) -> dict[str, str]:
    """What the numbers rest on."""
    return {
        "set of reviews": read.store.digest,
        "groups": ",".join(asked.grouping.by),
        "era": asked.grouping.era or "none",
        "atomic items": str(asked.atomic),
        "compare scales": str(asked.compare_scales),
        "rated on": asked.rated_on.id if asked.rated_on else "none",
        "alpha": asked.weighting,
        "syllables": asked.syllables,
        "citations": citations,
        "judges": ", ".join(judges) or "none",
        "seed": str(asked.seed),
        **({"venue form": venue_digest(asked.venue)} if asked.venue else {}),
    }


def profile_prompts(judged: bool) -> dict[str, str]:
    """The prompts that judges are asked with, and their digests."""
    used = [load_prompt(name) for name in PROMPTS] if judged else []
    return prompt_digests(used)


def profile_plan(read: ReviewSet, models: Models, *, atomic: bool) -> SetEstimate:
    """The estimate, from a sample of the reviews: items and mathematics of each, two coverage calls a matched pair."""
    store, judges = read.store, list(models.by_role.values())
    pairs = sum(store.human_count(p) * (sum(1 for _ in store.cases(p)) - store.human_count(p)) for p in store.papers)
    reviews = len(store)
    sample = store.sample(_SAMPLE)
    shares = []
    for number, judge in enumerate(judges):
        length = sum(judge.count(case.text) for case in sample) / max(len(sample), 1) + _PROMPT_TOKENS
        items = reviews if atomic and number == 0 else 0
        calls = reviews + items + (2 * pairs if atomic else 0)
        tokens_in, tokens_out = int(calls * length), int(reviews * _VERDICT_TOKENS + (calls - reviews) * _OUT_TOKENS)
        cost = judge.cost(tokens_in, tokens_out)
        shares.append(Estimate(calls=calls, input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost))
    ids = tuple(one.spec.id for one in judges)
    return SetEstimate(reviews=reviews, papers=len(list(store.papers)), judges=ids).holding(shares)
