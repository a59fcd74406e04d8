"""``references``: a paper's bibliography, entry by entry, looked up where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.loading_ahead import read_and_load
from referee.api.lookups import NOBODY, Lookup, indexed
from referee.api.lookups import online as online_lookup
from referee.api.options import RunOptions
from referee.errors import RunError, SettingsError
from referee.literature.index import WorkIndex
from referee.literature.references import CheckedReference, check_reference
from referee.machine import refuse_special_file
from referee.runs import Event
from referee.runs.stopping import in_thread
from referee.schemas.paper import Reference
from referee.settings import changed_settings

Notice = Callable[[int, tuple[str, ...]], bool]
"""Told how many entries and which services; the look-up begins only with a yes."""


@dataclass(frozen=True)
class ReferenceCheck:
    """All entries of a paper with their verdicts, who was asked, and what to know about it."""

    paper: str
    checked: tuple[CheckedReference, ...]
    asked: str
    notes: tuple[str, ...] = ()


async def references(
    paper: str | Path,
    *,
    index: Path | None = None,
    online: bool = False,
    contact: str | None = None,
    notice: Notice | None = None,
    options: RunOptions = RunOptions(),
) -> ReferenceCheck:
    """Read a paper's references and look them up.

    Args:
        paper: A file, as ``review`` takes it.
        index: Works that are known, as JSONL (``title``, ``year``, ``authors``, ``doi``, ``arxiv``, ``retracted`` a
            line) or SQLite (``index_works``): nothing leaves the machine.
        online: Ask Crossref, OpenAlex, DBLP, arXiv and Semantic Scholar instead, in this order, each only for what
            those before it do not list. Titles, first authors' surnames and ids go out, and the
            entry where its title could not be read; nothing else.
        contact: The e-mail address that the services ask for.
        notice: Shown what will be sent to whom, before.
        options: Progress and settings; no run folder is made.

    Raises:
        PaperParseError: The paper cannot be read.
        SettingsError: Both are asked for, or there is no contact.
        DataError: The index cannot be read.
        RunError: The notice was answered with no.
    """
    if index is not None and online:
        raise SettingsError("an index and online services are two ways.", hint="Leave out --index or --online.")
    settings = options.settled()
    if contact is not None:
        settings = changed_settings(settings, {"citations.contact": contact})
    path = Path(paper)
    refuse_special_file(path)
    options.progress(Event("stage", f"reading {path.name}"))
    read = await read_and_load(path, settings, (), options.progress)
    lookup = online_lookup(settings.citations) if online else indexed(index) if index is not None else NOBODY
    try:
        if lookup.services and notice is not None and not notice(len(read.references), lookup.services):
            raise RunError("not confirmed: nothing was sent.", hint="Add --yes to go on without asking.")
        checked = await check_all(read.references, lookup, options.progress)
    finally:
        lookup.close()
    return ReferenceCheck(read.title, checked, lookup.asked, lookup.all_notes)


async def check_all(
    entries: Sequence[Reference], lookup: Lookup, progress: Callable[[Event], None]
) -> tuple[CheckedReference, ...]:
    """Every entry looked up, one after the other, off the event loop."""
    checked = []
    for number, entry in enumerate(entries, start=1):
        checked.append(await in_thread(check_reference, entry, lookup.resolver))
        if lookup.resolver is not None:
            told = f"looked up {number} of {len(entries)} references"
            progress(Event("stage", told, done=number, total=len(entries)))
    return tuple(checked)


def index_works(works: str | Path, out: str | Path) -> int:
    """Write a JSONL of known works as an SQLite index, which is opened without being read whole; how many there are.

    Raises:
        DataError: A line is no work, or ``out`` is there already or cannot be written.
    """
    return WorkIndex.build(Path(works), Path(out))
