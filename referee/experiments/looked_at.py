"""Which papers experiments have looked at, by digest: in every store of this account, as development or test papers.

A test split that was looked at before no longer tells what a plan does on papers nobody has seen. The register is a
file beside the user's own venues, to which each run of an experiment adds what it opens. Another machine, another
account and papers that were saved anew are not known to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from referee.errors import RunError
from referee.experiments.papers import Split
from referee.runs.files import naming
from referee.runs.lines import JsonLines, Line, records
from referee.schemas.base import Frozen
from referee.venues.registry import user_venue_dir

REGISTER = "looked-at-papers.jsonl"
MOST_TOLD = 5


class Look(Frozen):
    """A run that opened papers of one split. ``papers`` are SHA-256 digests of their files' bytes.

    ``metrics`` are empty where a seal was written before it named them.
    """

    at: str
    plan: str
    split: Split
    metrics: tuple[str, ...] = ()
    store: str
    run: str
    papers: tuple[str, ...]


def register_path() -> Path:
    """The register's file; it need not exist. ``REFEREE_CONFIG_DIR`` moves it."""
    return user_venue_dir().parent / REGISTER


def note_look(look: Look, path: Path | None = None) -> None:
    """Add a run to the register, unless its split stands there already.

    Raises:
        OSError: It cannot be written, with the file's name.
        RunError: It cannot be read.
    """
    path = path or register_path()
    if any(
        (one.run, one.split) == (look.run, look.split) and set(look.papers) <= set(one.papers) for one in looks(path)
    ):
        return
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with JsonLines(path) as lines:
        lines.append(look.model_dump_json(exclude_defaults=True).encode())


def looks(path: Path | None = None) -> Iterator[Look]:
    """What the register holds, oldest first, without its damaged lines, which ``damaged_lines`` counts.

    Raises:
        RunError: It is there and cannot be read.
    """
    yield from (look for _, look in _records(path, lambda *_: None))


def damaged_lines(path: Path | None = None) -> int:
    """How many lines of the register cannot be read; raises as ``looks``."""
    damaged: list[Line] = []
    for _ in _records(path, lambda line, _: damaged.append(line)):
        pass
    return len(damaged)


def _records(path: Path | None, damaged: Callable[[Line, ValidationError | None], None]) -> Iterator[tuple[Line, Look]]:
    path = path or register_path()
    try:
        yield from records(path, Look, damaged=damaged)
    except OSError as error:
        raise RunError(
            f"the register of papers that experiments have looked at, {str(path)!r}, cannot be read: {error.strerror}.",
            hint="Mend its rights, or move it away: then nobody can tell which papers were looked at before.",
        ) from error


def earlier_looks(
    known: Iterable[Look], papers: Collection[str], *, metrics: Sequence[str], store: str
) -> tuple[str, ...]:
    """What is to be said of papers that are about to be opened as test papers; nothing where nobody looked at them.

    Args:
        known: Earlier runs, oldest first.
        papers: Digests of the papers.
        metrics: What is measured now.
        store: The store that is used now.
    """
    seen = {(look.run, look.split): look for look in known if set(papers) & set(look.papers)}
    told = [_told(look, papers, metrics, store) for look in seen.values()]
    more = len(told) - MOST_TOLD
    rest = [f"files of the test split were looked at in {more} other runs too"] if more > 0 else []
    return (*told[:MOST_TOLD], *rest)


def _told(look: Look, papers: Collection[str], metrics: Sequence[str], store: str) -> str:
    count = len(set(papers) & set(look.papers))
    if look.split == "development":
        how = "as development papers"
    elif not look.metrics:
        how = "as test papers, under metrics that were not noted"
    elif set(look.metrics) == set(metrics):
        how = "as test papers, under the same metrics"
    else:
        how = f"as test papers, under other metrics ({', '.join(look.metrics)})"
    where = "" if look.store == store else f", in another store ({look.store!r})"
    return (
        f"{count} of {len(set(papers))} files of the test split were looked at before, by the plan {look.plan!r} on "
        f"{look.at[:10]}, {how}{where}"
    )
