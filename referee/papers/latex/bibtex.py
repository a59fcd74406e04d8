"""A small BibTeX reader: entries, string macros and joined values, and names as bibliographies print them.

Own code, because the package needs no more of BibTeX than this, and its parsers are a dependency for few papers:
preprint servers and most submissions bring the printed ``.bbl``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from referee.papers.latex.scan import Braces, names

_ENTRY = re.compile(r"@\s*(?P<kind>[a-zA-Z]+)\s*(?P<open>[{(])")
_KEY = re.compile(r"\s*([^\s,{}()=]+)\s*,")
_FIELD = re.compile(r"[\s,]*([\w:.+/-]+)\s*=\s*")
_WORD = re.compile(r"[^\s,#{}\"()]+")
_LONGEST = 20_000
_MONTHS = {m[:3]: m.capitalize() for m in
           names("january february march april may june july august september october november december")}  # fmt: skip


@dataclass
class BibEntry:
    """One entry: its kind in lower case ('article') and its fields, LaTeX in the values."""

    key: str
    kind: str
    fields: dict[str, str] = field(default_factory=dict)

    def get(self, *names: str) -> str:
        """The first of the fields that is there."""
        return next((self.fields[name] for name in names if self.fields.get(name, "").strip()), "")


def read_bibtex(source: str) -> dict[str, BibEntry]:
    """Entries by key; of a key given twice the first counts, as for BibTeX. Broken entries are passed over."""
    source = re.sub(r"^[ \t]*%[^\n]*$", "", source, flags=re.MULTILINE)
    braces = Braces(source)
    strings = dict(_MONTHS)
    entries: dict[str, BibEntry] = {}
    at = 0
    while (match := _ENTRY.search(source, at)) is not None:
        at = match.end()
        kind = match["kind"].lower()
        end = braces.closing.get(match.end() - 1, -1) if match["open"] == "{" else source.find("\n)", at)
        if kind in ("comment", "preamble") or end < 0:
            at = max(at, end)
            continue
        if kind == "string":
            strings.update(_fields(braces, at, end, strings))
        elif (key := _KEY.match(source, at, end)) is not None:
            entry = BibEntry(key[1], kind, _fields(braces, key.end(), end, strings))
            entries.setdefault(entry.key, entry)
        at = end
    return entries


def _fields(braces: Braces, at: int, end: int, strings: dict[str, str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    while (match := _FIELD.match(braces.text, at, end)) is not None:
        value, at = _value(braces, match.end(), end, strings)
        fields.setdefault(match[1].lower(), " ".join(value.split()))
    return fields


def _value(braces: Braces, at: int, end: int, strings: dict[str, str]) -> tuple[str, int]:
    """A value: braces, quotes, a number or a string's name, several joined by ``#``."""
    text = braces.text
    parts: list[str] = []
    while at < end:
        while at < end and (text[at].isspace() or text[at] == "#"):
            at += 1
        if text[at : at + 1] == "{" and at in braces.closing:
            parts.append(text[at + 1 : braces.closing[at]])
            at = braces.closing[at] + 1
        elif text[at : at + 1] == '"':
            first = at = at + 1
            while at < end and text[at] != '"':
                at = braces.closing.get(at, at) + 1 if text[at] == "{" else at + 1
            parts.append(text[first : min(at, end)])
            at = min(at, end) + 1
        elif (word := _WORD.match(text, at, end)) is not None:
            parts.append(strings.get(word[0].lower(), word[0]))
            at = word.end()
        else:
            return "".join(parts)[:_LONGEST], at + 1
        rest = re.compile(r"\s*#").match(text, at, end)
        if rest is None:
            break
    return "".join(parts)[:_LONGEST], at


def split_names(value: str) -> list[tuple[str, str]]:
    """Names of an author field as (first names, last name); 'others' stays a last name of its own."""
    names: list[tuple[str, str]] = []
    for name in re.split(r"\s+and\s+", value.strip()):
        if not name:
            continue
        parts = [part.strip() for part in _outside_braces(name, ",")]
        if len(parts) >= 2:
            names.append((" ".join(parts[:0:-1]).strip(), parts[0]))
            continue
        words = _outside_braces(name, " ")
        lower = next((i for i, w in enumerate(words[:-1]) if i and w[:1].islower()), len(words) - 1)
        names.append((" ".join(words[:lower]), " ".join(words[lower:])))
    return names


def _outside_braces(text: str, mark: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == mark and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [part for part in [*parts, current] if part.strip()]
