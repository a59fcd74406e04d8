"""LaTeX sources to a ``Paper``, without running TeX: title and author lines, then the body."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pylatexenc.version import version_str

from referee.errors import PaperParseError
from referee.papers.archive import unpack
from referee.papers.assembly import Assembled, assemble
from referee.papers.headings import plain_name, role_by_name, title_of_headings
from referee.papers.latex.bibtex import read_bibtex
from referee.papers.latex.blocks import BIBLIOGRAPHY_PLACE, Blocks
from referee.papers.latex.comments import Aside, document_body, printed_source
from referee.papers.latex.counters import Counters, theorem_kinds
from referee.papers.latex.folder import shown_name, sources_in
from referee.papers.latex.hidden import find_hidden
from referee.papers.latex.inline import Reading, text_of, tidy
from referee.papers.latex.macros import Expander
from referee.papers.latex.nodes import has_block_algorithms, parse, without_lengths
from referee.papers.latex.project import ArchiveFiles, Files, FolderFiles, Joiner, choose_main
from referee.papers.latex.references import (
    Resolver,
    Source,
    citation_style,
    find_bibliographies,
    made_sources,
    printed_sources,
    reference_pieces,
    with_single_cites,
)  # fmt: skip
from referee.papers.latex.scan import Braces, balanced, first_command, spliced
from referee.papers.latex.units import declared_units
from referee.papers.latex.unprinted import without_unprinted
from referee.papers.pieces import Piece, shortened
from referee.papers.sniff import kind_of
from referee.schemas.paper import Converter, Paper

_AUTHOR_COMMANDS = (
    "author", "affil", "affiliation", "address", "institute", "email", "icmlauthor", "icmlaffiliation", "ead", "thanks",
    "icmlcorrespondingauthor", "institution", "date", "keywords", "icmlkeywords", "orcid", "cortext", "fntext",
)  # fmt: skip
_AUTHORS = re.compile(rf"\\(?:{'|'.join(_AUTHOR_COMMANDS)})(?![a-zA-Z@])\*?")
_PARTED = re.compile(r"\\\\(?:\s*\[[^\]]*\])?|\\(?:and|And|AND|qquad|quad|newline|par)(?![a-zA-Z])|\n\s*\n")
_ABSTRACT = re.compile(r"\\begin\s*\{abstract\}")
_ABSTRACT_COMMAND = re.compile(r"\\abstract(?![a-zA-Z@])(?:\s*\[[^\]]*\])?")
_TITLE_SIZE = 12.0


def title_of(source: str, reading: Reading) -> str:
    r"""The title that ``\title``, or ``\icmltitle`` gives; empty without one."""
    braces = Braces(source)
    given = (first_command(braces, name) for name in ("title", "icmltitle"))
    return next(filter(None, (_plain(text, reading) for text in given if text)), "")


def with_abstract(preamble: str, body: str) -> str:
    r"""The body with the abstract as an environment, also where ``\abstract{...}`` gives it, or the preamble does."""
    if found := _ABSTRACT.search(preamble):
        end = preamble.find("\\end{abstract}", found.end())
        body = f"\\begin{{abstract}}{preamble[found.end() : max(end, found.end())]}\\end{{abstract}}\n\n{body}"
    for part in (body, preamble):
        braces = Braces(part)
        if (command := _ABSTRACT_COMMAND.search(part)) and (first := braces.group(command.end())):
            texts, at = [first[0]], first[1]
            while part[at : at + 1] in "{\n" and (more := braces.group(at)):  # of astronomy's classes: aims, methods
                texts, at = [*texts, more[0]], more[1]
            whole = "\\begin{abstract}" + " ".join(texts) + "\\end{abstract}\n\n"
            return f"{body[: command.start()]}{whole}{body[at:]}" if part is body else f"{whole}{body}"
    return body


def author_pieces(source: str, reading: Reading) -> list[Piece]:
    """Author and affiliation lines wherever their commands stand, each short enough to stay front matter."""
    braces = Braces(source)
    pieces: list[Piece] = []
    for match in _AUTHORS.finditer(source):
        at = match.end()
        while (optional := braces.bracket(at)) is not None and optional[1] > at:
            at = optional[1]
        given = ""
        while (group := braces.group(at)) is not None and (not given or match[0].startswith("\\icml")):
            given, at = f"{given}\\\\{group[0]}" if given else group[0], group[1]
        for line in _PARTED.split(given):
            pieces += shortened(Piece(kind="paragraph", text=_plain(line, reading)))
    reading.footnotes.clear()
    return pieces[:400]


def _plain(source: str, reading: Reading) -> str:
    quiet = Reading(reading.counters, reading.aside, units=reading.units)
    nodes: list[Any] = parse(balanced(without_lengths(source))[0])
    return tidy(re.sub("[\ue000-\ue002][^\ue002]*\ue002?", "", text_of(nodes, quiet, plain_math=True)))


def with_front(pieces: list[Piece], authors: list[Piece], title: str) -> tuple[str, list[Piece]]:
    """The title and the body's pieces with the author lines first.

    Where no command gave a title, it is the largest text before the first heading. A line 'Abstract' there becomes
    the abstract's heading, and what stands before it author lines.
    """
    first = next((i for i, piece in enumerate(pieces) if piece.kind == "heading"), len(pieces))
    abstract = next((i for i, piece in enumerate(pieces[:first]) if role_by_name(piece.text) == "abstract"), first)
    before, rest = pieces[:abstract], pieces[abstract:]
    if abstract < first:
        rest[0] = Piece(kind="heading", text=rest[0].text, level=1)
    largest = max((piece.size for piece in before if piece.kind == "paragraph"), default=0.0)
    taken = [piece for piece in before if plain_name(piece.text) == plain_name(title)]
    if not title and largest >= _TITLE_SIZE:
        taken = [piece for piece in before if piece.size == largest and piece.kind == "paragraph"]
        title = tidy(" ".join(piece.text for piece in taken))
    before = [piece for piece in before if piece not in taken]
    return title, [*authors, *before, *rest] if rest or before else []


_READER_VERSION = "1"
_STYLE_FILES = re.compile(r"\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_CLASS = re.compile(r"\\documentclass\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_BIB_FILES = re.compile(r"\\(?:bibliography|addbibresource|addglobalbib)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_WITHIN = re.compile(r"\\(?:numberwithin|counterwithin)\s*\*?\s*\{(\w+)\}\s*\{(\w+)\}")
_DEPTH = re.compile(r"\\setcounter\s*\{secnumdepth\}\s*\{(?:(-?\d+)|-\\maxdimen)\}")
_MOST_MENDED = 10


def load_latex(path: Path, data: bytes, *, max_bytes: int = 0) -> Paper:
    r"""Read a ``.tex`` file and what it reads from its own folder, or the paper in a folder or an archive.

    ``\input``, ``\include`` and ``\subfile`` files, ``.sty``, ``.bib`` and ``.bbl`` are read from the file's folder
    and the folders in it, never from above, by an absolute path or through a link that leads out.

    Args:
        path: The file, whose folder is where others are looked for, or the folder.
        data: The file's bytes; of a folder they are not looked at.
        max_bytes: What a folder's LaTeX files may have together.

    Returns:
        The paper. ``paper_id`` is the SHA-256 of ``data``; when other files were read, of all their names and bytes.
        Files of an archive are its own.

    Raises:
        PaperParseError: It cannot be decoded, reads itself, or is made to run without end; or as ``sources_in``,
            ``unpack`` and ``choose_main`` say.
    """
    files, main = latex_files(path, data, max_bytes)
    return _read(files, main, main if path.is_dir() else path.name)


def latex_files(path: Path, data: bytes, max_bytes: int) -> tuple[Files, str]:
    """The files of a LaTeX paper, whether it is one file, a folder or an archive, and the main one's name.

    Raises:
        PaperParseError: As the three that read them.
    """
    if path.is_dir():
        sources = sources_in(path, max_bytes)
        main = choose_main(sources, f"folder {shown_name(path)!r}")
        return FolderFiles(path, main, sources[main]), main
    if kind_of(data) == "archive":
        unpacked = ArchiveFiles(unpack(path, data), data)
        return unpacked, choose_main(unpacked.files, f"archive {path.name!r}")
    return FolderFiles(path.parent, path.name, data), path.name


def _read(files: Files, main: str, shown: str) -> Paper:
    joiner = Joiner(files, main)
    try:
        title, assembled = _Document(joiner, main).read()
    except RecursionError as error:
        raise PaperParseError(
            f"The commands of {shown!r} lie too deep inside each other.", hint="Give the paper as PDF."
        ) from error
    if not assembled.sections:
        raise PaperParseError(
            f"{shown!r} holds no text that LaTeX would print.", hint="Give the paper's main .tex file."
        )
    return Paper(
        paper_id=files.digest(),
        title=title,
        abstract=assembled.abstract,
        format="latex",
        sections=assembled.sections,
        references=assembled.references,
        findings=(*joiner.findings, *assembled.findings),
        repairs=assembled.repairs,
        converter=Converter(name="referee-latex", version=f"{_READER_VERSION}+pylatexenc-{version_str}"),
    )


class _Document:
    """One paper on its way from source to sections."""

    def __init__(self, joiner: Joiner, main: str) -> None:
        self.joiner = joiner
        source = joiner.whole()
        expander = Expander(joiner.aside.switched_off)
        self._learn_style_files(expander, source)
        self.source = with_single_cites(expander.expanded(source))
        joiner.tell_unprinted(source)
        for name in sorted(expander.circular)[:5]:
            joiner.lost(f"The macro {name!r} calls itself and is left out.", "low")
        self.preamble, body = document_body(self.source)
        body, unprinted = without_unprinted(with_abstract(self.preamble, body))
        joiner.findings.extend(unprinted)
        self.body = self._mended(without_lengths(body))
        self.counters = self._counters()
        self.reading = Reading(self.counters, joiner.aside, units=declared_units(self.source))
        self.theorems = theorem_kinds(self.source, self.counters)
        self.blocks = has_block_algorithms(self.source)
        self.style = citation_style(self.source)

    def read(self) -> tuple[str, Assembled]:
        """Title and sections."""
        nodes = self._visible_nodes()
        pieces = Blocks(self.reading, self.theorems, self.blocks).read(nodes)
        if cut := self.joiner.aside.cells_cut:
            self.joiner.lost(f"{cut} cells stand beyond the 200th column of their tables; their text is missing.")
        sources = self._sources(nodes)
        resolver = Resolver(self.counters.labels, sources, self.style)
        # The bibliography in its place: before the appendix that follows it in the source, else at the end.
        at = next((i for i, piece in enumerate(pieces) if piece.text == BIBLIOGRAPHY_PLACE), len(pieces))
        rest = [piece for piece in pieces[at:] if piece.text != BIBLIOGRAPHY_PLACE]
        pieces = resolver.pieces([*pieces[:at], *reference_pieces(sources), *rest])
        title, pieces = self._fronted(pieces)
        return title, assemble(pieces, front_first=True)

    def _learn_style_files(self, expander: Expander, source: str) -> None:
        """Style files of the paper's own folder define macros that its text uses."""
        for names in _STYLE_FILES.findall(document_body(source)[0]):
            for name in names.split(","):
                place = self.joiner.find(name.strip(), self.joiner.folder, ".sty")
                if place and place.endswith(".sty") and (text := self.joiner.text_of(place)):
                    expander.learn(printed_source(text[:400_000], Aside()))

    def _mended(self, body: str) -> str:
        text, mended = balanced(body)
        for what in mended[:_MOST_MENDED]:
            self.joiner.lost(f"The source has {what}; what it was meant to do is lost.", "low")
        if len(mended) > _MOST_MENDED:
            self.joiner.lost(f"The source has {len(mended) - _MOST_MENDED} more broken places.", "medium")
        return text

    def _counters(self) -> Counters:
        named = _CLASS.search(self.source)
        name = named[1].strip() if named else ""
        style = (
            "ieee" if name == "IEEEtran" else "book" if name in ("book", "report", "scrbook", "memoir") else "article"
        )
        depth = _DEPTH.search(self.preamble)
        counters = Counters(style, int(depth[1] or -9) if depth else (2 if style == "book" else 3))
        for child, parent in _WITHIN.findall(self.preamble):
            counters.within(child, parent)
        return counters

    def _visible_nodes(self) -> list[Any]:
        nodes = parse(self.body, self.theorems, self.blocks)
        hidden = find_hidden(nodes, self.body, self.source)
        if not hidden.spans:
            return nodes
        self.joiner.findings.extend(hidden.findings())
        self.body = spliced(self.body, ((start, end, "") for start, end in hidden.spans))
        return parse(self.body, self.theorems, self.blocks)

    def _sources(self, nodes: list[Any]) -> list[Source]:
        printed = [s for inner in find_bibliographies(nodes) for s in printed_sources(inner, self.reading, self.style)]
        if printed:
            return printed
        text = []
        for names in _BIB_FILES.findall(self.source):
            for name in names.split(","):
                wanted = name.strip().removesuffix(".bib"), self.joiner.folder, ".bib"
                if (place := self.joiner.find(*wanted)) is None:
                    why = self.joiner.why_missing(*wanted)
                    self.joiner.lost(f"The bibliography {name.strip()!r} {why}; its entries are missing.", text=name)
                else:
                    text.append(self.joiner.text_of(place) or "")
        return made_sources(read_bibtex("\n".join(text)), self.reading.cited, self.reading, self.style)

    def _fronted(self, pieces: list[Piece]) -> tuple[str, list[Piece]]:
        title, pieces = title_of_headings(title_of(self.source, self.reading), pieces)
        # With no heading but that of the references, author lines cannot stand apart from the text.
        parted = any(piece.kind == "heading" and role_by_name(piece.text) != "references" for piece in pieces)
        authors = author_pieces(self.source, self.reading) if parted else []
        title, pieces = with_front(pieces, authors, title)
        return title, pieces
