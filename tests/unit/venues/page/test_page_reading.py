from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline

from referee.errors import VenueError
from referee.venues.page import candidates, read_page
from referee.venues.page.decode import MAX_BYTES, MAX_CHARS

GUIDE = (
    "<h1>Reviewing</h1>"
    "<p>Reviewers should check the claims of the paper, and say what is not supported by evidence.</p>"
    "<p>Please assess the soundness of the methods and the clarity of the writing before you give a score.</p>"
)


def page(markup: str, body: str = "") -> bytes:
    return f"<!doctype html><html><head><title>T</title>{markup}</head><body>{body}</body></html>".encode()


@pytest.mark.parametrize(
    ("data", "content_type", "cause"),
    [
        (b"", "", "is empty"),
        (b" \n\t", "", "is empty"),
        (b"%PDF-1.7 ...", "", "is a PDF"),
        (b"\n%PDF-1.7 ...", "text/html", "is a PDF"),
        (b"PK\x03\x04....", "", "ZIP or office file"),
        (b"\x89PNG\r\n", "", "an image"),
        (b"abc\0def" * 10, "", "is a binary file"),
        (b"x" * (MAX_BYTES + 1), "", "more than the 10,000,000"),
        (b"a b " * (MAX_CHARS // 4 + 1), "", "more than the 600,000"),
        (bytes(range(128, 256)) * 20, "", "cannot be decoded as 'utf-8'"),
        (b"caf\xe9 \xff\xfe\xfa" * 30, "text/html; charset=utf-8", "cannot be decoded as 'utf-8'"),
        (b"<html><body><img src='a.png'></body></html>", "", "holds no text"),
        (b"--- \n\n***\n", "", "holds no text"),
    ],
)
def test_what_is_no_page_is_refused_with_its_cause(data: bytes, content_type: str, cause: str) -> None:
    with pytest.raises(VenueError, match="'somewhere'") as caught:
        read_page(data, source="somewhere", content_type=content_type)
    assert cause in caught.value.message
    assert caught.value.hint


def test_a_login_page_is_refused_and_a_page_with_a_search_box_is_not() -> None:
    form = "<form><label>Name <input name=u></label><input type='password'><button>Sign in</button></form>"
    with pytest.raises(VenueError, match="is a login page"):
        read_page(page("", f"<h1>OpenReview</h1><p>Please sign in to continue.</p>{form}"), source="p")
    with pytest.raises(VenueError, match="is a login page"):
        read_page(page("", "<p>You must log in to view this page.</p>"), source="p")
    assert read_page(
        page("", GUIDE + "<p>Log in to submit.</p>" + "<p>A long text follows here.</p>" * 30), source="p"
    ).text


def test_a_page_that_needs_scripts_is_refused() -> None:
    with pytest.raises(VenueError, match="only with scripts"):
        read_page(
            page("", "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root>x</div>"),
            source="p",
        )


@pytest.mark.parametrize(
    ("data", "content_type", "noted"),
    [
        ("# Überblick\n\nPrüfen Sie, ob die Methode trägt.".encode(), "", False),
        ("\ufeff# Überblick\n\nPrüfen Sie, ob die Methode trägt.".encode(), "", False),
        ("# Überblick\n\nPrüfen Sie, ob die Methode trägt.".encode("utf-16"), "", False),
        (
            "# Überblick\n\nPrüfen Sie, ob die Methode trägt.".encode("latin-1"),
            "text/markdown; charset=iso-8859-1",
            False,
        ),
        ("# Überblick\n\nPrüfen Sie, ob die Methode trägt, und begründen Sie es genau.".encode("cp1252"), "", True),
    ],
)
def test_encodings(data: bytes, content_type: str, noted: bool) -> None:
    found = read_page(data, source="a.md", content_type=content_type)
    assert found.title == "Überblick"
    assert "Prüfen Sie, ob die Methode trägt" in found.text
    assert any("Windows-1252" in note for note in found.notes) is noted


def test_the_encoding_that_a_page_names_is_used() -> None:
    data = "<!doctype html><html><head><meta charset='gb2312'></head><body>"
    data += "<p>请审稿人评价论文的创新性和方法。</p></body></html>"
    found = read_page(data.encode("gb2312"), source="p")
    assert "请审稿人评价论文" in found.text
    assert found.language == "zh"


def test_nested_lists_tables_and_bold_headings_keep_their_form() -> None:
    body = (
        GUIDE + "<ol><li>Read the paper.<ul><li>Check the <b>proofs</b>.</li></ul></li><li>Write.</li></ol>"
        "<p><strong>Scores</strong></p><p>Please justify each score in the text of the review.</p>"
        "<table><tr><th>Score</th><th>Meaning</th></tr><tr><td>2</td><td>good</td></tr><tr><td>1</td><td>poor</td></tr></table>"
    )
    text = read_page(page("", f"<main>{body}</main>"), source="p").text
    for line in (
        "# Reviewing",
        "1. Read the paper.",
        "  - Check the proofs.",
        "2. Write.",
        "## Scores",
        "2 | good",
        "1 | poor",
    ):
        assert line in text.splitlines()


def test_menus_and_footers_are_listed_not_lost_in_silence() -> None:
    body = f"<nav>Home Program</nav><main>{GUIDE}</main>"
    body += "<div class='cookie-banner'>We use cookies</div><footer>Imprint</footer>"
    found = read_page(page("", body), source="p")
    assert [(item.words, item.reason) for item in found.dropped] == [
        ("Home Program", "menu"),
        ("We use cookies", "advert"),
        ("Imprint", "footer"),
    ]
    assert "Left out by code: 1 advert, 1 footer, 1 menu." in found.notes
    assert "cookies" not in found.text


def test_the_raw_page_is_read_where_the_extractor_loses_the_guidelines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trafilatura.extract", lambda *_, **__: None)
    found = read_page(page("", f"<nav>Home</nav><main>{GUIDE}</main>"), source="p")
    assert found.extractor == "raw"
    assert "found no main text" in found.notes[0]
    assert "Reviewers should check the claims" in found.text
    monkeypatch.setattr("trafilatura.extract", lambda *_, **__: "<doc><main><p>Welcome to the venue.</p></main></doc>")
    found = read_page(page("", f"<main>{GUIDE * 3}</main>"), source="p")
    assert found.extractor == "raw"
    assert "words of reviewing" in found.notes[0]


def test_markdown_is_cleaned_of_what_a_site_generator_reads() -> None:
    source = """---
title: "Review guide"
layout: page
---
{% include toc.html %}
<!-- a comment
over lines -->
## Criteria {#criteria}

* **Soundness**: are the [claims](https://example.org/a_(b)) *supported*
  by evidence?
    * Look at `proofs`.
* See *ACL papers, or *ACL findings.

```{note}
:class: tip
Please be kind.
```

Reviewers
=========

<p>Check the &quot;limits&quot;.<br>Second line.</p>

| a | b |
|---|:-:|
| H1. Not novel | Say why |

{: .notice}
"""
    found = read_page(source.encode(), source="g.md")
    assert found.title == "Review guide"
    assert found.text.splitlines() == [
        "## Criteria",
        "- Soundness: are the claims supported by evidence?",
        "  - Look at proofs.",
        "- See *ACL papers, or *ACL findings.",
        "Please be kind.",
        "# Reviewers",
        'Check the "limits".',
        "Second line.",
        "a | b",
        "H1. Not novel | Say why",
    ]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("Rating:\n5. Excellent\n4. Good\n1. Bad", ["Rating:", "5. Excellent", "4. Good", "1. Bad"]),
        ("Name it `P__S__1`, not __P__.", ["Name it P__S__1, not P."]),
        ("| 2 | good |\n| 1 | poor |", ["2 | good", "1 | poor"]),
        ("| a | b |\n|---|---|---|\n| c | d | e |", ["a | b", "c | d | e"]),
        ("| a \\| b | c |\n|---|---|\n| d | e |", ["a | b | c", "d | e"]),
        ("**Overall**:\n\n1 = bad\n2 = good", ["## Overall", "1 = bad 2 = good"]),
        ("<select><option>1: a</option><option>2: b</option></select>", ["- 1: a", "- 2: b"]),
        ("<details><summary>More</summary>\n- a\n- b\n\n</details>\nend", ["More", "- a", "- b", "end"]),
        ("Your comment <textarea></textarea>", ["Your comment", "```", "```"]),
        ("::: {tip} Kind words\n* Be kind.\n:::\nEnd", ["Kind words", "- Be kind.", "End"]),
        ("````{tab} T\n```{note}\ninner *word*\n```\n````", ["T", "inner word"]),
    ],
)
def test_lists_rows_and_forms_in_markdown(source: str, lines: list[str]) -> None:
    assert read_page(source.encode(), source="g.md").text.splitlines() == lines


