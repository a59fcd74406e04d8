"""Every command and every Python block that README, CONTRIBUTING and docs/ show does what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import pages, problems
from .session import Session

# Its blocks are run by a test of their own, beside the package that the page is about.
HAS_ITS_OWN_TEST = Path("docs/testing.md")
PAGES = [page for page in pages() if page != HAS_ITS_OWN_TEST]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    assert list(problems(page)) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_what_the_page_shows_works(page: Path, session: Session) -> None:
    session.play(page)
