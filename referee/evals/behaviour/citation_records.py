"""Records of published works out of a JSONL file: the resolver that needs no network."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from referee.errors import DataError
from referee.evals.behaviour.citation_check import Record
from referee.evals.behaviour.citations import Citation
from referee.evals.behaviour.titles import normalised_title
from referee.runs.files import refuse_special_file

_LEAST_SHARED = 0.5


class FixtureResolver:
    """Finds records in a fixed set, by id or by words of the title.

    Offered are records that hold at least half of the cited title's words, those with most of them first, so that a
    large file is not compared title by title.
    """

    def __init__(self, records: Iterable[Record], id: str = "fixture") -> None:
        self.id = id
        self._records = tuple(records)
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._by_id: dict[str, int] = {}
        for number, record in enumerate(self._records):
            for word in set(normalised_title(record.title).split()):
                self._by_word[word].append(number)
            for key in (record.doi.lower(), record.arxiv.lower()):
                if key:
                    self._by_id.setdefault(key, number)

    @classmethod
    def load(cls, path: Path) -> FixtureResolver:
        """The records of a JSONL file: ``title``, ``year``, ``authors``, ``doi``, ``source``, ``arxiv`` a line.

        Raises:
            DataError: The file is none or cannot be read, or a line is no such record.
        """
        refuse_special_file(path)
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"the citation records {str(path)!r} cannot be read: {error}.", hint="Check it.") from error
        return cls(_record(line, path, n) for n, line in enumerate(lines, 1) if line.strip())

    def candidates(self, citation: Citation) -> Iterator[Record]:
        """The records with the citation's id, then those whose titles share most words with its title."""
        known = [self._by_id[key] for key in (citation.doi, citation.arxiv) if key in self._by_id]
        words = set(normalised_title(citation.title).split())
        shared: dict[int, int] = defaultdict(int)
        for word in words:
            for number in self._by_word.get(word, ()):
                shared[number] += 1
        near = [number for number, count in shared.items() if count >= _LEAST_SHARED * self._fewest(number, words)]
        ordered = sorted(near, key=lambda number: (-shared[number], number))
        return (self._records[number] for number in dict.fromkeys([*known, *ordered]))

    def _fewest(self, number: int, words: set[str]) -> int:
        """Of a long title and its short form the short one's words count."""
        return min(len(words), len(set(normalised_title(self._records[number].title).split())))


def record_of(row: Mapping[str, object]) -> Record | None:
    """A row as a record; null where its title, year or authors are not what they should be."""
    title, year, authors = row.get("title"), row.get("year"), row.get("authors") or []
    if not isinstance(title, str) or not title.strip() or not isinstance(authors, Sequence):
        return None
    if isinstance(authors, str) or not all(isinstance(author, str) for author in authors):
        return None
    if isinstance(year, bool) or not (year is None or isinstance(year, int)):
        return None
    texts = {key: value if isinstance(value := row.get(key), str) else "" for key in ("doi", "source", "arxiv")}
    return Record(title, year, tuple(authors), texts["doi"].lower(), texts["source"], texts["arxiv"].lower())


def _record(line: str, path: Path, number: int) -> Record:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"{str(path)!r}, line {number} is no JSON: {error}.", hint="One record a line.") from error
    record = record_of(row) if isinstance(row, dict) else None
    if record is None:
        raise DataError(
            f"{str(path)!r}, line {number} is no citation record.",
            hint="It needs a title, a whole year or null, and authors as a list of names.",
        )
    return record
