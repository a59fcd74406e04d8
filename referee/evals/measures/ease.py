"""How easily a review reads. Source: PRAIB, FRE and FKG; Flesch, 1948; Kincaid et al., 1975."""

from __future__ import annotations

from referee.evals.reading import Reading, ReadMetric


def _words_per_sentence(read: Reading) -> float | None:
    raw = read.text.raw
    return raw.words / raw.sentences if raw.sentences else None


def _syllables_per_word(read: Reading) -> float | None:
    raw = read.text.raw
    return raw.syllables / raw.words if raw.words else None


METRICS = (
    ReadMetric(
        "fre",
        "Flesch reading ease, view raw; higher is easier",
        unit="points",
        range=(None, 206.835),
        of=lambda read: read.text.raw.fre,
    ),
    ReadMetric(
        "fkg",
        "Flesch-Kincaid grade, view raw; a school year",
        unit="school years",
        range=(-15.59, None),
        of=lambda read: read.text.raw.fkg,
        variant_of="fre",
    ),
    ReadMetric(
        "fre_clean",
        "Flesch reading ease, view clean",
        unit="points",
        range=(None, 206.835),
        of=lambda read: read.text.clean.fre,
        variant_of="fre",
    ),
    ReadMetric(
        "fkg_clean",
        "Flesch-Kincaid grade, view clean",
        unit="school years",
        range=(-15.59, None),
        of=lambda read: read.text.clean.fkg,
        variant_of="fre",
    ),
    ReadMetric(
        "words_per_sentence",
        "as readability counts them, view raw",
        unit="words a sentence",
        of=_words_per_sentence,
    ),
    ReadMetric(
        "syllables_per_word",
        "as readability counts them, view raw",
        unit="syllables a word",
        of=_syllables_per_word,
    ),
)
