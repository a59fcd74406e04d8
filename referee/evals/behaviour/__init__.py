"""How reviewers write: PRAIB's behaviour metrics, to the digit of this project's reading of the paper."""

from __future__ import annotations

from referee.evals.behaviour.citation_check import Checked, FixtureResolver, Record, Unresolved, check_citation, counted
from referee.evals.behaviour.citation_online import CitationCache, OnlineResolver, online_resolver
from referee.evals.behaviour.citations import Citation, InformalCitations, formal_citations, informal_citations
from referee.evals.behaviour.cross_references import CrossReferences, Target, cross_references, xref_bin, xref_density
from referee.evals.behaviour.mathematics import Conditional, conditional_engagement, engages
from referee.evals.behaviour.readability import Readability, Syllables, backend, readability
from referee.evals.behaviour.results import Diversity, TextMetrics, measure_texts, text_metrics
from referee.evals.behaviour.text import clean, mattr, review_text, tokens, ttr

__all__ = [
    "Checked",
    "Citation",
    "CitationCache",
    "Conditional",
    "CrossReferences",
    "Diversity",
    "FixtureResolver",
    "InformalCitations",
    "OnlineResolver",
    "Readability",
    "Record",
    "Syllables",
    "Target",
    "TextMetrics",
    "Unresolved",
    "backend",
    "check_citation",
    "clean",
    "conditional_engagement",
    "counted",
    "cross_references",
    "engages",
    "formal_citations",
    "informal_citations",
    "mattr",
    "measure_texts",
    "online_resolver",
    "readability",
    "review_text",
    "text_metrics",
    "tokens",
    "ttr",
    "xref_bin",
    "xref_density",
]