def test_what_is_nested_too_deeply_is_told() -> None:
    source = "".join("  " * depth + f"- level {depth}\n" for depth in range(14))
    assert any("nests lists and quotations 20 deep" in note for note in read_page(source.encode(), source="g.md").notes)
    assert read_page(b"Please check.\n\n" + b"```{note}\n" * 2000, source="g.md").text.startswith("Please check.")


def test_the_title_is_the_pages_not_the_sites() -> None:
    data = b"<!doctype html><html><head><title>Guide - The Venue</title></head><body><h1>The Venue</h1><h1>Guide</h1>"
    assert read_page(data + GUIDE.encode() + b"</body></html>", source="p").title == "Guide"


def test_an_html_page_named_markdown_is_still_html() -> None:
    found = read_page(page("", f"<main>{GUIDE}</main>"), source="saved.md", content_type="text/plain")
    assert found.extractor == "trafilatura"


@pytest.mark.parametrize(
    ("name", "language"), [("gutachten.md", "de"), ("shenggao.md", "zh"), ("journal_reviewers.html", "en")]
)
def test_language_is_told_and_other_languages_give_candidates(name: str, language: str) -> None:
    data = (Path(__file__).parent / "positives" / name).read_bytes()
    found = read_page(data, source=name)
    assert found.language == language
    assert any("every sentence is a candidate" in note for note in found.notes) is (language != "en")
    assert len(candidates(found)) >= 8


