"""What a review found outside of the paper, in plain lines under headings: works, the search for them, references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from referee.reports.plain import one_line, shortened
from referee.schemas.literature import FoundWork, ListedWork, Literature, LookedUpReference, References, WorkBearing
from referee.schemas.review import Review

_TITLE_CHARS, _QUOTE_CHARS = 160, 400
NO_PROOF = (
    "A work that was not found may exist all the same: no source lists everything, and an entry may be printed in a "
    "way that was not read rightly. Look it up before anything follows from it."
)
_BY_ABSTRACT = "Works were read as abstracts only: what is compared, or new, is for a reader of the works to say."


def outside_sections(review: Review) -> list[tuple[str, list[str]]]:
    """Headings with their lines; none where nothing was looked up."""
    sections: list[tuple[str, list[str]]] = []
    if review.literature is not None:
        sections += _literature(review.literature)
    if review.references is not None:
        sections.append(("References of the paper", list(_references(review.references))))
    return sections


def work_line(work: ListedWork) -> str:
    """Author, title, year and identifier of a work as it is listed."""
    first = f"{one_line(work.authors[0])}{' and others' if len(work.authors) > 1 else ''}. " if work.authors else ""
    year = f", {work.year}" if work.year is not None else ""
    where = ", ".join(filter(None, (one_line(work.source), one_line(work.identifier))))
    marked = "RETRACTED: " if work.retracted else ""
    return f"{marked}{first}{shortened(work.title, _TITLE_CHARS)}{year}{f' [{where}]' if where else ''}"


def bearing_line(bearing: WorkBearing, literature: Literature) -> str:
    """What a work says to a claim, in their own words only."""
    works, claims = {w.id: w for w in literature.works}, {c.id: c for c in literature.claims}
    work, claim = works[bearing.work], claims[bearing.claim]
    place = f"{one_line(claim.section)}{f', p. {claim.page}' if claim.page is not None else ''}"
    covered = bearing.covers or claim.quote
    undated = "" if literature.as_of else " There was no day to search up to: it may be later than the submission."
    return (
        f"[{work.id}] {work_line(work)}. Its abstract: “{shortened(bearing.sentence, _QUOTE_CHARS)}” This bears on "
        f"“{shortened(covered, _QUOTE_CHARS)}” ({place}; {bearing.bearing}).{undated}"
    )


def _literature(literature: Literature) -> Iterator[tuple[str, list[str]]]:
    works = {work.id: work for work in literature.works}
    missing = [f"{bearing_line(b, literature)} {_not_compared(works[b.work])}" for b in literature.missing_comparisons]
    if literature.works:
        yield "Comparisons that may be missing", missing or ["None among the works that were read."]
        prior = [bearing_line(bearing, literature) for bearing in literature.nearest_prior]
        yield "Nearest earlier work", prior or ["No work that was read bears on a claim."]
        yield "Works that were read", [_read(work) for work in literature.works]
    yield "How the literature was searched", list(_search(literature))


def _not_compared(work: FoundWork) -> str:
    if not work.cited:
        return "The paper does not cite it."
    return "The paper cites it, but no sentence of its experiments does."


def _read(work: FoundWork) -> str:
    cited = "cited" if work.cited else "not cited"
    return f"[{work.id}] {work_line(work)} ({cited}; likeness to the nearest claim {work.near:.2f})"


def _search(literature: Literature) -> Iterator[str]:
    until = f"up to {literature.as_of} ({literature.as_of_from})" if literature.as_of else "without a last day"
    yield f"Asked: {', '.join(literature.asked)}; {until}. {_BY_ABSTRACT}"
    if literature.queries:
        yield f"Searched by: {'; '.join(f'“{one_line(query)}”' for query in literature.queries)}."
    yield from (f"Not searched: {one_line(failure)}." for failure in literature.failures)
    yield from (f"{one_line(note)}." for note in literature.notes)


def _references(references: References) -> Iterator[str]:
    counts = Counter[str](entry.verdict for entry in references.entries)
    retracted = sum(entry.is_retracted for entry in references.entries)
    told = ", ".join(f"{count} {verdict}" for verdict, count in _ordered(counts)) or "none was found in the paper"
    marked = f" Marked as retracted: {retracted}." if retracted else ""
    yield f"{len(references.entries)} references: {told}.{marked} Asked: {one_line(references.asked)}."
    yield from (f"{one_line(note)}." for note in references.notes)
    for entry in references.entries:
        if entry.verdict in ("mismatch", "not found") or entry.is_retracted:
            yield _entry(entry)
    if counts["not found"]:
        yield NO_PROOF
    yield from _support(references)


def _support(references: References) -> Iterator[str]:
    """What can be shown with both quotations; what cannot be told is counted."""
    shown = [one for one in references.support if one.verdict != "cannot tell"]
    if references.support:
        kept = sum(one.verdict == "supports" for one in shown)
        yield (
            f"Of {len(references.support)} cited works with an abstract, {kept} abstracts support the sentence that "
            f"cites them, {len(shown) - kept} do not bear on it, and of {len(references.support) - len(shown)} it "
            "cannot be told."
        )
    for one in sorted(shown, key=lambda one: (one.verdict == "supports", one.number)):
        place = f"{one_line(one.section)}{f', p. {one.page}' if one.page is not None else ''}"
        yield (
            f"{one.number}. {one.verdict}: the paper says “{shortened(one.sentence, _QUOTE_CHARS)}” ({place}); the "
            f"abstract of the cited work: “{shortened(one.quotation, _QUOTE_CHARS)}”"
        )


def _ordered(counts: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    return [(name, counts[name]) for name in ("verified", "mismatch", "not found", "not checked") if counts.get(name)]


def _entry(entry: LookedUpReference) -> str:
    differs = f" ({', '.join(entry.differs)})" if entry.differs else ""
    year = f", {entry.year}" if entry.year is not None else ""
    listed = f" Listed: {work_line(entry.listed)}." if entry.listed and entry.verdict != "not found" else ""
    reason = f" {one_line(entry.reason)}." if entry.reason else ""
    named = shortened(entry.title or entry.text, _TITLE_CHARS)
    return f"{entry.number}. {entry.verdict}{differs}: {named}{year}.{listed}{reason}"
