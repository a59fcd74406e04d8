"""Labels and citations that lead to the wrong place: kinds ``reference`` and ``citation``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, partial

from referee.evidence.rules.labels import Label, labels_in, mentions_of
from referee.experiments.planting.candidate import Anchor, Candidate, Conflict, Edit, Rejection, Site, edited, span
from referee.experiments.planting.source import Passage, Source, content_stems
from referee.schemas.paper import Block, Reference

_GENERIC = content_stems(
    "table figure show shows shown see results result summary comparison different each all values"
)
_FEW = 5


class _Content:
    """What labels lead to: the words of captions, table heads and headings."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def by_label(self) -> dict[tuple[str, str], tuple[Label, frozenset[str]]]:
        found = {}
        for label in self.source.labels:
            if label.block.kind == "caption" and label.block.id in self.source.written.blocks:
                words = content_stems(f"{label.block.text} {self._heads(label)}") - _GENERIC
                found[label.kind, label.number] = (label, words)
        return found

    @cached_property
    def _tables(self) -> dict[str, list[Block]]:
        found = defaultdict(list)
        for _, block in self.source.paper.blocks():
            if block.kind == "table" and block.label:
                found[block.label].append(block)
        return dict(found)

    def _heads(self, label: Label) -> str:
        tables = self._tables.get(f"{label.kind} {label.number}", ())
        return " ".join(cell for b in tables for cell in (*b.cells[0], *(row[0] for row in b.cells)) if b.cells)

    def shared(self, key: tuple[str, str], words: frozenset[str]) -> int:
        return len(self.by_label[key][1] & words)

    def least(self, key: tuple[str, str]) -> int:
        """How many words must be shared: short captions have few."""
        return 1 if len(self.by_label[key][1]) <= _FEW else 2


def reference_sites(source: Source) -> Iterator[Site | Rejection]:
    """Sentences that name one figure or table whose caption shares their words, while another's shares none."""
    content = _Content(source)
    by_id = {(p.block.id, p.text): p for p in source.edited}
    for mention in mentions_of(source.paper):
        passage = by_id.get((mention.sentence.block.id, mention.sentence.text))
        if passage is None or mention.kind not in ("Table", "Figure") or mention.number == "??":
            continue
        yield _reference_site(content, passage, (mention.kind, mention.number), mention.span)


def _reference_site(content: _Content, passage: Passage, key: tuple[str, str], at: tuple[int, int]) -> Site | Rejection:
    if len(labels_in(passage.text)) != 1:
        return Rejection("reference", "the sentence names several labels", passage.text)
    if key not in content.by_label:
        return Rejection("reference", "the label has no caption", passage.text)
    if content.shared(key, passage.stems) < content.least(key):
        return Rejection("reference", "the right caption shares too few words with the sentence", passage.text)
    digits = re.search(rf"{re.escape(key[1])}(?P<panel>[a-z]?\b|[A-Z]\b)?", passage.text[slice(*at)])
    if digits is None:
        return Rejection("reference", "the number's place is not found", passage.text)
    start = at[0] + digits.start()
    place = (span(passage, start, start + len(key[1])),)
    panel = re.match(r"[A-Za-z]\b", passage.text[start + len(key[1]) :])
    others = [other for other in content.by_label if other[0] == key[0] and other != key]
    proposals = tuple((number,) for _, number in others if not content.shared((key[0], number), passage.stems))
    anchor = _caption_anchor(content, key)
    examine = partial(_reference, content, place, key, panel[0] if panel else "")
    return Site("reference", place, proposals, examine, (anchor,))


def _caption_anchor(content: _Content, key: tuple[str, str]) -> Anchor:
    label, _ = content.by_label[key]
    whole = content.source.block_passage(label.section, label.block)
    return Anchor(whole, f"the caption of {key[0]} {key[1]}")


