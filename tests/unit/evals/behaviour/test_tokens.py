import pytest

from referee.evals.behaviour import mattr, tokens, ttr

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
