r"""One source out of many: what ``\input``, ``\include`` and their like read, put in its place."""

from __future__ import annotations

import re

from referee.errors import PaperParseError
from referee.papers.latex.comments import Aside, drop_named_environments, inner_text, printed_source
from referee.papers.latex.limits import LIMITS
from referee.papers.latex.sources import Files, joined
from referee.schemas.paper import Certainty, Finding

_INPUT = re.compile(
    r"\\(?P<word>input|include|subfile|subfileinclude|subimport|import|InputIfFileExists)(?![a-zA-Z@])\s*"
    r"(?:\{(?P<first>[^{}]*)\}(?:\s*\{(?P<second>[^{}]*)\})?|(?P<bare>[\w./:-]+))"
)
_BIBLIOGRAPHY = re.compile(r"\\(?:bibliography\s*\{[^{}]*\}|printbibliography(?:\s*\[[^\]]*\])?)")
_ENCODING = re.compile(rb"\\usepackage\s*\[(latin1|ansinew|cp1252|latin9|utf8x?)\]\s*\{inputenc\}")
_ENCODINGS = {b"latin1": "latin-1", b"ansinew": "cp1252", b"cp1252": "cp1252", b"latin9": "iso-8859-15"}
_UNPRINTED = dict.fromkeys([*range(9), *range(11, 13), *range(14, 32), *range(0xE000, 0xE100), 0xFEFF])


class Joiner:
    """Reads a main file and what it reads; keeps the findings of missing and broken files."""

    def __init__(self, files: Files, main: str) -> None:
        self.files = files
        self.main = main
        self.folder = main.rpartition("/")[0]
        self.aside = Aside()
        self.findings: list[Finding] = []
        self._encoding = "utf-8"
        self._inputs = 0
        self._characters = 0

    def whole(self) -> str:
        r"""The paper as one source, comments and switched-off text dropped, a ``.bbl`` in the bibliography's place.

        Raises:
            PaperParseError: A file reads itself, the main file is not in the encoding it says, or a limit is passed.
        """
        data = self.files.read(self.main) or b""
        named = _ENCODING.search(data)
        self._encoding = _ENCODINGS.get(named[1], "utf-8") if named else "utf-8"
        text = drop_named_environments(self._join(self._decode_main(data), self.folder, (self.main,)))
        for cause in self.aside.broken[:20]:
            self.lost(f"The source has {cause}.", "low")
        return self._with_bbl(text)

    def lost(self, message: str, certainty: Certainty = "high", text: str = "") -> None:
        """Note text that could not be read."""
        self.findings.append(Finding(kind="lost_text", message=message, certainty=certainty, text=text))

    def text_of(self, name: str) -> str | None:
        """A file beside the main one, as text; letters its encoding does not have become U+FFFD, with a finding."""
        data = self.files.read(name)
        if data is None:
            return None
        try:
            return data.decode(self._encoding if self._encoding != "utf-8" else "utf-8-sig")
        except UnicodeDecodeError:
            self.lost(f"{name!r} is not {self._encoding}; some of its letters are lost.", "medium")
            return data.decode(self._encoding, "replace")

    def find(self, name: str, folder: str, suffix: str) -> str | None:
        """The name under which a file is there: from the main file's folder or the reading file's one."""
        for base in dict.fromkeys((folder, self.folder)):
            for candidate in (name + suffix, name):
                place = joined(base, candidate)
                if place and self.files.read(place) is not None:
                    return place
        return None

    def _decode_main(self, data: bytes) -> str:
        try:
            return data.decode(self._encoding if self._encoding != "utf-8" else "utf-8-sig")
        except UnicodeDecodeError as error:
            raise PaperParseError(
                f"{self.main!r} is not {self._encoding}: byte {data[error.start]:#04x} at offset {error.start} does "
                "not fit.",
                hint="Save it as UTF-8, or name its encoding with \\usepackage[latin1]{inputenc}.",
            ) from error

    def _join(self, source: str, folder: str, open_files: tuple[str, ...]) -> str:
        clean = source.replace("\r\n", "\n").replace("\r", "\n").translate(_UNPRINTED)
        text = printed_source(clean, self.aside)
        self._characters += len(text)
        if self._characters > LIMITS.characters:
            raise PaperParseError(
                f"{self.main!r} and the files it reads have more than {LIMITS.characters} characters.",
                hint="Give the paper without generated data files.",
            )
        return _INPUT.sub(lambda match: self._input(match, folder, open_files), text)

    def _input(self, match: re.Match[str], folder: str, open_files: tuple[str, ...]) -> str:
        word, first, second = match["word"], match["first"], match["second"]
        tail = ""
        base = folder
        if word in ("import", "subimport") and second is not None:
            name, base = second, joined(folder if word == "subimport" else self.folder, first or ".") or folder
        else:
            name, tail = first if first is not None else match["bare"], f"{{{second}}}" if second is not None else ""
        name = name.strip().strip('"')
        self._inputs += 1
        if self._inputs > LIMITS.inputs or len(open_files) > LIMITS.macro_depth:
            raise PaperParseError(
                f"{self.main!r} reads more than {LIMITS.inputs} files, or too many inside each other.",
                hint="Give it with its inputs joined.",
            )
        place = self.find(name, base, ".tex")
        if place is None:
            if "\\" not in name and "#" not in name and not name.endswith((".sty", ".cls", ".def", ".clo")):
                outside = all(joined(folder, name) is None for folder in (base, self.folder))
                why = "lies outside the paper's folder and is not read" if outside else "is not there"
                self.lost(f"The file {name!r} that {open_files[-1]!r} reads {why}; its text is missing.", text=name)
            return tail
        if place in open_files:
            chain = " -> ".join((*open_files[open_files.index(place) :], place))
            raise PaperParseError(
                f"{place!r} reads itself: {chain}.", hint="Take the \\input out of it; LaTeX would not end either."
            )
        inner = self._join(self.text_of(place) or "", place.rpartition("/")[0], (*open_files, place))
        return f"{inner_text(inner)}{tail}"

    def _with_bbl(self, text: str) -> str:
        if "\\begin{thebibliography}" in text or not _BIBLIOGRAPHY.search(text):
            return text
        stem = re.sub(r"\.[^./]*$", "", self.main)
        names = [f"{stem}.bbl", *self.files.beside(self.folder, ".bbl")]
        for name in dict.fromkeys(names):
            found = self.text_of(name)
            if found and "\\bibitem" in found:
                entries = printed_source(found.translate(_UNPRINTED), self.aside)
                return _put_in_place(text, entries)
        return text


def _put_in_place(text: str, entries: str) -> str:
    """The printed entries where the bibliography's command stands."""
    return _BIBLIOGRAPHY.sub(lambda _: f"\n\n{entries}\n\n", text, count=1)
