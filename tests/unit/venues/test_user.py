"""Venues of the user's own: stored, replaced, removed, written out, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.errors import VenueError
from referee.schemas.venue import VenueForm
from referee.venues import load_venue
from referee.venues.registry import check_storable, check_venue_id, export_venue, list_venues, remove_venue, store_venue
from referee.venues.render import venue_difference


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
    offered = caught.value.hint.removeprefix("For example --id ").removesuffix(".")
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
