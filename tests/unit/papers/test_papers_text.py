"""Markdown and plain-text papers."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.papers.assembly import assemble
from referee.papers.bibliography import parse_entry
from referee.papers.headings import follows, name_headings
from referee.papers.text import read_markdown, read_plaintext

MARKDOWN = """---
title: "Front Matter Title"
author: Ada Author
---

Ada Author, University

## Abstract

We measure things.

## 1 Introduction

A paragraph with **bold** words.

- first point
- second point

### 1.1 Setup

```python
x = 1
```

$$
a = b + c \\tag{3}
$$

![A plot of scores](plot.png)

Table 1: Scores.

| Model | Score |
|:------|------:|
| ours  | 0.5   |
| a \\| b | 0.25 |

Results
-------

All fine.

## References

[1] A. Author. Some title of work. Venue, 2020. doi:10.1234/abc.5
[2] B. Writer. "A quoted title." 2021.

## A Appendix

More.
"""

PLAIN = """A Paper in Plain Text

Ada Author

Abstract
We measure things with care.

1 Introduction

The first paragraph
goes on here.

2.5 reviews were written on average.

1.1 Setup

Details.

DISCUSSION

Words.

Conclusion
==========

The end.

References

Lo, K. and Wang, L. 2020. A corpus of papers. ACL.

