"""Types of papers that headings of a guideline page name: long and short, main and datasets, survey, position, ..."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from referee.errors import VenueError

_NAMES = (
    "long|full|short|regular|main|datasets? and benchmarks?|datasets?|benchmarks?|survey|position|theory|theoretical|"
    "resource|demo|demonstration|system demonstrations?|industry|applied|application|empirical|experimental|"
    "reproducibility|reproduction|replication|tutorial|workshop|journal|case study|perspective|poster|"
    "extended abstract|registered reports?|software|tools?|education(?:al)?|findings"
)
_TYPE = re.compile(
    rf"\b(?P<name>{_NAMES})(?:[ -](?:conference|research))?[ -](?:papers?|tracks?|submissions?|"
    rf"articles?|contributions?)\b",
    re.IGNORECASE,
)
_AMONG = re.compile(rf"\b(?:{_NAMES})\s*(?:,|/|&|and|or|vs\.?|versus)\s+(?=(?:{_NAMES})\b)", re.IGNORECASE)
_ONE_TRACK = re.compile(r"\bdatasets? (?:and|&) benchmarks?\b", re.IGNORECASE)
_CANONICAL = {
    "full": "long", "theoretical": "theory", "demonstration": "demo", "system demonstration": "demo",
    "system demonstrations": "demo", "dataset": "datasets", "benchmark": "datasets", "benchmarks": "datasets",
    "datasets and benchmarks": "datasets", "datasets and benchmark": "datasets", "dataset and benchmarks": "datasets",
    "dataset and benchmark": "datasets", "applied": "application", "experimental": "empirical", "tools": "tool",
    "reproduction": "reproducibility", "replication": "reproducibility", "registered reports": "registered report",
    "educational": "education", "regular": "main",
}  # fmt: skip
_LONGEST = 14


@lru_cache(maxsize=4096)
def named_type(heading: str) -> str:
    """The one paper type a heading names, or an empty string where it names none or several."""
    text = heading.replace("’", "'")
    if len(text.split()) > _LONGEST or text.rstrip().endswith("?") or _AMONG.search(_ONE_TRACK.sub("datasets", text)):
        return ""
    found = {_canonical(match["name"]) for match in _TYPE.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def without_type(heading: str) -> str:
    """A heading without the parenthesis that names its paper type."""
    return re.sub(r"\s*\([^()]{0,60}\)\s*$", lambda part: "" if named_type(part[0]) else part[0], heading).strip()


def types_among(names: Iterable[str]) -> tuple[str, ...]:
    """The types in order of appearance, without repeats."""
    return tuple(dict.fromkeys(name for name in names if name))


def chosen_type(types: tuple[str, ...], asked: str | None, source: str) -> str:
    """The type to keep: the one asked for, else the page's first, else none.

    Raises:
        VenueError: The page does not name the type that was asked for.
    """
    if asked is None or not asked.strip():
        return types[0] if types else ""
    wanted = named_type(f"{asked.strip()} paper") or named_type(asked) or asked.strip().lower()
    if wanted in types:
        return wanted
    known = f"It names: {', '.join(types)}." if types else "It names no types; leave the paper type out."
    raise VenueError(f"{source!r} has no guidelines of its own for the paper type {asked!r}.", hint=known)


def _canonical(name: str) -> str:
    plain = " ".join(name.lower().split())
    return _CANONICAL.get(plain, plain)
