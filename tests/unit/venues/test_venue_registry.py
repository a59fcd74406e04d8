"""Which venues there are, and the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.errors import VenueError
from referee.schemas.venue import VenueForm
from referee.venues import list_venues, load_venue, user_venue_dir, venue_digest
from referee.venues.files import BUNDLED
from referee.venues.registry import (
    check_storable,
    check_venue_id,
    export_venue,
    remove_venue,
    store_venue,
)
from referee.venues.render import venue_difference


def _own(folder: Path, name: str = "mine-2026") -> Path:
    text = (BUNDLED / "iclr-2025.toml").read_text(encoding="utf-8").replace('id = "iclr-2025"', f'id = "{name}"')
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


def own(name: str = "mine-2026", **changes: object) -> VenueForm:
    return load_venue("iclr-2025").model_copy(update={"id": name, "name": "Mine 2026", **changes})


def test_a_stored_venue_is_found_by_its_id_and_is_the_same(tmp_path: Path) -> None:
    stored = store_venue(own(), user_dir=tmp_path / "venues")
    assert stored.backup is None
    assert load_venue("mine-2026", tmp_path / "venues") == own()
    assert "mine-2026" in [form.id for form in list_venues(tmp_path / "venues")]
    assert [path.name for path in (tmp_path / "venues").iterdir()] == ["mine-2026.json"]


def test_storing_the_same_again_changes_nothing(tmp_path: Path) -> None:
    first = store_venue(own(), user_dir=tmp_path)
    before = first.path.stat().st_mtime_ns
    assert store_venue(own(), user_dir=tmp_path) == first
    assert first.path.stat().st_mtime_ns == before


def test_another_one_of_the_same_id_needs_force_and_the_old_one_is_kept(tmp_path: Path) -> None:
    store_venue(own(), user_dir=tmp_path)
    with pytest.raises(VenueError, match="you already have a venue 'mine-2026'") as caught:
        store_venue(own(name="mine-2026", accept_at=8), user_dir=tmp_path)
    assert "--force" in caught.value.hint
    replaced = store_venue(own(accept_at=8), force=True, user_dir=tmp_path)
    again = store_venue(own(accept_at=5), force=True, user_dir=tmp_path)
    assert [path and path.name for path in (replaced.backup, again.backup)] == [
        "mine-2026.json.bak",
        "mine-2026.json.bak2",
    ]
    assert load_venue("mine-2026", tmp_path).accept_at == 5
    assert [form.id for form in list_venues(tmp_path)].count("mine-2026") == 1


def test_a_toml_file_of_the_same_id_does_not_hide_the_new_one(tmp_path: Path) -> None:
    text = json.dumps(json.loads(export_venue("iclr-2025"))["name"])
    (tmp_path / "mine-2026.toml").write_text(f"name = {text}\n")
    stored = store_venue(own(), force=True, user_dir=tmp_path)
    assert stored.backup == tmp_path / "mine-2026.toml.bak"
    assert load_venue("mine-2026", tmp_path).name == "Mine 2026"


def test_a_bundled_id_is_refused_by_name_unless_forced(tmp_path: Path) -> None:
    with pytest.raises(VenueError, match=r"ships with referee \(NeurIPS 2025"):
        store_venue(own("neurips-2025"), user_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []
    store_venue(own("neurips-2025"), force=True, user_dir=tmp_path)
    assert load_venue("neurips-2025", tmp_path).name == "Mine 2026"
    remove_venue("neurips-2025", user_dir=tmp_path)
    assert load_venue("neurips-2025", tmp_path).name.startswith("NeurIPS")


@pytest.mark.parametrize("name", ["", "My Venue", "a/b", "../x", "-a", "ä", "x" * 81, "a.toml"])
def test_an_id_that_cannot_be_one_is_refused_with_a_better_one(name: str) -> None:
    with pytest.raises(VenueError, match="cannot be a venue's id") as caught:
        check_storable(name, force=True)
    offered = caught.value.hint.removeprefix("For example ").removesuffix(".")
    check_venue_id(offered)


def test_only_what_is_the_users_can_be_removed(tmp_path: Path) -> None:
    path = store_venue(own(), user_dir=tmp_path).path
    assert remove_venue("mine-2026", user_dir=tmp_path) == path
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(VenueError, match="you have no venue 'mine-2026'"):
        remove_venue("mine-2026", user_dir=tmp_path)
    with pytest.raises(VenueError, match="ships with referee and cannot be removed"):
        remove_venue("iclr-2025", user_dir=tmp_path)
    with pytest.raises(VenueError, match="no venue"):
        remove_venue("../mine-2026", user_dir=tmp_path)


def test_an_exported_venue_reads_back_as_the_same(tmp_path: Path) -> None:
    out = tmp_path / "iclr-2025.json"
    export_venue("iclr-2025", out)
    assert load_venue(out) == load_venue("iclr-2025")
    with pytest.raises(VenueError, match="is there already"):
        export_venue("iclr-2025", out)
    with pytest.raises(VenueError, match=r"does not end in \.json"):
        export_venue("iclr-2025", tmp_path / "x.toml")
    with pytest.raises(VenueError, match="cannot be written"):
        export_venue("iclr-2025", tmp_path / "nowhere" / "x.json")


def test_a_folder_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "venues").write_text("a file")
    with pytest.raises(VenueError, match="cannot be stored"):
        store_venue(own(), user_dir=tmp_path / "venues")


def test_a_form_has_no_difference_from_itself() -> None:
    assert venue_difference(load_venue("arr"), load_venue("arr")) == []


def test_differences_are_readable_lines() -> None:
    lines = venue_difference(load_venue("neurips-2024"), load_venue("neurips-2025"))
    assert "+ field quality (score, 1-4)" in lines
    assert any(line.startswith("- field soundness (score, 1-4)") for line in lines)
    assert any(line.startswith("~ field rating, options: 10: ") for line in lines)
    assert "~ rule on language models: unknown -> restricted" in lines
    assert all(line[:2] in ("- ", "+ ", "~ ") and len(line) < 400 for line in lines)
    guideline = load_venue("iclr-2025").guidelines[0]
    changed = own(guidelines=(guideline.model_copy(update={"text": "Other."}),))
    told = venue_difference(own(), changed)
    assert f"~ guideline {guideline.id}: " in "\n".join(told)
    assert sum(line.startswith("- guideline ") for line in told) == len(own().guidelines) - 1
