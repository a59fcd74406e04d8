"""Entries of a bibliography taken apart by rules: label, authors, year, title, DOI; null rather than a guess."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from referee.papers.pieces import Entry

Spans = Sequence[tuple[int, int]]

_LABEL = re.compile(r"\s*(?:\[(?P<bracket>[^\]\s]{1,20})\]|(?P<number>\d{1,3})[.)])\s+|[-*+•]\s+")
_YEAR = re.compile(r"(?<![\d.:/–-])(?:1[6-9]|20)\d{2}(?=[a-z]?(?:[^\d–-]|$))(?!\.\d)")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`]+", re.IGNORECASE)
# A paragraph may be very long; heads of more than a hundred authors are rare.
_HEAD, _OPENING = 2000, 400
_NEW_ENTRY = re.compile(r"^\s*(?:\[[^\]\s]{1,20}\]|\d{1,3}[.)]|[-*+•])\s+\S")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
# The year of 'Lo et al. 2020. Title' or 'Lo, A. (2020, May 3). Title'.
_HEAD_YEAR = re.compile(
    rf"[\s(\[]\(?(?:(?P<year>(?:1[6-9]|20)\d{{2}})(?:[a-z]|[–/-]\d+)?(?:,? (?:(?:{_MONTHS})[^).]*)?)?|n\. ?d\.)"
    r"[)\]]?[.,:;]?\s+"
)
_PARTICLES = "de|la|le|der|den|van|von|di|da|dos|du|del|ten|ter|el|bin"
_LINKS = rf"and|und|[ey]|&|et|al|{_PARTICLES}|[eE]ds?|the|for|of|on|team|others|…"
_NAME = re.compile(rf"(?:[^\W\d_a-z]\S*|{_LINKS}|\.\.\.)[\].,;:)]*")
# 'A. B. van Name' and 'van Name AB' or 'Name, A. B.', one behind the other.
_SURNAME = rf"(?:(?:{_PARTICLES})\s)*[^\W\d_a-z][\w'’´`¨-]+"
_INITIAL = r"[^\W\d_a-z]\.(?:[\s-]?[^\W\d_a-z]\.)*+"
_FIRST = rf"{_INITIAL}\s?{_SURNAME}(?:\s{_SURNAME})?(?=[\s,.:])"
_LAST = rf"{_SURNAME}(?:[\s-]{_SURNAME})?,?\s(?:{_INITIAL}|[^\W\d_a-z](?![^\s,;:])|[^\W\d_a-z]{{2,3}}(?![^\s,;.:]))"
_BETWEEN = r"\s*(?:[,;]\s*(?:and\s|&\s)?|(?:and|&)\s)\s*"
_ET_AL = r",?\s*(?:and others|et al)\b\.?(?:\s*[(\[][^)\]]{3,60}[)\]])?[.,:;]*\s+"
_NAMES = re.compile(
    "|".join(
        rf"{name}(?:{_BETWEEN}{name})*+(?:{_ET_AL}|[.,:;]*(?<=[.,:;])\s+(?!et al|{_SURNAME}(?:,| and)\s))"
        for name in (_FIRST, _LAST)
    )
)
_INITIALS = re.compile(r"(?:[A-ZÀ-Þ]\.?[-\s]?){1,4}")
_ORGANISATION = re.compile(
    r"(?:The |\d+ )?[A-Z][\w\s&'’-]{1,80}(?:Collaboration|Consortium|Team|Group)(?:\s[IVXL]+)?|[A-Z]\w*[A-Z]"
)
_QUOTED = re.compile(
    r"[“\"„](?P<title>[^”“\"]{8,300}?)[,.]?[”\"]|(?<!\w)[‘`]{1,2}(?P<single>[A-Z][^’']{20,}?)[,.]?[’']{1,2}(?!\w)"
)
# A full stop that ends no sentence.
_ABBREVIATED = re.compile(
    r"(?:^|[\s(.])(?:[A-Z]|[IVXL]+|vs|al|cf|e\.g|i\.e|eds?|Dr|St|No|vol|pp|approx|spp?|var|ver|Inc|Ltd|Mr|Vs)$"
)
_STOP = re.compile(r"[.?!]['”\"’]?\s+(?![IVXL]+[.:] )(?=[^\W_a-z]|[(\[“\"]|in\b|arXiv|http|doi)")
_COMMA = re.compile(r",\s+(?=[Ii]n[: ]|[A-ZÀ-Þ][a-z]*\.? |[A-Z][\w.]*,? \d|arXiv|vol|Ph\.?D|http|\d{4})")
# The end of the names: a full stop or colon behind a name, or behind initials; a comma may part two of them.
_NAMES_END = re.compile(r"[^\W\d_]{2}[^.\s]*\.$|\b[A-Z]{1,3}:$|[.)]:$")
_VENUE_FOLLOWS = re.compile(r"[.,?!”\"]\s*(?:[Ii]n:?\s*|[Ee]n:?\s*|,\s*)?$")
# What astronomy, physics and chemistry print in a title's place: 'ApJ, 871, 12', 'Phys. Rev. Lett. 116', 'Science 360'.
_JOURNAL = re.compile(
    r"(?:[A-Z][\w.&–-]*\.,?\s+)+(?:[A-Z]\w*\.?,?\s+){0,4}[A-Z(]?\d|(?:[A-Z][\w&]*\.?,?\s+){1,7}[A-Z]?\d[\w()–-]*(?:[,:;.\s]+[A-Z]?\d.*)?$"
    r"|(?:[A-Z][\w&]*\.,?\s*){2,}$"
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2}|_)(?=\S)([^*\n]{1,300}?)(?<=\S)\1(?![\w*])")
_SUBTITLE = re.compile(r"(?!In |Proceedings|Journal|Advances)\w+(?:[ -][^\W\d]+){2,}")
_VOLUME = re.compile(r",\s+volume\s+\d+$|\s*\([^()]*\bed(?:\.|n|ition)?[^()]*\)?$", re.IGNORECASE)
_SHORTEST = 8
_NAME_SHARE, _FEW_SHARE, _FEW_WORDS = 0.8, 0.6, 6
_NO_END = ("al.", "Jr.", "St.", "eds.", "Eds.")


def looks_like_entry(text: str) -> bool:
    """Whether a paragraph could be an entry: a year or a DOI, and enough letters to name a work."""
    return sum(map(str.isalpha, text)) >= 20 and bool(_YEAR.search(text) or _DOI.search(text))


def starts_entry(line: str) -> bool:
    """Whether a line opens an entry by a printed label ('[7]', '7.') or a list bullet."""
    return bool(_NEW_ENTRY.match(line))


def opens_like_entry(text: str) -> bool:
    """Whether a text opens with authors and a year ('Lo et al. 2020. Title'), as entries without a label do."""
    return _dated_head(" ".join(text[:_OPENING].split())) is not None


def parse_entry(text: str, italic: Spans = ()) -> Entry:
    """Parse one entry as printed.

    Years inside arXiv identifiers, page ranges and DOIs are not taken. The title is the quoted part, or what follows
    the year behind the names, or the names, to the end of the sentence or to where a venue begins in italics; null
    when none fits.

    Args:
        text: With its label or without; Markdown's emphasis counts as italics.
        italic: Where the text is in italics, as far as a reader knows.
    """
    if not italic and _EMPHASIS.search(text):
        text, italic = _without_emphasis(text)
    match = _LABEL.match(text)
    label = (match["bracket"] or match["number"]) if match else None
    at = match.end() if match else len(text) - len(text.lstrip())
    body = text[at:].rstrip()
    if re.search(r"\s\s|[^\S ]", body):  # patterns with a blank in them take quadratic time on very many
        body, italic = " ".join(body.split()), ()
    head, start = _head(body)
    title = _title(body, head, start, [(a - at, b - at) for a, b in italic])
    doi = _DOI.search(body)
    return Entry(
        label=label,
        authors=_split_authors(body[:head]),
        title=_VOLUME.sub("", title) if title else None,
        year=_year(body),
        doi=doi[0].rstrip(".,;)") if doi else None,
    )


def _without_emphasis(text: str) -> tuple[str, Spans]:
    """A text without the signs of Markdown's emphasis, and where it was emphasised."""
    plain, italic, at = "", [], 0
    for match in _EMPHASIS.finditer(text):
        plain += text[at : match.start()]
        italic.append((len(plain), len(plain) + len(match[2])))
        plain, at = plain + match[2], match.end()
    return plain + text[at:], italic


