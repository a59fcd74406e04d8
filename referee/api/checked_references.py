"""``references``: a paper's bibliography, entry by entry, looked up where that is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from referee.api.loading_ahead import read_and_load
from referee.api.options import RunOptions
from referee.api.profiles.job import citation_resolver
from referee.errors import RunError, SettingsError
from referee.literature.checking import Resolver
from referee.literature.online import OnlineResolver
from referee.literature.references import CheckedReference, check_reference
from referee.runs import Event
from referee.runs.files import refuse_special_file
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
        index: Works that are known, as JSONL (``title``, ``year``, ``authors``, ``doi``, ``arxiv`` a line): nothing
            leaves the machine.
        online: Ask Crossref, OpenAlex and DBLP instead. Titles, first authors' surnames and ids go out, nothing else.
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
    read = await read_and_load(path, settings, ())
    asked = "nobody"
    resolver: Resolver | None = None
    notes: tuple[str, ...] = ()
    if index is not None or online:
        source = "online" if online else "fixture"
        resolver, asked, notes = citation_resolver(source, index, settings.citations)
    if isinstance(resolver, OnlineResolver):
        asked = ", ".join(resolver.services)
        if notice is not None and not notice(len(read.references), resolver.services):
            resolver.close()
            raise RunError("not confirmed: nothing was sent.", hint="Add --yes to go on without asking.")
    checked = []
    try:
        for number, reference in enumerate(read.references, start=1):
            checked.append(await asyncio.to_thread(check_reference, reference, resolver))
            done = f"looked up {number} of {len(read.references)} references"
            if resolver is not None:
                options.progress(Event("stage", done, done=number, total=len(read.references)))
    finally:
        if isinstance(resolver, OnlineResolver):
            notes = (*notes, *resolver.notes)
            resolver.close()
    return ReferenceCheck(read.title, tuple(checked), asked, notes)
