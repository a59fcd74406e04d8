"""The rules together: registry, bounds, robustness, and the planted flaws of the examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import NotFound, QuotationIndex, run_rules
from referee.schemas.paper import Block
from tests.reading import read_once

from .test_rules_material import paper

TEXT = (
    "Table 1 Figure 2 from to 5% 12 of 30 (40%) reduction p < 0.05 t(28) = 2.2 , . ; 95% CI [1.0, 2.0] n = 59 mean "
    "items d in {-1,0,1} 3x ?? total 1e5 10^-3 $x_{1}$ ± accuracy ours and the with Section 9 Eq. (3) 80/10/10 split"
)
WORDS = st.sampled_from([*TEXT.split(), "\n\n"])


@given(
    st.lists(st.lists(WORDS, max_size=40).map(" ".join).filter(str.strip), max_size=4),
    st.lists(st.lists(WORDS, max_size=4), max_size=6),
)
@settings(max_examples=80, deadline=None)
def test_no_paper_breaks_a_rule_and_hits_keep_their_bounds(texts: list[str], rows: list[list[str]]) -> None:
    blocks = [Block(id=f"b{i}", kind="paragraph", text=text) for i, text in enumerate(texts)]
    grid = Block(id="t", kind="table", text="table", label="Table 1", cells=tuple(map(tuple, rows)))
    made = paper(*blocks, grid)
    whole = [" ".join(text.split()) for text in texts]
    for hit in run_rules(made):
        assert 0 < len(hit.claim) <= 300
        assert 1 <= len(hit.evidence) <= 4
        assert hit.kind != "contradiction" or len(hit.evidence) > 1
        for evidence in hit.evidence:
            assert len(evidence.quote.split()) <= 60
            assert evidence.block_id == "t" or any(evidence.quote in text for text in whole)


@given(st.text(max_size=400).filter(str.strip))
@settings(max_examples=80, deadline=None)
def test_no_string_breaks_a_rule(text: str) -> None:
    run_rules(paper(text))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("paper.pdf", ["text_vs_table", "relative_gain", "grim"]),
        ("short.md", []),
    ],
)
def test_planted_flaws_of_the_examples(examples: Path, name: str, found: list[str]) -> None:
    made = read_once(examples / name)
    hits = run_rules(made)
    assert [hit.rule for hit in hits] == found
    index = QuotationIndex(made)
    for hit in hits:
        for evidence in hit.evidence:
            match = index.find(evidence.quote, section_id=evidence.section_id)
            assert not isinstance(match, NotFound), evidence.quote
            assert match.page == evidence.page
