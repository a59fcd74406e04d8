"""Informal citations: authors with a year, arXiv ids and DOIs in running text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from referee.evals.behaviour.citations import ARXIV, DOI, Citation

_S = r"[A-Z][\w'’\-]+"
_YEAR = re.compile(r"(?:19|20)\d{2}[a-z]?(?!\w)")
_AUTHORS = re.compile(rf"(?<!\w){_S}(?:\s(?:and|&)\s{_S}|,?\set\sal\.?)?(?:,\s?|\s?\(|\s)\Z")
_BARE = re.compile(rf"{_S}(?:,\s?|\s)\Z")
_LONGEST_AUTHORS = 80
_VENUES = re.compile(
    r"(?:ICLR|NeurIPS|NIPS|ICML|CVPR|ICCV|ECCV|AAAI|IJCAI|ACL|NAACL|EACL|EMNLP|COLM|CoRL|TMLR|JMLR|KDD|WWW|SIGIR|UAI|"
    r"AISTATS|COLT|MICCAI|ICRA|IROS|RSS|INTERSPEECH|ICASSP|WACV|BMVC|TPAMI|WMT|SemEval|SIGGRAPH|CHI|CIKM|WSDM|ImageNet|"
    r"January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|"
    r"Aug|Sept?|Oct|Nov|Dec|Since|Until|Before|After|From|Between|During|By|In|Of|Around|Circa|Year|Copyright)\b"
)


class InformalCitations(NamedTuple):
    """How many mentions of each kind stand outside of formal citations."""

    author_year: int
    arxiv: int
    doi: int

    @property
    def total(self) -> int:
        """All of them; a mention in two forms counts twice."""
        return self.author_year + self.arxiv + self.doi


def informal_citations(text: str, formal: Iterable[Citation] = ()) -> InformalCitations:
    """Mentions of other work in running text; never part of PRAIB's number of citations.

    Args:
        text: The review, view ``raw``.
        formal: Its formal citations, whose passages are left out.
    """
    taken = [(one.start, one.end) for one in formal]

    def outside(at: int) -> bool:
        return not any(start <= at < end for start, end in taken)

    years = sum(_names_authors(text, year.start()) and outside(year.start()) for year in _YEAR.finditer(text))
    # The ids are rare and their expressions slow, so that a part which all of them hold is asked for first.
    ids = ARXIV.finditer(text) if "arx" in text.lower() else ()
    dois = DOI.finditer(text) if "10." in text else ()
    return InformalCitations(
        years,
        arxiv=len({found["id"].lower() for found in ids if outside(found.start())}),
        doi=len({found.group().lower() for found in dois if outside(found.start())}),
    )


def _names_authors(text: str, year: int) -> bool:
    """Whether authors stand right before a year; a name alone needs a parenthesis, lest "ICLR 2024" were one."""
    before = text[year - 1 : year]
    if before not in ("(", ",") and not before.isspace():
        return False
    authors = _AUTHORS.search(text, max(0, year - _LONGEST_AUTHORS), year)
    if authors is None:
        return False
    name = authors.group()
    if _VENUES.match(name):
        return False
    return not _BARE.fullmatch(name) or _in_parentheses(text, authors.start(), year)


def _in_parentheses(text: str, start: int, year: int) -> bool:
    """Whether "(Kingma, 2015)" or "(Devlin et al., 2018; Brown, 2020)" is meant, and not "(Table 2010)"."""
    before = text[max(0, start - _LONGEST_AUTHORS) : start].rstrip()
    return before.endswith(("(", "[", ";")) and "," in text[start:year]
