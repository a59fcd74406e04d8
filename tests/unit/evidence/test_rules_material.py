"""What the tests of the rules build their papers from; the few tests of its own are of what all rules share."""

from __future__ import annotations

from typing import Any

import pytest

from referee.evidence import RULES, RuleHit
from referee.evidence.rules.hits import quoted
from referee.schemas.paper import Block, Converter, Finding, Paper, Section


def prose(text: str, **values: Any) -> Block:
    return Block.model_validate({"id": values.pop("id", "b1"), "kind": "paragraph", "text": text, "page": 3} | values)


def caption(text: str, label: str, **values: Any) -> Block:
    return prose(text, kind="caption", label=label, **values)


def table(*rows: str, label: str = "Table 1", **values: Any) -> Block:
    cells = tuple(tuple(cell.strip() for cell in row.split("|")) for row in rows)
    text = "\n".join(" | ".join(row) for row in cells)
    return prose(text, kind="table", cells=cells, label=label, **{"id": "t1"} | values)


def paper(*blocks: Block | str, findings: tuple[Finding, ...] = (), **section: Any) -> Paper:
    made = tuple(prose(b, id=f"b{i}") if isinstance(b, str) else b for i, b in enumerate(blocks, 1))
    one = Section.model_validate(
        {"id": "s1", "heading": "Results", "level": 1, "number": "1", "blocks": made} | section
    )
    return wrap(one, findings=findings)


def wrap(*sections: Section, findings: tuple[Finding, ...] = ()) -> Paper:
    return Paper(
        paper_id="0" * 64,
        title="A study",
        format="text",
        sections=sections,
        findings=findings,
        converter=Converter(name="test", version="1"),
    )


def hits(rule: str, made: Paper) -> list[RuleHit]:
    return RULES[rule](made)


@pytest.mark.parametrize(("first", "last", "begins"), [(5, 6, 0), (100, 101, 62), (198, 199, 140), (30, 85, 30)])
def test_a_quotation_of_sixty_words_holds_what_matters(first: int, last: int, begins: int) -> None:
    words = [f"w{i:03}" for i in range(200)]
    block = prose(" ".join(words))
    section = Section(id="s1", heading="Results", level=1, blocks=(block,))
    cut = quoted(section, block, block.text, "shows", around=(5 * first, 5 * last + 4)).quote.split()
    assert cut == words[begins : begins + 60]
    assert set(words[first : last + 1]) <= set(cut)


def test_an_empty_paper_has_no_hits() -> None:
    assert [hit for rule in RULES for hit in hits(rule, wrap())] == []
