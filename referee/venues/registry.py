"""Which venues there are: the bundled forms and the user's own, by id, and any form by path."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from referee.errors import SettingsError, VenueError
from referee.schemas.venue import VenueForm
from referee.venues.files import BUNDLED as _BUNDLED
from referee.venues.files import SUFFIXES, read_venue_file


def load_venue(id_or_path: str | Path, user_dir: Path | None = None) -> VenueForm:
    """The form with that id, or the form in that file.

    A form in the user's folder goes before a bundled one of the same id. The venue is never guessed: an unknown id is
    an error that offers the nearest ones.

    Args:
        id_or_path: ``neurips-2025``, or a path to a ``.toml`` or ``.json`` file. A string is a path when it ends in
            one of these or holds a path separator.
        user_dir: The folder of the user's own venue files; by default ``user_venue_dir()``.

    Raises:
        VenueError: The id is unknown, or the file does not describe a form.
    """
    if isinstance(id_or_path, Path) or _is_path(id_or_path):
        return read_venue_file(Path(id_or_path))
    files = _files(user_dir)
    if id_or_path not in files:
        raise _unknown(id_or_path, files)
    return _load_known(id_or_path, files[id_or_path])


def list_venues(user_dir: Path | None = None) -> list[VenueForm]:
    """All forms, bundled and the user's, by id.

    Raises:
        VenueError: One of the user's files does not describe a form.
    """
    return [_load_known(venue_id, path) for venue_id, path in sorted(_files(user_dir).items())]


def user_venue_dir(env: Mapping[str, str] | None = None) -> Path:
    """The folder of the user's own venue files; it need not exist. ``REFEREE_CONFIG_DIR`` moves it.

    Raises:
        SettingsError: It lies in the home folder, and nothing says where that is.
    """
    chosen = (os.environ if env is None else env).get("REFEREE_CONFIG_DIR")
    try:
        root = Path(chosen) if chosen else platformdirs.user_config_path("referee")
    except RuntimeError as error:
        raise SettingsError(
            "the folder of your own venues cannot be found: HOME is not set, and the system knows no home.",
            hint="Set REFEREE_CONFIG_DIR to a folder.",
        ) from error
    return root / "venues"


def venue_digest(form: VenueForm) -> str:
    """SHA-256 (hex) of the form's canonical JSON: equal for equal forms, whatever file they came from."""
    canonical = json.dumps(form.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _is_path(text: str) -> bool:
    return text.lower().endswith(SUFFIXES) or "/" in text or os.sep in text


def _files(user_dir: Path | None) -> dict[str, Path]:
    own = user_venue_dir() if user_dir is None else user_dir
    found: dict[str, Path] = {}
    for folder in (_BUNDLED, own):
        if folder.is_dir():
            found |= {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES}
    return found


def _load_known(venue_id: str, path: Path) -> VenueForm:
    form = read_venue_file(path)
    if form.id != venue_id:
        raise VenueError(
            f"venue file {str(path)!r} describes {form.id!r}: a file in a venue folder is named after its id.",
            hint=f"Rename it to {form.id}{path.suffix}, or correct its id.",
            ids={"venue": form.id},
        )
    return form


def _unknown(venue_id: str, files: Mapping[str, Path]) -> VenueError:
    wanted = venue_id.strip().lower()
    near = difflib.get_close_matches(wanted, files, n=3, cutoff=0.5)
    starts = [known for known in sorted(files) if wanted and (known.startswith(wanted) or wanted.startswith(known))]
    offer = list(dict.fromkeys([*starts, *near]))[:5]
    hint = f"Did you mean {' or '.join(repr(known) for known in offer)}? " if offer else ""
    return VenueError(
        f"venue {venue_id!r} is unknown.",
        hint=f"{hint}`referee venue list` shows all {len(files)}; a path to a venue file works too.",
        ids={"venue": venue_id},
    )
