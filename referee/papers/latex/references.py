r"""The bibliography from ``\bibitem`` or ``.bib`` files, and what references and citations in the text print."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from referee.papers.bibliography import parse_entry
from referee.papers.latex.bibtex import BibEntry, split_names
from referee.papers.latex.counters import Target
from referee.papers.latex.inline import BETWEEN, CLOSE, OPEN, Reading, key_text, text_of, tidy
from referee.papers.latex.nodes import arguments, children
from referee.papers.latex.scan import Braces, names
from referee.papers.pieces import Entry, Piece, cells_text

_NATBIB_LABEL = re.compile(r"^(?P<authors>.*?)\s*\((?P<year>[^()]*)\)(?P<full>.*)$", re.DOTALL)
_YEAR = re.compile(r"\d{4}[a-z]?")
_NUMERIC = frozenset(
    names("""plain abbrv unsrt ieeetr acm siam amsplain IEEEtran IEEEtranS splncs04 splncs03 splncs elsarticle-num
    unsrtnat spmpsci naturemag nature vancouver model1-num-names ACM-Reference-Format numeric numeric-comp ieee
    sn-mathphys-num jmlr-num ieee_fullname plainurl abbrvurl""")
)
_BY_CITATION = frozenset(names("unsrt ieeetr IEEEtran unsrtnat elsarticle-num naturemag nature ieee numeric-cited"))
_PLURAL = re.compile(
    r"\\(?P<one>(?:paren|text|auto|foot|smart|super|full)?[cC]ite|(?:Paren|Text|Auto|Smart)cite)s(?![a-zA-Z@])\s*"
    r"(?:\((?P<before>[^()]*)\)\s*(?=\())?(?:\((?P<after>[^()]*)\))?"
)


@dataclass(frozen=True)
class Source:
    """A cited work: the label that is printed, and author and year for citations in the text."""

    key: str
    text: str
    label: str | None
    authors: str
    year: str
    entry: Entry


@dataclass(frozen=True)
class Style:
    r"""How the paper cites.

    Attributes:
        numeric: By numbers or other labels in brackets; else by author and year.
        natbib: Whether ``\cite`` is natbib's, which prints 'Author (2020)' in an author-year style.
        by_citation: Whether entries made from ``.bib`` files stand in the order of their citation.
    """

    numeric: bool
    natbib: bool
    by_citation: bool


def citation_style(source: str) -> Style:
    """Read the style off the packages, their options and the bibliography style."""
    packages = {
        m[2].strip(): m[1] or "" for m in re.finditer(r"\\usepackage\s*(?:\[([^\]]*)\])?\s*\{([^{}]*)\}", source)
    }
    named = re.search(r"\\bibliographystyle\s*\{([^{}]*)\}", source)
    name = named[1].strip() if named else ""
    biblatex = packages.get("biblatex")
    if biblatex is not None:
        style = re.search(r"(?<![a-z])(?:cite)?style\s*=\s*([\w-]+)", biblatex)
        numeric = not style or not re.search("author|apa|mla|chicago|verbose", style[1])
        return Style(numeric, False, "sorting=none" in biblatex.replace(" ", ""))
    options = packages.get("natbib", "") + "," + ",".join(re.findall(r"\\setcitestyle\s*\{([^{}]*)\}", source))
    options += "," + ",".join(re.findall(r"\\PassOptionsToPackage\s*\{([^{}]*)\}\s*\{natbib\}", source))
    natbib = "natbib" in packages or bool(re.search(r"\\cite[tp]\b", source))
    by_number = bool(re.search(r"\b(?:numbers|super)\b", options))
    return Style(by_number or name in _NUMERIC or not (natbib or name), natbib, name in _BY_CITATION)


def with_single_cites(source: str) -> str:
    r"""The source with biblatex's commands for several works (``\autocites[3]{a}[4]{b}``) as one command a work."""
    braces = Braces(source)
    parts: list[str] = []
    at = 0
    for match in _PLURAL.finditer(source):
        parts += [source[at : match.start()], f"{match['before']} " if match["before"] else ""]
        at = match.end()
        works: list[str] = []
        while (end := _after_key(braces, at)) is not None:
            works.append(f"\\{match['one']}{source[at:end]}")
            at = end
        parts += [" ".join(works), f" {match['after']}" if match["after"] else ""]
    return "".join(parts) + source[at:]