def test_every_shared_page_is_read_by_its_main_text(shared_data: Path) -> None:
    files = [path for folder in ("html", "markdown") for path in (shared_data / "guidelines" / folder).iterdir()]
    pages = {path.name: read_page(path.read_bytes(), source=path.name) for path in files}
    assert {name: found.extractor for name, found in pages.items()} == {
        name: "trafilatura" if name.endswith(".html") else "markdown" for name in pages
    }
    assert {found.language for found in pages.values()} == {"en"}
    assert pages["acl2023_review_form.html"].paper_types == ("long", "short")
    assert all(not found.paper_types for name, found in pages.items() if name != "acl2023_review_form.html")
    assert any("review-template.md" in note for note in pages["pyopensci_reviewer_guide.md"].notes)


def test_markup_far_larger_than_its_text_is_read() -> None:
    script = "<script>" + "var a = '<p>review</p>';" * 100_000 + "</script>"
    assert "Reviewers should check" in read_page(page(script, f"<main>{GUIDE}</main>"), source="p").text


@pytest.mark.parametrize("piece", ["<!--", "<style>", "{% ", "[a](", "*a", "<a ", "(", "1: a, ", "if a, "])
def test_no_repeated_mark_makes_reading_slow(piece: str) -> None:
    source = "# Reviews\n\nPlease check the claims.\n\n" + piece * (60_000 // len(piece))
    assert read_page(source.encode(), source="a.md").title == "Reviews"


@pytest.mark.parametrize("unit", ["![", "[", "![a", "[[a]("])
def test_brackets_without_end_are_looked_through_a_few_times_each(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    looked, skip = Counter[str](), ParserInline.skipToken

    def counting(parser: ParserInline, state: StateInline) -> None:
        looked["times"] += 1
        skip(parser, state)

    monkeypatch.setattr(ParserInline, "skipToken", counting)
    text = unit * (20_000 // len(unit))
    assert read_page(f"# Reviewing\n\n{text} and words".encode(), source="p.md").text.endswith("and words")
    assert looked["times"] < 8 * len(text)


def test_an_image_inside_a_link_leaves_the_link_whole() -> None:
    assert read_page(b"See [![a *b* [c]](i.png) the form [1]](u) now.", source="p.md").text == "See the form [1] now."
