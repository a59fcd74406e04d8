"""The findings of a file as a reader can take them in: what weighs singly, the rest by kind, doubtful ones counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from referee.papers.hidden.addresses import addresses_a_model
from referee.schemas.paper import Finding

_NAMES = {
    "hidden_text": "text that a reader cannot see",
    "not_printed": "text that no page prints",
    "addresses_reviewer": "sentences that speak to a reviewing model",
    "lost_text": "text that was not read",
    "missing_page": "pages that were not read",
    "ocr_layer": "text of a scanned page",
    "no_headings": "no headings",
    "unknown_headings": "headings that are not known",
}
_LABELS = "labels inside figures"
_TICK = re.compile(r"[-+−]?\d[\d.,]*[%kKM]?$|\S$|…$")
_TICK_SHARE = 0.5


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one kind that are told in one line, by the first of them."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def example(self) -> Finding:
        """The first finding."""
        return self.findings[0]

    @property
    def places(self) -> str:
        """How many there are, and on how many pages where pages are known."""
        pages = len({finding.page for finding in self.findings if finding.page is not None})
        return f"on {pages} pages" if pages > 1 else f"{len(self.findings)} times"


@dataclass(frozen=True)
class ToldFindings:
    """``singly`` are told one by one, ``groups`` in a line each, ``doubtful`` only counted; together they are all."""

    singly: tuple[Finding, ...]
    groups: tuple[FindingGroup, ...]
    doubtful: tuple[Finding, ...]

    @property
    def count_line(self) -> str:
        """How many findings of low certainty there are, and where to read them; empty where there are none."""
        if not self.doubtful:
            return ""
        labels = sum(_name(finding) == _LABELS for finding in self.doubtful)
        which = f" ({labels} look like {_LABELS})" if labels else ""
        verb = "is" if len(self.doubtful) == 1 else "are"
        return f"{len(self.doubtful)} of low certainty{which} {verb} in review.json"


def told(findings: Sequence[Finding]) -> ToldFindings:
    """Sort findings by how they are told.

    Singly: whatever is of high certainty, hidden text that speaks to a reviewing model, and what is the only one of its
    kind. In a line for its kind: the rest of medium certainty. Only counted: the rest of low certainty.
    """
    weighty = [finding for finding in findings if _weighs(finding)]
    doubtful = [finding for finding in findings if finding.certainty == "low" and not _weighs(finding)]
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.certainty == "medium" and not _weighs(finding):
            by_name.setdefault(_name(finding), []).append(finding)
    alone = [group[0] for group in by_name.values() if len(group) == 1]
    groups = [FindingGroup(name, tuple(group)) for name, group in by_name.items() if len(group) > 1]
    singly = [finding for finding in findings if finding in weighty or finding in alone]
    return ToldFindings(tuple(singly), tuple(groups), tuple(doubtful))


def _weighs(finding: Finding) -> bool:
    hidden_address = finding.kind == "hidden_text" and addresses_a_model(finding.text)
    return finding.certainty == "high" or hidden_address


def _name(finding: Finding) -> str:
    """What the group of a finding is called; text that is mostly numbers and single signs is of a figure's axes."""
    tokens = finding.text.replace("…", " ").split()
    ticks = sum(bool(_TICK.match(token)) for token in tokens)
    if finding.kind in ("hidden_text", "lost_text") and tokens and ticks >= _TICK_SHARE * len(tokens):
        return _LABELS
    return _NAMES[finding.kind]
