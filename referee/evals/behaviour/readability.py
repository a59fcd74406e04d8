"""Flesch reading ease and Flesch-Kincaid grade, with who counts syllables."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from referee.errors import DataError, EvaluationError
from referee.machine import refuse_special_file


class Hyphenation:
    """Counts the points of hyphenation of words: Liang's algorithm over the patterns of one language.

    pyphen looks up every substring of a word; here a substring that begins no pattern ends the search from its first
    letter. Nothing is kept of the words.

    Args:
        language: As pyphen names it.

    Source: Liang, "Word Hy-phen-a-tion by Com-put-er", 1983.
    """

    def __init__(self, language: str) -> None:
        import pyphen

        library = pyphen.Pyphen(lang=language)
        self._left, self._right = library.left, library.right
        # The places and weights of a pattern by its letters; none for letters that only begin one.
        self._known: dict[str, tuple[tuple[int, int], ...]] = {}
        for letters, (start, weights) in library.hd.patterns.items():
            self._known[letters] = tuple((place, int(weight)) for place, weight in enumerate(weights, start) if weight)
            for end in range(1, len(letters)):
                self._known.setdefault(letters[:end], ())

    def points(self, word: str) -> int:
        """How many points a word has, as pyphen counts them.

        Args:
            word: In small letters.
        """
        framed = f".{word}."
        length = len(framed)
        weights = [0] * (length + 1)
        look_up = self._known.get
        for begin in range(length - 1):
            for end in range(begin + 1, length + 1):
                found = look_up(framed[begin:end])
                if found is None:
                    break
                for place, weight in found:
                    if weight > weights[begin + place]:
                        weights[begin + place] = weight
        return sum(weight & 1 for weight in weights[self._left + 1 : len(word) - self._right + 2])


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


NO_WORDS = "the text holds no word"

_SENTENCE = re.compile(r"\w[^\s.!?]*+((?:\s[^\w.!?]*+\w[^\s.!?]*+){2})?[^.!?]*+")
"""A run up to a stop; what it captures shows that it has three words."""


class Readability(NamedTuple):
    """What readability is made of, and both scores; null where the text holds no word.

    ``fre`` is higher for easier texts and not clipped to 0..100; ``fkg`` is a school year.
    """

    words: int
    sentences: int
    syllables: int
    fre: float | None
    fkg: float | None


def readability(text: str, syllables: Syllables | None = None) -> Readability:
    """Both scores of a text.

    A word is what stands between blanks once punctuation is deleted, if anything is left. A sentence is a run up to
    ``.``, ``!`` or ``?`` with more than two words; line ends, bullets and colons end none, and a text with words has
    at least one.

    Args:
        text: One view of a review.
        syllables: The backend; ``pyphen`` by default.

    Source: Flesch 1948; Kincaid et al. 1975; the counts of textstat 0.7, which deletes apostrophes too.
    """
    counts = list(map((syllables or backend()).count, text.split()))
    return scored(len(counts) - counts.count(0), sentences(text), sum(counts))


def sentences(text: str) -> int:
    """Sentences with more than two words, at least 1; 0 for a text without words."""
    found = _SENTENCE.findall(text)
    return max(1, sum(map(bool, found))) if found else 0


def scored(words: int, sentences: int, syllables: int) -> Readability:
    """The scores that belong to three counts.

    FRE = 206.835 - 1.015 W/S - 84.6 Sy/W; FKG = 0.39 W/S + 11.8 Sy/W - 15.59.
    """
    if not words:
        return Readability(0, 0, 0, None, None)
    length, per_word = words / sentences, syllables / words
    ease = 206.835 - 1.015 * length - 84.6 * per_word
    grade = 0.39 * length + 11.8 * per_word - 15.59
    return Readability(words, sentences, syllables, ease, grade)
