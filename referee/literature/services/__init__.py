"""Bibliographic services: how each is asked for a work or searched, and how its answers read. One service a file."""

from referee.literature.services.arxiv import ARXIV, Arxiv
from referee.literature.services.crossref import CROSSREF, Crossref
from referee.literature.services.dblp import DBLP, Dblp
from referee.literature.services.openalex import OPENALEX, OpenAlex
from referee.literature.services.semantic_scholar import SEMANTIC_SCHOLAR, SemanticScholar
from referee.literature.services.source import ROWS, Searched, Source

__all__ = [
    "ARXIV",
    "CROSSREF",
    "DBLP",
    "OPENALEX",
    "ROWS",
    "SEMANTIC_SCHOLAR",
    "Arxiv",
    "Crossref",
    "Dblp",
    "OpenAlex",
    "Searched",
    "SemanticScholar",
    "Source",
]
