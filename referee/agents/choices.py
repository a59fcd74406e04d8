"""Types made at run time: what a reply may choose from is known only when it is asked for."""

from __future__ import annotations

from typing import Any, Literal


def one_of(values: tuple[str, ...]) -> Any:
    """An enumeration; free text where there is nothing to choose from."""
    return Literal[values] if values else str


def list_of(item: Any) -> Any:
    """A list of a type that was made at run time."""
    return list[item]
