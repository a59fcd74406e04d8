from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import VenueError
from referee.venues.page import candidates, check_holds_guidelines, read_page, signs

HERE = Path(__file__).parent
NEGATIVES = sorted(path.name for path in (HERE / "negatives").iterdir())
POSITIVES = sorted(path.name for path in (HERE / "positives").iterdir())


def check(path: Path) -> None:
    page = read_page(path.read_bytes(), source=path.name)
    check_holds_guidelines(page, candidates(page))


@pytest.mark.parametrize("name", NEGATIVES)
def test_a_page_without_guidelines_for_reviewers_is_refused(name: str) -> None:
    with pytest.raises(VenueError, match="holds no guidelines for reviewers") as caught:
        check(HERE / "negatives" / name)
    assert repr(name) in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", POSITIVES)
def test_a_small_page_of_guidelines_passes(name: str) -> None:
    check(HERE / "positives" / name)


def test_shared_pages_pass_and_the_visa_page_is_refused(shared_data: Path) -> None:
    for folder in ("html", "markdown"):
        for path in (shared_data / "guidelines" / folder).iterdir():
            if path.name.startswith("NEGATIVE"):
                with pytest.raises(VenueError, match=r"1\.8% of its words"):
                    check(path)
            else:
                check(path)


def test_a_page_that_asks_for_nothing_is_refused() -> None:
    page = read_page(b"# Lake\n\nThe lake lies in the north. It is deep and cold.", source="a.md")
    with pytest.raises(VenueError, match="nothing on it asks for anything"):
        check_holds_guidelines(page, candidates(page))


def test_signs_count_what_the_rule_reads() -> None:
    page = read_page((HERE / "positives" / "two_tracks.md").read_bytes(), source="t.md")
    found = signs(page, candidates(page))
    assert (found.guiding, found.author_side, found.scales) == (6, 0, 4)
    assert 0.1 < found.share < 0.2
    assert not found.foreign


def test_a_small_page_passes_where_its_title_names_reviewing() -> None:
    text = (HERE / "positives" / "small_types.md").read_text("utf-8")
    page = read_page(text.encode(), source="a.md")
    assert signs(page, candidates(page)).guiding == 3
    other = read_page(text.replace("how to review", "information").encode(), source="b.md")
    with pytest.raises(VenueError, match="3 of its 7 pieces"):
        check_holds_guidelines(other, candidates(other))


def test_a_page_in_a_language_nobody_knows_is_refused_for_that() -> None:
    lines = ("# Wskazówki dla recenzentów", "Prosimy ocenić oryginalność artykułu.", "- Czy metody opisano zrozumiale?")
    page = read_page("\n\n".join(lines).encode(), source="pl.md")
    with pytest.raises(VenueError, match=r"language was not recognised \(known: English, .*Russian") as caught:
        check_holds_guidelines(page, candidates(page))
    assert "--force" in str(caught.value.hint)
