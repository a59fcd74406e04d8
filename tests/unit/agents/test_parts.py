from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.agents.part_types import guess_type
from referee.agents.parts import MOST_PARTS, Part, content_parts, render_part, split_part
from referee.errors import ContextTooLong
from referee.schemas.paper import Block, Finding, Paper, Section
from tests.reading import read_once

from .paper_on_tests import section, small_paper, words

NAMES = [
    "acl2020_s2orc_two_column",
    "ai_scientist_adaptive_dual_scale_denoising",
    "ai_scientist_mdl_grokking_correlation",
    "ai_scientist_rl_lr_adaptation",
    "naacl2025_openreviewer_two_column",
]
LONG = "A method is tried on the data and then it is tried again. " * 20


def sub(parent: int, number: int, heading: str, text: str, level: int = 2) -> Section:
    block = Block(id=f"b{parent}.{number}.0", kind="paragraph", text=text)
    return Section(id=f"s{parent}_{number}", heading=heading, level=level, number=f"{parent}.{number}", blocks=(block,))


def text_of(part: Part) -> list[str]:
    """All words of a part that are its own."""
    return [word for block in part.blocks[part.shared :] for word in block.text.split()]


def words_of(sections: tuple[Section, ...], *roles: str) -> list[str]:
    return [word for s in sections if s.role in roles for b in s.blocks for word in b.text.split()]


def test_a_part_is_a_top_level_section_with_its_sub_sections() -> None:
    paper = small_paper(
        section(1, "Abstract", LONG, "abstract"),
        section(2, "Introduction", LONG),
        section(3, "Method", LONG),
        sub(3, 1, "Assumptions", LONG),
        sub(3, 2, "Details", LONG, level=3),
        section(4, "Acknowledgements", LONG, "acknowledgements"),
        section(5, "References", LONG, "references"),
        section(6, "Proofs", LONG, "appendix"),
    )
    parts = content_parts(paper)
    assert [(p.id, p.heading, p.section_ids) for p in parts] == [
        ("P1", "2 Introduction", ("s2",)),
        ("P2", "3 Method", ("s3", "s3_1", "s3_2")),
    ]
    assert parts[1].type == "method"
    assert parts[1].types == ("method", "theory")
    assert [p.section_ids for p in content_parts(paper, appendices=True)][2:] == [("s6",)]


def test_short_sections_join_the_following_one_and_the_last_joins_the_one_before() -> None:
    paper = small_paper(
        section(1, "Motivation", "Too short."), section(2, "Method", LONG), section(3, "Conclusion", "Short as well.")
    )
    (part,) = content_parts(paper)
    assert part.heading == "1 Motivation / 2 Method / 3 Conclusion"
    assert part.type == "method"
    assert part.types == ("method", "introduction", "conclusion")


def test_an_appendix_never_joins_the_content() -> None:
    paper = small_paper(section(1, "Method", "Short."), section(2, "Proofs", "Short.", "appendix"))
    assert [p.section_ids for p in content_parts(paper, appendices=True)] == [("s1",), ("s2",)]


@pytest.mark.parametrize("text", ["Tiny.", LONG])
def test_very_many_sections_end_in_few_parts(text: str) -> None:
    paper = small_paper(*(section(n, f"Heading {n}", text) for n in range(1, 201)))
    parts = content_parts(paper)
    assert len(parts) <= MOST_PARTS
    assert [word for p in parts for word in text_of(p)] == words_of(paper.sections, "content")


def test_one_heading_over_all_others_is_not_the_only_part() -> None:
    paper = small_paper(section(1, "A Paper", LONG), sub(1, 1, "Method", LONG), sub(1, 2, "Results", LONG))
    assert [p.heading for p in content_parts(paper)] == ["1 A Paper", "1.1 Method", "1.2 Results"]


def test_text_without_headings_is_cut_at_paragraph_borders_and_the_heading_says_so() -> None:
    finding = Finding(kind="no_headings", message="No heading.", certainty="high")
    paper = small_paper(section(1, "Text", LONG, paragraphs=20), findings=(finding,))
    parts = content_parts(paper)
    assert [p.words for p in parts] == [1566, 1566, 1566, 522]
    assert parts[1].heading == "Words 1,567 to 3,132 (the paper has no headings; cut at paragraph borders)"
    assert {p.section_ids for p in parts} == {("s1",)}


def test_a_paper_of_an_abstract_gives_the_abstract_and_one_of_references_nothing() -> None:
    abstract, references = section(1, "Abstract", "We.", "abstract"), section(2, "References", "[1]", "references")
    assert [p.section_ids for p in content_parts(small_paper(abstract, references))] == [("s1",)]
    assert content_parts(small_paper(references)) == ()


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Related Work", "related"),
        ("EXPERIMENTAL RESULTS", "results"),
        ("Results and Discussion", "results"),
        ("Experimental Setup", "experiments"),
        ("Materials and Methods", "method"),
        ("Convergence Analysis", "theory"),
        ("Error Analysis", "results"),
        ("Ethics Statement", "limitations"),
        ("Conclusion and Future Work", "conclusion"),
        ("Elephants", "other"),
    ],
)
def test_the_kind_of_a_section_is_read_off_its_heading(heading: str, kind: str) -> None:
    assert guess_type(heading) == kind


def test_a_rendered_part_has_headings_with_pages_and_numbered_sentences() -> None:
    paper = small_paper(section(3, "Method", LONG), sub(3, 1, "Details", "Nothing <b>else</b> was ever done to it."))
    (part,) = content_parts(paper)
    text, sentences = render_part(part, numbered=True)
    assert text.startswith('<section part="P1">\n# 3 Method')
    assert "## 3 Method (page 3)\n[s1] A method" in text
    assert "‹b>else‹/b>" in text
    assert sentences[f"s{len(sentences)}"].section_id == "s3_1"
    assert render_part(part, numbered=False)[1] == {}


