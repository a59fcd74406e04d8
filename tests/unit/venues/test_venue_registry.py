"""Finding forms by id and by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import VenueError
from referee.venues import list_venues, load_venue, user_venue_dir, venue_digest
from referee.venues.registry import _BUNDLED


def _own(folder: Path, name: str = "mine-2026") -> Path:
    text = (_BUNDLED / "iclr-2025.toml").read_text(encoding="utf-8").replace('id = "iclr-2025"', f'id = "{name}"')
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_form_of_the_user_is_found_by_id_and_listed(tmp_path: Path) -> None:
    _own(tmp_path)
    assert load_venue("mine-2026", tmp_path).id == "mine-2026"
    assert "mine-2026" in [form.id for form in list_venues(tmp_path)]


def test_a_form_of_the_user_goes_before_a_bundled_one(tmp_path: Path) -> None:
    path = _own(tmp_path, "iclr-2025")
    path.write_text(path.read_text(encoding="utf-8").replace('name = "ICLR 2025"', 'name = "Ours"'), encoding="utf-8")
    assert load_venue("iclr-2025", tmp_path).name == "Ours"
    assert [form.name for form in list_venues(tmp_path) if form.id == "iclr-2025"] == ["Ours"]


def test_a_form_is_found_by_path(tmp_path: Path) -> None:
    path = _own(tmp_path)
    assert load_venue(path).id == load_venue(str(path)).id == "mine-2026"


@pytest.mark.parametrize(
    ("asked", "offered"),
    [("neurips", "neurips-2025"), ("NeurIPS-2025", "neurips-2025"), ("iclr2025", "iclr-2025"), ("arr-2025", "arr")],
)
def test_an_unknown_id_offers_the_nearest(tmp_path: Path, asked: str, offered: str) -> None:
    with pytest.raises(VenueError) as caught:
        load_venue(asked, tmp_path)
    assert repr(asked) in caught.value.message
    assert repr(offered) in caught.value.hint


@pytest.mark.parametrize("asked", ["", "   ", "zzzz"])
def test_an_id_like_nothing_points_to_the_list(tmp_path: Path, asked: str) -> None:
    with pytest.raises(VenueError, match="referee venue list"):
        load_venue(asked, tmp_path)


def test_a_file_is_named_after_its_id(tmp_path: Path) -> None:
    _own(tmp_path).rename(tmp_path / "other.toml")
    with pytest.raises(VenueError, match=r"Rename it to mine-2026\.toml"):
        load_venue("other", tmp_path)


def test_a_broken_file_of_the_user_does_not_hide_other_forms(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("id = ", encoding="utf-8")
    assert load_venue("arr", tmp_path).id == "arr"
    with pytest.raises(VenueError, match="broken"):
        list_venues(tmp_path)


def test_the_users_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert user_venue_dir({"REFEREE_CONFIG_DIR": "/somewhere"}) == Path("/somewhere/venues")
    assert user_venue_dir({}).name == "venues"
    (tmp_path / "venues").mkdir()
    _own(tmp_path / "venues")
    monkeypatch.setenv("REFEREE_CONFIG_DIR", str(tmp_path))
    assert load_venue("mine-2026").id == "mine-2026"


def test_the_digest_is_that_of_the_content(tmp_path: Path) -> None:
    form = load_venue("iclr-2025", tmp_path)
    assert len(venue_digest(form)) == 64
    stored = tmp_path / "stored.json"
    stored.write_text(form.model_dump_json(indent=2), encoding="utf-8")
    assert venue_digest(load_venue(stored)) == venue_digest(form)
    assert venue_digest(form.model_copy(update={"name": "Other"})) != venue_digest(form)