def _year(body: str) -> int | None:
    """The year of an author-year head, else the last one printed outside of DOIs and links."""
    head = _dated_head(body)
    if head and head["year"]:
        return int(head["year"])
    years = _YEAR.findall(re.sub(r"https?://\S+", " ", _DOI.sub(" ", body)))
    return int(years[-1]) if years else None


def _dated_head(body: str) -> re.Match[str] | None:
    """The year that stands behind the names; nothing where other words stand before it."""
    match = _HEAD_YEAR.search(body[:_HEAD])
    words = body[: match.start()].split() if match else []
    names = sum(_NAME.fullmatch(word) is not None for word in words)
    if not match or not words or any(_NAMES_END.search(word) for word in words[:-1] if word not in _NO_END):
        return None
    marked = "(" in match[0] or match[0].rstrip()[-1] in ".:," or words[-1][-1] in ".,"
    if not marked and not re.fullmatch(r"al\.?|[A-Z]{1,3}", words[-1]):  # 'Design of the 2016 process' is no head
        return None
    share = _FEW_SHARE if len(words) <= _FEW_WORDS and match[0].rstrip()[-1] in ".:" else _NAME_SHARE
    return match if names and names >= share * len(words) else None


def _head(body: str) -> tuple[int, int]:
    """Where the names end and where the title begins; (0, 0) where that cannot be told."""
    if quoted := _QUOTED.search(body):
        return quoted.start(), quoted.start()
    if (match := _dated_head(body)) and _WORD.search(body, match.end()):
        return match.start(), match.end()
    if (match := _ORGANISATION.match(body)) and body[match.end() : match.end() + 2] == ". ":
        return match.end(), match.end() + 2
    if match := _NAMES.match(body):
        return match.end(), match.end()
    words = list(re.finditer(r"\S+", body[:_HEAD]))
    odd = next((i for i, word in enumerate(words) if not _NAME.fullmatch(word[0])), len(words))
    ends = [words[i].end() for i in range(min(odd, len(words) - 1)) if words[i][0][-1] in ".,;:"]
    firm = [words[i].end() for i in range(min(odd, len(words) - 1)) if _NAMES_END.search(words[i][0])]
    last = next(iter(firm), ends[-1] if ends else 0)
    return last, last + bool(last)


