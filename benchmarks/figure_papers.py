"""Papers with errors that only a look at a picture shows, made from real ones: figures/errors.toml.

    python benchmarks/figure_papers.py FOLDER

Writes FOLDER/grokking.md, denoising.md and rates.md with their pictures beside them. The text is that of the PDF as it
is read, with the edits of the list; the pictures are cut out of it, but for one figure that is drawn anew.
"""

from __future__ import annotations

import asyncio
import sys
import tomllib
from pathlib import Path
from typing import Any

from PIL import Image

from referee.papers.isolated import draw_figures, load_as_set
from referee.schemas.figure import Figures
from referee.schemas.paper import Block, Paper
from referee.settings import PaperSettings

HERE = Path(__file__).parent
PDFS = HERE.parent.parent / "shared" / "data" / "pdfs"
LIST = HERE / "figures" / "errors.toml"
_SIDE = 800
_BARS = {"shakespeare_char": (1.4655, 1.4665), "enwik8": (1.0055, 1.0051), "text8": (0.9800, 0.9000)}


def main() -> int:
    """Make the three papers; 2 where one cannot be made as the list says."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    for name, file in listed["papers"].items():
        asyncio.run(make(name, PDFS / file, [one for one in listed["error"] if one["paper"] == name], folder))
        print(folder / f"{name}.md")
    return 0


async def make(name: str, pdf: Path, errors: list[dict[str, Any]], folder: Path) -> None:
    """One paper as Markdown with its pictures in a folder of its name."""
    bounds, pictures = PaperSettings(max_seconds=300), folder / name
    pictures.mkdir(exist_ok=True)
    paper = load_as_set(pdf, bounds)
    found = await draw_figures(pdf, paper, pictures, bounds)
    shown = {one.label: as_png(pictures / one.images[0]) for one in found.items if one.kind == "figure" and one.images}
    text = markdown(paper, {label: f"{name}/{file.name}" for label, file in shown.items()}, found)
    for error in errors:
        if error["find"] not in text:
            raise SystemExit(f"{name}: {error['id']}: {error['find']!r} is not in the text as read")
        kept = "" if error.get("instead") else error["find"]
        text = text.replace(error["find"], f"{kept}{error['after']}", 1)
        if error.get("drawn"):
            draw_bars(pictures / "drawn.png")
            text += f"\n\n![]({name}/drawn.png)\n\n{error['figure']}: Best validation loss by dataset and method.\n"
    (folder / f"{name}.md").write_text(text, encoding="utf-8")


def markdown(paper: Paper, pictures: dict[str, str], found: Figures) -> str:
    """The paper as read; each figure's picture stands before its caption. Labels of panels stay in the pictures."""
    captions = {one.block_id: one.label for one in found.items}
    parts = [f"# {paper.title}"]
    for section in paper.sections:
        parts.append(f"## {section.number or ''} {section.heading}".replace("  ", " "))
        parts += [_block(block, captions, pictures) for block in section.blocks]
    return "\n\n".join(filter(None, parts)) + "\n"


def _block(block: Block, captions: dict[str, str], pictures: dict[str, str]) -> str:
    if block.kind == "caption" and block.label is None:
        return ""
    if block.kind == "table":
        rows = [f"| {row} |" for row in block.text.splitlines()]
        ruled = [rows[0], "|" + " --- |" * (rows[0].count("|") - 1), *rows[1:]]
        return "\n".join(ruled)
    label = captions.get(block.id)
    return f"![]({pictures[label]})\n\n{block.text}" if label in pictures else block.text


def as_png(path: Path) -> Path:
    """The picture as a PNG of moderate size."""
    with Image.open(path) as picture:
        small = picture.convert("RGB")
    small.thumbnail((_SIDE, _SIDE))
    path.unlink()
    made = path.with_suffix(".png")
    small.save(made, optimize=True)
    return made


def draw_bars(path: Path) -> None:
    """The figure that is drawn anew: bars of Table 1, one of them wrong, on an axis that does not begin at zero."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), dpi=120)
    methods = zip(("Baseline", "Q-learning"), zip(*_BARS.values(), strict=True), strict=True)
    for shift, (method, values) in zip((-0.2, 0.2), methods, strict=True):
        axes.bar([at + shift for at in range(len(_BARS))], values, width=0.4, label=method)
    axes.set_xticks(range(len(_BARS)), list(_BARS))
    axes.set_ylim(0.85, 1.5)
    axes.set_ylabel("Best validation loss")
    axes.grid(axis="y", alpha=0.4)
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)


if __name__ == "__main__":
    sys.exit(main())
