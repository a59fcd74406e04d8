"""Which file of an archive is the paper."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from referee.errors import PaperParseError
from referee.papers.latex.comments import Aside, printed_source

_CLASS = re.compile(r"\\document(?:class|style)\b")
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_INPUTS = re.compile(r"\\(?:input|include|subfile|subfileinclude)\s*\{?\s*([^\s{}\\]+)")
_README = re.compile(r"^00readme(?:\.(?:xxx|json|txt|yaml|yml))?$", re.IGNORECASE)
_TOPLEVEL = re.compile(r"^\s*-?\s*([\w./ -]+\.tex)\s+toplevelfile\b|filename:\s*([\w./ -]+\.tex)", re.MULTILINE)
_SUBFILE_CLASS = re.compile(r"\\documentclass\s*(?:\[[^\]]*\])?\s*\{subfiles\}")
_CUSTOMARY = ("ms.tex", "main.tex", "paper.tex")


def choose_main(files: Mapping[str, bytes], archive: str) -> str:
    r"""The name of the main file.

    The one with ``\documentclass`` and ``\begin{document}``; of several, the one a preprint server's ``00README``
    names, the only one that no other reads and that reads others, the customary name (``ms.tex``, ``main.tex``,
    ``paper.tex``), or the only one in the top folder.

    Raises:
        PaperParseError: There is none, or several are equally likely; they are named.
    """
    texts = {name: _printed(data) for name, data in files.items() if name.lower().endswith((".tex", ".ltx", ".latex"))}
    mains = [n for n, t in texts.items() if _CLASS.search(t) and _BEGIN.search(t) and not _SUBFILE_CLASS.search(t)]
    if len(mains) == 1:
        return mains[0]
    if not mains:
        seen = ", ".join(repr(name) for name in sorted(texts)[:8]) or "no .tex file at all"
        raise PaperParseError(
            f"No file of the archive {archive!r} has both \\documentclass and \\begin{{document}}; it holds {seen}.",
            hint="Give the archive with its main .tex file, or that file itself.",
        )
    chosen = _from_readme(files, mains) or _only_reader(texts, mains) or _customary(mains) or _only_top(mains)
    if chosen:
        return chosen
    listed = ", ".join(repr(name) for name in sorted(mains)[:8])
    raise PaperParseError(
        f"The archive {archive!r} holds {len(mains)} papers: {listed}.",
        hint="Give the one main .tex file itself, or an archive with only that one; naming it main.tex also decides.",
    )


def _printed(data: bytes) -> str:
    return printed_source(data.decode("utf-8", "replace"), Aside())


def _from_readme(files: Mapping[str, bytes], mains: list[str]) -> str | None:
    for name in sorted(files):
        if not _README.match(name):
            continue
        text = files[name].decode("utf-8", "replace")
        named: list[str] = [a or b for a, b in _TOPLEVEL.findall(text)] + _from_json(text)
        for main in named:
            if main.strip() in mains:
                return main.strip()
    return None


def _from_json(text: str) -> list[str]:
    try:
        sources = json.loads(text).get("sources", [])
        return [str(s["filename"]) for s in sources if s.get("usage") == "toplevel"]
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return []


def _only_reader(texts: Mapping[str, str], mains: list[str]) -> str | None:
    """The only main file that reads others and is read by none."""
    known = {name.removesuffix(".tex") for name in texts}
    reads = {name: {n.removesuffix(".tex").removeprefix("./") for n in _INPUTS.findall(texts[name])} for name in texts}
    wanted = set().union(*reads.values())
    readers = [n for n in mains if reads[n] & known and n.removesuffix(".tex") not in wanted]
    return readers[0] if len(readers) == 1 else None


def _customary(mains: list[str]) -> str | None:
    for name in _CUSTOMARY:
        found = [main for main in mains if main.rpartition("/")[2].lower() == name]
        if len(found) == 1:
            return found[0]
    return None


def _only_top(mains: list[str]) -> str | None:
    top = [main for main in mains if "/" not in main]
    return top[0] if len(top) == 1 else None