def _after_key(braces: Braces, at: int) -> int | None:
    """The place after one work's two notes and its key."""
    for _ in range(2):
        at = (braces.bracket(at) or ("", at))[1]
    key = braces.group(at)
    return key[1] if key else None


def printed_sources(nodes: list[Any], reading: Reading, style: Style) -> list[Source]:
    r"""Entries of a ``thebibliography`` in its order."""
    found: list[tuple[str, str | None, list[Any]]] = []
    for node in nodes:
        if getattr(node, "macroname", "") == "bibitem" and arguments(node):
            given = arguments(node)
            label = text_of(given[0], reading, plain_math=True).strip("[]") if given[0] is not None else None
            found.append((key_text(given[1]).strip(), label, []))
        elif found:
            found[-1][2].append(node)
    sources: list[Source] = []
    for key, label, body in found:
        blocks = [tidy(text_of(part, reading)) for part in _new_blocks(body)]
        if any(blocks):
            sources.append(_printed(key, label, [part for part in blocks if part], len(sources) + 1, style))
    return sources


def _new_blocks(nodes: list[Any]) -> list[list[Any]]:
    r"""An entry's parts, which BibTeX styles set apart by ``\newblock``: authors, title, and the rest."""
    parts: list[list[Any]] = [[]]
    for node in nodes:
        if getattr(node, "macroname", "") == "newblock":
            parts.append([])
        else:
            parts[-1].append(node)
    return parts


def _printed(key: str, label: str | None, blocks: list[str], number: int, style: Style) -> Source:
    natbib = _NATBIB_LABEL.match(label) if label else None
    text = " ".join(blocks)
    entry = parse_entry(text)
    if len(blocks) >= 3:
        entry = replace(entry, title=blocks[1].strip(" ."))
    authors = natbib["authors"].strip() if natbib else _short(entry.authors)
    year = natbib["year"].strip() if natbib else str(entry.year or "")
    if style.numeric or not natbib:
        shown = label if label and not natbib else str(number)
        return Source(key, f"[{shown}] {text}", shown, authors, year, replace(entry, label=shown))
    return Source(key, text, None, authors, year, entry)


def made_sources(entries: dict[str, BibEntry], cited: list[str], reading: Reading, style: Style) -> list[Source]:
    """Entries for the works that are cited (``*``: all), written as the plain styles write them."""
    keys = list(dict.fromkeys(k for c in cited for k in (entries if c == "*" else [c]) if k in entries))
    shown = {key: _Shown(entries[key], lambda value: _plain(value, reading)) for key in keys}
    if not style.by_citation:
        keys.sort(key=lambda key: (shown[key].sort_name, shown[key].year, shown[key].title.casefold()))
    sources: list[Source] = []
    for number, key in enumerate(keys, start=1):
        work = shown[key]
        label = str(number) if style.numeric else None
        text = f"[{number}] {work.text}" if style.numeric else work.text
        entry = Entry(label, work.names, work.title or None, work.number_of_year, work.venue or None, work.doi or None)
        sources.append(Source(key, text, label, _short(tuple(work.last_names)), work.year, entry))
    return sources


def _plain(value: str, reading: Reading) -> str:
    from referee.papers.latex.nodes import parse
    from referee.papers.latex.scan import balanced

    return text_of(parse(balanced(value)[0]), reading, plain_math=True)


