"""The figures and tables of a paper as pictures, whatever its format: by its captions, from the file alone."""

from __future__ import annotations

import io
import struct
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from referee.errors import PaperParseError
from referee.evidence.rules.labels import mentions_of
from referee.papers.captions import Caption, captions_of
from referee.papers.picture_files import MOST_FILES, PictureFile, picture_files
from referee.papers.pictures import MOST_MEGAPIXELS, Pictures
from referee.schemas.figure import Figure, Figures
from referee.schemas.paper import Paper

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
# What the decoders raise at damaged files.
_UNREADABLE = (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError, struct.error)

_MOST_MENTIONS, _MOST_FILES_OF_ONE = 8, 6


def mentions_by_label(paper: Paper) -> dict[str, tuple[str, ...]]:
    """The sentences that refer to each figure and table, without captions."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for one in mentions_of(paper):
        if one.sentence.block.kind not in ("caption", "figure") and one.kind in ("Figure", "Table"):
            found[f"{one.kind} {one.number}"][one.sentence.text] = None
    return {label: tuple(texts) for label, texts in found.items()}


def cut_figures(
    path: Path,
    paper: Paper,
    folder: Path,
    *,
    max_pages: int,
    max_bytes: int,
    max_figures: int,
    whole_pages: bool = False,
) -> Figures:
    """Write a picture of each figure and table of a paper into a folder.

    Args:
        path: The file that the paper was read from.
        paper: What was read of it.
        folder: Where the pictures are written: ``001.png`` and so on.
        max_pages: Pages a PDF may have.
        max_bytes: What a folder's LaTeX files may have together.
        max_figures: Figures and tables that get a picture; the others are listed without one.
        whole_pages: Whether a PDF's are shown as the pages they stand on.

    Raises:
        PaperParseError: The file can no longer be read as it was.
        OSError: A picture cannot be written.
    """
    captions = captions_of(paper)
    mentions = mentions_by_label(paper)
    pictures = Pictures(folder, max_figures, {label: said[:_MOST_MENTIONS] for label, said in mentions.items()})
    if beyond := sum(len(said[_MOST_MENTIONS:]) for said in mentions.values()):
        pictures.left_out.append(
            f"{beyond} sentences that refer to figures and tables are not kept: of each the first {_MOST_MENTIONS} are."
        )
    if unread := sorted(mentions.keys() - {"Figure ??", "Table ??", *(one.label for one in captions)}):
        pictures.left_out.append(
            f"Not found: {', '.join(unread[:_MOST_MENTIONS])}{', ...' if unread[_MOST_MENTIONS:] else ''}. "
            "The text names what no caption was read for."
        )
    items: list[Figure] = []
    if paper.format == "pdf":
        from referee.papers.pdf.figures import cut_pdf

        items = cut_pdf(path, paper, captions, pictures, max_pages, whole_pages=whole_pages)
    elif captions:
        files = picture_files(path, paper.format, [one.label for one in captions], max_bytes)
        if len(files) > MOST_FILES:
            pictures.left_out.append(f"The paper shows more than {MOST_FILES} pictures; those beyond are not read.")
        items = list(_from_files(files[:MOST_FILES], captions, pictures))
    return Figures(paper_id=paper.paper_id, items=tuple(items), left_out=pictures.said())


def _from_files(files: Sequence[PictureFile], captions: Sequence[Caption], pictures: Pictures) -> Iterator[Figure]:
    """Each caption with the pictures of its files. A table without one was read from the source: it is not listed."""
    for caption in captions:
        own = [one for one in files if one.label == caption.label]
        if not own and caption.kind == "table":
            continue
        if not pictures.has_room():
            yield pictures.beyond(caption)
            continue
        names, problems = _written(own[:_MOST_FILES_OF_ONE], pictures)
        if len(own) > _MOST_FILES_OF_ONE:
            problems.append(f"only {_MOST_FILES_OF_ONE} of its {len(own)} files are shown")
        why = "; ".join(problems) or ("" if names else "no picture file stands by its caption")
        yield pictures.figure(caption, images=tuple(names), problem=why)


def _written(files: Sequence[PictureFile], pictures: Pictures) -> tuple[list[str], list[str]]:
    names, problems = [], []
    for one in files:
        picture = _opened(one.data, one.name) if one.data is not None else one.problem
        if isinstance(picture, str):
            problems.append(picture)
        elif name := pictures.write(picture):
            names.append(name)
        else:
            problems.append(pictures.full)
    return names, problems


def _opened(data: bytes, name: str) -> Image.Image | str:
    """A picture file's picture, or why there is none; how large it is, is looked at before it is decoded."""
    try:
        if data[:5] == b"%PDF-":
            from referee.papers.pdf.figures import first_page

            return first_page(data, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data), formats=_FORMATS)
        if (pixels := picture.width * picture.height / 1e6) > MOST_MEGAPIXELS:
            return f"{name} has {pixels:,.0f} megapixels; at most {MOST_MEGAPIXELS} are read"
        picture.load()
    except PaperParseError as error:
        return error.message
    except Image.DecompressionBombError:
        return f"{name} has far more than {MOST_MEGAPIXELS} megapixels, the most that are read"
    except _UNREADABLE:
        return f"{name} is no picture of a kind that is read ({', '.join(_FORMATS)}, PDF)"
    return picture
