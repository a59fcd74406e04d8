"""LaTeX sources to a ``Paper``, without running TeX."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from referee.errors import PaperParseError
from referee.papers.archive import ArchiveLimits, unpack
from referee.papers.assembly import Assembled, assemble
from referee.papers.latex.balance import balanced
from referee.papers.latex.bibtex import read_bibtex
from referee.papers.latex.blocks import BIBLIOGRAPHY_PLACE, Blocks
from referee.papers.latex.comments import Aside, document_body, printed_source
from referee.papers.latex.counters import Counters
from referee.papers.latex.front import author_pieces, has_heading, pdf_title, title_of, with_front
from referee.papers.latex.hidden import find_hidden
from referee.papers.latex.inline import Reading
from referee.papers.latex.inputs import Joiner
from referee.papers.latex.macros import Expander
from referee.papers.latex.mainfile import choose_main
from referee.papers.latex.references import (
    Source,
    citation_style,
    find_bibliographies,
    made_sources,
    printed_sources,
    reference_pieces,
)  # fmt: skip
from referee.papers.latex.resolve import Resolver
from referee.papers.latex.sources import ArchiveFiles, Files, FolderFiles
from referee.papers.latex.specs import has_block_algorithms, parse, without_lengths
from referee.papers.latex.theorems import theorem_kinds
from referee.papers.pieces import Piece
from referee.schemas.paper import Converter, Paper

_READER_VERSION = "1"
_STYLE_FILES = re.compile(r"\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_CLASS = re.compile(r"\\documentclass\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_BIB_FILES = re.compile(r"\\(?:bibliography|addbibresource|addglobalbib)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_WITHIN = re.compile(r"\\(?:numberwithin|counterwithin)\s*\*?\s*\{(\w+)\}\s*\{(\w+)\}")
_DEPTH = re.compile(r"\\setcounter\s*\{secnumdepth\}\s*\{(-?\d)\}")
_MOST_MENDED = 10


def load_latex(path: Path, data: bytes) -> Paper:
    r"""Read a ``.tex`` file and what it reads from its own folder.

    ``\input``, ``\include`` and ``\subfile`` files, ``.sty``, ``.bib`` and ``.bbl`` are read from the file's folder
    and the folders in it, never from above, by an absolute path or through a link that leads out.

    Args:
        path: The file; its folder is where others are looked for.
        data: The file's bytes.

    Returns:
        The paper. ``paper_id`` is the SHA-256 of ``data``; when other files were read, of all their names and bytes.

    Raises:
        PaperParseError: It cannot be decoded, reads itself, or is made to run without end.
    """
    files = FolderFiles(path, data)
    return _read(files, path.name, path.name, files.digest)


def load_latex_archive(path: Path, data: bytes, limits: ArchiveLimits | None = None) -> Paper:
    """Read the LaTeX paper in a ``.tar.gz``, ``.tar``, ``.zip`` or gzip'ed ``.tex``.

    Args:
        path: Names the archive in errors.
        data: The archive's bytes; their SHA-256 is the ``paper_id``.
        limits: What it may unpack to.

    Raises:
        PaperParseError: As ``unpack`` and ``choose_main`` say, and as for a lone file.
    """
    members = unpack(path, data, limits)
    main = choose_main(members, path.name)
    return _read(ArchiveFiles(members), main, path.name, lambda: hashlib.sha256(data).hexdigest())


def _read(files: Files, main: str, shown: str, digest: Callable[[], str]) -> Paper:
    from pylatexenc.version import version_str

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
        paper_id=digest(),
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
        expander = Expander()
        self._learn_style_files(expander, source)
        self.source = expander.expanded(source)
        for name in sorted(expander.circular)[:5]:
            joiner.lost(f"The macro {name!r} calls itself and is left out.", "low")
        self.preamble, body = document_body(self.source)
        self.body = self._mended(without_lengths(body))
        self.counters = self._counters()
        self.reading = Reading(self.counters, joiner.aside)
        self.theorems = theorem_kinds(self.source, self.counters)
        self.blocks = has_block_algorithms(self.source)
        self.style = citation_style(self.source)

    def read(self) -> tuple[str, Assembled]:
        """Title and sections."""
        nodes = self._visible_nodes()
        pieces = Blocks(self.reading, self.theorems, self.blocks).read(nodes)
        sources = self._sources(nodes)
        resolver = Resolver(self.counters.labels, sources, self.style)
        pieces = resolver.pieces(self._with_references(pieces, sources))
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
        mended = balanced(body)
        for what in mended.mended[:_MOST_MENDED]:
            self.joiner.lost(f"The source has {what}; what it was meant to do is lost.", "low")
        if len(mended.mended) > _MOST_MENDED:
            self.joiner.lost(f"The source has {len(mended.mended) - _MOST_MENDED} more broken places.", "medium")
        return mended.text

    def _counters(self) -> Counters:
        named = _CLASS.search(self.source)
        name = named[1].strip() if named else ""
        style = (
            "ieee" if name == "IEEEtran" else "book" if name in ("book", "report", "scrbook", "memoir") else "article"
        )
        depth = _DEPTH.search(self.preamble)
        counters = Counters(style, int(depth[1]) if depth else (2 if style == "book" else 3))
        for child, parent in _WITHIN.findall(self.preamble):
            counters.within(child, parent)
        return counters

    def _visible_nodes(self) -> list[Any]:
        nodes = parse(self.body, self.theorems, self.blocks)
        hidden = find_hidden(nodes, self.body, self.source)
        if not hidden.spans:
            return nodes
        self.joiner.findings.extend(hidden.findings())
        self.body = hidden.without(self.body)
        return parse(self.body, self.theorems, self.blocks)

    def _sources(self, nodes: list[Any]) -> list[Source]:
        printed = [s for inner in find_bibliographies(nodes) for s in printed_sources(inner, self.reading, self.style)]
        if printed:
            return printed
        text = []
        for names in _BIB_FILES.findall(self.source):
            for name in names.split(","):
                place = self.joiner.find(name.strip().removesuffix(".bib"), self.joiner.folder, ".bib")
                if place is None:
                    self.joiner.lost(
                        f"The bibliography {name.strip()!r} is not there; its entries are missing.", text=name
                    )
                else:
                    text.append(self.joiner.text_of(place) or "")
        return made_sources(read_bibtex("\n".join(text)), self.reading.cited, self.reading, self.style)

    def _with_references(self, pieces: list[Piece], sources: Sequence[Source]) -> list[Piece]:
        """The bibliography in its place: before the appendix that follows it in the source, else at the end."""
        entries = reference_pieces(list(sources))
        at = next((i for i, piece in enumerate(pieces) if piece.text == BIBLIOGRAPHY_PLACE), len(pieces))
        return [*pieces[:at], *entries, *(piece for piece in pieces[at:] if piece.text != BIBLIOGRAPHY_PLACE)]

    def _fronted(self, pieces: list[Piece]) -> tuple[str, list[Piece]]:
        title = title_of(self.source, self.reading)
        authors = author_pieces(self.source, self.reading) if has_heading(pieces) else []
        title, pieces = with_front(pieces, authors, title)
        return title or pdf_title(self.source, self.reading), pieces