class _Shown:
    """One ``.bib`` entry with its fields as text."""

    def __init__(self, entry: BibEntry, plain: Callable[[str], str]) -> None:
        people = split_names(entry.get("author", "editor"))
        pairs = [(plain(first), plain(last)) for first, last in people[:200]]
        self.last_names = [last for _, last in pairs]
        self.names = tuple(f"{first} {last}".strip() for first, last in pairs if last != "others")
        self.title = plain(entry.get("title"))
        self.year = (_YEAR.search(entry.get("year", "date")) or [""])[0]
        self.number_of_year = int(self.year[:4]) if self.year else None
        self.venue = plain(entry.get("journal", "booktitle", "journaltitle", "publisher", "school", "institution",
                                     "howpublished"))  # fmt: skip
        self.doi = entry.get("doi").removeprefix("https://doi.org/")
        self.sort_name = " ".join(self.last_names or [self.title]).casefold()
        self.text = self._whole(entry, plain)

    def _whole(self, entry: BibEntry, plain: Callable[[str], str]) -> str:
        names = list(self.names) + (["et al."] if "others" in self.last_names else [])
        people = names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}" if names else ""
        number = f"({entry.get('number')})" if entry.get("number") and entry.get("volume") else ""
        pages = plain(entry.get("pages"))
        where = [self.venue, plain(entry.get("volume")) + number, f"pages {pages}" if pages else "", self.year]
        extra = entry.get("eprint", "url") if not self.doi else f"doi:{self.doi}"
        sentences = [people, self.title, ", ".join(part for part in where if part), plain(extra) if extra else ""]
        if entry.kind == "inproceedings" and self.venue:
            sentences[2] = f"In {sentences[2]}"
        return " ".join(f"{s.rstrip('.')}." for s in sentences if s)


def _short(names: tuple[str, ...]) -> str:
    """'Lo', 'Lo and Wu', 'Lo et al.' from names in full or last names."""
    last = [name.split()[-1] if name.split() and name != "others" else name for name in names]
    if len(last) == 2 and last[1] != "others":
        return f"{last[0]} and {last[1]}"
    return f"{last[0]} et al." if len(last) > 1 else (last[0] if last else "")


def reference_pieces(sources: list[Source]) -> list[Piece]:
    """The bibliography as pieces, its heading first; nothing for none."""
    if not sources:
        return []
    entries = [Piece(kind="reference", text=source.text, entry=source.entry) for source in sources]
    return [Piece(kind="heading", text="References", level=1), *entries]


def find_bibliographies(nodes: list[Any]) -> list[list[Any]]:
    r"""The inner nodes of every ``thebibliography``, wherever it stands."""
    found: list[list[Any]] = []
    for node in nodes:
        if getattr(node, "environmentname", "") == "thebibliography":
            found.append(children(node))
        elif children(node):
            found.extend(find_bibliographies(children(node)))
    return found


_MARK = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_LEFT_OVER = re.compile(f"[{OPEN}{BETWEEN}{CLOSE}]")
_CLEVER = {
    "section": "section", "appendix": "appendix", "equation": "eq.", "Figure": "fig.", "Table": "table",
    "Algorithm": "algorithm", "item": "item",
}  # fmt: skip
_AUTO = {"section": "section", "appendix": "Appendix", "equation": "Equation", "item": "item"}
_IN_TEXT = frozenset(names("citet Citet textcite Textcite citealt Citealt onlinecite"))
_NO_BRACKETS = frozenset(names("citealp Citealp citealt Citealt citenum onlinecite"))


