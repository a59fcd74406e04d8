"""References to a figure, table, section, equation or algorithm that the paper does not have.

``Figure ??`` is one for certain. A number counts as missing only if it is higher than every number of its kind that the
paper has, and the paper has at least two in a row from 1: a gap, or a paper without captions, is more likely a piece
that the converter lost. References into other works and supplements are passed over, and so is a paper with lost text.

An equation counts as there wherever its number is printed in brackets other than in a reference: converters take
equations for text. Nothing is said of equations where any text was lost, or where a PDF has equations
whose numbers were not read.
"""

from __future__ import annotations

from referee.evidence.ledger import LedgerEntry
from referee.evidence.rules.hits import RuleHit, quoted, sentence_evidence, shortened
from referee.evidence.rules.labels import Label, Mention, equation_numbers, known_numbers, labels_of, mentions_of
from referee.schemas.paper import Paper

NAME = "dangling_label"

_LOSSES = frozenset({"lost_text", "missing_page"})


def dangling_label(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """References to labels that are not there.

    Args:
        paper: The paper.
        ledger: Not used; every rule is called alike.

    Returns:
        One hit a label at most, at its first mention.
    """
    known = known_numbers(paper)
    lossy = any(f.kind in _LOSSES and f.certainty != "low" for f in paper.findings)
    if not _equations_known(paper):
        known["Equation"] = set()
    last = {(label.kind): label for label in labels_of(paper)}
    hits: dict[tuple[str, str], RuleHit] = {}
    for mention in mentions_of(paper):
        key = (mention.kind, mention.number)
        if key in hits:
            continue
        if mention.number == "??":
            hits[key] = _unresolved(mention)
        elif not lossy and _is_missing(mention, known.get(mention.kind, set())):
            hits[key] = _missing(mention, last.get(mention.kind))
    return list(hits.values())


def _equations_known(paper: Paper) -> bool:
    """Whether every equation that the paper prints was read with its number."""
    if any(f.kind in _LOSSES for f in paper.findings):
        return False
    equations = [block for _, block in paper.blocks() if block.kind == "equation"]
    return paper.format != "pdf" or all(any(equation_numbers(block)) for block in equations)


def _is_missing(mention: Mention, known: set[str]) -> bool:
    if mention.kind not in ("Figure", "Table", "Section", "Equation", "Algorithm") or not mention.number[0].isdigit():
        return False
    tops = {int(number.split(".")[0]) for number in known if number[0].isdigit()}
    top = int(mention.number.split(".")[0])
    whole = len(tops) >= 2 and tops == set(range(1, max(tops) + 1))
    return whole and max(tops) < top <= max(tops) + 20


def _unresolved(mention: Mention) -> RuleHit:
    return RuleHit(
        rule=NAME,
        claim=f"A reference to a {mention.kind.lower()} was left unresolved: it is printed as '??'.",
        kind="clarity",
        severity="note",
        evidence=(sentence_evidence(mention.sentence, "shows", around=mention.span),),
        numbers=("??",),
    )


def _missing(mention: Mention, last: Label | None) -> RuleHit:
    evidence = [sentence_evidence(mention.sentence, "shows", around=mention.span)]
    if last is not None:
        evidence.append(quoted(last.section, last.block, last.block.text, "contradicts"))
    named = f"{mention.kind} {mention.number}"
    return RuleHit(
        rule=NAME,
        claim=shortened(f"The text refers to {named}, and no {mention.kind.lower()} of the paper has that number."),
        kind="clarity",
        severity="note",
        evidence=tuple(evidence),
        numbers=(mention.number,),
    )
