"""Entries of ``.bib`` files, and names as bibliographies print them; bibtexparser does the reading."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

_COMMENT = re.compile(r"^[ \t]*%[^\n]*$", re.MULTILINE)
_LONGEST, _LONGEST_NAME = 20_000, 500


@dataclass
class BibEntry:
    """One entry: its kind in lower case ('article') and its fields, LaTeX in the values."""

    kind: str
    fields: Mapping[str, str]

    def get(self, *names: str) -> str:
        """The first of the fields that is there."""
        return next((self.fields[name] for name in names if self.fields.get(name, "").strip()), "")


def read_bibtex(source: str) -> dict[str, BibEntry]:
    """Entries by key; of a key or a field given twice the first counts. Broken entries are passed over."""
    from bibtexparser.library import Library  # most papers bring the printed .bbl
    from bibtexparser.middlewares.parsestack import default_parse_stack
    from bibtexparser.splitter import Splitter

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # else it prints each broken entry
    blocks = (
        getattr(block, "ignore_error_block", block) for block in Splitter(_COMMENT.sub("", source)).split().blocks
    )
    library = Library([block for block in blocks if block], fail_on_duplicate_key=False)
    for step in default_parse_stack():
        library = step.transform(library)
    strings = {name.casefold(): string.value for name, string in library.strings_dict.items()}
    return {
        entry.key: BibEntry(
            entry.entry_type.lower(), {one.key.lower(): _joined(one.value, strings) for one in reversed(entry.fields)}
        )
        for entry in library.entries
    }


def _joined(value: str, strings: Mapping[str, str]) -> str:
    """A value whose parts are joined by ``#`` as one text."""
    value = " ".join(value.split())[:_LONGEST]
    parts = value.split(" # ")
    return "".join(strings.get(part.casefold(), part.strip('{"}')) for part in parts) if parts[1:] else value


def split_names(value: str) -> list[tuple[str, str]]:
    """Names of an author field as (first names, last name); 'others' stays a last name of its own."""
    from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names

    names = (name[:_LONGEST_NAME] for name in split_multiple_persons_names(value))
    parts = (parse_single_name_into_parts(name, strict=False) for name in names)
    return [(" ".join([*one.first, *one.jr]), " ".join([*one.von, *one.last])) for one in parts]
