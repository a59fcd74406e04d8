import pytest

from referee.schemas.paper_cut import PaperCut, cut_line, cuts_foreseen, cuts_told


def cut(kept: int, *sections: str, by: str = "window") -> PaperCut:
    return PaperCut.model_validate(
        {
            "tokens_kept": kept,
            "tokens_total": 31_300,
            "body_kept": kept,
            "body_total": 31_300,
            "sections": sections,
            "by": by,
        }
    )


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        (("Experiments",), "'Experiments' was cut"),
        (("Experiments", "A"), "'Experiments' and 1 more section were cut"),
        (("Experiments", "A", "B", "C"), "'Experiments' and 3 more sections were cut"),
    ],
)
def test_one_line_says_what_was_read_and_what_would_help(sections: tuple[str, ...], said: str) -> None:
    assert cut_line(cut(12_400, *sections)) == (
        f"The model read 12,400 of 31,300 tokens of the paper (40%); {said}. "
        "A model with a larger window reads all of it."
    )


def test_a_paper_that_was_read_whole_has_no_line() -> None:
    assert cut_line(None) == cuts_told([None, None], [True, True]) == cuts_foreseen([None]) == ""


def test_a_paper_that_was_cut_by_a_word_is_not_called_whole() -> None:
    assert "(99%)" in cut_line(cut(31_299, "A"))


def test_the_reading_limit_is_a_choice_and_not_refused() -> None:
    assert cut(4_000, "A").is_under(0.5)
    assert not cut(4_000, "A", by="reading_tokens").is_under(0.5)
    assert "models.reading_tokens" in cut_line(cut(4_000, "A", by="reading_tokens"))


def test_many_papers_get_one_line_with_the_least_and_those_not_read() -> None:
    said = cuts_told([cut(18_780, "A"), None, cut(25_040, "B"), cut(3_130, "C")], [True, True, True, False])
    assert said == (
        "The model read 60% to 80% of 2 of 4 papers (at least 18,780 of 31,300 tokens); the rest of them was cut. "
        "A model with a larger window reads all of it. "
        "1 paper was not read: less of the body fits into the model's window than paper.min_read."
    )