def _reference(
    content: _Content, place: tuple[Edit, ...], key: tuple[str, str], panel: str, after: tuple[str, ...]
) -> Candidate | str:
    wrong, passage = (key[0], after[0]), place[0].passage
    if wrong not in content.by_label:
        return "dangling"
    if content.shared(wrong, passage.stems):
        return "the other caption has the sentence's words too"
    if panel and not re.search(rf"\(\s*{panel}\b|\b{panel}\s*[,.)]", content.by_label[wrong][0].block.text):
        return "the other figure has no such panel"
    anchors = (_caption_anchor(content, key), _caption_anchor(content, wrong))

    def conflict(passages: tuple[str, ...], captions: tuple[str, ...]) -> bool:
        named = labels_in(passages[0])
        words = content_stems(passages[0]) - _GENERIC
        return named == {wrong} and not words & (content_stems(captions[1]) - _GENERIC)

    name = f"{key[0]} {key[1]}"
    return Candidate(
        kind="reference",
        subtype=key[0].lower(),
        severity="L",
        anchor_class="A4",
        edits=edited(place, after),
        anchors=anchors,
        conflict=conflict,
        expected=name,
        statement=f"The sentence points to {wrong[0]} {wrong[1]}, whose caption has nothing of it; {name} has.",
    )


_KEY = re.compile(r"\[(?P<key>\d{1,3})\]")


def citation_sites(source: Source) -> Iterator[Site | Rejection]:
    """Pairs of citations in one paragraph whose sentences share words with the one title and none with the other."""
    titles = {ref.label.strip("[]."): ref for ref in source.paper.references if ref.label and ref.title}
    if not titles:
        yield Rejection("citation", "no_candidate: no reference has a label and a parsed title", source.paper.title)
        return
    by_block: dict[str, list[tuple[Passage, re.Match[str]]]] = defaultdict(list)
    for passage in source.edited:
        for found in _KEY.finditer(passage.text):
            if found["key"] in titles:
                by_block[passage.block.id].append((passage, found))
    for cited in by_block.values():
        for i, (passage, found) in enumerate(cited):
            for other, then in cited[i + 1 :]:
                yield _citation_site(source, titles, passage, found, other, then)


def _fits(passage: Passage, reference: Reference) -> int:
    return len(passage.stems & content_stems(reference.title or ""))


def _citation_site(
    source: Source,
    titles: dict[str, Reference],
    passage: Passage,
    found: re.Match[str],
    other: Passage,
    then: re.Match[str],
) -> Site | Rejection:
    a, b = titles[found["key"]], titles[then["key"]]
    if passage.start == other.start or found["key"] == then["key"]:
        return Rejection("citation", "both citations stand in one sentence, or are one", passage.text)
    if set(a.authors) & set(b.authors):
        return Rejection("citation", "works by the same group", passage.text)
    if min(_fits(passage, a), _fits(other, b)) < 2 or _fits(passage, b) or _fits(other, a):
        return Rejection("citation", "the titles do not tell the sentences apart", passage.text)
    place = (span(passage, *found.span("key")), span(other, *then.span("key")))
    after = (then["key"], found["key"])
    anchors = tuple(anchor for ref in (a, b) if (anchor := _entry(source, ref)) is not None)
    if len(anchors) != 2:
        return Rejection("citation", "the entries' places are not found", passage.text)
    return Site("citation", place, (after,), partial(_citation, place, (a, b), anchors), anchors)


def _entry(source: Source, reference: Reference) -> Anchor | None:
    text = " ".join(reference.text.split())
    for section, block in source.paper.blocks():
        if section.role == "references" and block.text == text and block.id in source.written.blocks:
            return Anchor(source.block_passage(section, block), f"the title of {reference.label}")
    return None


def _citation(
    place: tuple[Edit, ...], cited: tuple[Reference, Reference], anchors: tuple[Anchor, ...], after: tuple[str, ...]
) -> Candidate | str:
    if after != (place[1].before, place[0].before):
        return "the keys are not exchanged"
    return Candidate(
        kind="citation",
        subtype="exchanged",
        severity="L",
        anchor_class="A4",
        edits=edited(place, after),
        anchors=anchors,
        conflict=_cites_wrong(place, cited),
        expected=f"[{place[0].before}] and [{place[1].before}]",
        statement=(
            f"[{after[0]}] is {cited[1].title!r}, of which the sentence does not speak; {cited[0].title!r} is "
            f"[{after[1]}]."
        ),
    )


def _cites_wrong(place: tuple[Edit, ...], cited: tuple[Reference, Reference]) -> Conflict:
    right, wrong = place[0].before, place[1].before

    def conflict(passages: tuple[str, ...], entries: tuple[str, ...]) -> bool:
        keys = {found["key"] for found in _KEY.finditer(passages[0])}
        fits = content_stems(passages[0]) & content_stems(cited[1].title or "")
        return wrong in keys and right not in keys and not fits and bool(entries[1])

    return conflict
