"""The checks that every plant passes; the first failure is the recorded reason.

V9 (reading each plant) is no code, and of V5 the model's log-probability is left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace

from referee.evidence.sentences import split_sentences
from referee.experiments.planting.candidate import Anchor, Candidate, Edit
from referee.experiments.planting.source import Passage, Source
from referee.papers.text import read_markdown
from referee.schemas.planted import Difficulty

CHECKS = ("V1", "V2", "V3", "V4", "V5", "V6", "V7", "V8", "V10")
_LONGER = 0.15
_MOST_ALIKE = 50
_PAIRS = ("()", "[]", "{}")
_MINUS = frozenset("-−–")
_A_AN = re.compile(r"\b(?:a\s+(?=[aeio]\w)|an\s+(?=[bcdfgjklmnpqrstvwxyz]\w))", re.IGNORECASE)
REMOVALS = frozenset({"missing-variance", "missing-control", "missing-baseline"})
_RANK: tuple[Difficulty, ...] = ("local", "near", "table", "far", "derived", "absence")


@dataclass
class Placed:
    """What is planted so far, for the spacing of what comes next."""

    candidates: list[Candidate] = field(default_factory=list)

    def refusal(self, new: Candidate) -> str:
        """V7: one plant a paragraph, two a section, no shared anchor, no plant inside another's anchor."""
        blocks = {edit.passage.block.id for edit in new.edits}
        sections = {edit.passage.section.id for edit in new.edits}
        for old in self.candidates:
            if blocks & {edit.passage.block.id for edit in old.edits}:
                return "V7: another plant stands in the paragraph"
            for a, b in ((old, new), (new, old)):
                if any(_overlap(x.passage, y) for x in a.anchors for y in b.edits):
                    return "V7: the edit stands inside another's anchor"
            if any(_same(x.passage, y.passage) for x in old.anchors for y in new.anchors):
                return "V7: the anchor is another's"
        for section in sections:
            if sum(any(edit.passage.section.id == section for edit in old.edits) for old in self.candidates) >= 2:
                return "V7: two plants stand in the section"
        return ""


def _overlap(passage: Passage, edit: Edit) -> bool:
    return edit.start < passage.end and passage.start < max(edit.end, edit.start + 1)


def _same(a: Passage, b: Passage) -> bool:
    return a.start < b.end and b.start < a.end


def checked(source: Source, candidate: Candidate) -> Candidate | str:
    """A candidate with its duplicates edited alike, or the first check (V1 to V6) that it does not pass."""
    alike = _with_duplicates(source, candidate)
    if isinstance(alike, str):
        return alike
    for check in (_differs, _proved, _not_native, _reads_well, _no_tell_tale):
        reason = check(source, alike)
        if reason:
            return reason
    return alike


def _differs(source: Source, candidate: Candidate) -> str:
    for edit in candidate.edits:
        if source.text[edit.start : edit.end] != edit.before:
            return "V1: the edit is not where it is said to be"
        if edit.before == edit.after:
            return "V1: nothing changes"
        if candidate.kind not in REMOVALS and edit.sentence_after in source.text:
            return "V1: the planted sentence stands there already"
    return ""


def applied(passage: Passage, edits: tuple[Edit, ...]) -> str:
    """A passage as it stands once these edits are made."""
    text = passage.text
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        if passage.start <= edit.start and edit.end <= passage.end:
            text = text[: edit.start - passage.start] + edit.after + text[edit.end - passage.start :]
    return text


def _proved(source: Source, candidate: Candidate) -> str:
    if candidate.kind == "neutral":
        return ""
    if not candidate.anchors and not candidate.silent:
        return "V2: no anchor"
    passages = tuple(edit.passage for edit in candidate.edits)
    anchors = tuple(anchor.passage for anchor in candidate.anchors)
    if candidate.conflict(tuple(p.text for p in passages), tuple(p.text for p in anchors)):
        return "V2: the clean copy already contradicts itself here"
    after = tuple(applied(p, candidate.edits) for p in passages)
    if not candidate.conflict(after, tuple(applied(p, candidate.edits) for p in anchors)):
        return "V2: nothing in the planted copy contradicts the edit"
    return ""


