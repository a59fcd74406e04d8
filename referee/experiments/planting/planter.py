"""From a paper to its twins and their key: candidates are found, shuffled by the seed, checked, and spaced."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from referee.data.planted import text_digest
from referee.errors import DataError
from referee.experiments.planting.candidate import Candidate, Edit, Rejection, Site, shortened
from referee.experiments.planting.checks import (
    CHECKS,
    Placed,
    applied,
    checked,
    difficulty_of,
    structure_of,
)
from referee.experiments.planting.claims import contradiction_sites, overclaim_sites
from referee.experiments.planting.direction import direction_sites
from referee.experiments.planting.equations import equation_sites
from referee.experiments.planting.numbers import number_sites, size_sites
from referee.experiments.planting.pointers import citation_sites, reference_sites
from referee.experiments.planting.removals import baseline_sites, control_sites, variance_sites
from referee.experiments.planting.sentences import (
    Insertion,
    inserted_site,
    insertions,
    neutral_sites,
    with_insertion,
)
from referee.experiments.planting.source import Source
from referee.experiments.planting.statistics import stats_sites
from referee.papers.markdown import write_markdown
from referee.schemas.paper import Paper
from referee.schemas.planted import PlantedAnchor, PlantedEdit, PlantedKey, PlantedKind, PlantedRecord

VERSION = 1
"""Of the planter: same paper, seed and version give the same bytes."""
MOST, WORDS_A_PLANT = 6, 700
SITES: Mapping[PlantedKind, Callable[[Source], Iterator[Site | Rejection]]] = {
    "number": number_sites,
    "direction": direction_sites,
    "contradiction": contradiction_sites,
    "size": size_sites,
    "equation": equation_sites,
    "stats": stats_sites,
    "overclaim": overclaim_sites,
    "reference": reference_sites,
    "citation": citation_sites,
    "missing-variance": variance_sites,
    "missing-control": control_sites,
    "missing-baseline": baseline_sites,
}
KINDS: tuple[PlantedKind, ...] = (*SITES, "inserted")
"""The kinds of errors; ``neutral`` is a control and has a copy of its own."""
_MOST_NATIVE = 20
_SHOWN = 3


@dataclass
class KindYield:
    """What became of one kind's places: ``candidates`` that code found, ``accepted`` by every check but spacing."""

    candidates: int = 0
    accepted: int = 0
    planted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)


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
class Wanted:
    """What to plant. ``n`` is null for the usual number, one for 700 words and six at most."""

    kinds: tuple[PlantedKind, ...] = KINDS
    n: int | None = None
    seed: int = 0
    neutral: bool = False
    silent: bool = False

    def amount(self, paper: Paper) -> int:
        """How many plants this paper is to get.

        Raises:
            DataError: It is too short for one.
        """
        words = words_of(paper)
        amount = self.n if self.n is not None else min(MOST, words // WORDS_A_PLANT)
        if amount < 1:
            raise DataError(
                f"the paper {paper.title!r} is too short to plant in: it has {words:,} words, and one error is planted "
                f"for {WORDS_A_PLANT} words.",
                hint="Give a longer paper, or say how many: --n 1.",
            )
        return amount


def words_of(paper: Paper) -> int:
    """The words that a reviewer reads."""
    return sum(len(section.text.split()) for section in paper.content)


@dataclass(frozen=True)
class Offer:
    """What a paper offers: its clean twin as it would be, the candidates by kind, and what was refused."""

    source: Source
    candidates: dict[PlantedKind, list[Candidate]]
    sites: dict[PlantedKind, list[Site]]
    rejected: tuple[Rejection, ...]
    yields: dict[str, KindYield]


def find_offer(paper: Paper, wanted: Wanted) -> Offer:
    """Every place of every wanted kind, with the first edit there that passes checks V1 to V6.

    Args:
        paper: From whatever format; both twins are written from it by one serializer.
        wanted: Kinds and seed; the seed decides which of several edits at a place is taken, and in which order.

    Returns:
        The offer; kinds without a place have an empty list and a reason among ``rejected``.
    """
    # White space and front matter go before the paper is looked at, so that a copy is found to be what was written.
    source = Source(write_markdown(paper))
    random_of = _randomness(paper, wanted.seed)
    rejected: list[Rejection] = []
    found: dict[PlantedKind, list[Candidate]] = {}
    sites: dict[PlantedKind, list[Site]] = {}
    yields: dict[str, KindYield] = {}
    if "inserted" in wanted.kinds:
        inserted = _first_insertion(source, random_of("inserted"))
        source, found["inserted"], sites["inserted"], yields["inserted"] = inserted[:4]
        rejected += inserted[4]
    for kind, of in (*SITES.items(), *((("neutral", neutral_sites),) if wanted.neutral else ())):
        if kind in wanted.kinds or kind == "neutral":
            own, places, counted, refused = _of_kind(source, of(source), random_of(kind), silent=wanted.silent)
            found[kind], sites[kind], yields[kind] = own, places, counted
            rejected += refused
    return Offer(source, found, sites, tuple(rejected), yields)


def _randomness(paper: Paper, seed: int) -> Callable[[str], random.Random]:
    return lambda name: random.Random(f"{paper.paper_id}/{seed}/{VERSION}/{name}")


def _of_kind(
    source: Source, sites: Iterable[Site | Rejection], order: random.Random, *, silent: bool
) -> tuple[list[Candidate], list[Site], KindYield, list[Rejection]]:
    counted, refused = KindYield(), []
    found: list[tuple[Candidate, Site]] = []
    for site in sites:
        if isinstance(site, Site) and site.silent and not silent:
            continue
        counted.candidates += 1
        result = site if isinstance(site, Rejection) else try_site(source, site, order)
        if isinstance(result, Candidate) and not isinstance(site, Rejection):
            found.append((result, site))
            continue
        assert isinstance(result, Rejection), "a site gives a candidate or a rejection"
        refused.append(replace(result, excerpt=shortened(result.excerpt)))
        counted.rejected[_bare(result.reason)] += 1
    counted.accepted = len(found)
    order.shuffle(found)
    return [candidate for candidate, _ in found], [site for _, site in found], counted, refused


def _bare(reason: str) -> str:
    """A reason without what is special to one place, for counting."""
    head = reason.split(": ")[0]
    return reason if head.startswith("V") and head[1:].isdigit() else head


def try_site(source: Source, site: Site, order: random.Random) -> Candidate | Rejection:
    """The first proposal of a site that passes, in an order of the seed's; else why the last one did not."""
    proposals = list(site.proposals)
    order.shuffle(proposals)
    reason = "no other text can stand there"
    for proposal in proposals:
        result = examine(source, site, proposal)
        if isinstance(result, Candidate):
            return result
        reason = result
    return Rejection(site.kind, reason, site.excerpt)


def examine(source: Source, site: Site, after: tuple[str, ...]) -> Candidate | str:
    """One text at a site, through the kind's own rules and checks V1 to V6."""
    result = site.examine(after)
    return result if isinstance(result, str) else checked(source, result)


def _first_insertion(
    source: Source, order: random.Random
) -> tuple[Source, list[Candidate], list[Site], KindYield, list[Rejection]]:
    """The clean twin with the first sentence that can be put in; the others are counted as accepted by the table."""
    counted, refused, offers = KindYield(), [], []
    for one in insertions(source):
        counted.candidates += 1
        if isinstance(one, Insertion):
            offers.append(one)
        else:
            refused.append(one)
            counted.rejected[_bare(one.reason)] += 1
    order.shuffle(offers)
    for offer in offers:
        grown = Source(with_insertion(source.paper, offer))
        site = inserted_site(grown, offer)
        result = try_site(grown, site, order) if isinstance(site, Site) else site
        if isinstance(result, Candidate) and isinstance(site, Site):
            counted.accepted = len(offers)
            return grown, [result], [site], counted, refused
        assert isinstance(result, Rejection), "a site gives a candidate or a rejection"
        refused.append(result)
        counted.rejected[_bare(result.reason)] += 1
    return source, [], [], counted, refused


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
        yields[one.kind].rejected[_bare(one.reason)] += 1
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
    _randomness(paper, wanted.seed)("kinds").shuffle(kinds)
    # The clean twin has its sentence already: without the plant it would differ from the paper for nothing.
    kinds.sort(key=lambda kind: kind != "inserted")
    queues = {kind: list(offer.candidates[kind]) for kind in kinds}
    placed, refused = Placed(), []
    structure = structure_of(offer.source.text)
    while len(placed.candidates) < amount and any(queues.values()):
        for kind in kinds:
            while queues[kind] and len(placed.candidates) < amount:
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
    native = tuple(hit.claim for hit in offer.source.hits[:_MOST_NATIVE])
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
