"""docs/settings.md lists exactly the settings there are, with what they take and their defaults."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from referee.errors import SettingsError
from referee.llm.providers import PROVIDERS
from referee.settings import RESERVED_ENV, Settings, load_settings

from .pages import ROOT, blocks

PAGE = ROOT / "docs" / "settings.md"
_ROW = re.compile(r"^\| `(?P<name>[a-z0-9_.]+)` \| (?P<takes>[^|]+) \| (?P<default>[^|]+) \| (?P<does>[^|]+) \|$", re.M)
_WORDS = {
    str: "text",
    float: "number",
    int: "whole number",
    bool: "`true` or `false`",
    dict: "table",
    tuple: "list",
    date: "date",
}


def every_setting(group: type[BaseModel] = Settings, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in group.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from every_setting(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def takes(field: FieldInfo) -> str:
    """The kind of value and its range, in the page's words."""
    kind: Any = field.annotation
    if get_origin(kind) in (Union, types.UnionType):
        (kind,) = (part for part in get_args(kind) if part is not types.NoneType)
    if get_origin(kind) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(kind))
    word = _WORDS[get_origin(kind) or kind]
    bounds = {name: getattr(m, name) for m in field.metadata for name in ("gt", "ge", "le") if hasattr(m, name)}
    if "le" in bounds:
        return f"{word}, {bounds['ge']} to {bounds['le']}"
    if "gt" in bounds:
        return f"{word}, above {bounds['gt']}"
    return f"{word}, from {bounds['ge']}" if "ge" in bounds else word


def default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, dict | tuple):
        return "empty"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def test_the_table_lists_exactly_the_settings() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = [(row["name"], row["takes"], row["default"]) for row in _ROW.finditer(text)]
    assert rows == [(name, takes(field), default(field)) for name, field in every_setting()]


def test_every_variable_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = [*RESERVED_ENV, *(key for provider in PROVIDERS.values() for key in provider.keys)]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_example_file_loads_and_sets_what_it_says(tmp_path: Path) -> None:
    (example,) = (block for block in blocks(PAGE.relative_to(ROOT)) if block.said("file") == "referee.toml")
    file = tmp_path / "referee.toml"
    file.write_text(example.text, encoding="utf-8")
    settings = load_settings(file=file, env={})
    assert settings.models.prices == {"gpt-5-mini": (0.25, 2.0)}
    assert settings.budget.max_cost == 0.5
    assert settings.prompts == {"review/single": "v1"}


def test_a_table_cannot_be_set_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=r"models\.roles"):
        load_settings(env={"REFEREE_MODELS__ROLES": '{"writer": "local"}'})
