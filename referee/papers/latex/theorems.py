r"""Theorem-like environments: what ``\newtheorem`` declares, and the customary ones that classes bring along."""

from __future__ import annotations

import re
from dataclasses import dataclass

from referee.papers.latex.counters import Counters
from referee.papers.latex.scan import names

_DECLARED = re.compile(
    r"\\newtheorem\s*(?P<star>\*)?\s*\{(?P<name>[^{}]+)\}\s*(?:\[(?P<shared>\w+\*?)\])?\s*\{(?P<title>[^{}]*)\}"
    r"\s*(?:\[(?P<within>\w+)\])?"
)
_DECLARED_LATER = re.compile(
    r"\\(?:declaretheorem|spnewtheorem)\s*(?:\[(?P<options>[^\]]*)\])?\s*\{(?P<name>[^{}]+)\}(?:\s*\{(?P<title>[^{}]*)\})?"
)
_CUSTOMARY = {
    name: name.capitalize()
    for name in names("""theorem lemma corollary proposition definition remark example assumption claim conjecture
    fact observation hypothesis property problem question""")
}


@dataclass(frozen=True)
class Theorem:
    """One kind: what is printed ('Lemma'), and the counter it steps (None: it has no numbers)."""

    title: str
    counter: str | None


def theorem_kinds(source: str, counters: Counters) -> dict[str, Theorem]:
    """The theorem-like environments of a source; their counters are set up as declared.

    Customary names that are used but declared nowhere come from the class; they are numbered one by one.
    """
    kinds: dict[str, Theorem] = {}
    for match in _DECLARED.finditer(source):
        name, title = match["name"].strip(), match["title"].strip() or match["name"].strip().capitalize()
        if match["star"]:
            kinds[name] = Theorem(title, None)
            continue
        shared = match["shared"]
        counter = kinds[shared].counter if shared in kinds else (shared or name)
        if match["within"]:
            counters.within(name, match["within"])
        kinds[name] = Theorem(title, counter)
    for match in _DECLARED_LATER.finditer(source):
        options = dict(
            part.split("=", 1) for part in (match["options"] or "").replace(" ", "").split(",") if "=" in part
        )
        name = match["name"].strip()
        title = match["title"] or options.get("name", options.get("title", name.capitalize()))
        sibling = options.get("sibling", options.get("numberlike", ""))
        counter = kinds[sibling].counter if sibling in kinds else (sibling or name)
        if parent := options.get("numberwithin", options.get("parent", options.get("within", ""))):
            counters.within(name, parent)
        kinds.setdefault(name, Theorem(title.strip("{}"), None if options.get("numbered") == "no" else counter))
    for name, title in _CUSTOMARY.items():
        if name not in kinds and f"\\begin{{{name}}}" in source:
            kinds[name] = Theorem(title, name)
    return kinds
