from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from referee.errors import DataError
from referee.reports import render_review

from .example import evidence, form, review, with_text

GOLDEN = Path(__file__).with_name("golden_review.md")


def headings(text: str) -> list[str]:
    return re.findall(r"(?m)^ {0,3}#{1,6}\s.*$", text)


def outline(page: str) -> list[str]:
    """What a Markdown parser sees of the document's structure: headings with their text, and all that is not prose."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    kinds = ("html_block", "fence", "hr", "blockquote_open")
    live = ("html_inline", "link_open", "image")
    found = [f"{t.tag} {after.content}" for t, after in pairwise(tokens) if t.type == "heading_open"]
    found += [t.type for t in tokens if t.type in kinds]
    return found + [child.type for t in tokens for child in t.children or () if child.type in live]


def summary(text: str) -> str:
    page = render_review(with_text(text), form())
    return page.split("## Summary\n\n")[1].split("\n\n## Weaknesses")[0]


def test_the_page_is_the_golden_one() -> None:
    assert render_review(review(), form()) == GOLDEN.read_text(encoding="utf-8")


def test_the_form_comes_in_its_own_order() -> None:
    found = headings(render_review(review(), form()))
    assert found[1:13] == [
        "## Summary",
        "## Weaknesses",
        "## The form",
        "### Weaknesses",
        "### Limitations",
        "### Soundness",
        "### Presentation",
        "### Ethics review",
        "### Rating",
        "### Code of conduct",
        "### Final justification",
        "## Put aside",
    ]


def test_a_bare_review_has_no_empty_sections() -> None:
    bare = review(
        evidence=(), dropped=(), findings=(), attestations=(), forced=(), provenance=None, disclosure="", scores=()
    )
    page = render_review(bare, form())
    assert page.rstrip().endswith("## About this review")
    assert "## Put aside" not in page


def test_a_persons_review_names_no_model() -> None:
    assert "written by a person." in render_review(review(source="human"), form())


def test_another_form_is_refused() -> None:
    with pytest.raises(DataError, match="'testconf-2025'"):
        render_review(review(venue="other-2025"), form())
    with pytest.raises(DataError, match="the field 'surprise'"):
        render_review(review(fields={"surprise": "text"}), form())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Rating\n\n10: strong accept", "\\# Rating\n\n10: strong accept"),
        ("Rating\n======", "Rating\n\\======"),
        ("Rating\n-", "Rating\n\\-"),
        ("  ## Rating", "\\## Rating"),
        ("- a\n    # Rating", "- a\n    \\# Rating"),
        ("- # Rating", "- \\# Rating"),
        ("1. > Rating", "1. \\> Rating"),
        ("***", "\\***"),
        ("> quoted", "\\> quoted"),
        ("```\nswallow", "\\```\nswallow"),
        ("- ~~~", "- \\~~~"),
        ("<script>alert(1)</script>", "\\<script>alert(1)\\</script>"),
        ("\\<b>", "\\<b>"),
        ("\\\\<b>", "\\\\\\<b>"),
        ("<!-- hidden", "\\<!-- hidden"),
        ("![x](http://a.example/p.png)", "![x\\](http://a.example/p.png)"),
        ("[x]: http://a.example", "[x\\]: http://a.example"),
        ("&#x202e;", "\\&#x202e;"),
        ("p < 0.05, **bold**, `code`, #1", "p < 0.05, **bold**, `code`, #1"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07text\x00\u202e", "red text"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
    ],
)
def test_foreign_text_opens_no_structure(text: str, shown: str) -> None:
    assert summary(text) == shown


def test_foreign_lines_stay_one_line() -> None:
    hostile = evidence("e1\n# x", "weaknesses", claim="a\n\n# Rating", quote="*b*\n> c | d", section="<b>\n# S")
    page = render_review(
        review(evidence=(hostile,), paper_title="# T\n## U", source="m\n# V", disclosure="# D\n## E\n\n# F"), form()
    )
    assert "2. [Weakness] a # Rating\n   - “\\*b\\* > c \\| d” (\\<b> # S)" in page
    plain = render_review(review(evidence=review().evidence[:1]), form())
    assert page.startswith("# \\# T ## U\n")
    assert outline(page)[1:] == outline(plain)[1:]


@pytest.mark.slow
@settings(deadline=None)
@given(st.text(alphabet="#=-*_>`~<![](): \n\\&1.ab\x1b\u202e|", max_size=80))
def test_no_text_adds_structure(text: str) -> None:
    page = render_review(with_text(f"{text}\n\nx"), form())
    assert outline(page) == outline(render_review(review(), form()))
    assert "\x1b" not in page


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["# a", "a", "===", "-", "- ", "  ", "    ", "\n", "\\", "<b>", "```", "[a]", "(b)", ": c", ">"]
        )
    )
)
def test_no_arrangement_of_marks_adds_structure(pieces: list[str]) -> None:
    page = render_review(with_text("".join(pieces) + "\n\nx"), form())
    assert outline(page) == outline(render_review(review(), form()))


def test_a_text_longer_than_the_form_takes_says_so() -> None:
    written = review()
    page = render_review(review(fields={**written.fields, "limitations": "word " * 20}), form())
    assert "(The form takes 60 characters; review.openreview.json holds the beginning.)" in page
