"""Syllables of a word, by one of three backends; a readability score is comparable within one backend only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from referee.errors import DataError, EvaluationError
from referee.evals.behaviour.hyphenation import Hyphenation
from referee.runs.files import refuse_special_file

BackendName = Literal["pyphen", "cmu", "rule"]
CACHED = 1 << 17
"""Words, and chunks as they stand in texts, whose syllables are kept: some 20 MB each."""

_NOT_WORD = re.compile(r"[^\w\s]")
_AROUND = re.compile(r"^\W+|(?<=\w)\W+$")
_NOT_IN_WORD = re.compile(r"[^\w'’]")
_VOWELS = re.compile(r"[aeiouy]+")
_ENTRY = re.compile(r"(?P<word>[^\s(]+)(?P<variant>\(\d+\))?\s+(?P<phones>.+)")


@dataclass(frozen=True, slots=True)
class Syllables:
    """Counts syllables; ``id`` tells scores of different backends apart and is stored with each score.

    ``count`` takes what stands between blanks in a text, and answers at least 1 for a word, 0 for marks alone.
    """

    id: str
    count: Callable[[str], int]


def backend(name: BackendName = "pyphen", dictionary: Path | None = None) -> Syllables:
    """A backend by its name.

    Args:
        name: ``pyphen``: hyphenation points of American English and one more. ``cmu``: vowels in the first
            pronunciation of a dictionary file, else as ``pyphen``. ``rule``: groups of vowels, less a silent final e.
        dictionary: The file for ``cmu``, in the layout of the CMU Pronouncing Dictionary; none comes with this package.

    Raises:
        EvaluationError: The name is unknown, or a dictionary is missing or not taken.
        DataError: The dictionary cannot be read, or holds no entry.
    """
    if name not in ("pyphen", "cmu", "rule"):
        raise EvaluationError(f"there is no syllable backend {name!r}.", hint="Use pyphen, cmu or rule.")
    if (name == "cmu") != (dictionary is not None):
        raise EvaluationError(
            f"syllable backend {name!r} {'needs' if name == 'cmu' else 'takes no'} dictionary file.",
            hint="Give a dictionary with backend cmu, and only there.",
        )
    return _cmu(dictionary) if dictionary is not None else _plain(name)


@lru_cache(maxsize=2)
def _plain(name: BackendName) -> Syllables:
    return _pyphen() if name == "pyphen" else Syllables("rule", _of_chunks(_by_rule))


def _of_chunks(of_word: Callable[[str], int]) -> Callable[[str], int]:
    """Counts for chunks between blanks, by a count for words in small letters without marks but apostrophes."""
    known = lru_cache(CACHED)(of_word)

    @lru_cache(CACHED)
    def count(chunk: str) -> int:
        word = _AROUND.sub("", chunk)
        return known(_NOT_IN_WORD.sub("", word).lower()) if word else 0

    return count


def _pyphen() -> Syllables:
    hyphenation = Hyphenation("en_US")

    def count(word: str) -> int:
        return hyphenation.points(_NOT_WORD.sub("", word)) + 1

    return Syllables("pyphen-en_US", _of_chunks(count))


def _by_rule(word: str) -> int:
    letters = _NOT_WORD.sub("", word)
    groups = len(_VOWELS.findall(letters))
    silent = letters.endswith("e") and len(letters) > 1 and letters[-2] not in "aeiouy"
    return max(1, groups - silent)


@lru_cache(maxsize=2)
def _cmu(path: Path) -> Syllables:
    refuse_special_file(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"the pronouncing dictionary {str(path)!r} cannot be read: {error.strerror}.", hint="Check the path."
        ) from error
    known = _pronounced(content.decode("utf-8", errors="replace"))
    if not known:
        raise DataError(
            f"{str(path)!r} holds no pronunciation.", hint="Lines read: a word, blanks, phones with stress digits."
        )
    fallback = backend("pyphen").count

    def count(word: str) -> int:
        plain = word.replace("’", "'")
        found = known.get(plain) or known.get(_NOT_WORD.sub("", plain))
        return found if found is not None else fallback(word)

    digest = hashlib.sha256(content).hexdigest()[:12]
    return Syllables(f"cmu-{digest}", _of_chunks(count))


def _pronounced(content: str) -> dict[str, int]:
    """Vowels, the phones that carry a stress digit, of each word's first pronunciation."""
    known: dict[str, int] = {}
    for line in content.splitlines():
        entry = None if line.startswith(";;;") else _ENTRY.fullmatch(line.partition("#")[0].strip())
        if entry is not None and not entry["variant"]:
            vowels = sum(phone[-1].isdigit() for phone in entry["phones"].split())
            known.setdefault(entry["word"].lower(), max(1, vowels))
    return known
