"""Statements about where the paper says something: a numbered or named section that holds it, or another one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.evidence.certify.arithmetic import DISPUTED
from referee.evidence.certify.figures import words_of
from referee.evidence.certify.reading import Reading, place_of
from referee.evidence.certify.values import Verdict
from referee.evidence.stems import stem
from referee.schemas.paper import Section

_NUMBERED = re.compile(r"(?:\b(?:Sections?|Secs?\.|Appendix|App\.)|§)\s*([A-Z]?\d*(?:\.\d+)*)(?![\w])")
_NAMED = re.compile(
    r"\b(?:[Ii]n|[Uu]nder|of|to|from)\s+(?:the|its|their)?\s*[“\"]?(?P<name>[A-Z][\w/-]+(?:\s+(?:and|of|"
    r"[A-Z])[\w/-]*)*)[”\"]?\s+[Ss]ection\b"
    r"|\b(?:[Uu]nder|(?:part|end|start|beginning|"
    r"paragraph) of(?: the)?)\s+(?P<under>[A-Z][\w/-]+(?:\s+(?:and|of|[A-Z]?[a-z])[\w/-]*)*)"
    r"|\b[Tt]he\s+(?P<other>[Ii]ntroduction|[Dd]iscussion|[Cc]onclusions?|[Rr]esults|[Mm]ethods|"
    r"[Ll]imitations|[Rr]elated [Ww]ork|[Aa]ppendix)(?:\s+section)?\b"
)
_DOES = re.compile(
    r"\b(?:describ|explain|introduc|present|defin|report|discuss|list|give|given|show|found|find|cover|"
    r"contain|detail|outline|"
    r"document|hold|specif|justif|summar|state|set|deal|treat|devoted|address|compar|evaluat|analy|"
    r"motivat|derive|prove|review|left)\w*",
    re.I,
)
_VAGUE = frozenset(
    map(
        stem,
        [
            "section",
            "appendix",
            "paper",
            "authors",
            "describe",
            "describes",
            "described",
            "explain",
            "explains",
            "introduce",
            "introduces",
            "introduced",
            "present",
            "presents",
            "presented",
            "define",
            "defines",
            "defined",
            "report",
            "reports",
            "reported",
            "discuss",
            "discusses",
            "discussed",
            "list",
            "lists",
            "listed",
            "give",
            "gives",
            "given",
            "show",
            "shows",
            "shown",
            "found",
            "find",
            "covers",
            "cover",
            "contain",
            "contains",
            "details",
            "detail",
            "outline",
            "outlines",
            "holds",
            "hold",
            "only",
            "specified",
            "left",
            "part",
            "last",
            "first",
            "abstract",
            "introduction",
            "discussion",
            "conclusion",
            "results",
            "methods",
            "limitations",
            "use",
            "used",
            "detail",
            "detailed",
            "more",
            "reader",
            "refer",
            "well",
            "us",
            "experiment",
            "result",
            "results",
            "further",
            "full",
            "later",
            "now",
            "respect",
            "aspect",
            "problem",
            "approach",
            "our",
            "method",
            "methods",
            "model",
            "two",
            "last",
            "following",
            "next",
        ],
    )
)
_MOST, _FEW = 0.75, 0.34


def section_verdict(text: str, reading: Reading) -> Verdict | None:
    """Denied where a named section lacks the words and another has them all; None where no section is named."""
    named = list(_named(text, reading))
    if len(named) != 1 or not _DOES.search(text) or DISPUTED.search(text):
        return None
    section, span = named[0]
    if not _linked(text, span):
        return None
    if not section.text and len(_held(section, reading)) < 10:
        return None
    wanted = {
        w.stem: reading.rarity(w.stem)
        for w in words_of(text)
        if not span[0] <= w.start < span[1]
        and w.stem not in _VAGUE
        and not w.stem[0].isdigit()
        and not _DOES.fullmatch(text[w.start : w.end])
    }
    known = {s: r for s, r in wanted.items() if r > 0}
    total = sum(known.values()) + sum(2.0 for r in wanted.values() if r == 0)
    if not known or total < 2.5:
        return None
    here = _share(known, _held(section, reading), total)
    if here >= _MOST:
        return Verdict("tied", "its words stand in that section", place_of(section), section.heading, here)
    outside = [
        s for s in reading.paper.content if s.role != "abstract" and not _within(s, section) and not _within(section, s)
    ]
    best = max(outside, key=lambda s: _share(known, _held(s, reading), total) + _heading_bonus(s, known), default=None)
    if best is None:
        return None
    there = _share(known, _held(best, reading), total)
    telling = [w for w, rarity in known.items() if rarity > 2.5]
    headed = _heading_bonus(best, known) > 0.3
    if (
        there >= (_MOST if headed else 0.9)
        and here <= (_FEW + 0.16 if headed else 0.25)
        and (len(telling) > 1 or headed)
    ):
        return Verdict(
            "denied",
            f"{place_of(section)} does not hold its words, {place_of(best)} does",
            place_of(best),
            best.heading or best.text[:200],
            there,
        )
    return None


_BEFORE = re.compile(
    r"\b(?P<verb>[\w]+)(?:\s+\w+ly|\s+further|\s+only)?\s+(?:in|under|at|by|to|of|as part of)\s+(?:the\s+)?$", re.I
)
_AFTER = re.compile(r"^\W*(?:\w+ly\s+|only\s+|then\s+|of the paper\s+)?(?P<verb>\w+)")


def _linked(text: str, span: tuple[int, int]) -> bool:
    """Whether a verb of telling stands at once before or behind the section's name."""
    found = _BEFORE.search(text[: span[0]]), _AFTER.match(text[span[1] :])
    opens = re.match(r"(?:in|under)\s+(?:the\s+)?$", text[: span[0]], re.I) is not None
    return opens or any(one is not None and _DOES.fullmatch(one["verb"]) for one in found)


def _named(text: str, reading: Reading) -> Iterator[tuple[Section, tuple[int, int]]]:
    for found in _NUMBERED.finditer(text):
        for section in reading.paper.content:
            if section.number and section.number.rstrip(".") == found[1]:
                yield section, found.span()
    if _NUMBERED.search(text):
        return
    for found in _NAMED.finditer(text):
        name = (found["name"] or found["under"] or found["other"]).casefold()
        for section in reading.paper.content:
            if section.heading.casefold().strip(" .:") == name:
                yield section, found.span()


def _within(one: Section, other: Section) -> bool:
    return one is other or bool(one.number and other.number and one.number.startswith(f"{other.number}."))


def _held(section: Section, reading: Reading) -> frozenset[str]:
    """The stems of a section with its subsections, headings among them."""
    sections = reading.paper.content
    at = next(i for i, s in enumerate(sections) if s is section)
    inside = [section]
    for other in sections[at + 1 :]:
        if other.level <= section.level:
            break
        inside.append(other)
    return frozenset(w.stem for s in inside for w in words_of(f"{s.heading}\n{s.text}"))


def _share(known: dict[str, float], held: frozenset[str], total: float) -> float:
    return sum(weight for word, weight in known.items() if word in held) / total


def _heading_bonus(section: Section, known: dict[str, float]) -> float:
    head = {w.stem for w in words_of(section.heading)}
    return sum(weight for word, weight in known.items() if word in head) / max(1e-9, sum(known.values()))
