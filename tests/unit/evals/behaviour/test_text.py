import pytest

from referee.evals.behaviour import clean, review_text
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
