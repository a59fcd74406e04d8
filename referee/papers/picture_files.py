"""Which picture files a Word, LaTeX, HTML or Markdown paper shows under which caption; local files only.

A file is read where it lies beside the paper or inside it: never from the net, never from outside the paper's folder.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from referee.papers.latex.project import Files, FolderFiles, joined
from referee.papers.pieces import caption_label

MOST_FILES = 400
_NET = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//|^(?:https?|ftp|file):", re.IGNORECASE)
_DATA = re.compile(r"^data:image/(?:png|jpeg|gif|webp);base64,(?P<data>[\w+/=\s]+)$")


@dataclass(frozen=True)
class PictureFile:
    """A picture that the paper shows: its bytes, or why they cannot be had. ``label`` is what its caption names."""

    label: str | None
    name: str
    data: bytes | None
    problem: str = ""


def local_picture(
    label: str | None, name: str, files: Files, suffixes: Sequence[str] = ("",), base: str = ""
) -> PictureFile:
    """A file beside the paper by the name that the paper gives it, seen from the folder ``base``."""
    if match := _DATA.match(name):
        try:
            return PictureFile(label, "a picture in the page", base64.b64decode(match["data"]))
        except binascii.Error:
            return PictureFile(label, "a picture in the page", None, "a picture in the page is damaged")
    shown = repr(name[:120])
    if _NET.match(name) or name.startswith("data:"):
        return PictureFile(label, shown, None, f"{shown[:80]} is not a local picture file and is not fetched")
    for suffix in suffixes:
        place = joined(base, f"{unquote(name)}{suffix}")
        if place is not None and (data := files.read(place)) is not None:
            return PictureFile(label, shown, data)
    return PictureFile(label, shown, None, f"the file {shown} is not beside the paper, or may not be read")


_IMAGE = re.compile(r"^\s*!\[(?P<alt>[^\]]*)\]\(\s*<?(?P<target>[^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")


def in_markdown(path: Path, data: bytes) -> Iterator[PictureFile]:
    """Images on a line of their own; the caption is the alternative text, or the paragraph after or before it."""
    files = FolderFiles(path.parent, path.name, data)
    lines = [line for line in data.decode("utf-8-sig").splitlines() if line.strip()]
    for at, line in enumerate(lines):
        if match := _IMAGE.match(line):
            around = (match["alt"], *lines[at + 1 : at + 2], *lines[max(0, at - 1) : at])
            label = next((found for text in around if (found := caption_label(text))), None)
            yield local_picture(label, match["target"], files)


def in_html(path: Path, data: bytes) -> Iterator[PictureFile]:
    """Images of ``figure`` elements by their ``figcaption``, others by their alternative text."""
    from referee.papers.html.load import parse_page
    from referee.papers.html.tree import has_class

    files = FolderFiles(path.parent, path.name, data)
    for image in parse_page(path.name, data).iter("img"):
        figures = [one for one in image.iterancestors() if one.tag == "figure" or has_class(one, "ltx_figure")]
        texts = [str(image.get("alt") or "")]
        for figure in figures:
            own = (one for one in figure.iter() if one.tag == "figcaption" or has_class(one, "ltx_caption"))
            texts += [str(one.text_content()) for one in own]
        label = next((found for text in texts[::-1] if (found := caption_label(" ".join(text.split())))), None)
        yield local_picture(label, str(image.get("src") or ""), files)


_FIGURE = re.compile(
    r"\\begin\{(?P<name>(?:wrap|sideways|margin|SC)?figure\*?)\}(?P<body>.*?)\\end\{(?P=name)\}", re.DOTALL
)
_INNER = re.compile(r"\\begin\{(subfigure|subcaptionblock|subtable)\}.*?\\end\{\1\}", re.DOTALL)
_CAPTION = re.compile(r"\\caption\s*(?:\[[^\]]*\])?\s*\{")
_GRAPHICS = re.compile(r"\\includegraphics\*?\s*(?:\[[^\]]*\])?\s*\{(?P<name>[^{}]+)\}")
_FOLDERS = re.compile(r"\\graphicspath\s*\{(?P<folders>(?:\s*\{[^{}]*\}\s*)+)\}")
_SUFFIXES = ("", ".pdf", ".png", ".jpg", ".jpeg", ".PNG", ".JPG")


def in_latex(path: Path, data: bytes, labels: Sequence[str], max_bytes: int) -> Iterator[PictureFile]:
    r"""Files that ``\includegraphics`` names in figure environments; their captions are counted as the paper's are.

    Where the source has more or fewer captions than the paper, no file can be told to be of a figure, and none is.
    What stands in one environment with two captions of its own is told apart by the caption that follows it.
    """
    from referee.papers.latex.load import latex_files
    from referee.papers.latex.project import Joiner

    files, main = latex_files(path, data, max_bytes)
    source = Joiner(files, main).whole()
    listed = [found["folders"] for found in _FOLDERS.finditer(source)]
    folders = [folder for one in listed for folder in re.findall(r"\{([^{}]*)\}", one)]
    parts = [part for environment in _FIGURE.finditer(source) for part in _by_caption(environment["body"])]
    own = [label for label in labels if label.startswith("Figure")]
    for part, label in zip(parts, own if len(own) == len(parts) else (), strict=False):
        for graphics in _GRAPHICS.finditer(part):
            base, name = main.rpartition("/")[0], graphics["name"].strip()
            places = [local_picture(label, f"{at}{name}", files, _SUFFIXES, base) for at in ("", *folders)]
            yield next((one for one in places if one.data is not None), places[0])


def _by_caption(body: str) -> list[str]:
    """A figure environment's source by its captions; with one caption, what stands below it belongs to it too."""
    whole = _INNER.sub(lambda inner: _CAPTION.sub("{", inner[0]), body)
    parts = _CAPTION.split(whole)
    return [whole] if len(parts) == 2 else parts[:-1]


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_NEAR = 2


def in_docx(path: Path, data: bytes) -> Iterator[PictureFile]:
    """Pictures inside the document, with the nearest caption after them, else the one before."""
    from referee.papers.docx.archive import open_docx

    document = open_docx(path.name, data)
    paragraphs = list(document.element.body.iter(f"{_WORD}p"))
    texts = ["".join(one.text or "" for one in paragraph.iter(f"{_WORD}t")) for paragraph in paragraphs]
    labels = [caption_label(text) for text in texts]
    for at, paragraph in enumerate(paragraphs):
        near = (*labels[at : at + 1 + _NEAR], *labels[max(0, at - 1) : at])
        label = next((one for one in near if one), None)
        for blip in paragraph.iter(_BLIP):
            part = document.part.related_parts.get(blip.get(_EMBED) or "")
            name = repr(str(getattr(part, "partname", "a linked picture")))
            blob = getattr(part, "blob", None)
            yield PictureFile(label, name, blob, "" if blob else f"{name} is not in the document and is not fetched")


def picture_files(path: Path, paper_format: str, labels: Sequence[str], max_bytes: int) -> list[PictureFile]:
    """The pictures of one paper in order; nothing for formats that show none.

    One more than ``MOST_FILES`` means that there are others.

    Raises:
        PaperParseError: The file can no longer be read as it was.
        OSError: It cannot be opened.
    """
    data = b"" if path.is_dir() else path.read_bytes()
    if paper_format == "latex":
        return list(islice(in_latex(path, data, labels, max_bytes), MOST_FILES + 1))
    readers = {"markdown": in_markdown, "html": in_html, "docx": in_docx}
    return list(islice(readers[paper_format](path, data), MOST_FILES + 1)) if paper_format in readers else []
