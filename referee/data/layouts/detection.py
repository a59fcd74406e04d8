"""The tree of the benchmark of AI reviews: ``{split}/{llm}/{CONF}{YEAR}.{split}.{tag}.csv``, and what is odd about it.

Source: the public layout of "Is Your Paper Being Reviewed by an LLM? Benchmarking AI Text Detection in Peer Review".
Only one tag is documented, so tags are read and never known beforehand.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from referee.data import keys
from referee.data.drafts import Draft
from referee.data.entries import Entry
from referee.data.found import TABLE_SUFFIXES, Found, each, rows_suffix
from referee.data.layouts.flat import FLAGS, author_of, boxes_of, flat_draft, text_of_row
from referee.data.prose import canonical_text

SPLITS = ("calibration", "test", "extended")
PUBLISHED_ROWS: Mapping[str, int] = {"calibration": 75_824, "test": 287_052, "extended": 426_108}
"""Rows of each split as the paper counts them, human and AI together."""
LAST_HUMAN_YEAR = 2022
"""Later conferences were reviewed after chat models were there for everybody (30 November 2022)."""

_FILE_NAME = re.compile(
    r"^(?P<conference>[A-Za-z][A-Za-z0-9]*?)[-_]?(?P<year>\d{4})\.(?P<split>[^.]+)(?:\.(?P<tag>.+))?\.(?:csv|tsv)(?:\.gz)?$",
    re.IGNORECASE,
)
_PAPER_TOO = ("paper", "openreview_id", "submission", "id")
_FLAGS_TOO = ("is_llm", "llm_generated", "machine_generated")
_KIND_TOO = ("review_source", "writer", "class")
_NOT_APPLICABLE = frozenset({"-999", "-999.0"})
_NOTED = 3


@dataclass(frozen=True, slots=True)
class PathFacts:
    """What a path of the tree says about every row of its file; ``folder`` is the split that the folders name."""

    conference: str
    year: int
    split: str
    llm: str
    tag: str
    folder: str = ""


def path_facts(path: Path) -> PathFacts | None:
    """The facts of a path in the tree; None where the file is named otherwise.

    A file without a tag is one of the tree only below the folders of its split and its LLM.
    """
    match = _FILE_NAME.match(path.name)
    if match is None:
        return None
    split, tag = match["split"].lower(), match["tag"] or ""
    folders = path.parts[-3:-1]
    folder = folders[0].lower() if len(folders) == 2 else ""
    in_tree = folder == split or (folder in SPLITS and split in SPLITS)
    if not tag and not in_tree:
        return None
    llm = folders[1] if in_tree else tag
    return PathFacts(match["conference"], int(match["year"]), split, llm, tag or llm, folder if in_tree else "")


class TreeChecks:
    """What is odd about a tree, counted while its rows are read. Nothing of it is fatal."""

    def __init__(self) -> None:
        self._files: dict[str, Counter[str]] = {}
        self._splits: Counter[str] = Counter()
        self._papers: defaultdict[str, set[str]] = defaultdict(set)
        self._human_texts: Counter[int] = Counter()
        self._oddities: Counter[str] = Counter()

    def add(self, path: Path, facts: PathFacts, draft: Draft, not_applicable: int) -> None:
        """Count one row, of which so many scores say that they are not applicable."""
        kind = draft.author.kind
        self._files.setdefault(str(path), Counter())[kind] += 1
        self._splits[facts.split] += 1
        self._papers[facts.split].add(draft.paper_id)
        self._oddities["scores of -999 (not applicable) are read as missing"] += not_applicable
        self._oddities["rows do not say who wrote them"] += kind == "unknown"
        misplaced = facts.folder not in ("", facts.split)
        self._oddities["rows lie in the folder of another split than their file's name says"] += misplaced
        if kind == "human":
            text = draft.text or canonical_text(draft.fields, None)
            digest = hashlib.blake2b(f"{draft.paper_id}\0{text}".encode(), digest_size=8).digest()
            self._human_texts[int.from_bytes(digest)] += 1
            late = f"human rows are of conferences after {LAST_HUMAN_YEAR} and may be AI reviews themselves"
            self._oddities[late] += facts.year > LAST_HUMAN_YEAR

    def notes(self) -> Iterator[str]:
        """What was found, in sentences without their full stop; nothing where no file of the tree was read."""
        if not self._files:
            return
        yield self._sizes()
        yield from self._unequal()
        humans = self._human_texts.total()
        yield (
            f"{humans:,} human rows hold {len(self._human_texts):,} different reviews: the tree repeats them beside "
            "every LLM's, and equal rows are read once"
        )
        yield from self._shared_papers()
        yield from (f"{count:,} {what}" for what, count in self._oddities.items() if count)

    def _sizes(self) -> str:
        def size(split: str) -> str:
            published = PUBLISHED_ROWS.get(split)
            return f"{split} {self._splits[split]:,}" + (f" (published: {published:,})" if published else "")

        return f"{len(self._files):,} file(s) of the detection tree; rows: {', '.join(map(size, sorted(self._splits)))}"

    def _unequal(self) -> Iterator[str]:
        odd = {path: rows for path, rows in self._files.items() if rows["human"] != rows["ai"]}
        first = "; ".join(
            f"{Path(path).name}: {rows['human']:,} human, {rows['ai']:,} AI" for path, rows in [*odd.items()][:_NOTED]
        )
        if odd:
            yield f"{len(odd):,} of {len(self._files):,} file(s) hold unequal numbers of human and AI rows: {first}"

    def _shared_papers(self) -> Iterator[str]:
        for one, other in combinations(sorted(self._papers), 2):
            if shared := self._papers[one] & self._papers[other]:
                yield (
                    f"{len(shared):,} paper(s) stand in {one} as well as in {other}, the first: {min(shared)!r}; "
                    "thresholds of the one are no test on the other"
                )


def read_tree_file(path: Path, checks: TreeChecks | None = None) -> Iterator[Found]:
    """One review a row; the path adds conference, year and system, and ``extra`` the ``split`` and the ``llm``.

    Where somebody names the layout, files that are called otherwise are read as rows.
    """
    facts = path_facts(path) if rows_suffix(path) in TABLE_SUFFIXES else None

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        named, not_applicable = _usual(keys.plain_keys(row))
        draft = flat_draft(named, author_of(named)) if facts is None else _draft(named, facts)
        if checks is not None and facts is not None:
            checks.add(path, facts, draft, not_applicable)
        yield Found(entry.number, draft, entry.raw)

    return each(path, read)


def _usual(row: Mapping[str, object]) -> tuple[dict[str, object], int]:
    """The row by the names and words that rows elsewhere use, and how many scores were not applicable."""
    kept = {name: value for name, value in row.items() if str(value).strip() not in _NOT_APPLICABLE}
    if keys.take(kept, keys.PAPER) is None:
        kept |= {"paper_id": str(found)} if (found := keys.take(kept, _PAPER_TOO)) is not None else {}
    stated = keys.take(kept, (*keys.KIND, *FLAGS, *_FLAGS_TOO, *_KIND_TOO))
    word = re.split(r"[-_ ]", str(stated).strip().casefold())[0] if stated is not None else ""
    if word in ("human", "ai", "llm", "machine"):
        kept["author_type"] = "human" if word == "human" else "ai"
    elif any(name in kept for name in _FLAGS_TOO):
        kept["is_ai"] = keys.take(kept, _FLAGS_TOO)
    return kept, len(row) - len([name for name in row if name in kept])


def _draft(row: Mapping[str, object], facts: PathFacts) -> Draft:
    placed = {
        "conference": facts.conference,
        "year": facts.year,
        **{name: value for name, value in row.items() if value not in (None, "")},
    }
    by = author_of(row, system=facts.tag)
    return flat_draft(
        placed,
        by,
        extra={"split": facts.split, "llm": facts.llm, "llm_tag": facts.tag},
        identity=[row.get("paper_id"), by.source, boxes_of(row), text_of_row(row)],
    )
