"""What a review was asked for in the browser, and how its name and its paper's name are made safe."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from referee.errors import DataError
from referee.prompts.own import own_prompt
from referee.settings import PromptText, given_prompt

ASKED = "asked.json"
_PROMPT = "prompt.md"
_NAME_CHARS, _ENDING_CHARS = 80, 8
_STEM_CHARS = 40
_LONGEST = 300


class Asked(BaseModel):
    """What a review is to be made of; what is None is as the settings have it.

    Attributes:
        paper: A file's path or an arXiv id. An upload has its path once it is there.
        venue: A venue's id.
        model: The model for all roles.
        strategy: How the review is made.
        max_cost: US dollars that no call may pass.
        max_tokens: Tokens, in and out, that no call may pass.
        prompt: The text of a prompt of the user's own; its header names the one that it replaces.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, allow_inf_nan=False)

    paper: str = Field(min_length=1, max_length=4096)
    venue: str = Field(min_length=1, max_length=_LONGEST)
    model: str | None = Field(default=None, max_length=_LONGEST)
    strategy: str | None = Field(default=None, max_length=_LONGEST)
    max_cost: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    prompt: str | None = None

    @field_validator("model", "strategy", "max_cost", "max_tokens", "prompt", mode="before")
    @classmethod
    def _empty_is_none(cls, value: Any) -> Any:
        return None if isinstance(value, str) and not value.strip() else value

    @property
    def prompts(self) -> dict[str, PromptText]:
        """The prompt of the user's own by the id of that which it replaces.

        Raises:
            SettingsError: It holds a key.
            PromptError: It cannot take that one's place.
        """
        if self.prompt is None:
            return {}
        given = given_prompt(_PROMPT, self.prompt.replace("\r\n", "\n"))
        return {own_prompt(given).id: given}

    @property
    def paper_name(self) -> str:
        """What the paper is called."""
        return PurePosixPath(self.paper).name


def parse_asked(fields: Mapping[str, str], paper: str) -> Asked:
    """What a form says, with the paper it named.

    Raises:
        DataError: A field has no usable value; each is named.
        SettingsError: The prompt holds a key.
        PromptError: The prompt cannot take the place of the one that it names.
    """
    given = {name: fields.get(name, "") for name in Asked.model_fields if name != "paper"}
    if not given["venue"].strip():
        raise DataError("no venue is named; it is never guessed.", hint="Choose one in the list, as neurips-2025.")
    return checked_asked({"paper": paper, **given})


def checked_asked(given: Mapping[str, Any]) -> Asked:
    """What was asked for, from values as they were typed.

    Raises:
        DataError: A field has no usable value; each is named.
    """
    try:
        asked = Asked.model_validate(given)
    except ValidationError as error:
        wrong = "; ".join(f"{_title(one['loc'])}: {one['msg']}" for one in error.errors())
        raise DataError(
            f"the form has values that cannot be used: {wrong}.", hint="Go back and change them."
        ) from error
    _ = asked.prompts  # what is wrong with it is said on the form's own page
    return asked


def read_asked(folder: Path) -> Asked | None:
    """What was asked for in this folder; None where nothing can be read there."""
    try:
        return Asked.model_validate_json((folder / ASKED).read_bytes())
    except (OSError, ValidationError):
        return None


def safe_file_name(name: str) -> str:
    """A name for an uploaded file: its last part, in plain characters, short, with its ending."""
    last = PurePosixPath(unicodedata.normalize("NFC", name).replace("\\", "/")).name
    stem, dot, ending = re.sub(r"[^\w.-]+", "-", last).rpartition(".")
    if not dot or len(ending) > _ENDING_CHARS:
        stem, ending = f"{stem}{dot}{ending}", ""
    kept = stem.strip("-.")[: _NAME_CHARS - _ENDING_CHARS - 1] or "paper"
    return f"{kept}.{ending}" if ending else kept


def new_run_name(paper_name: str, venue: str) -> str:
    """A run's name that no other has: paper, venue, time and four letters by chance."""
    words = [re.sub(r"[^\w.-]+", "-", word).strip("-.")[:_STEM_CHARS] for word in (Path(paper_name).stem, venue)]
    return "-".join([*filter(None, words), f"{datetime.now():%Y%m%d-%H%M%S}", secrets.token_hex(2)])


def _title(where: tuple[int | str, ...]) -> str:
    return str(where[0]).replace("_", " ")
