from __future__ import annotations

import pytest

from referee.agents.focus import (
    JOINED_WORDS,
    LENSES,
    LONG_WORDS,
    MOST_PARTS,
    MOST_QUESTIONS,
    FocusPart,
    focus_parts,
    paper_questions,
    part_questions,
    shortened,
)
from referee.schemas.paper import Paper, Section
from referee.venues import list_venues, load_venue
from referee.venues.prompts import SectionPrompt, section_prompts

from .paper_on_tests import small_paper
from .whole_run import prose


def part(number: int, heading: str, words: int, role: str = "content", level: int = 1) -> Section:
    return prose(number, heading, " ".join(["word"] * words), role=role, level=level)


def shape(paper: Paper) -> list[tuple[str, str]]:
    return [(one.kind, " ".join(section.id for section in one.sections)) for one in focus_parts(paper)]


def all_kinds(*more: Section) -> Paper:
    return small_paper(
        part(1, "Abstract", 200, "abstract"),
        part(2, "Introduction", 700),
        part(3, "Related Work", 700),
        part(4, "Method", 700),
        part(5, "Experiments", 700),
        part(6, "Conclusion", 100),
        *more,
    )


def test_each_kind_of_section_is_a_part_of_its_own() -> None:
    assert shape(all_kinds()) == [
        ("frame", "s1 s2 s6"),
        ("related", "s3"),
        ("method", "s4"),
        ("experiments", "s5"),
    ]
    parts = focus_parts(all_kinds())
    assert [one.id for one in parts] == ["F1", "F2", "F3", "F4"]
    assert (parts[0].words, parts[0].name) == (1000, "[s1] Abstract; [s2] Introduction; [s6] Conclusion")


def test_what_stands_below_a_section_is_of_its_kind() -> None:
    paper = small_paper(
        part(1, "Experiments", 400),
        part(2, "Architecture of the rivals", 400, level=2),
        part(3, "Related Work", 700),
        part(4, "Notation", 700, level=2),
    )
    assert shape(paper) == [("related", "s3"), ("method", "s4"), ("experiments", "s1 s2")]


def test_few_words_join_the_part_they_belong_to() -> None:
    paper = small_paper(
        part(1, "Introduction", 700), part(2, "Related Work", JOINED_WORDS - 1), part(3, "Method", JOINED_WORDS)
    )
    assert shape(paper) == [("frame", "s1 s2"), ("method", "s3")]
    alone = small_paper(part(1, "Related Work", 10))
    assert shape(alone) == [("related", "s1")]


def test_a_paper_of_few_words_is_one_part_or_two() -> None:
    (only,) = focus_parts(
        small_paper(
            part(1, "Abstract", 20, "abstract"), part(2, "Method", 30), part(3, "Results", 40), part(4, "Proofs", 9)
        )
    )
    assert sorted(section.id for section in only.sections) == ["s1", "s2", "s3", "s4"]


def test_appendices_are_parts_by_themselves() -> None:
    paper = all_kinds(part(7, "Proofs", 700, "appendix"), part(8, "Further experiments", 700, "appendix"))
    assert shape(paper)[-1] == ("appendix", "s7 s8")
    joined = all_kinds(part(7, "Proofs", 50, "appendix"))
    assert ("method", "s4 s7") in shape(joined)


def test_a_long_part_is_cut_between_sections_into_about_equal_pieces() -> None:
    long = [part(number, "Method", 900) for number in range(1, 8)]
    pieces = focus_parts(small_paper(*long))
    assert {piece.kind for piece in pieces} == {"method"}
    assert [section.id for piece in pieces for section in piece.sections] == [f"s{n}" for n in range(1, 8)]
    assert len(pieces) == -(-7 * 900 // LONG_WORDS)
    assert all(1_800 <= piece.words <= LONG_WORDS for piece in pieces)


def test_one_section_is_never_cut() -> None:
    (whole,) = focus_parts(small_paper(part(1, "Method", 3 * LONG_WORDS)))
    assert whole.words == 3 * LONG_WORDS


def test_a_book_has_no_more_than_some_parts_of_a_kind() -> None:
    pieces = focus_parts(small_paper(*(part(number, "Method", 1_000) for number in range(1, 101))))
    assert len(pieces) <= MOST_PARTS
    assert sum(piece.words for piece in pieces) == 100_000


def test_a_paper_without_headings_is_read_as_results() -> None:
    assert shape(small_paper(part(1, "", 2_000))) == [("experiments", "s1")]


def test_only_some_kinds_and_never_none() -> None:
    core = focus_parts(all_kinds(), ("method", "experiments", "appendix"))
    assert [(one.id, one.kind) for one in core] == [("F1", "method"), ("F2", "experiments")]
    (left,) = focus_parts(small_paper(part(1, "Introduction", 700)), ("method",))
    assert left.kind == "frame"
    assert focus_parts(small_paper(Section(id="s1", heading="Method", level=1, role="content"))) == ()


@pytest.mark.parametrize("kind", LENSES)
@pytest.mark.parametrize("form", list_venues(), ids=lambda form: form.id)
def test_what_a_venue_asks_of_a_part_is_at_most_eight_questions(form: object, kind: str) -> None:
    prompts = section_prompts(load_venue(form.id))  # type: ignore[attr-defined]
    asked = part_questions(FocusPart("F1", kind, ()), prompts)  # type: ignore[arg-type]
    assert 0 < len(asked) <= MOST_QUESTIONS
    assert 0 < len(paper_questions(prompts)) <= MOST_QUESTIONS
    assert len(set(asked)) == len(asked)
    assert all(len(question) < 2_000 for question in asked)


def test_refined_steps_are_told_whole() -> None:
    steps = tuple(f"Look at thing {number} {'and at what is said of it ' * 8}." for number in range(8))
    (asked,) = paper_questions([SectionPrompt("a", "a", steps, ("any",))])
    assert all(step in asked for step in steps)


def rule(name: str, step: str, *types: str) -> SectionPrompt:
    return SectionPrompt(name, name, (step,), types)


def test_questions_that_say_the_same_are_asked_once_and_only_where_they_belong() -> None:
    prompts = [
        rule("a", "Compare each lantern with a torch.", "method"),
        rule("b", "Compare each lantern with a torch, please.", "method"),
        rule("c", "Name the price of oil.", "any"),
        rule("d", "Say who lit it.", "results"),
        rule("e", "Be polite.", "review"),
        rule("f", "Read the rule of ropes."),
    ]
    method = FocusPart("F1", "method", ())
    own = ("Compare each lantern with a torch.", "Name the price of oil.", "Read the rule of ropes.")
    assert part_questions(method, prompts) == own
    assert "Say who lit it." in paper_questions(prompts)
    assert "Be polite." not in paper_questions(prompts)
    many = [rule(f"r{n}", " ".join(f"{word}{n}" for word in ("ask", "of", "rope", "oil")), "any") for n in range(20)]
    assert len(part_questions(method, many)) == MOST_QUESTIONS
    assert part_questions(method, [prompts[4]])  # general guidance where no rule concerns the part


def test_a_long_question_ends_at_a_word_with_a_mark() -> None:
    assert shortened("one two three", 8) == "one …"
    assert shortened("one two", 8) == "one two"