def test_what_fits_is_not_split() -> None:
    (part,) = content_parts(small_paper())
    assert split_part(part, 1000, words) == [part]


def test_a_long_part_is_split_at_paragraph_borders_with_one_paragraph_shared() -> None:
    text = "Here are exactly six more words. " * 5
    blocks = tuple(Block(id=f"b{i}", kind="paragraph", text=f"Paragraph {i}. {text}") for i in range(9))
    (part,) = content_parts(small_paper(Section(id="s1", heading="Method", level=1, blocks=blocks)))
    pieces = split_part(part, 220, words)
    assert [p.id for p in pieces] == ["P1.1", "P1.2", "P1.3"]
    assert pieces[0].heading == "Method (piece 1 of 3)"
    for before, after in pairwise(pieces):
        assert after.shared == 1
        assert after.blocks[0].id == before.blocks[-1].id
        assert "[repeated from the part before]" in render_part(after, numbered=True)[0]


def test_a_single_very_long_paragraph_is_split_at_sentence_borders() -> None:
    text = " ".join(f"This is sentence number {i} of a paragraph without an end." for i in range(2728))
    (part,) = content_parts(small_paper(section(1, "Method", text)))
    pieces = split_part(part, 2000, words)
    assert 15 < len(pieces) < 45
    assert all(words(render_part(p, numbered=True)[0]) <= 2000 for p in pieces)
    assert all(b.text.endswith(("end.", "(0)")) for p in pieces for b in p.blocks)
    assert [word for p in pieces for word in text_of(p)] == text_of(part)


def test_two_hundred_tiny_sub_sections_end_in_few_pieces() -> None:
    paper = small_paper(section(1, "Method", "Begin."), *(sub(1, n, f"Step {n}", "Do it now.") for n in range(200)))
    (part,) = content_parts(small_paper(*paper.sections, section(2, "End", "End.")))
    pieces = split_part(part, 700, words)
    assert len(pieces) < 10
    assert [word for p in pieces for word in text_of(p)] == text_of(part)


def test_a_long_table_is_split_at_rows() -> None:
    cells = tuple((f"row {i}", f"{i}.5") for i in range(300))
    table = Block(id="t", kind="table", text="\n".join(" | ".join(r) for r in cells), cells=cells, label="Table 1")
    (part,) = content_parts(small_paper(Section(id="s1", heading="Results", level=1, blocks=(table,))))
    pieces = split_part(part, 400, words)
    assert tuple(row for p in pieces for b in p.blocks for row in b.cells) == cells


def test_no_room_at_all_is_an_error_that_names_the_section() -> None:
    (part,) = content_parts(small_paper(section(1, "Method", LONG)))
    with pytest.raises(ContextTooLong, match="Method"):
        split_part(part, 40, words)


KINDS = st.sampled_from(["paragraph", "list", "equation", "caption", "code"])
SENTENCES = st.lists(st.sampled_from(["One two three four five six seven.", "Why?", "x" * 60, "a b"]), min_size=1)
BLOCKS = st.lists(st.tuples(KINDS, SENTENCES.map(" ".join)), max_size=6)
SHAPES = st.lists(st.tuples(st.integers(1, 3), BLOCKS), min_size=1, max_size=12)


def drawn_paper(shape: list[tuple[int, list[tuple[str, str]]]]) -> Paper:
    sections = [
        Section.model_validate(
            {
                "id": f"s{n}",
                "heading": f"Part {n}",
                "level": level,
                "blocks": [{"id": f"b{n}.{i}", "kind": k, "text": t} for i, (k, t) in enumerate(blocks)],
            }
        )
        for n, (level, blocks) in enumerate(shape)
    ]
    return small_paper(*sections)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(130, 400))
def test_nothing_is_lost_and_nothing_doubled_but_what_is_shared(
    shape: list[tuple[int, list[tuple[str, str]]]], room: int
) -> None:
    paper = drawn_paper(shape)
    parts = content_parts(paper)
    assert [word for part in parts for word in text_of(part)] == words_of(paper.sections, "content")
    if parts:
        assert [i for part in parts for i in part.section_ids] == [s.id for s in paper.sections]
    for part in parts:
        pieces = split_part(part, room, words)
        assert [word for piece in pieces for word in text_of(piece)] == text_of(part)
        assert all(words(render_part(piece, numbered=True)[0]) <= room for piece in pieces)
        assert list(dict.fromkeys(i for piece in pieces for i in piece.section_ids)) == list(part.section_ids)
        for before, after in pairwise(pieces):
            assert after.shared <= 1
            repeated = {b.text.split()[-1] for b in after.blocks[: after.shared]}
            assert repeated <= {word for b in before.blocks for word in b.text.split()}


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_a_real_paper_cover_all_its_content(shared_data: Path, name: str) -> None:
    paper = read_once(shared_data / "pdfs" / f"{name}.pdf")
    parts = content_parts(paper, appendices=True)
    read = Counter(block.id for part in parts for block in part.blocks)
    assert read == Counter(b.id for s, b in paper.blocks() if s.role in ("content", "appendix"))
    assert {i for p in parts for i in p.section_ids} == {
        s.id for s in paper.sections if s.role in ("content", "appendix")
    }
    assert 5 <= len(content_parts(paper)) <= 12
    kinds = {kind for part in parts for kind in part.types}
    assert {"introduction", "related", "experiments", "conclusion"} <= kinds
