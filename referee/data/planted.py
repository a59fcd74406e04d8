"""Keys of planted papers: read, and held to the texts that they belong to."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from referee.data.drafts import describe
from referee.errors import DataError
from referee.machine import refuse_special_file
from referee.schemas.planted import PlantedKey

Twin = Literal["clean", "planted", "neutral"]
CLEAN: Final = "clean"
PLANTED: Final = "planted"
NEUTRAL: Final = "neutral"
TWINS: tuple[Twin, ...] = (CLEAN, PLANTED, NEUTRAL)
KEYS = "keys"
MAKE_COPIES = "Make the copies anew: referee plant PAPER --out FOLDER."


def text_digest(text: str) -> str:
    """SHA-256 of a text as it stands in a file: UTF-8, line ends as they are."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def read_keys(folder: Path) -> tuple[PlantedKey, ...]:
    """Every key of a folder of ``referee plant``, by copy id, each held to its copies.

    Raises:
        DataError: The folder holds no key, or a key does not fit its copies.
    """
    files = sorted((folder / KEYS).glob("*.json"))
    if not files:
        raise DataError(f"{str(folder)!r} holds no key of a planted paper ({KEYS}/*.json).", hint=MAKE_COPIES)
    return tuple(read_key(file, folder) for file in files)


def read_key(path: Path, folder: Path | None = None) -> PlantedKey:
    """A key from its file; with the folder that ``referee plant`` wrote, also held to the copies in it.

    Args:
        path: The key's file.
        folder: What holds ``clean/``, ``planted/`` and ``neutral/``; None to read the key alone.

    Raises:
        DataError: The file is missing or is no key, a copy is missing, or the key does not fit one of them.
    """
    refuse_special_file(path)
    try:
        key = PlantedKey.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(
            f"the key {str(path)!r} cannot be read: {error.strerror or error}.", hint=MAKE_COPIES
        ) from error
    except ValidationError as error:
        raise DataError(f"{str(path)!r} is no key of a planted paper: {describe(error)}.", hint=MAKE_COPIES) from error
    for twin in TWINS if folder is not None else ():
        if twin != "neutral" or key.neutral_sha256 is not None:
            check_fits(key, read_twin(Path(str(folder)), key, twin), twin)
    return key


def twin_path(folder: Path, copy_id: str, twin: Twin) -> Path:
    """Where a copy lies: the same name in each of the folders, which alone tell the twins apart."""
    return folder / twin / f"{copy_id}.md"


def read_twin(folder: Path, key: PlantedKey, twin: Twin) -> str:
    """The text of one copy; offsets of the key count its characters.

    Raises:
        DataError: The copy is missing or cannot be read as text.
    """
    path = twin_path(folder, key.copy_id, twin)
    refuse_special_file(path)
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(f"the {twin} copy {str(path)!r} cannot be read: {why}.", hint=MAKE_COPIES) from error


def check_fits(key: PlantedKey, text: str, twin: Twin = "planted") -> None:
    """Hold a key to the text of one of its copies.

    Args:
        key: The key.
        text: The copy's text, as ``read_twin`` gives it.
        twin: Which copy it is: edits have their offsets in the clean one, anchors in the planted one.

    Raises:
        DataError: The text is of another paper or was edited afterwards, or the key's places do not hold what it says.
    """
    wanted = {"clean": key.clean_sha256, "planted": key.planted_sha256, "neutral": key.neutral_sha256}[twin]
    if (own := text_digest(text)) != wanted:
        raise DataError(
            f"the {twin} copy of {key.copy_id!r} ({twin}/{key.copy_id}.md) is not the one that its key was made for: "
            f"its digest is {own}, not {wanted}, so the text was edited afterwards or belongs to another paper.",
            hint=f"Put the original file back, or make both anew: referee plant PAPER --out FOLDER --seed {key.seed}.",
        )
    for record in key.records:
        edits = [(edit.start, edit.end, edit.before) for edit in record.edits] if twin == "clean" else []
        anchors = [(anchor.start, anchor.end, anchor.text) for anchor in record.anchors] if twin == "planted" else []
        for start, end, said in edits + anchors:
            if text[start:end] != said:
                raise DataError(
                    f"the key of {key.copy_id!r} was edited: record {record.record_id!r} says {said!r} at characters "
                    f"{start:,} to {end:,} of the {twin} copy, which holds {text[start:end]!r}.",
                    hint=MAKE_COPIES,
                )
