"""How reviewers write: PRAIB's behaviour metrics, to the digit of this project's reading of the paper."""

from __future__ import annotations

from referee.evals.behaviour.citation_cache import CitationCache
from referee.evals.behaviour.citation_check import Checked, Record, Unresolved, check_citation, counted
from referee.evals.behaviour.citation_online import OnlineResolver, online_resolver
from referee.evals.behaviour.citation_records import FixtureResolver
from referee.evals.behaviour.citations import Citation, formal_citations
from referee.evals.behaviour.cross_references import CrossReferences, Target, cross_references, xref_bin, xref_density
from referee.evals.behaviour.informal_citations import InformalCitations, informal_citations
from referee.evals.behaviour.many import measure_texts
from referee.evals.behaviour.mathematics import Conditional, conditional_engagement, engages
from referee.evals.behaviour.readability import Readability, readability
from referee.evals.behaviour.results import Diversity, TextMetrics, text_metrics
from referee.evals.behaviour.syllables import Syllables, backend
from referee.evals.behaviour.text import clean, review_text
from referee.evals.behaviour.tokens import mattr, tokens, ttr

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
