import pytest

from referee.evals.behaviour import clean, mattr, review_text, tokens, ttr
from referee.schemas.case import ReviewCase


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("Plain prose stays.", "Plain prose stays."),
        ("- one\n- two.\n", "one.\ntwo."),
        ("1. first\n2) second\n(3) third", "first.\nsecond.\nthird."),
        ("- an item that\n  goes on\n\nNext.", "an item that\n  goes on.\n\nNext."),
        ("# Summary\nText", "Summary.\nText"),
        ("**Bold** and *it* and __b__ and _i_ and `c` but a_b", "Bold and it and b and i and c but a_b"),
        ("See [the code](https://x.org/a_(b)) now", "See the code now"),
        ("See https://x.org/a?b=c, or www.y.org.", "See URL, or URL."),
        ("HTTPS://X.ORG is shouted", "URL is shouted"),
        ("no://thing and awww.no", "no://thing and awww.no"),
        ("a ```py\nx = 1\n``` b", "a CODE b"),
        (r"for $x_1 + y$ and \(a\) and \[b\] and $$c$$", "for MATH and MATH and MATH and MATH"),
        ("costs $5 and $6 a run", "costs $5 and $6 a run"),
        ('- done!\n- "quoted."', 'done!\n"quoted."'),
        ("2 * 3 - 1", "2  3 - 1"),
        ("", ""),
    ],
)
def test_the_view_without_markup(raw: str, plain: str) -> None:
    assert clean(raw) == plain


def case(**fields: str | list[str] | int) -> ReviewCase:
    return ReviewCase(case_id="c", paper_id="p", source="human", kind="human", text="all of it", fields=dict(fields))


def test_the_text_of_a_review_is_its_own_or_that_of_some_fields() -> None:
    held = case(summary=" S. ", rating=6, questions=["a?", "", "b?"])
    assert review_text(held) == "all of it"
    assert review_text(held, ["questions", "summary", "absent", "rating"]) == "- a?\n- b?\n\nS."
    assert review_text(held, []) == ""


SENTENCE = "The model's 3-step plan works, but Eq. (2) fails."


def test_the_fixture_in_both_profiles() -> None:
    praib = tokens(SENTENCE)
    assert praib == ["the", "model's", "3-step", "plan", "works", ",", "but", "eq", ".", "(", "2", ")", "fails", "."]
    assert ttr(praib) == pytest.approx(0.928571, abs=1e-6)
    words = tokens(SENTENCE, "words")
    assert (len(words), len(set(words))) == (9, 9)


def test_single_joiners_hold_a_word_together() -> None:
    assert tokens("a-b--c 'd’e' -f") == ["a-b", "-", "-", "c", "'", "d’e", "'", "-", "f"]


def windows(items: list[str], size: int) -> float:
    starts = range(len(items) - size + 1)
    return sum(len(set(items[start : start + size])) / size for start in starts) / len(starts)


def test_mattr_is_the_mean_over_all_windows() -> None:
    items = [str(n * n % 37) for n in range(350)]
    for size in (1, 2, 7, 100, 349, 350):
        assert mattr(items, size) == pytest.approx(windows(items, size), abs=1e-12)


def test_a_text_below_the_window_has_its_plain_ratio_and_an_empty_one_none() -> None:
    assert mattr(["a", "b", "a"]) == ttr(["a", "b", "a"]) == pytest.approx(2 / 3)
    assert ttr([]) is None
    assert mattr([]) is None
