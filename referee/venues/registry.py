"""Which venues there are: the bundled forms and the user's own, and how the latter are stored, removed and exported."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from referee.errors import SettingsError, VenueError
from referee.nearest import nearest
from referee.runs.files import write_atomically
from referee.schemas.venue import VenueForm
from referee.venues.files import BUNDLED, SUFFIXES, read_venue_file


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
    for folder in (BUNDLED, own):
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
    near = nearest(wanted, files, most=3)
    starts = [known for known in sorted(files) if wanted and (known.startswith(wanted) or wanted.startswith(known))]
    offer = list(dict.fromkeys([*starts, *near]))[:5]
    hint = f"Did you mean {' or '.join(repr(known) for known in offer)}? " if offer else ""
    return VenueError(
        f"venue {venue_id!r} is unknown.",
        hint=f"{hint}`referee venue list` shows all {len(files)}; a path to a venue file works too.",
        ids={"venue": venue_id},
    )


_ID = re.compile(r"[a-z0-9][a-z0-9-]*")
_LONGEST_ID = 80


@dataclass(frozen=True)
class Stored:
    """Where a venue lies now, and where the file lies that it replaced."""

    path: Path
    backup: Path | None = None


def check_venue_id(venue_id: str) -> None:
    """See that a string can name a venue.

    Raises:
        VenueError: It has other characters than lower-case letters, digits and hyphens, begins with a hyphen, or is
            longer than 80 characters.
    """
    if len(venue_id) <= _LONGEST_ID and _ID.fullmatch(venue_id):
        return
    near = re.sub(r"[^a-z0-9]+", "-", venue_id.lower()).strip("-")[:_LONGEST_ID]
    raise VenueError(
        f"{venue_id!r} cannot be a venue's id: it takes lower-case letters, digits and hyphens, at most "
        f"{_LONGEST_ID} of them, and begins with no hyphen.",
        hint=f"For example {near or 'my-workshop-2026'}.",
        ids={"venue": venue_id},
    )


def check_storable(venue_id: str, *, force: bool = False, user_dir: Path | None = None) -> None:
    """See that a venue could be stored under an id, before anything is paid for it.

    Args:
        venue_id: The id it would have.
        force: Whether it may stand in for a bundled venue, or replace one of the user's.
        user_dir: The user's folder; by default ``user_venue_dir()``.

    Raises:
        VenueError: The id cannot name a venue, or is taken and ``force`` is not given.
    """
    check_venue_id(venue_id)
    if force:
        return
    if (bundled := _bundled(venue_id)) is not None:
        raise VenueError(
            f"{venue_id!r} is the id of a venue that ships with referee ({read_venue_file(bundled).name}).",
            hint="Choose another id; with --force yours goes before it until you remove it.",
            ids={"venue": venue_id},
        )
    if own := _own(venue_id, user_dir):
        raise VenueError(
            f"you already have a venue {venue_id!r} in {str(own[0])!r}.",
            hint=f"Choose another id, add --force (the old file is kept beside it), or run `referee venue remove "
            f"{venue_id}`.",
            ids={"venue": venue_id},
        )


def store_venue(form: VenueForm, *, force: bool = False, user_dir: Path | None = None) -> Stored:
    """Write a form into the user's folder, from where it is found by its id at once.

    A file it replaces is kept beside it as ``ID.json.bak`` (then ``.bak2``, and so on), where nothing loads it. A form
    that lies there already is left as it is.

    Raises:
        VenueError: As ``check_storable``, or the folder cannot be written.
    """
    folder = user_venue_dir() if user_dir is None else user_dir
    path, own = folder / f"{form.id}.json", _own(form.id, user_dir)
    if own == [path] and path.read_text(encoding="utf-8") == venue_json(form):
        return Stored(path)
    check_storable(form.id, force=force, user_dir=user_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        backups = [_backed_up(old) for old in own]
        write_atomically(path, venue_json(form))
        for old in own:
            if old != path:
                old.unlink()
    except OSError as error:
        raise VenueError(
            f"venue {form.id!r} cannot be stored in {str(folder)!r}: {error.strerror or error}.",
            hint="Make room or mend its rights; REFEREE_CONFIG_DIR moves the folder.",
            ids={"venue": form.id},
        ) from error
    return Stored(path, backups[0] if backups else None)


def remove_venue(venue_id: str, *, user_dir: Path | None = None) -> Path:
    """Take one of the user's venues away and say which file it was; a bundled one of the same id shows again.

    Raises:
        VenueError: The id is a bundled venue's, or nobody's, or the file cannot be removed.
    """
    own = _own(venue_id, user_dir)
    if not own:
        if _bundled(venue_id) is not None:
            raise VenueError(
                f"venue {venue_id!r} ships with referee and cannot be removed.",
                hint="Only venues of your own can; `referee venue list` shows all.",
                ids={"venue": venue_id},
            )
        raise VenueError(
            f"you have no venue {venue_id!r} to remove.",
            hint=f"Your venues lie in {str(user_dir or user_venue_dir())!r}.",
            ids={"venue": venue_id},
        )
    for path in own:
        try:
            path.unlink()
        except OSError as error:
            raise VenueError(
                f"venue file {str(path)!r} cannot be removed: {error.strerror or error}.", hint="Mend its rights."
            ) from error
    return own[0]


def export_venue(venue: str, out: Path | None = None, *, user_dir: Path | None = None) -> str:
    """A venue as the JSON of a venue file, with everything shared or borrowed filled in; also written to ``out``.

    Raises:
        VenueError: There is no such venue; ``out`` exists, is not to end in ``.json``, or cannot be written.
    """
    text = venue_json(load_venue(venue, user_dir))
    if out is None:
        return text
    if out.suffix.lower() != ".json":
        raise VenueError(f"{str(out)!r} does not end in .json, which is what is written.", hint="Rename --out.")
    if out.exists():
        raise VenueError(f"{str(out)!r} is there already.", hint="Choose another --out.")
    try:
        write_atomically(out, text)
    except OSError as error:
        raise VenueError(
            f"{str(out)!r} cannot be written: {error.strerror or error}.", hint="Choose another --out."
        ) from error
    return text


def venue_json(form: VenueForm) -> str:
    """The text of a venue file that holds the form."""
    return form.model_dump_json(indent=2, exclude_defaults=True) + "\n"


def _bundled(venue_id: str) -> Path | None:
    return next((path for suffix in SUFFIXES if (path := BUNDLED / f"{venue_id}{suffix}").is_file()), None)


def _own(venue_id: str, user_dir: Path | None) -> list[Path]:
    """The user's files of that id; two where one is TOML and one JSON."""
    folder = user_venue_dir() if user_dir is None else user_dir
    return [
        path for suffix in SUFFIXES if _ID.fullmatch(venue_id) and (path := folder / f"{venue_id}{suffix}").is_file()
    ]


def _backed_up(path: Path) -> Path:
    backup, number = path.with_name(f"{path.name}.bak"), 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.bak{number}")
    write_atomically(backup, path.read_text(encoding="utf-8"))
    return backup
