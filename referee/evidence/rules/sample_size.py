"""One named group with two sizes: ``Broad Institute (n = 435)`` and ``Broad Institute; n = 436``.

Only names of two capitalised words or more that stand directly before the size; the same name with one size in one
paragraph and several in another is a repeated design, so each side must give one size.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import plain
from referee.evidence.rules.hits import RuleHit, Sentence, sentence_evidence, sentences_of, shortened
from referee.schemas.paper import Paper

NAME = "sample_size"

_NAMED = re.compile(
    r"(?P<name>\b[A-Z][\w&-]{2,}(?:\s+(?:of\s+|for\s+|the\s+)?[A-Z][\w&-]{2,})+)\s*[(;,]\s*[nN]\s*=\s*(?P<size>\d{1,3}(?:,\d{3})+|\d+)(?![\d.–-])"
)
_NO_NAMES = re.compile(r"^(?:Figure|Fig|Table|Section|Experiment|Study|Group|Panel|Trial|Cohort|Phase|Stage)\b")


@dataclass(frozen=True, slots=True)
class _Size:
    size: str
    sentence: Sentence
    span: tuple[int, int]


def sample_size(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Named groups that are given two sizes.

    Args:
        paper: The paper.
        ledger: Not used; every rule is called alike.

    Returns:
        At most one hit a name, in reading order.
    """
    sizes: dict[str, list[_Size]] = defaultdict(list)
    for sentence in sentences_of(paper):
        for found in _NAMED.finditer(plain(sentence.text)):
            if not _NO_NAMES.match(found["name"]):
                sizes[" ".join(found["name"].split())].append(
                    _Size(found["size"].replace(",", ""), sentence, found.span())
                )
    return [_hit(name, found) for name, found in sizes.items() if _differ(found)]


def _differ(found: list[_Size]) -> bool:
    """Two sizes in two blocks, none of which gives more than one."""
    blocks: dict[int, set[str]] = defaultdict(set)
    for size in found:
        blocks[id(size.sentence.block)].add(size.size)
    return len({s.size for s in found}) == 2 and all(len(given) == 1 for given in blocks.values())


def _hit(name: str, found: list[_Size]) -> RuleHit:
    first = found[0]
    second = next(s for s in found if s.size != first.size)
    claim = f"The size of {name!r} is given as n = {first.size} in one place and as n = {second.size} in another."
    return RuleHit(
        rule=NAME,
        claim=shortened(claim),
        kind="contradiction",
        severity="minor",
        evidence=(
            sentence_evidence(first.sentence, "shows", around=first.span),
            sentence_evidence(second.sentence, "contradicts", around=second.span),
        ),
        numbers=(first.size, second.size),
    )
