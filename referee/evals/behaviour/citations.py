"""What a review cites: formal references in APA, MLA or IEEE style, and works that are named informally."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from referee.literature.references import ARXIV_ID
from referee.literature.titles import normalised_title

Style = Literal["apa", "mla", "ieee"]

_S = r"[A-Z][\w'’\-]+"
_I = r"(?:[A-Z]\.[\s-]?)+"
_F = r"[A-Z][\w.'’\-]*"
_A = rf"{_I}{_S}"
_Y = r"(?:19|20)\d{2}"
_LONGEST_AUTHORS = 2000
_AFTER = 200
YEAR = re.compile(_Y)
DOI = re.compile(r"(?<![\w.])10\.\d{4,9}/[^\s\"<>“”]*[\w/)]")


class _Grammar(NamedTuple):
    """A style in two parts that meet at ``anchor``: the authors end where the rest begins."""

    style: Style
    anchor: re.Pattern[str]
    authors: re.Pattern[str]
    rest: re.Pattern[str]


_APA = _Grammar(
    "apa",
    re.compile(rf"\({_Y}[a-z]?\)\.\s"),
    re.compile(rf"(?P<authors>{_S},\s{_I}(?:(?:,\s(?:&\s)?|\s&\s){_S},\s{_I})*(?:,?\s?et\sal\.)?)\s*\Z"),
    re.compile(rf"\((?P<year>{_Y})[a-z]?\)\.\s(?P<title>[^.?!\n]{{8,300}}[.?!])"),
)
_MLA = _Grammar(
    "mla",
    re.compile(r'\.\s["“]'),
    re.compile(rf"(?P<authors>{_S},\s{_F}(?:\s{_F})*(?:,\s(?:and\s)?{_F}(?:\s{_F})+)*(?:,\set\sal)?)\Z"),
    re.compile(rf'\.\s["“](?P<title>[^"”\n]{{8,300}}?)[.,?!]?["”]\s*(?P<venue>[^\n]{{2,200}}?)[,\s(]+(?P<year>{_Y})\b'),
)
_IEEE = re.compile(
    rf"\[(?P<num>\d{{1,3}})\]\s*(?P<authors>{_A}(?:(?:,\s(?:and\s)?|\sand\s){_A})*(?:,?\set\sal\.)?),?\s"
    rf'["“](?P<title>[^"”\n]{{8,300}}?)[,.?!]?["”]\s*(?P<venue>[^\n]{{0,200}}?)\b(?P<year>{_Y})\b'
)
_SURNAME = re.compile(_S)
_IEEE_SURNAME = re.compile(rf"{_I}(?P<surname>{_S})")


class Citation(NamedTuple):
    """A reference as the review gives it.

    ``surname`` is the first author's, ``text`` the passage that the style's grammar takes; ``doi`` and ``arxiv`` are
    ids in it or on the rest of its line, empty where there is none.
    """

    style: Style
    text: str
    authors: str
    surname: str
    title: str
    year: int
    start: int
    doi: str = ""
    arxiv: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What the first author is called; one of it must be among a work's authors."""
        return (self.surname,)

    @property
    def end(self) -> int:
        """Where the passage ends."""
        return self.start + len(self.text)


def formal_citations(text: str) -> tuple[Citation, ...]:
    """The references of a text, in order, each title once.

    Where two styles take overlapping passages the longer one counts. Authors are looked for in the 2,000 characters
    before a title, so that no text takes more than linear time. Recall is low by design: "Vaswani et al. (2017)" is
    an informal mention.

    Source: PRAIB, whose printed expressions are corrupted; the grammar is this project's reading of them.
    """
    quoted = '"' in text or "“" in text
    found: list[Citation] = []
    if ")." in text:
        found += _split(text, _APA)
    if quoted:
        found += _split(text, _MLA)
    if quoted and "[" in text:
        found += _ieee(text)
    return _each_once(_longest(found)) if found else ()


def _split(text: str, grammar: _Grammar) -> Iterator[Citation]:
    """Matches of authors and rest, as one expression would find them from left to right."""
    done = 0
    for anchor in grammar.anchor.finditer(text):
        if anchor.start() < done:
            continue
        rest = grammar.rest.match(text, anchor.start())
        if rest is None:
            continue
        authors = grammar.authors.search(text, max(done, anchor.start() - _LONGEST_AUTHORS), anchor.start())
        if authors is not None:
            done = rest.end()
            surname = _SURNAME.match(authors["authors"])
            yield _citation(grammar.style, text, authors, rest, surname.group() if surname else "")


def _ieee(text: str) -> Iterator[Citation]:
    for found in _IEEE.finditer(text):
        surname = _IEEE_SURNAME.match(found["authors"])
        yield _citation("ieee", text, found, found, surname["surname"] if surname else "")


def _citation(style: Style, text: str, authors: re.Match[str], rest: re.Match[str], surname: str) -> Citation:
    line_end = text.find("\n", rest.end(), rest.end() + _AFTER)
    around = text[authors.start() : rest.end() + _AFTER if line_end < 0 else line_end]
    doi, arxiv = DOI.search(around), ARXIV_ID.search(around)
    return Citation(
        style=style,
        text=text[authors.start() : rest.end()],
        authors=authors["authors"],
        surname=surname,
        title=rest["title"],
        year=int(rest["year"]),
        start=authors.start(),
        doi=doi.group().lower() if doi else "",
        arxiv=arxiv["id"].lower() if arxiv else "",
    )


def _longest(found: Iterable[Citation]) -> list[Citation]:
    """Of passages that overlap the longest, in the order of the text."""
    kept: list[Citation] = []
    for candidate in sorted(found, key=lambda one: (-len(one.text), one.start, one.style)):
        if all(candidate.end <= other.start or candidate.start >= other.end for other in kept):
            kept.append(candidate)
    return sorted(kept, key=lambda one: one.start)


def _each_once(found: Iterable[Citation]) -> tuple[Citation, ...]:
    by_title: dict[str, Citation] = {}
    for one in found:
        by_title.setdefault(normalised_title(one.title) or one.text, one)
    return tuple(by_title.values())


_YEAR = re.compile(r"(?:19|20)\d{2}[a-z]?(?!\w)")
_AUTHORS = re.compile(rf"(?<!\w){_S}(?:\s(?:and|&)\s{_S}|,?\set\sal\.?)?(?:,\s?|\s?\(|\s)\Z")
_BARE = re.compile(rf"{_S}(?:,\s?|\s)\Z")
_LONGEST_NAMED = 80
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
    ids = ARXIV_ID.finditer(text) if "arx" in text.lower() else ()
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
    authors = _AUTHORS.search(text, max(0, year - _LONGEST_NAMED), year)
    if authors is None:
        return False
    name = authors.group()
    if _VENUES.match(name):
        return False
    return not _BARE.fullmatch(name) or _in_parentheses(text, authors.start(), year)


def _in_parentheses(text: str, start: int, year: int) -> bool:
    """Whether "(Kingma, 2015)" or "(Devlin et al., 2018; Brown, 2020)" is meant, and not "(Table 2010)"."""
    before = text[max(0, start - _LONGEST_NAMED) : start].rstrip()
    return before.endswith(("(", "[", ";")) and "," in text[start:year]
