"""The page of a review in a real browser: lit places, filters, the keyboard, narrow and dark, and nothing for axe."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from .test_review_page import FORM, HOSTILE, PAGE, PageImages, paper, point, quoted, review, review_page

_SPEC = importlib.util.spec_from_file_location("browser", Path(__file__).parents[2] / "browser.py")
assert _SPEC is not None
assert _SPEC.loader is not None
browser = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(browser)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def with_pages(tmp_path_factory: pytest.TempPathFactory) -> str:
    shown = review(
        point(1, quoted("Nothing else is varied"), claim="One thing."),
        point(2, quoted("five seeds and report the mean"), claim="Another thing."),
        point(3, claim="Struck.", outcome="struck"),
    )
    picture = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="
    page = review_page(shown, FORM, None, PageImages(paper_id="0" * 64, pages=(PAGE,)), lambda _: picture)
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(page, encoding="utf-8")
    return file.as_uri()


def test_a_point_lights_up_its_places_and_a_place_its_points(with_pages: str) -> None:
    with browser.opened(with_pages) as page:
        page.click("#point-2 .claim")
        assert page.eval_on_selector_all(".lit", "all => all.map(one => one.id)") == ["point-2", "m2"]
        page.focus("#m1")
        page.keyboard.press("Enter")
        assert page.eval_on_selector_all(".lit", "all => all.map(one => one.id)") == ["point-1", "m1"]
        assert page.evaluate("document.activeElement.id") == "point-1"
        assert not page.is_visible("#p-3")
        page.press("summary:has-text('Struck')", "Enter")  # no click: the page still scrolls to the point
        page.wait_for_selector("#p-3", state="visible")
        assert "the paper says otherwise" in page.inner_text("#p-3")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_window(
    with_pages: str, width: int, scheme: str
) -> None:
    with browser.opened(with_pages, width=width, scheme=scheme) as page:
        assert browser.refused(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_paper_and_a_model_whose_words_are_script_do_nothing(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    shown = review(point(1, quoted(HOSTILE, None), claim=HOSTILE), title=HOSTILE)
    file.write_text(review_page(shown, FORM, paper(HOSTILE), None, lambda _: ""), encoding="utf-8")
    with browser.opened(file.as_uri()) as page:
        assert page.eval_on_selector_all("img", "all => all.length") == 0
        assert HOSTILE in page.inner_text("mark")