def _title(body: str, head: int, start: int, italic: Spans) -> str | None:
    """The title that begins at ``start``: to the end of its sentence, or to the venue in italics behind it."""
    if not start and not _QUOTED.match(body):
        return None
    if quoted := _QUOTED.match(body, start):
        return (quoted["title"] or quoted["single"]).strip(" ,.")
    rest = body[start:]
    venue = next((a - start for a, _ in italic if a > start + _SHORTEST and _VENUE_FOLLOWS.search(body[:a])), None)
    end = _title_end(rest, comma=body[:start].rstrip().endswith(","))
    if venue is not None and (venue < end or len(rest[end:venue].split()) < 4):
        end = venue
    title = re.sub(r"(?<=[.,?!])\s*(?:[Ii]n|[Ee]n):?$", "", rest[:end].strip()).strip(" .,;")
    journal = _JOURNAL.match(rest) or _JOURNAL.match(title)
    return title if _WORD.search(title) and not journal else None


def _title_end(rest: str, comma: bool) -> int:
    """Where the sentence at the beginning of a text ends, or its part before a comma that a venue follows.

    A question goes on where another sentence in words follows it, and then a third.
    """
    stops = list(_STOP.finditer(rest)) + (list(_COMMA.finditer(rest)) if comma else [])
    stops.sort(key=lambda one: one.start())
    for stop, after in zip_longest(stops, stops[1:]):
        before, sign = rest[: stop.start()], rest[stop.start()]
        if sign == "." and (_ABBREVIATED.search(before) or " " not in before):
            continue
        if sign in "?!" and after and _SUBTITLE.fullmatch(rest, stop.end(), after.start()):
            continue
        return stop.start() + (sign in "?!")
    return len(rest)


def _split_authors(head: str) -> tuple[str, ...]:
    names: list[str] = []
    for part in re.split(r",?\s+(?:and|&|und|et(?!\s+al)|[ey](?=\s+[A-Z]))\s+|[;,]\s+|[，；、]\s*", head):
        name = part.strip(" .,;:(")
        if names and _INITIALS.fullmatch(name) and not _INITIALS.fullmatch(names[-1]) and "," not in names[-1]:
            names[-1] = f"{names[-1]}, {part.strip(' ,;:(')}"
        elif len(name) > 1 and any(map(str.isalpha, name)):
            names.append(name)
    return tuple(names)
