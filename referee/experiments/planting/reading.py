"""Models beside the rules: one that words an error at a place of the rules', and one that reads every error blind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from referee.agents.asking import Asks
from referee.agents.error_planter import choose_replacement
from referee.agents.plant_judge import Verdict, judge_plant, verdict_of
from referee.errors import ModelError
from referee.experiments.planting.candidate import Candidate, Rejection, Site
from referee.experiments.planting.checks import REMOVALS, applied
from referee.experiments.planting.offers import Offer, Wanted, examine
from referee.experiments.planting.planter import Choice, choose
from referee.schemas.paper import Paper

_MOST_ROUNDS = 6


@dataclass
class Acceptance:
    """What the reading model said, by kind: counts of each verdict, and of errors that could not be judged."""

    verdicts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, verdict: str) -> None:
        """Count one verdict."""
        self.verdicts.setdefault(kind, Counter())[verdict] += 1


async def reworded(offer: Offer, wanted: Wanted, paper: Paper, door: Asks) -> tuple[Offer, list[Rejection]]:
    """The offer with a model's text in every second error that would be planted: at most half of the records.

    What the model says is examined like a rule's text; where it is refused, the rule's stays and the reason is kept.
    """
    chosen = choose(offer, wanted, paper).candidates
    candidates = {kind: list(own) for kind, own in offer.candidates.items()}
    refused: list[Rejection] = []
    for candidate in [c for c in chosen if len(c.edits) == 1 and c.kind != "inserted"][: len(chosen) // 2]:
        at = candidates[candidate.kind].index(candidate)
        result = await _by_model(offer, offer.sites[candidate.kind][at], door)
        if isinstance(result, Rejection):
            refused.append(result)
        else:
            candidates[candidate.kind][at] = result
    return replace(offer, candidates=candidates), refused


async def _by_model(offer: Offer, site: Site, door: Asks) -> Candidate | Rejection:
    spot = site.spans[0]
    anchors = [anchor.passage.text for anchor in site.anchors]
    try:
        answer = await choose_replacement(site.kind, spot.passage.text, spot.before, anchors, door=door)
    except ModelError as error:
        return Rejection(site.kind, f"model: {error.message}", site.excerpt)
    if anchors and answer.value.anchor > len(anchors):
        return Rejection(site.kind, "model: names a passage that it was not given", site.excerpt)
    result = examine(offer.source, site, (answer.value.replacement,))
    if isinstance(result, str):
        return Rejection(site.kind, f"model: {result}", site.excerpt)
    return result.by(f"model:{answer.model}")


async def verified(offer: Offer, wanted: Wanted, paper: Paper, door: Asks, acceptance: Acceptance) -> Choice:
    """What is planted once a model has read it blind: errors that are not substantive make room for others.

    Removals are not read: what is gone cannot be shown as a sentence before and after.
    """
    verdicts: dict[int, Verdict | str] = {}

    def keep(candidate: Candidate) -> str:
        verdict = verdicts.get(id(candidate), "")
        return f"reader: {verdict}" if verdict not in ("", "substantive") else ""

    choice = choose(offer, wanted, paper)
    for _ in range(_MOST_ROUNDS):
        unread = [c for c in choice.candidates if id(c) not in verdicts and c.kind not in REMOVALS]
        if not unread:
            break
        for candidate in unread:
            verdicts[id(candidate)] = verdict = await _read(candidate, door)
            acceptance.add(candidate.kind, verdict)
        choice = choose(offer, wanted, paper, keep)
    still = tuple(c for c in choice.candidates if id(c) in verdicts or c.kind in REMOVALS)
    return replace(choice, candidates=still)


async def _read(candidate: Candidate, door: Asks) -> str:
    passage = candidate.edits[0].passage
    anchors = [anchor.passage.text for anchor in candidate.anchors if anchor.passage.start != passage.start]
    try:
        answer = await judge_plant(passage.text, applied(passage, candidate.edits), anchors, door=door)
    except ModelError as error:
        return f"not judged ({type(error).__name__})"
    return verdict_of(answer.value)
