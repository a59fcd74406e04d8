"""All text metrics of one review."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from referee.evals.behaviour.citations import Citation, formal_citations
from referee.evals.behaviour.cross_references import Bin, CrossReferences, cross_references, xref_bin, xref_density
from referee.evals.behaviour.informal_citations import InformalCitations, informal_citations
from referee.evals.behaviour.mathematics import HEURISTIC, engages
from referee.evals.behaviour.readability import NO_WORDS, Readability, readability
from referee.evals.behaviour.syllables import Syllables, backend
from referee.evals.behaviour.text import clean
from referee.evals.behaviour.tokens import is_word, mattr, tokens

NO_TOKENS = "the text is empty"


class Diversity(NamedTuple):
    """Counts of tokens and types, profile ``praib``, and of those that are words, profile ``words``.

    ``mattr`` is of profile ``praib``, and null without tokens.
    """

    tokens: int
    types: int
    words: int
    word_types: int
    mattr: float | None

    @property
    def ttr(self) -> float | None:
        """Types over tokens, in (0, 1]; null without tokens."""
        return self.types / self.tokens if self.tokens else None

    @property
    def ttr_words(self) -> float | None:
        """The same of words alone."""
        return self.word_types / self.words if self.words else None


class TextMetrics(NamedTuple):
    """What is measured of a review's text without a model.

    ``characters`` are of the view ``raw``, as is all but ``clean``. ``syllables`` and ``mathematics`` name the
    backends. ``formal`` are PRAIB's citations, ``informal`` all others; the two are never added up.
    """

    characters: int
    diversity: Diversity
    raw: Readability
    clean: Readability
    references: CrossReferences
    formal: tuple[Citation, ...]
    informal: InformalCitations
    engages: bool
    syllables: str
    mathematics: str = HEURISTIC

    @property
    def status(self) -> Literal["scored", "not_applicable"]:
        """``not_applicable`` for a text without tokens."""
        return "scored" if self.diversity.tokens else "not_applicable"

    @property
    def reason(self) -> str:
        """Why values are null; empty where none is."""
        if not self.diversity.tokens:
            return NO_TOKENS
        return "" if self.raw.words and self.clean.words and self.diversity.words else NO_WORDS

    @property
    def xref_density(self) -> float | None:
        """Cross-references per 100 words; null without words."""
        return xref_density(self.references.xref, self.diversity.words)

    @property
    def xref_bin(self) -> Bin:
        """PRAIB's bin of the number of cross-references."""
        return xref_bin(self.references.xref)


def text_metrics(text: str, syllables: Syllables | None = None) -> TextMetrics:
    """All metrics of one review's text that need no model.

    Args:
        text: The review, view ``raw``.
        syllables: The backend of readability; ``pyphen`` by default.
    """
    chosen = syllables or backend()
    raw, plain = readability(text, chosen), clean(text)
    references = cross_references(text)
    formal = formal_citations(text)
    return TextMetrics(
        characters=len(text),
        diversity=diversity(text),
        raw=raw,
        clean=raw if plain == text else readability(plain, chosen),
        references=references,
        formal=formal,
        informal=informal_citations(text, formal),
        engages=engages(text, references),
        syllables=chosen.id,
    )


def diversity(text: str) -> Diversity:
    """The counts of one text, in both profiles."""
    items = tokens(text)
    times = Counter(items)
    words = [count for token, count in times.items() if is_word(token)]
    return Diversity(len(items), len(times), sum(words), len(words), mattr(items))
