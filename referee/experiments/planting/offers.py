"""What a paper offers to be planted: places by kind, and the first edit at each that passes the checks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from referee.errors import DataError
from referee.experiments.planting.candidate import Candidate, Rejection, Site, shortened
from referee.experiments.planting.checks import checked
from referee.experiments.planting.claims import contradiction_sites, overclaim_sites
from referee.experiments.planting.direction import direction_sites
from referee.experiments.planting.equations import equation_sites
from referee.experiments.planting.numbers import number_sites, size_sites
from referee.experiments.planting.pointers import citation_sites, reference_sites
from referee.experiments.planting.removals import baseline_sites, control_sites, variance_sites
from referee.experiments.planting.sentences import Insertion, inserted_site, insertions, neutral_sites, with_insertion
from referee.experiments.planting.source import MOST_PLACES, Source
from referee.experiments.planting.statistics import stats_sites
from referee.papers.markdown import write_markdown
from referee.runs.stopping import end_if_stopped
from referee.schemas.paper import Paper
from referee.schemas.planted import PlantedKind

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


@dataclass
class KindYield:
    """What became of one kind's places: ``candidates`` that code found, ``accepted`` by every check but spacing."""

    candidates: int = 0
    accepted: int = 0
    planted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)


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
    random_of = randomness(paper, wanted.seed)
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


def randomness(paper: Paper, seed: int) -> Callable[[str], random.Random]:
    """By a name, the dice for one purpose: same paper, seed and version throw the same."""
    return lambda name: random.Random(f"{paper.paper_id}/{seed}/{VERSION}/{name}")


def _of_kind(
    source: Source, sites: Iterable[Site | Rejection], order: random.Random, *, silent: bool
) -> tuple[list[Candidate], list[Site], KindYield, list[Rejection]]:
    counted, refused = KindYield(), []
    found: list[tuple[Candidate, Site]] = []
    for number, site in enumerate(sites):
        end_if_stopped()
        if number > MOST_PLACES:
            break
        if number == MOST_PLACES:
            site = Rejection(site.kind, f"more than {MOST_PLACES:,} places; no other one is looked at", site.excerpt)
        if isinstance(site, Site) and site.silent and not silent:
            continue
        counted.candidates += 1
        result = site if isinstance(site, Rejection) else try_site(source, site, order)
        if isinstance(result, Candidate) and not isinstance(site, Rejection):
            found.append((result, site))
            continue
        assert isinstance(result, Rejection), "a site gives a candidate or a rejection"
        refused.append(replace(result, excerpt=shortened(result.excerpt)))
        counted.rejected[counted_as(result.reason)] += 1
    counted.accepted = len(found)
    order.shuffle(found)
    return [candidate for candidate, _ in found], [site for _, site in found], counted, refused


def counted_as(reason: str) -> str:
    """A reason without what is special to one place, for counting."""
    head = reason.split(": ")[0]
    return reason if head == "no_candidate" or (head.startswith("V") and head[1:].isdigit()) else head


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
    for one in islice(insertions(source), MOST_PLACES):
        end_if_stopped()
        counted.candidates += 1
        if isinstance(one, Insertion):
            offers.append(one)
        else:
            refused.append(one)
            counted.rejected[counted_as(one.reason)] += 1
    order.shuffle(offers)
    for offer in offers:
        end_if_stopped()
        grown = Source(with_insertion(source.paper, offer))
        site = inserted_site(grown, offer)
        result = try_site(grown, site, order) if isinstance(site, Site) else site
        if isinstance(result, Candidate) and isinstance(site, Site):
            counted.accepted = len(offers)
            return grown, [result], [site], counted, refused
        assert isinstance(result, Rejection), "a site gives a candidate or a rejection"
        refused.append(result)
        counted.rejected[counted_as(result.reason)] += 1
    return source, [], [], counted, refused
