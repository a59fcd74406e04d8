"""Modest parsing of bibliography entries: label, authors, year, title, DOI; null rather than a guess."""

from __future__ import annotations

import re
from dataclasses import replace

from referee.papers.pieces import Entry

_LABEL = re.compile(r"^\s*(?:\[(?P<bracket>[^\]\s]{1,20})\]|(?P<number>\d{1,3})[.)])\s+")
_YEAR = re.compile(r"(?<![\d.:/])(?:1[6-9]|20)\d{2}(?=[a-z]?(?:[^\d]|$))")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`]+", re.IGNORECASE)
_AUTHOR_YEAR = re.compile(
    r"^(?P<authors>.+?)[.,]?\s+\(?(?P<year>(?:1[6-9]|20)\d{2})[a-z]?\)?[.,:]\s+(?P<rest>.+)$", re.DOTALL
)
_VOLUME = re.compile(r",\s+volume\s+\d+$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[\w)”’!?])(?<!\bvs)[.!?]\s")
_QUOTED = re.compile(r"[“\"](?P<title>[^”\"]{8,300}?)[,.]?[”\"]")
# An organisation as the author, to its full stop: 'OpenAI.', 'Planck Collaboration VI.'
_ORGANISATION = re.compile(
    r"(?P<name>[A-Z]\w+[A-Z]|[A-Z][\w\s&'’-]{1,80}?(?:Collaboration|Consortium|Team|Group)(?:\s[IVXL]+)?)\.\s+(?=[A-Z\d])"
)
_PART = re.compile(r"[IVXL]+[.:]\s+[^.]+")
# As physics prints them: 'G. Aad et al., Title, Phys. Lett. B 716, 1 (2012).', where the title may be left away.
_JOURNAL_END = re.compile(r",\s+[A-Z][^,]*?\s\d+,\s+[\w–-]+\s+\((?:1[6-9]|20)\d{2}\)\.?$")
_INITIALS = re.compile(r"(?:and\s+)?(?:[A-Z]\.[\s-]?)+[^\W\d_]|.*\b(?:et al\.?|Collaboration|Group)\)?$")
_FEWEST_WORDS = 3
# Longer heads of authors are rare, and a paragraph may be very long.
_HEAD = 400
_NEW_ENTRY = re.compile(r"^\s*(?:\[[^\]\s]{1,20}\]|\d{1,3}[.)]|[-*+•])\s+\S")


def looks_like_entry(text: str) -> bool:
    """Whether a paragraph could be an entry: a year or a DOI, and enough letters to name a work."""
    letters = sum(char.isalpha() for char in text)
    return letters >= 20 and bool(_YEAR.search(text) or _DOI.search(text))


def starts_entry(line: str) -> bool:
    """Whether a line opens an entry by a printed label ('[7]', '7.') or a list bullet."""
    return bool(_NEW_ENTRY.match(line))


def opens_like_entry(text: str) -> bool:
    """Whether a text opens with authors and a year ('Lo et al. 2020. Title'), as entries without a label do."""
    return _author_year(" ".join(text[:_HEAD].split())) is not None


def parse_entry(text: str) -> Entry:
    """Parse one entry as printed.

    Years inside arXiv identifiers, page ranges and DOIs are not taken. The title is the quoted part, or the sentence
    after an author-year head ('Lo et al. 2020. Title. Venue.'), or the sentence after the authors; null when none fits.
    """
    label_match = _LABEL.match(text)
    label = (label_match["bracket"] or label_match["number"]) if label_match else None
    body = re.sub(r"^[-*+•]\s+", "", text[label_match.end() :] if label_match else text.strip())
    body = " ".join(body.split())  # patterns with a blank in them take quadratic time on very many
    doi = _DOI.search(body)
    authors, title = _authors_and_title(body)
    return Entry(
        label=label,
        authors=authors,
        title=_VOLUME.sub("", title) if title else None,
        year=_year(body),
        doi=doi[0].rstrip(".,;)") if doi else None,
    )


def completed(entry: Entry, text: str) -> Entry:
    """A converter's entry, mended where the text itself says more.

    Where authors and year stand in front, the year is the one there, and not one of an arXiv id or a title behind it;
    so is the title, unless the converter's goes on where ours ends at a question mark.
    """
    body = " ".join(text.split())
    match = _author_year(body)
    title, year = entry.title, entry.year
    if match is not None:
        own = parse_entry(body).title
        year = int(match["year"])
        begins = own is not None and title is not None and title.startswith(own)
        title = title if own is None or begins else own
    return replace(entry, title=_VOLUME.sub("", title) if title else title, year=year)


def _year(body: str) -> int | None:
    """The year of an author-year head, else the last one printed outside of DOIs and links."""
    if match := _author_year(body):
        return int(match["year"])
    years = _YEAR.findall(re.sub(r"https?://\S+", " ", _DOI.sub(" ", body)))
    return int(years[-1]) if years else None


def _author_year(body: str) -> re.Match[str] | None:
    """'Lo et al. 2020. Title': authors, then the year; nothing when a sentence ends before the year."""
    match = _AUTHOR_YEAR.match(body)
    return match if match and not re.search(r"[a-z]{3}\.\s", match["authors"].replace("et al.", "")) else None


def _authors_and_title(body: str) -> tuple[tuple[str, ...], str | None]:
    if match := _QUOTED.search(body):
        return _split_authors(body[: match.start()]), match["title"].strip()
    if match := _author_year(body):
        title = _SENTENCE_END.split(match["rest"] + " ", maxsplit=1)[0].strip(" .")
        return _split_authors(match["authors"]), title or None
    if match := _ORGANISATION.match(body):
        return (match["name"],), _title_of_parts(body[match.end() :])
    if match := _JOURNAL_END.search(body[-_HEAD:]):
        return _of_physics(body[: len(body[:-_HEAD]) + match.start()])
    sentences = re.split(r"(?<=[a-z\d)])\.\s+(?=[A-Z]|arXiv\b)", body)
    if len(sentences) >= 3:
        return _split_authors(sentences[0]), sentences[1].strip(" .") or None
    return (), None


def _title_of_parts(text: str) -> str | None:
    """The first sentence, with the part of a series behind it: 'Planck 2018 results. VI. Cosmological parameters'."""
    first, *rest = _SENTENCE_END.split(text + " ", maxsplit=1)
    part = _PART.match(rest[0]) if rest else None
    return (f"{first}. {part[0]}" if part else first).strip(" .") or None


def _of_physics(head: str) -> tuple[tuple[str, ...], str | None]:
    """Names with initials first, divided by commas; what is left of the head is the title, where it has one."""
    parts = head.split(", ")
    names = next((n for n, part in enumerate(parts) if not _INITIALS.match(part)), len(parts))
    title = ", ".join(parts[names:]).strip(" .")
    return _split_authors(", ".join(parts[:names])), title if names and len(title.split()) >= _FEWEST_WORDS else None


def _split_authors(text: str) -> tuple[str, ...]:
    names = [name.strip(" .,;") for name in re.split(r",?\s+(?:and|&)\s+|[;,]\s+", text)]
    return tuple(name for name in names if len(name) > 1 and any(char.isalpha() for char in name))
