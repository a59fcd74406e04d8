"""A mapping file for rows under other names: the nearest column for each of ours, as TOML to be corrected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path

from referee.data.found import entries, refuse_no_data
from referee.data.ratings import leading_number
from referee.errors import DataError

_TRIED = 50
_DEEPEST = 3
_SHORT_CHARS = 120
_LONG_CHARS = 200
_TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_KNOWN_SOURCE = re.compile(r"human\b.*|ai\b.*", re.IGNORECASE)
Columns = Mapping[str, Sequence[object]]


def _short(values: Sequence[object]) -> bool:
    return all(isinstance(value, str | int) and len(str(value)) <= _SHORT_CHARS for value in values)


def _text(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _number(values: Sequence[object]) -> bool:
    return any(leading_number(value) is not None for value in values)


@dataclass(frozen=True)
class _Sought:
    """What a column of ours goes by: beginnings of words, the likeliest first; words that speak against it."""

    words: tuple[str, ...]
    fits: Callable[[Sequence[object]], bool] = _short
    not_words: tuple[str, ...] = ()
    longest: bool = False


_ABOUT_TEXT = ("id", "date", "title", "rating", "score", "reviewer", "author", "confidence", "time", "type", "abstract")
# In this order: what is taken for one is not looked at for the next.
_CASE: Mapping[str, _Sought] = {
    "confidence": _Sought(("confidence", "certainty", "expertise"), _number),
    "rating": _Sought(("rating", "overall", "score", "recommendation", "grade", "stars"), _number),
    "year": _Sought(("year",), _number),
    "date": _Sought(("date", "created", "timestamp"), not_words=("paper",)),
    "decision": _Sought(("decision", "outcome", "verdict")),
    "venue": _Sought(("venue", "conf", "journal"), not_words=("confi",)),
    "paper_title": _Sought(("title",), not_words=("review",)),
    "text": _Sought(
        ("review", "comment", "report", "text", "body", "content", "feedback", "remark"),
        _text,
        _ABOUT_TEXT,
        longest=True,
    ),
    "paper_id": _Sought(
        ("paper", "submission", "manuscript", "forum", "article"), not_words=("title", "abstract", "status", "type")
    ),
    "source": _Sought(
        ("source", "reviewer", "author", "wrote", "writ", "by", "model", "system", "generator", "llm"),
        not_words=("id",),
    ),
}
_BOXES: Mapping[str, _Sought] = {
    name: _Sought((word,), _text)
    for name, word in (
        ("summary", "summar"),
        ("strengths", "strength"),
        ("weaknesses", "weakness"),
        ("questions", "question"),
        ("limitations", "limitation"),
    )
}


def suggested_mapping(rows: Sequence[Mapping[str, object]]) -> str:
    """A mapping file for rows of which these are the first; what no column seems to hold is asked for in a comment.

    Columns are compared by the words in their names and by what stands in them. Who wrote a review is not guessed:
    values of its column are listed for the reader to name.
    """
    listed = _list_key(rows)
    columns = _columns(rows, listed)
    fields = _chosen(columns, _BOXES)
    if not {"strengths", "weaknesses"} & fields.keys():
        fields = {}
    case = _chosen({k: v for k, v in columns.items() if k not in fields.values()}, _CASE)
    if fields:
        case.pop("text", None)
    elif "text" not in case and (longest := _longest(columns)):
        case["text"] = longest
    return "\n".join(_toml(columns, listed, case, fields)) + "\n"


def write_mapping(reviews: Path, file: Path) -> None:
    """Write the suggestion for a file of rows.

    Raises:
        DataError: The rows cannot be read, there are none, or the mapping file is there already.
    """
    refuse_no_data(reviews)
    rows = [entry.value for entry in islice(entries(reviews), _TRIED) if isinstance(entry.value, dict)]
    if not rows:
        raise DataError(f"{str(reviews)!r} holds no rows to map.", hint="Give a table, JSON rows or Parquet.")
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(suggested_mapping(rows))
    except FileExistsError as error:
        raise DataError(f"{str(file)!r} is there already.", hint="Give it another name, or remove it.") from error
    except OSError as error:
        raise DataError(f"{str(file)!r} cannot be written: {error.strerror}.", hint="Check the path.") from error


def _list_key(rows: Sequence[Mapping[str, object]]) -> str:
    """The key under which rows hold their reviews as a list of objects; empty where a row is one review."""
    for row in rows:
        for name, value in row.items():
            if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
                return name
    return ""


def _columns(rows: Sequence[Mapping[str, object]], listed: str) -> Columns:
    """What stands under each key, nested ones with dots; of a list of reviews, under the keys of the reviews."""
    found: dict[str, list[object]] = {}
    for row in rows:
        held = row.get(listed) if listed else None
        for one in (*(held if isinstance(held, list) else ()), row):
            for key, value in _flat(one if isinstance(one, dict) else {}):
                if key != listed and value not in (None, ""):
                    found.setdefault(key, []).append(value)
    return found


def _flat(row: Mapping[str, object], before: str = "", depth: int = 1) -> Iterator[tuple[str, object]]:
    for name, value in row.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _flat(value, f"{before}{name}.", depth + 1)
        else:
            yield f"{before}{name}", value


def _chosen(columns: Columns, sought: Mapping[str, _Sought]) -> dict[str, str]:
    """For each name of ours the column whose words come nearest; each column once."""
    found: dict[str, str] = {}
    for name, one in sought.items():
        fitting = [
            (rank, key)
            for key, values in columns.items()
            if key not in found.values() and one.fits(values) and (rank := _rank(one, key, values)) is not None
        ]
        if fitting:
            found[name] = min(fitting, key=lambda pair: pair[0])[1]
    return found


def _rank(sought: _Sought, key: str, values: Sequence[object]) -> tuple[float, ...] | None:
    """How far a column is from what is sought, less being nearer; None where no word of its name speaks for it."""
    tokens = [token.lower() for token in _TOKEN.findall(key)]
    # "Comments to the authors" are comments, and no authors.
    tokens = list(takewhile(lambda token: token not in ("to", "for"), tokens)) or tokens
    if any(token.startswith(word) for token in tokens for word in sought.not_words):
        return None
    hits = [n for n, word in enumerate(sought.words) if any(token.startswith(word) for token in tokens)]
    if not hits:
        return None
    return (-_mean_chars(values),) if sought.longest else (-len(hits), hits[0], len(tokens))


def _longest(columns: Columns) -> str:
    texts = {key: _mean_chars(values) for key, values in columns.items() if _text(values)}
    key = max(texts, key=texts.__getitem__, default="")
    return key if key and texts[key] >= _LONG_CHARS else ""


def _mean_chars(values: Sequence[object]) -> float:
    return sum(len(str(value)) for value in values) / len(values)


def _toml(columns: Columns, listed: str, case: Mapping[str, str], fields: Mapping[str, str]) -> Iterator[str]:
    yield "# Made from the names of the columns: see that each line is right."
    if listed:
        yield f"reviews = {_quoted(listed)}"
    names = ", ".join(map(_quoted, columns))
    yield "[case]"
    for name in ("paper_id", *(() if fields else ("text",))):
        if name not in case:
            yield f'# {name} = ""  # needed; the columns are {names}'
    for name in ("paper_id", "text", *(n for n in _CASE if n not in ("paper_id", "text"))):
        if name in case:
            yield f"{name} = {_quoted(case[name])}"
    if fields:
        yield "[fields]"
        yield from (f"{name} = {_quoted(key)}" for name, key in fields.items())
    if "venue" not in case:
        yield "# [constants]"
        yield '# venue = "iclr-2024"  # where one holds for all rows'
    unnamed = [value for value in dict.fromkeys(map(str, columns.get(case.get("source", ""), ()))) if not _named(value)]
    if unnamed:
        yield "[kinds]"
        yield "# Who wrote it is not guessed: say human or ai for each value of the source."
        yield from (f'# {_quoted(value)} = "ai"' for value in unnamed[:5])


def _named(source: str) -> bool:
    return bool(_KNOWN_SOURCE.fullmatch(source.strip()))


def _quoted(text: str) -> str:
    """A string of TOML, which is one of JSON but for the character that JSON leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
