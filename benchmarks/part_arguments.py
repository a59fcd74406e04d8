"""Arguments of benchmarks that have parts, of which ``--part`` names some."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence


def with_parts(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, parts: Collection[str]
) -> argparse.Namespace:
    """The arguments; a part that is not there ends the program with those that are."""
    given = parser.parse_args(arguments)
    if unknown := set(given.part.split(",")) - set(parts):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    return given
