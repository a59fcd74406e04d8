from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import VenueError
from referee.venues.page import GuidelinePage, candidates, read_page, trace, windows
from referee.venues.page.blocks import named_type
from referee.venues.page.candidates import LONGEST, bounded

TRACKS = Path(__file__).parent / "positives" / "two_tracks.md"


def read(text: str) -> GuidelinePage:
    return read_page(text.encode(), source="g.md")


def test_kinds_ids_and_headings() -> None:
    page = read("""# Guide

## Assessing soundness

Is the method sound? Please check the proofs. Reviewers must be polite. The sky is blue today.

If the paper is short, read it twice.

- Novelty of the idea
- Are the claims supported?
""")
    found = [(each.id, each.kind, each.words, each.heading) for each in candidates(page)]
    path = ("Guide", "Assessing soundness")
    assert found == [
        ("g001", "heading", "Assessing soundness", ("Guide",)),
        ("g002", "question", "Is the method sound?", path),
        ("g003", "imperative", "Please check the proofs.", path),
        ("g004", "sentence", "Reviewers must be polite.", path),
        ("g005", "imperative", "If the paper is short, read it twice.", path),
        ("g006", "bullet", "Novelty of the idea", path),
        ("g007", "question", "Are the claims supported?", path),
    ]
    assert "1 pieces ask nothing and are no candidates." in page.notes


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Click the button at the top to open the form.", "software how-to"),
        ("Go to the OpenReview submission page.", "software how-to"),
        ("Reviews are due on January 12, 2026.", "event details"),
        ("Write to chairs@example.org.", "contact"),
        ("Subscribe to our newsletter.", "advert"),
        ("Older tutorial: https://example.org/a", "link list"),
    ],
)
def test_noise_is_dropped_with_its_reason(words: str, reason: str) -> None:
    page = read(f"# Guide\n\n- {words}\n- Check the claims of the paper.\n")
    assert [(item.words, item.reason) for item in page.dropped] == [(words, reason)]
    assert [each.words for each in candidates(page)] == ["Check the claims of the paper."]


@pytest.mark.parametrize(
    "words",
    [
        "Please check that the evaluation is sound and clear before you click the button.",
        "Does the paper follow the guide at https://example.org/guide?",
        "Please assess the novelty of the paper in view of https://example.org/call.",
        "A paper that appeared after March 3 should not be held against the novelty of this one before the deadline.",
    ],
)
def test_what_may_be_a_criterion_stays_for_the_model(words: str) -> None:
    page = read(f"# Guide\n\n- {words}\n")
    assert [each.words for each in candidates(page)] == [words]


def test_a_section_of_dates_goes_but_not_its_instructions() -> None:
    page = read("# Guide\n\n## Important Dates\n\nReviews are due Jan 12. Do not leave reviewing to the last minute!\n")
    assert [each.words for each in candidates(page)] == ["Do not leave reviewing to the last minute!"]


def test_repeats_and_scale_options_are_no_candidates() -> None:
    page = read("# Guide\n\nPlease check the proofs. Please check the proofs!\n\n## Rating\n\n- 2 = good\n- 1 = poor\n")
    assert [each.words for each in candidates(page)] == ["Please check the proofs.", "Rating"]
    assert [item.reason for item in page.dropped] == ["scale option", "scale option"]


def test_long_items_are_cut_between_sentences_and_stay_traceable() -> None:
    sentence = "The reviewer should look at the evidence for each claim with great care and patience. "
    page = read(f"# Guide\n\n- {sentence * 12}\n- {'a very long clause without an end, ' * 40}\n")
    found = candidates(page)
    assert len(found) > 2
    assert all(len(each.words) <= LONGEST and trace(each.words, page) for each in found)
    assert "".join("".join(bounded(sentence * 12)).split()) == "".join((sentence * 12).split())


def test_paper_types() -> None:
    page = read_page(TRACKS.read_bytes(), source="tracks.md")
    assert page.paper_types == ("long", "short")
    assert any("'long' is taken" in note for note in page.notes)
    first, short = candidates(page), candidates(page, "Short papers")
    assert {each.paper_type for each in first} == {"", "long"}
    assert {each.paper_type for each in short} == {"", "short"}
    assert "Do not ask for extensive experiments." in [each.words for each in short]
    assert "Do not ask for extensive experiments." not in [each.words for each in first]
    assert [each.id for each in short] == [f"g{at:03d}" for at in range(1, len(short) + 1)]
    with pytest.raises(VenueError, match="'demo'") as caught:
        candidates(page, "demo")
    assert "long, short" in caught.value.hint


