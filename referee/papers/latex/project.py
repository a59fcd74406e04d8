"""The files of one LaTeX paper: a folder or an archive, the main one among them, and what it reads put in its place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from referee.errors import PaperParseError
from referee.papers.hidden.addresses import orders_a_model
from referee.papers.hidden.unprinted import Unprinted
from referee.papers.latex.comments import Aside, drop_named_environments, inner_text, printed_source, words_unprinted
from referee.papers.latex.scan import LIMITS, Braces
from referee.schemas.paper import Certainty, Finding


@dataclass
class ArchiveFiles:
    """The files of an unpacked archive, whose own bytes are ``data``."""

    files: Mapping[str, bytes]
    data: bytes

    def read(self, name: str) -> bytes | None:
        """The member's bytes; None where there is none."""
        return self.files.get(name)

    def refusal(self, name: str) -> str:
        """Empty: what is in the archive is read."""
        return ""

    def beside(self, folder: str, suffix: str) -> list[str]:
        """Members directly in ``folder`` that end in ``suffix``, sorted."""
        return sorted(n for n in self.files if n.lower().endswith(suffix) and n.rpartition("/")[0] == folder)

    def digest(self) -> str:
        """SHA-256 of the archive."""
        return hashlib.sha256(self.data).hexdigest()


class FolderFiles:
    """A main file among the files of its folder. What was read is remembered: it belongs to the paper's digest.

    Args:
        root: The folder that nothing outside is read of.
        main: The main file's path in it.
        data: The main file's bytes.
    """

    def __init__(self, root: Path, main: str, data: bytes) -> None:
        self.root = root.resolve()
        self.main = main
        self.data = data
        self.used: dict[str, bytes] = {}
        self._refused: dict[str, str] = {}

    def read(self, name: str) -> bytes | None:
        """The file's bytes; None where there is none, it is too large, or a link leads out of the folder."""
        if name == self.main or name in self.used:
            return self.data if name == self.main else self.used[name]
        try:
            path = (self.root / name).resolve()
            if not path.is_relative_to(self.root) or not path.is_file():
                return None
            if path.stat().st_size > LIMITS.file_bytes:
                self._refused[name] = f"has more than {LIMITS.file_bytes // 2**20} MiB"
                return None
            self.used[name] = path.read_bytes()
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and not isinstance(error, FileNotFoundError | NotADirectoryError):
                self._refused[name] = f"cannot be read ({error.strerror})"
        return self.used.get(name)

    def refusal(self, name: str) -> str:
        """Why a file that is there was not read; empty for any other."""
        return self._refused.get(name, "")

    def beside(self, folder: str, suffix: str) -> list[str]:
        """Files directly in ``folder`` that end in ``suffix``, sorted."""
        try:
            place = (self.root / folder).resolve()
            if not place.is_relative_to(self.root) or not place.is_dir():
                return []
            found = [entry.name for entry in place.iterdir() if entry.name.lower().endswith(suffix)]
        except (OSError, ValueError):
            return []
        return sorted(f"{folder}/{name}" if folder else name for name in found)

    def digest(self) -> str:
        """SHA-256 of the main file's bytes, or, when others were read, of all names and bytes in order of names."""
        if not self.used:
            return hashlib.sha256(self.data).hexdigest()
        whole = hashlib.sha256()
        for name, data in sorted({**self.used, self.main: self.data}.items()):
            whole.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
            whole.update(data)
        return whole.hexdigest()


Files = ArchiveFiles | FolderFiles


def joined(folder: str, name: str) -> str | None:
    """``name`` seen from ``folder``, both inside the root; None when it is absolute or leads out of the root."""
    if name.startswith(("/", "~", "\\")) or "\x00" in name or (len(name) > 1 and name[1] == ":"):
        return None
    parts: list[str] = []
    for part in f"{folder}/{name}".split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or None


