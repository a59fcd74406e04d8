"""Figures and tables that the text never refers to.

A reference in another caption, a footnote or an appendix counts as one. A paper with lost text is passed over, and so
are figures before the first section, which need no reference, and papers that refer to none of the kind by number.
"""

from __future__ import annotations

from referee.evidence.ledger import LedgerEntry
from referee.evidence.rules.hits import RuleHit, quoted
from referee.evidence.rules.labels import Label, labels_of, mentions_of
from referee.schemas.paper import Paper

NAME = "unused_label"

_LOSSES = frozenset({"lost_text", "missing_page"})


def unused_label(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Figures and tables without a reference.

    Args:
        paper: The paper.
        ledger: Not used; every rule is called alike.

    Returns:
        One hit a caption, in reading order.
    """
    if any(f.kind in _LOSSES and f.certainty != "low" for f in paper.findings):
        return []
    mentioned = {(mention.kind, mention.number) for mention in mentions_of(paper)}
    kinds = {kind for kind, _ in mentioned}
    return [
        RuleHit(
            rule=NAME,
            claim=f"{label.kind} {label.number} is never referred to in the text.",
            kind="clarity",
            severity="note",
            evidence=(quoted(label.section, label.block, label.block.text, "shows"),),
            numbers=(label.number,),
        )
        for label in labels_of(paper)
        if label.kind in kinds and _needs_mention(label) and not _is_mentioned(label, mentioned)
    ]


def _needs_mention(label: Label) -> bool:
    shown = label.section.role in ("abstract", "content", "appendix")
    return shown and label.kind in ("Figure", "Table") and label.number[0].isdigit()


def _is_mentioned(label: Label, mentioned: set[tuple[str, str]]) -> bool:
    return (label.kind, label.number) in mentioned
