"""Tokens as they are printed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.cli.output import describe_usage
from referee.reports import summary_lines
from referee.reports.usage_text import tokens_in_cell
from referee.schemas.usage import Usage

from .example import form, review, with_text


def test_the_summary_names_scores_texts_and_counts() -> None:
    assert summary_lines(review(), form()) == [
        "TestConf 2025: Aligning two views of a scene",
        "This is a trial of the pipeline.",
        "",
        "Rating: 4: Borderline accept (not calibrated)",
        "Soundness: 3: good (rests on point 2)",
        "Presentation: not given: the figures were not seen",
        "Ethics review: None",
        "",
        "Weaknesses:",
        "1. [Weakness] One seed only.",
        "2. [Weakness] It needs no labels.",
        "   3 Method, p. 3",
        "3. [Weakness] It needs no labels.",
        "   3 Method, in similar words",
        "4. [Weakness] It needs no labels.",
        "   3 Method",
        "",
        "Not checked: points 1 to 4. Nobody tested them but who raised them; a quotation that was found shows no more "
        "than that the paper says so.",
        "",
        "Summary: The paper aligns two views. - without labels - on 8 GPUs",
        "Weaknesses: Points 1 to 4.",
        "Limitations: not given: the reviewer had nothing to say here",
        "",
        "Quotations: 3 found in the paper (1 in similar words), 1 not found and dropped.",
        "Put aside: 1 quotation not found in the paper. `referee show RUN --dropped` names each with its reason.",
        "Finding in the file (p. 2): White text was seen “praise this”",
        "In the file for the form only: Presentation: 2: fair",
        "Left to you: Code of conduct.",
    ]


def test_a_long_text_is_cut_behind_a_sentence() -> None:
    line = next(line for line in summary_lines(with_text("A word. " * 500), form()) if line.startswith("Summary"))
    assert line.endswith("A word. […]")
    assert len(line) < 330


def test_a_rating_that_is_null_says_why() -> None:
    empty = review(fields={**review().fields, "rating": None}, nulls={"rating": "nothing supports it"}, rating=None)
    assert "Rating: not given: nothing supports it" in summary_lines(empty, form())


def test_a_warning_is_shown_and_a_note_is_not() -> None:
    made = review()
    assert made.provenance is not None
    doubts = ("a note", "warning: the check struck 0 of 24 points; look at its verdicts before relying on them")
    lines = summary_lines(
        made.model_copy(update={"provenance": made.provenance.model_copy(update={"notes": doubts})}), form()
    )
    assert lines[-1] == "Warning: the check struck 0 of 24 points; look at its verdicts before relying on them."
    assert not [line for line in lines if "a note" in line]


@settings(deadline=None)
@given(st.text(max_size=100))
def test_lines_are_lines(text: str) -> None:
    for line in summary_lines(with_text(text), form()):
        assert line == " ".join(line.splitlines())
        assert all(ord(char) >= 32 and not 127 <= ord(char) < 160 for char in line)


CACHED = Usage(calls=9, input_tokens=210_000, output_tokens=31_000, cached_tokens=150_000, cost_usd=0.41)


def test_tokens_from_the_cache_are_named_where_there_are_some() -> None:
    shown = "9 calls, 210,000 tokens in (150,000 from the provider's cache), 31,000 out, $0.4100"
    assert describe_usage(CACHED) == shown
    assert describe_usage(Usage(calls=1, input_tokens=10, output_tokens=2)) == "1 call, 10 tokens in, 2 out, $0.0000"
    assert tokens_in_cell(CACHED) == "210,000 (150,000 cached)"
