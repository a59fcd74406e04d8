"""What tests give to a public function, in one dictionary: what is asked, and how it runs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from referee import RunOptions


def with_options(**given: Any) -> dict[str, Any]:
    """The arguments as the function takes them: those that say how it runs are options."""
    how = {one.name: given.pop(one.name) for one in fields(RunOptions) if one.name in given}
    return {**given, "options": RunOptions(**how)}
