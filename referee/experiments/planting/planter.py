"""From what a paper offers to its twins and their key: candidates are taken in an order of the seed's, and spaced."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from referee.data.planted import text_digest
from referee.errors import DataError
from referee.experiments.planting.candidate import Candidate, Edit, Rejection, shortened
from referee.experiments.planting.checks import (
    CHECKS,
    Placed,
    applied,
    difficulty_of,
    structure_of,
)
from referee.experiments.planting.offers import (
    KINDS,
    VERSION,
    KindYield,
    Offer,
    Wanted,
    counted_as,
    find_offer,
    randomness,
)
from referee.experiments.planting.source import Source
from referee.runs.stopping import end_if_stopped
from referee.schemas.paper import Paper
from referee.schemas.planted import PlantedAnchor, PlantedEdit, PlantedKey, PlantedRecord

_SHOWN = 3


@dataclass(frozen=True)
class Planting:
    """Everything about one planted paper: the key, the copies' texts, what was rejected and the yield by kind."""

    key: PlantedKey
    clean: str
    planted: str
    neutral: str | None
    rejected: tuple[Rejection, ...]
    yields: dict[str, KindYield]
    wanted: int


@dataclass(frozen=True)
class Choice:
    """Which candidates are planted, and what was passed over on the way, with the reasons."""

    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejection, ...]


def plant_paper(
    paper: Paper, wanted: Wanted, *, offer: Offer | None = None, choice: Choice | None = None, planter: str = "rule"
) -> Planting:
    """Plant errors in a paper.

    Args:
        paper: The paper.
        wanted: Kinds, number, seed, and whether a neutral copy and silent removals are asked for.
        offer: What the paper offers, where it was found before.
        choice: What of it is planted; by default what ``choose`` takes.
        planter: Named in the copy's id beside seed and version where it is not the rules alone.

    Returns:
        Copies and key. Fewer plants than wanted are no error; none at all is one.

    Raises:
        DataError: The paper is too short, or nothing can be planted in it; the reasons are named.
    """
    amount = wanted.amount(paper)
    offer = offer or find_offer(paper, wanted)
    choice = choice or choose(offer, wanted, paper)
    yields = {kind: replace(one, rejected=Counter(one.rejected)) for kind, one in offer.yields.items()}
    for one in choice.rejected:
        yields[one.kind].rejected[counted_as(one.reason)] += 1
    rejected = (*offer.rejected, *choice.rejected)
    if not choice.candidates:
        raise DataError(
            f"nothing can be planted in {paper.title!r}: {_reasons(yields)}.",
            hint="Name other --kinds, or give a paper with tables, repeated values or statistics.",
        )
    neutral = _spaced(offer.candidates.get("neutral", []), amount) if wanted.neutral else []
    for candidate in (*choice.candidates, *neutral):
        yields[candidate.kind].planted += 1
    texts = _texts(offer.source.text, choice.candidates, neutral, wanted.neutral)
    key = _key(paper, wanted, offer, choice.candidates, neutral, texts, planter)
    return Planting(key, *texts, rejected, yields, amount)


def choose(offer: Offer, wanted: Wanted, paper: Paper, keep: Callable[[Candidate], str] = lambda _: "") -> Choice:
    """One of each kind in turn, in an order of the seed's, until there are enough; each beside those before it.

    Args:
        offer: What there is.
        wanted: How many, and the seed.
        paper: The paper.
        keep: Why a candidate is passed over; empty where it is not.
    """
    amount = wanted.amount(paper)
    kinds = [kind for kind in KINDS if offer.candidates.get(kind)]
    randomness(paper, wanted.seed)("kinds").shuffle(kinds)
    # The clean twin has its sentence already: without the plant it would differ from the paper for nothing.
    kinds.sort(key=lambda kind: kind != "inserted")
    queues = {kind: list(offer.candidates[kind]) for kind in kinds}
    placed, refused = Placed(), []
    structure = structure_of(offer.source.text)
    while len(placed.candidates) < amount and any(queues.values()):
        for kind in kinds:
            while queues[kind] and len(placed.candidates) < amount:
                end_if_stopped()
                candidate = queues[kind].pop(0)
                reason = placed.refusal(candidate) or _unlike(offer.source, structure, candidate) or keep(candidate)
                if not reason:
                    placed.candidates.append(candidate)
                    break
                refused.append(Rejection(kind, reason, shortened(candidate.edits[0].passage.text)))
    return Choice(tuple(sorted(placed.candidates, key=lambda c: c.edits[0].start)), tuple(refused))


