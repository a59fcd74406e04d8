from __future__ import annotations

import sys

import pytest

from referee.agents.focus import (
    JOINED_WORDS,
    LENSES,
    LONG_WORDS,
    MOST_PARTS,
    FocusPart,
    Question,
    ask_questions,
    focus_parts,
    paper_questions,
    part_questions,
    shortened,
)
from referee.errors import ContextTooLong
from referee.schemas.paper import Paper, Section
from referee.schemas.venue import Fact, Guideline
from referee.venues import list_venues, load_venue
from referee.venues.prompts import SectionPrompt, section_prompts

from .paper_on_tests import small_paper, words
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
def test_a_part_gets_every_criterion_that_concerns_it_and_the_reader_of_the_whole_all(form: object, kind: str) -> None:
    prompts = section_prompts(load_venue(form.id))  # type: ignore[attr-defined]
    part = FocusPart("F1", kind, ())  # type: ignore[arg-type]
    assert ids(part_questions(part, prompts)) <= ids(paper_questions(prompts))
    assert ids(paper_questions(prompts)) == {p.id for p in prompts if not p.is_about_the_review}


def ids(questions: tuple[Question, ...]) -> set[str]:
    return {name for question in questions for name in question.criteria}


def test_refined_steps_are_told_whole_behind_the_criterion_s_own_words() -> None:
    steps = tuple(f"Look at thing {number} {'and at what is said of it ' * 8}." for number in range(8))
    asked = paper_questions([SectionPrompt("a", "a", steps, ("any",), "Is it lit?")])
    text = ask_questions(asked, sys.maxsize, words).text
    assert text.startswith("- [a] Is it lit? Look at thing 0")
    assert all(" ".join(step.split()) in text for step in steps)


def guideline(name: str, text: str) -> Guideline:
    return Guideline(id=name, text=text, kind="subjective", fact=Fact(confidence="memory"))


def rule(name: str, text: str, *types: str) -> SectionPrompt:
    return SectionPrompt(name, name, (), types, text)


def test_equal_criteria_are_asked_once_under_both_ids_and_those_that_are_alike_apart() -> None:
    prompts = [
        rule("a", "Compare each lantern with a torch.", "method"),
        rule("b", "compare each  lantern with a torch.", "method"),
        rule("c", "Compare each lantern with a torch, please.", "method"),
        rule("d", "Say who lit it.", "results"),
        rule("e", "Be polite.", "review"),
        rule("f", "Read the rule of ropes."),
    ]
    method = FocusPart("F1", "method", ())
    assert [q.criteria for q in part_questions(method, prompts)] == [("a", "b"), ("c",), ("f",)]
    assert [q.criteria for q in paper_questions(prompts)] == [("a", "b"), ("c",), ("d",), ("f",)]
    guidance = part_questions(method, [prompts[4]])
    assert guidance
    assert not ids(guidance), "general guidance where no rule concerns the part"


def test_steps_that_code_built_leave_each_criterion_its_own_words_in_front() -> None:
    texts = [f"Does the paper weigh lantern {number}?" for number in range(14)]
    form = load_venue("neurips-2025")
    form = form.model_copy(update={"guidelines": tuple(guideline(f"c{n}", text) for n, text in enumerate(texts))})
    asked = paper_questions(section_prompts(form))
    assert [q.text for q in asked] == texts
    assert all(q.steps and texts[n] not in " ".join(q.steps) for n, q in enumerate(asked))


def test_steps_give_way_before_any_criterion_does_and_too_many_criteria_are_refused() -> None:
    prompts = [SectionPrompt(f"c{n}", f"c{n}", ("one two", "three four"), (), f"Own words {n}.") for n in range(3)]
    prompts.append(rule("short", "No steps."))
    asked = paper_questions(prompts)
    whole = ask_questions(asked, sys.maxsize, words)
    assert (whole.shortened, whole.tokens) == ((), words(whole.text))
    some = ask_questions(asked, whole.tokens - 1, words)
    assert (some.steps, some.shortened, some.criteria) == (1, ("c0", "c1", "c2"), ("c0", "c1", "c2", "short"))
    bare = ask_questions(asked, some.tokens - 1, words)
    assert bare.text.splitlines() == [*(f"- [c{n}] Own words {n}." for n in range(3)), "- [short] No steps."]
    with pytest.raises(ContextTooLong, match=r"the venue's 4 criteria take 19 tokens without any steps.* room for 18 "):
        ask_questions(asked, bare.tokens - 1, words)


def test_a_long_question_ends_at_a_word_with_a_mark() -> None:
    assert shortened("one two three", 8) == "one …"
    assert shortened("one two", 8) == "one two"
