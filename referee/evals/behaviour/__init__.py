"""How reviewers write: PRAIB's behaviour metrics, to the digit of this project's reading of the paper."""

from __future__ import annotations

from referee.evals.behaviour.citations import Citation, InformalCitations, formal_citations, informal_citations
from referee.evals.behaviour.cross_references import CrossReferences, Target, cross_references, xref_bin, xref_density
from referee.evals.behaviour.mathematics import Conditional, conditional_engagement, engages
from referee.evals.behaviour.readability import Readability, Syllables, backend, readability
from referee.evals.behaviour.results import Diversity, TextMetrics, measure_texts, text_metrics
from referee.evals.behaviour.text import clean, mattr, review_text, tokens, ttr

__all__ = [
    "Citation",
    "Conditional",
    "CrossReferences",
    "Diversity",
    "InformalCitations",
    "Readability",
    "Syllables",
    "Target",
    "TextMetrics",
    "backend",
    "clean",
    "conditional_engagement",
    "cross_references",
    "engages",
    "formal_citations",
    "informal_citations",
    "mattr",
    "measure_texts",
    "readability",
    "review_text",
    "text_metrics",
    "tokens",
    "ttr",
    "xref_bin",
    "xref_density",
]