def _not_native(source: Source, candidate: Candidate) -> str:
    texts = [" ".join(p.text.split()) for p in _passages(candidate)]
    for hit in source.hits:
        for evidence in hit.evidence:
            if len(evidence.quote) > 20 and any(evidence.quote in text or text in evidence.quote for text in texts):
                return "V3: a rule finds something wrong here already"
    return ""


def _passages(candidate: Candidate) -> list[Passage]:
    found = [*(edit.passage for edit in candidate.edits), *(anchor.passage for anchor in candidate.anchors)]
    return [passage for passage in found if passage.place != "cell"]


def _with_duplicates(source: Source, candidate: Candidate) -> Candidate | str:
    """V4: sentences that are nearly the edited one are edited alike, and are no anchor."""
    first = candidate.edits[0]
    if len(candidate.edits) > 1 or first.passage.place in ("cell", "equation"):
        return candidate
    more: list[Edit] = []
    duplicates = source.duplicates_of(first.passage, _MOST_ALIKE)
    if len(duplicates) > _MOST_ALIKE:
        return "V4: too many sentences are nearly the same"
    for other in duplicates:
        if first.before == "" or other.text.count(first.before) != 1:
            return "V4: a sentence that is nearly the same cannot be edited alike"
        at = other.start + other.text.index(first.before)
        more.append(Edit(at, at + len(first.before), first.after, other))
    if not more:
        return candidate
    anchors = tuple(a for a in candidate.anchors if all(a.passage.start != edit.passage.start for edit in more))
    if len(anchors) != len(candidate.anchors):
        return "V4: the anchor is nearly the same sentence"
    return replace(candidate, edits=(first, *more))


def _reads_well(source: Source, candidate: Candidate) -> str:
    if candidate.kind in REMOVALS:
        return ""
    for edit in candidate.edits:
        before, after = edit.passage.text, applied(edit.passage, candidate.edits)
        if any(_balance(before, pair) != _balance(after, pair) for pair in _PAIRS) or (
            before.count("$") % 2 != after.count("$") % 2
        ):
            return "V5: brackets are no longer balanced"
        if len(_A_AN.findall(after)) > len(_A_AN.findall(before)):
            return "V5: the article does not fit"
        if after.count("  ") > before.count("  "):
            return "V5: a doubled blank"
        if len(split_sentences(after)) != len(split_sentences(before)):
            return "V5: another number of sentences"
        short = len(before) < 40
        if candidate.kind != "inserted" and not short and abs(len(after) - len(before)) > _LONGER * len(before):
            return "V5: the length changes by more than 15%"
    return ""


def _balance(text: str, pair: str) -> int:
    return text.count(pair[0]) - text.count(pair[1])


def _no_tell_tale(source: Source, candidate: Candidate) -> str:
    new = set("".join(edit.after for edit in candidate.edits)) - source.characters
    known = {_class_of(char) for char in source.characters} if new else set()
    odd = sorted(char for char in new if _class_of(char) not in known)
    return f"V6: the paper has no character like {odd[0]!r}" if odd else ""


def _class_of(char: str) -> str:
    if char in _MINUS:
        return "minus"
    kind = unicodedata.category(char)
    return unicodedata.name(char, "").split(" ")[0] + kind if kind[0] in "LN" else char


def difficulty_of(candidate: Candidate) -> Difficulty:
    """The hardest of what holds: absence, derived, far, table, near, local."""
    if candidate.kind in REMOVALS:
        return "absence"
    if candidate.derived:
        return "derived"
    home = candidate.edits[0].passage
    held = [level for anchor in candidate.anchors for level in _levels(home, anchor)]
    return max(held, key=_RANK.index, default="local")


def _levels(home: Passage, anchor: Anchor) -> list[Difficulty]:
    other = anchor.passage
    near: Difficulty = "far" if other.section.id != home.section.id else "near"
    if other.block.id == home.block.id:
        near = "local"
    return [near, "table"] if other.place == "cell" else [near]


def structure_of(text: str) -> Counter[str]:
    """How many blocks of each kind our own reader finds in a copy."""
    return Counter(piece.kind for piece in read_markdown(text)[1])