_INPUT = re.compile(
    r"\\(?P<word>input|include|subfile|subfileinclude|subimport|import)(?![a-zA-Z@])\s*"
    r"(?:\{(?P<first>[^{}]*)\}(?:\s*\{(?P<second>[^{}]*)\})?|(?P<bare>[\w./:-]+))"
)
_SUBFIX = re.compile(r"\\subfix\s*\{([^{}]*)\}")
_IF_FILE = re.compile(r"\\(?:IfFileExists|(?P<reads>InputIfFileExists))(?![a-zA-Z@])")
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

    def tell_unprinted(self, text: str) -> None:
        """Note what of the files no page prints; ``text`` is the source, its macros in it or put in."""
        comments = Unprinted(orders_a_model)
        kept = {
            "its comments": self.aside.remarks,
            "parts that are switched off": self.aside.switched_off,
            "what follows its end": self.aside.after_the_end,
        }
        told = [(where, words) for where, texts in kept.items() for words in texts]
        for where, words in (*told, *words_unprinted(text)):
            comments.add(where, words)
        self.findings.extend(comments.findings())

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
        return next((place for place in self._places(name, folder, suffix) if self.files.read(place) is not None), None)

    def why_missing(self, name: str, folder: str, suffix: str) -> str:
        """Why ``find`` found nothing: no file of that name is there, or the one that is there is not read."""
        return next(filter(None, map(self.files.refusal, self._places(name, folder, suffix))), "is not there")

    def _places(self, name: str, folder: str, suffix: str) -> list[str]:
        bases = dict.fromkeys((folder, self.folder))
        return [place for base in bases for ending in (suffix, "") if (place := joined(base, name + ending))]

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
        parts: list[str] = []
        self._decide(Braces(_SUBFIX.sub(r"\1", text)), 0, -1, folder, parts)
        return _INPUT.sub(lambda match: self._input(match, folder, open_files), "".join(parts))

    def _decide(self, braces: Braces, at: int, end: int, folder: str, parts: list[str]) -> None:
        r"""Write the text from ``at`` to ``end``; of each ``\IfFileExists`` the branch that its files decide."""
        end = len(braces.text) if end < 0 else end
        while (match := _IF_FILE.search(braces.text, at, end)) is not None:
            parts.append(braces.text[at : match.start()])
            at = match.end()
            opened = [found for _ in range(3) if (found := braces.group(at)) and (at := found[1])]
            if len(opened) == 3:
                is_there = self.find(opened[0][0].strip(), folder, ".tex") is not None
                text, after = opened[1 if is_there else 2]
                self._decide(braces, after - 1 - len(text), after - 1, folder, parts)
                if match["reads"] and is_there:
                    parts.append(f"\\input{{{opened[0][0]}}}")
            else:
                at = match.end()
        parts.append(braces.text[at:end])

    def _input(self, match: re.Match[str], folder: str, open_files: tuple[str, ...]) -> str:
        word, first, second = match["word"], match["first"], match["second"]
        tail, base = "", folder
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
                here = self.why_missing(name, base, ".tex")
                why = "lies outside the paper's folder and is not read" if outside else here
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
                entries = f"\n\n{printed_source(found.translate(_UNPRINTED), self.aside)}\n\n"
                parts = _BIBLIOGRAPHY.split(text, maxsplit=1)
                return entries.join(parts)
        return text


_CLASS = re.compile(r"\\document(?:class|style)\b")
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_INPUTS = re.compile(r"\\(?:input|include|subfile|subfileinclude)\s*\{?\s*([^\s{}\\]+)")
_README = re.compile(r"^00readme(?:\.(?:xxx|json|txt|yaml|yml))?$", re.IGNORECASE)
_TOPLEVEL = re.compile(
    r"^\s*-?\s*([\w./ -]+\.tex)\s+toplevelfile\b|filename:\s*([\w./ -]+\.tex)"
    r"|\{(?=[^{}]*\"usage\"\s*:\s*\"toplevel\")[^{}]*\"filename\"\s*:\s*\"([^\"]+)\"",
    re.MULTILINE,
)
_SUBFILE_CLASS = re.compile(r"\\documentclass\s*(?:\[[^\]]*\])?\s*\{subfiles\}")
_CUSTOMARY = ("ms.tex", "main.tex", "paper.tex")


def choose_main(files: Mapping[str, bytes], holder: str) -> str:
    r"""The name of the main file; ``holder`` names the archive or folder in errors.

    The one with ``\documentclass`` and ``\begin{document}``; of several, the one a preprint server's ``00README``
    names, the only one that no other reads and that reads others, the customary name (``ms.tex``, ``main.tex``,
    ``paper.tex``), or the only one in the top folder.

    Raises:
        PaperParseError: There is none, or several are equally likely; they are named.
    """
    sources = {name: data for name, data in files.items() if name.lower().endswith((".tex", ".ltx", ".latex"))}
    texts = {name: printed_source(data.decode("utf-8", "replace"), Aside()) for name, data in sources.items()}
    mains = [n for n, t in texts.items() if _CLASS.search(t) and _BEGIN.search(t) and not _SUBFILE_CLASS.search(t)]
    if len(mains) == 1:
        return mains[0]
    if not mains:
        seen = ", ".join(repr(name) for name in sorted(texts)[:8]) or "no .tex file at all"
        raise PaperParseError(
            f"No file of the {holder} has both \\documentclass and \\begin{{document}}; it holds {seen}.",
            hint="Give it with its main .tex file, or that file itself.",
        )
    chosen = _from_readme(files, mains) or _only_reader(texts, mains) or _customary(mains)
    if chosen:
        return chosen
    listed = ", ".join(repr(name) for name in sorted(mains)[:8])
    raise PaperParseError(
        f"The {holder} holds {len(mains)} papers: {listed}.",
        hint="Give the one main .tex file itself, or take the others out; naming it main.tex also decides.",
    )


def _from_readme(files: Mapping[str, bytes], mains: list[str]) -> str | None:
    texts = [files[name].decode("utf-8", "replace") for name in sorted(files) if _README.match(name)]
    named = ("".join(found).strip() for text in texts for found in _TOPLEVEL.findall(text))
    return next((main for main in named if main in mains), None)


def _only_reader(texts: Mapping[str, str], mains: list[str]) -> str | None:
    """The only main file that reads others and is read by none."""
    known = {name.removesuffix(".tex") for name in texts}
    reads = {name: {n.removesuffix(".tex").removeprefix("./") for n in _INPUTS.findall(texts[name])} for name in texts}
    wanted = set().union(*reads.values())
    readers = [n for n in mains if reads[n] & known and n.removesuffix(".tex") not in wanted]
    return readers[0] if len(readers) == 1 else None


def _customary(mains: list[str]) -> str | None:
    """The only main file of a customary name, or the only one in the top folder."""
    named = ([main for main in mains if main.rpartition("/")[2].lower() == name] for name in _CUSTOMARY)
    top = [main for main in mains if "/" not in main]
    return next((found[0] for found in (*named, top) if len(found) == 1), None)
