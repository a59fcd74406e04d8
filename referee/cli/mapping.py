"""``--write-mapping``: the mapping file that the columns suggest, and no measurement."""

from __future__ import annotations

from pathlib import Path

import typer

WRITE_MAPPING = "Write the mapping file that the columns suggest, and measure nothing."


def write_suggestion(reviews: Path, file: Path) -> None:
    """Write it, and say what comes next.

    Raises:
        DataError: The rows cannot be read, or the file is there already.
    """
    from referee.data.suggestion import write_mapping

    write_mapping(reviews, file)
    typer.echo(f"Written to {file}: see that each line is right, then give --mapping {file}.")