class Resolver:
    """Knows all labels and works of a paper."""

    def __init__(self, labels: Mapping[str, Target], sources: list[Source], style: Style) -> None:
        self.labels = labels
        self.sources = {source.key: source for source in sources}
        self.style = style

    def pieces(self, pieces: list[Piece]) -> list[Piece]:
        """The pieces with every mark resolved; what points nowhere prints ``??`` or ``[?]``, as in LaTeX."""
        done = []
        for piece in pieces:
            if OPEN in piece.text or any(OPEN in cell for row in piece.cells for cell in row):
                cells = tuple(tuple(self.text(cell) for cell in row) for row in piece.cells)
                text = cells_text(cells) if cells else self.text(piece.text)
                piece = replace(piece, text=text, cells=cells)
            if piece.text.strip():
                done.append(piece)
        return done

    def text(self, text: str) -> str:
        """One text with its marks resolved; a citation's note may hold marks itself."""
        for _ in range(4):
            text, count = _MARK.subn(self._mark, text)
            if not count:
                break
        lines = (re.sub(r"[ \t]+(?=[,;.:)\]])", "", line) for line in _LEFT_OVER.sub("", text).split("\n"))
        return "\n".join(lines)

    def _mark(self, match: re.Match[str]) -> str:
        parts = match[1].split(BETWEEN)
        if parts[0] == "cite" and len(parts) == 5:
            return self._cite(*parts[1:])
        return self._ref(parts[0], parts[1] if len(parts) > 1 else "")

    def _ref(self, command: str, keys: str) -> str:
        if command in ("pageref", "nameref"):
            return "??"
        targets = [self.labels.get(key.strip()) for key in keys.split(",")]
        numbers = [target.number if target else "??" for target in targets]
        kind = next((target.kind for target in targets if target), "")
        if command == "eqref":
            return ", ".join(f"({number})" for number in numbers)
        if command.lower() in ("cref", "autoref", "fref", "vref") and kind:
            return self._named(command, kind, numbers)
        return ", ".join(numbers)

    def _named(self, command: str, kind: str, numbers: list[str]) -> str:
        """'Figure 3', 'Sections 2 and 3' as cleveref and hyperref put the kind before the number."""
        if command.lower() == "autoref":
            name = _AUTO.get(kind, kind)
        else:
            name = _CLEVER.get(kind, kind.lower())
            if command[0].isupper():
                name = {"eq.": "Equation", "fig.": "Figure"}.get(name, name.capitalize())
        if kind == "equation" and command.lower() == "cref":
            numbers = [f"({number})" for number in numbers]
        if len(numbers) > 1:
            plural = {"eq.": "eqs.", "fig.": "figs.", "appendix": "appendices"}.get(name, f"{name}s")
            return f"{plural} {', '.join(numbers[:-1])} and {numbers[-1]}"
        return f"{name} {numbers[0]}"

    def _cite(self, command: str, before: str, after: str, keys: str) -> str:
        works = [self.sources.get(key) for key in keys.split(",") if key]
        base = command.rstrip("*")
        if base.lower() in ("citeauthor", "citefullauthor"):
            return ", ".join(work.authors if work else "?" for work in works)
        if base in ("citeyear", "citeyearpar"):
            years = ", ".join(work.year if work else "?" for work in works)
            return f"({years})" if base == "citeyearpar" else years
        in_text = base in _IN_TEXT or (base in ("cite", "Cite") and self.style.natbib and not self._by_label(works))
        if self._by_label(works):
            return self._labels(works, before, after, in_text, base)
        return self._names(works, before, after, in_text, base in _NO_BRACKETS)

    def _by_label(self, works: list[Source | None]) -> bool:
        known = [work for work in works if work]
        return any(work.label for work in known) if known else self.style.numeric

    def _labels(self, works: list[Source | None], before: str, after: str, in_text: bool, base: str) -> str:
        if in_text:
            note = f", {after}" if after else ""
            shown = (f"{w.authors} [{w.label}{note if w is works[-1] else ''}]" if w else "[?]" for w in works)
            return ", ".join(shown).strip()
        inner = ", ".join((work.label or "?") if work else "?" for work in works)
        if base in _NO_BRACKETS:
            return inner
        return tidy(f"[{before} {inner}{', ' if after else ''}{after}]").replace("[ ", "[")

    def _names(self, works: list[Source | None], before: str, after: str, in_text: bool, bare: bool) -> str:
        note = f", {after}" if after else ""
        if in_text and not bare:
            said = [f"{w.authors} ({w.year}{note if w is works[-1] else ''})" if w else "?" for w in works]
            return ", ".join(said)
        joint = "; ".join(
            (f"{w.authors} {w.year}" if in_text else f"{w.authors}, {w.year}") if w else "?" for w in works
        )
        whole = f"{before} {joint}{note}".strip()
        return whole if bare else f"({whole})"