def test_a_page_without_types_refuses_a_type() -> None:
    with pytest.raises(VenueError, match="'short'"):
        candidates(read("# Guide\n\nPlease check the claims."), "short")


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("Excitement (Short Paper)", "short"),
        ("Long papers", "long"),
        ("Datasets and Benchmarks track", "datasets"),
        ("Reviewing position papers", "position"),
        ("Survey papers", "survey"),
        ("System demonstration submissions", "demo"),
        ("Long and short papers", ""),
        ("How to review papers", ""),
        ("Main vs. Findings papers", ""),
        ("What is a short paper?", ""),
        ("Soundness", ""),
    ],
)
def test_headings_that_name_a_type(heading: str, name: str) -> None:
    assert named_type(heading) == name


@pytest.mark.slow
def test_all_candidates_of_the_shared_pages_are_the_pages_own_words(shared_data: Path) -> None:
    for folder in ("html", "markdown"):
        for path in (shared_data / "guidelines" / folder).iterdir():
            page = read_page(path.read_bytes(), source=path.name)
            found = candidates(page)
            assert found
            assert all(trace(each.words, page) for each in found), path.name
            assert all(len(each.words) <= LONGEST for each in found if each.kind != "heading")
            assert candidates(page) == found


def test_the_real_noise_is_out_and_the_real_questions_are_in(shared_data: Path) -> None:
    folder = shared_data / "guidelines"
    page = read_page((folder / "html/emnlp2023site_reviewer_instructions_naacl2021.html").read_bytes(), source="naacl")
    words = " ".join(each.words for each in candidates(page))
    assert "Reviewer discussion period" not in words
    assert "Jekyll" not in page.text
    page = read_page((folder / "markdown/iclr_blogposts2024_reviewer_guidelines.md").read_bytes(), source="iclr")
    found = [each.words for each in candidates(page)]
    assert "Is there a significant added value in comparison to the cited papers?" in found
    assert "Go to the OpenReview submission page." not in found


def test_windows_hold_each_candidate_once_and_keep_the_room() -> None:
    page = read_page(TRACKS.read_bytes(), source="tracks.md")
    found = candidates(page)

    def count(text: str) -> int:
        return len(text.split())

    cut = windows(found, 40, count)
    assert len(cut) > 1
    assert [each for window in cut for each in window.candidates] == list(found)
    assert all(count(window.text) <= 40 for window in cut)
    assert [window.id for window in cut] == [f"w{at:02d}" for at in range(1, len(cut) + 1)]
    assert all(window.text.startswith("# Reviewer guide") for window in cut)
    assert len(windows(found, 1, count)) == len(found)
    assert windows((), 40, count) == ()
    with pytest.raises(ValueError, match="at least 1"):
        windows(found, 0, count)


TRACED = """# G

- Is the claim "supported" by evidence?
- Authors must not exceed 8 pages in the first version of a text.
"""


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("is the claim “supported” by evidence", 'Is the claim "supported" by evidence'),
        ('IS THE CLAIM "SUPPORTED"  BY EVIDENCE?', 'Is the claim "supported" by evidence?'),
        (
            "Authors must not exceed 8 pages in the first version of the text",
            "Authors must not exceed 8 pages in the first version of a text.",
        ),
        ("Authors must not exceed 9 pages in the first version of a text", None),
        ("Authors must exceed 8 pages in the first version of a text", None),
        ("Check the novelty of every lemma in the supplementary file", None),
        ("clai", None),
        ("", None),
    ],
)
def test_trace(words: str, own: str | None) -> None:
    assert trace(words, read(TRACED)) == own


def test_trace_joins_lines_of_the_page() -> None:
    page = read("# G\n\nPlease consider:\n\n- the depth of the study\n- its scope\n")
    assert trace("Please consider: the depth of the study", page) == "Please consider: the depth of the study"