def _spaced(candidates: Sequence[Candidate], amount: int) -> list[Candidate]:
    placed = Placed()
    for candidate in candidates:
        if len(placed.candidates) < amount and not placed.refusal(candidate):
            placed.candidates.append(candidate)
    return sorted(placed.candidates, key=lambda c: c.edits[0].start)


def _unlike(source: Source, structure: Counter[str], candidate: Candidate) -> str:
    """V8: the planted copy is read back with the same blocks as the clean one."""
    after = apply_edits(source.text, candidate.edits)
    return "" if structure_of(after) == structure else "V8: the copy is no longer read back as the same blocks"


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """A text with these edits made; none may overlap."""
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.after + text[edit.end :]
    return text


def _texts(
    clean: str, chosen: Sequence[Candidate], neutral: Sequence[Candidate], calm: bool
) -> tuple[str, str, str | None]:
    planted = apply_edits(clean, [edit for candidate in chosen for edit in candidate.edits])
    quiet = [edit for candidate in neutral for edit in candidate.edits]
    return clean, planted, apply_edits(clean, quiet) if calm else None


def _key(
    paper: Paper,
    wanted: Wanted,
    offer: Offer,
    chosen: Sequence[Candidate],
    neutral: Sequence[Candidate],
    texts: tuple[str, str, str | None],
    planter: str,
) -> PlantedKey:
    copy_id = _copy_id(paper, wanted, planter)
    native = tuple(hit.claim for hit in offer.source.hits)
    moved = _Moved(tuple(edit for candidate in chosen for edit in candidate.edits))
    digests = [text_digest(text) if text is not None else None for text in texts]
    return PlantedKey(
        copy_id=copy_id,
        paper=paper.paper_id,
        title=paper.title,
        seed=wanted.seed,
        version=VERSION,
        clean_sha256=digests[0] or "",
        planted_sha256=digests[1] or "",
        neutral_sha256=digests[2],
        records=tuple(
            _record(f"{copy_id}-{i}", candidate, moved, native)
            for i, candidate in enumerate([*chosen, *neutral], start=1)
        ),
    )


def _copy_id(paper: Paper, wanted: Wanted, planter: str) -> str:
    said = f"{paper.paper_id}/{wanted}/{VERSION}/{planter}"
    return hashlib.sha256(said.encode()).hexdigest()[:12]


class _Moved:
    """Where a place of the clean text lies once all edits are made."""

    def __init__(self, edits: tuple[Edit, ...]) -> None:
        self.edits = edits

    def at(self, offset: int) -> int:
        return offset + sum(len(e.after) - (e.end - e.start) for e in self.edits if e.end <= offset)


def _record(record_id: str, candidate: Candidate, moved: _Moved, native: tuple[str, ...]) -> PlantedRecord:
    first = candidate.edits[0]
    return PlantedRecord(
        record_id=record_id,
        kind=candidate.kind,
        subtype=candidate.subtype,
        severity=candidate.severity,
        difficulty=difficulty_of(candidate),
        anchor_class=candidate.anchor_class,
        silent=candidate.silent,
        edits=tuple(
            PlantedEdit(
                section=edit.passage.section.heading,
                place=edit.passage.place,
                start=edit.start,
                end=edit.end,
                before=edit.before,
                after=edit.after,
            )
            for edit in candidate.edits
        ),
        anchors=tuple(
            PlantedAnchor(
                section=anchor.passage.section.heading,
                start=moved.at(anchor.passage.start),
                end=moved.at(anchor.passage.start) + len(text),
                text=text,
                says=anchor.says,
            )
            for anchor in candidate.anchors
            for text in (applied(anchor.passage, candidate.edits),)
        ),
        sentence_before=first.passage.text,
        sentence_after=applied(first.passage, candidate.edits),
        expected=candidate.expected,
        statement=candidate.statement,
        also_breaks=candidate.also_breaks,
        planter=candidate.planter,
        checks=CHECKS,
        native=native,
    )


def _reasons(yields: Mapping[str, KindYield]) -> str:
    """For each kind its commonest reasons."""
    return " | ".join(
        f"{kind}: {'; '.join(f'{why} ({count})' for why, count in one.rejected.most_common(_SHOWN)) or 'no place'}"
        for kind, one in yields.items()
    )