[2] Other entry here, by somebody, 2021.
"""


def outline(path: Path) -> list[tuple[str | None, str, int, str]]:
    return [(s.number, s.heading, s.level, s.role) for s in load_paper(path).sections]


def write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_markdown_sections(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", MARKDOWN)
    assert outline(path) == [
        (None, "Front matter", 1, "front"),
        (None, "Abstract", 1, "abstract"),
        ("1", "Introduction", 1, "content"),
        ("1.1", "Setup", 2, "content"),
        (None, "Results", 1, "content"),
        (None, "References", 1, "references"),
        ("A", "Appendix", 1, "appendix"),
    ]
    paper = load_paper(path)
    assert (paper.title, paper.abstract, paper.format) == ("Front Matter Title", "We measure things.", "markdown")
    assert (paper.page_count, paper.converter.name) == (None, "referee-markdown")


def test_markdown_blocks(tmp_path: Path) -> None:
    blocks = [block for _, block in load_paper(write(tmp_path, "a.md", MARKDOWN)).blocks()]
    kinds = {block.kind: block for block in blocks}
    assert kinds["table"].cells == (("Model", "Score"), ("ours", "0.5"), ("a | b", "0.25"))
    assert kinds["table"].label == "Table 1"
    assert (kinds["equation"].label, kinds["equation"].text) == ("(3)", "a = b + c \\tag{3}")
    assert kinds["code"].text == "x = 1"
    assert kinds["figure"].text.startswith("A plot of scores")
    assert kinds["list"].text == "- first point\n- second point"


def test_markdown_references(tmp_path: Path) -> None:
    first, second = load_paper(write(tmp_path, "a.md", MARKDOWN)).references
    assert (first.label, first.year, first.doi, first.title) == ("1", 2020, "10.1234/abc.5", "Some title of work")
    assert (second.label, second.title) == ("2", "A quoted title")


def test_single_top_heading_is_the_title(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", "# The Title\n\n## One\n\nText.\n\n### Two\n\nText.\n")
    assert load_paper(path).title == "The Title"
    assert outline(path) == [(None, "One", 1, "content"), (None, "Two", 2, "content")]


def test_two_top_headings_are_sections(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", "# A Study of Reviews\n\nText.\n\n# Methods\n\nText.\n")
    assert [row[1] for row in outline(path)] == ["A Study of Reviews", "Methods"]


def test_plain_text_sections(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", PLAIN)
    assert outline(path) == [
        (None, "Front matter", 1, "front"),
        (None, "Abstract", 1, "abstract"),
        ("1", "Introduction", 1, "content"),
        ("1.1", "Setup", 2, "content"),
        (None, "DISCUSSION", 1, "content"),
        (None, "Conclusion", 1, "content"),
        (None, "References", 1, "references"),
    ]
    paper = load_paper(path)
    assert paper.title == "A Paper in Plain Text"
    assert (paper.references[0].year, paper.references[0].title) == (2020, "A corpus of papers")
    assert "2.5 reviews were written" in paper.sections[2].text


def test_text_without_headings(tmp_path: Path) -> None:
    paper = load_paper(write(tmp_path, "a.txt", "Only one sentence here.\n\nAnd another sentence."))
    assert [s.heading for s in paper.sections] == ["Text"]
    assert [f.kind for f in paper.findings] == ["no_headings"]


def test_text_with_markdown_headings_is_read_as_markdown(tmp_path: Path) -> None:
    paper = load_paper(write(tmp_path, "a.txt", "# The Title\n\n## One\n\nText.\n\n## Two\n\nText.\n"))
    assert (paper.format, paper.converter.name) == ("markdown", "referee-markdown")


def test_abstract_at_the_end_of_the_authors_block(tmp_path: Path) -> None:
    path = write(
        tmp_path, "a.txt", "Title\n\nAda Author\nUniversity\nAbstract\n\nWe measure.\n\n1 Introduction\n\nText."
    )
    assert [row[3] for row in outline(path)] == ["front", "abstract", "content"]


@pytest.mark.parametrize(
    "behind",
    ["**Keywords:** counting, dogs", "Key words\n\ncounting; dogs", "Index Terms—Counting", "关键词： 计数；狗"],
)
def test_keywords_are_no_part_of_the_abstract(tmp_path: Path, behind: str) -> None:
    path = write(
        tmp_path, "a.md", f"# Dogs\n\n## Abstract\n\nWe count keywords of dogs.\n\n{behind}\n\n## Methods\n\nText."
    )
    paper = load_paper(path)
    assert paper.abstract == "We count keywords of dogs."
    assert behind.split()[-1] in paper.sections[0].text


def test_a_title_with_its_translation_and_names_in_two_languages(tmp_path: Path) -> None:
    body = "## 摘要 Abstract\n\nWe count.\n\n## 方法\n\nText.\n\n## 参考文献 References\n\n[1] A. Cat. Dogs. 2020.\n\n"
    paper = load_paper(write(tmp_path, "a.md", f"# Counting Dogs\n\n# 数狗\n\n{body}# a remark in code\n"))
    assert (paper.title, paper.abstract, len(paper.references)) == ("Counting Dogs", "We count.", 1)
    assert paper.sections[0].role == "front"
    assert paper.sections[0].text == "数狗"


def test_text_behind_the_abstract_of_a_front_matter_is_no_abstract(tmp_path: Path) -> None:
    source = "---\ntitle: Dogs\nabstract: We count.\n---\n\n```{r}\nlibrary(dogs)\n```\n\n# Methods\n\nText.\n"
    path = write(tmp_path, "a.qmd", source)
    assert load_paper(path).abstract == "We count."
    assert "Text" in [row[1] for row in outline(path)]


def test_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("\ufeff# One\n\nText.\n".encode())
    assert load_paper(path).title == "One"


def test_same_bytes_same_id_whatever_the_name(tmp_path: Path) -> None:
    one, other = write(tmp_path, "a.md", MARKDOWN), write(tmp_path, "b.txt", MARKDOWN)
    assert load_paper(one).paper_id == load_paper(other).paper_id


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_reading_twice_gives_the_same(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name, MARKDOWN)
    assert load_paper(path) == load_paper(path)


def test_letters_count_as_numbers_only_in_sequence() -> None:
    assert name_headings(["A Study of Reviews", "Methods"])[0].number is None
    assert [n.number for n in name_headings(["A Details", "B Proofs"])] == ["A", "B"]
    assert [n.level for n in name_headings(["I. Intro", "A. Part", "B. Part", "II. Next"])] == [1, 2, 2, 1]
    assert name_headings(["Appendix C: Proofs"])[0].number == "C"


@pytest.mark.parametrize(
    ("before", "number", "legal"),
    [((), (1,), True), ((3,), (3, 1), True), ((3, 1), (4,), True), ((3,), (3, 2), False), ((5,), (1,), False)],
)
def test_numbers_follow(before: tuple[int, ...], number: tuple[int, ...], legal: bool) -> None:
    assert follows(before, number) is legal


def test_entry_years_do_not_come_from_arxiv_numbers() -> None:
    assert parse_entry("A. Author. A title of some length. arXiv preprint arXiv:1911.02116, 2020.").year == 2020
    assert parse_entry("no year here at all").year is None


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W_]+", text))  # underscores may be emphasis


MARKUP = st.sampled_from(
    [
        *[
            "# ",
            "## 2.1 ",
            "\n\n",
            "\n",
            "---\n",
            "===\n",
            "```",
            "~~~",
            "| a | b |\n|---|---|\n",
            "$$",
            "![x](y)",
            "- ",
        ],
        *["1. ", "title: x\n", "References\n", "Abstract. ", "[1] ", "| c |", "Table 1: ", "A ", "Appendix B: ", "I. "],
    ]
)
SOURCES = st.lists(MARKUP | st.text(max_size=20), max_size=25).map("".join)


@given(SOURCES)
@settings(max_examples=200, deadline=None)
@pytest.mark.parametrize("reader", [read_markdown, read_plaintext])
def test_no_word_is_lost(reader: object, source: str) -> None:
    title, pieces = reader(source)  # type: ignore[operator]
    held = words(title)
    for section in assemble(pieces, front_first=False).sections:
        held += words(f"{section.number or ''} {section.heading}")
        for block in section.blocks:
            held += words(f"{block.text} {block.label or ''}")
            assert block.text.strip()
    lost = {word for word in words(source) if word not in held}
    assert not lost


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.pdf"])
def test_any_bytes_give_a_paper_or_a_paper_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("bytes") / name
    path.write_bytes(data)
    with contextlib.suppress(PaperParseError):
        assert load_paper(path).paper_id


def test_a_paragraph_about_a_table_is_no_caption_of_it(tmp_path: Path) -> None:
    path = tmp_path / "p.md"
    path.write_text(
        "# T\n\n## 1 Results\n\nTable 1 shows more.\n\n**Table 1:** All results.\n\n"
        "| a | b |\n| --- | --- |\n| **0.5** | __x__ |\n"
    )
    blocks = [block for _, block in load_paper(path).blocks()]
    assert [block.kind for block in blocks] == ["paragraph", "caption", "table"]
    assert blocks[2].cells[1] == ("0.5", "x")
    assert blocks[2].label == "Table 1"
