"""What a limit takes from a paper is said: cut findings, large files, wide tables, many pictures, long streams."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from referee.papers import figures, load_paper, picture_files
from referee.papers.figures import cut_figures
from referee.papers.latex import project, scan
from referee.papers.pdf.hidden.scan import has_layers
from referee.schemas.paper import Paper

WHOLE = "\\documentclass{article}\\begin{document}\\section{One}The text of the paper.\n%s\\end{document}"


def lost(paper: Paper) -> list[str]:
    return [finding.message for finding in paper.findings if finding.kind == "lost_text"]


def test_a_long_hidden_text_says_how_much_of_it_is_not_shown(tmp_path: Path) -> None:
    words = "hidden words of the author " * 100
    (tmp_path / "paper.md").write_text(f"# T\n\nSeen.\n\n<!-- {words} -->\n\n## One\n\nText.\n", encoding="utf-8")
    (finding,) = [one for one in load_paper(tmp_path / "paper.md").findings if "hidden words" in one.text]
    assert finding.text.endswith("more characters]")
    assert int(finding.text.rpartition("[... ")[2].split()[0].replace(",", "")) == len(words.strip()) - 2000


def test_a_file_that_is_too_large_is_not_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "LIMITS", scan.LatexLimits(file_bytes=2**20))
    (tmp_path / "large.tex").write_bytes(b"words " * 2**18)
    (tmp_path / "large.bib").write_bytes(b"words " * 2**18)
    source = WHOLE % "\\input{large}\\input{gone}\\bibliography{large}"
    (tmp_path / "paper.tex").write_text(source, encoding="utf-8")
    said = lost(load_paper(tmp_path / "paper.tex"))
    assert "The file 'large' that 'paper.tex' reads has more than 1 MiB; its text is missing." in said
    assert "The file 'gone' that 'paper.tex' reads is not there; its text is missing." in said
    assert "The bibliography 'large' has more than 1 MiB; its entries are missing." in said


def test_cells_beyond_the_last_column_are_counted(tmp_path: Path) -> None:
    row = " & ".join(map(str, range(203)))
    table = f"\\begin{{tabular}}{{l}}{row} \\\\ {row}\\end{{tabular}}"
    (tmp_path / "paper.tex").write_text(WHOLE % table, encoding="utf-8")
    assert lost(load_paper(tmp_path / "paper.tex")) == [
        "6 cells stand beyond the 200th column of their tables; their text is missing."
    ]


def test_mentions_beyond_the_most_are_counted(tmp_path: Path) -> None:
    said = " ".join(f"Figure 1 shows thing {n} of the paper." for n in range(10))
    (tmp_path / "paper.md").write_text(f"# T\n\n## One\n\n{said}\n\n![Figure 1: A bar.](f.png)\n", encoding="utf-8")
    paper, folder = load_paper(tmp_path / "paper.md"), tmp_path / "cut"
    folder.mkdir()
    cut = cut_figures(tmp_path / "paper.md", paper, folder, max_pages=9, max_bytes=9999, max_figures=9)
    assert len(cut.items[0].mentions) == 8
    assert "2 sentences that refer to figures and tables are not kept: of each the first 8 are." in cut.left_out


def test_pictures_beyond_the_most_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (picture_files, figures):
        monkeypatch.setattr(module, "MOST_FILES", 2)
    shown = "".join(f"![Figure {n}: A bar.](f{n}.png)\n\nFigure {n}: A bar.\n\n" for n in (1, 2, 3))
    (tmp_path / "paper.md").write_text(f"# T\n\n## One\n\nText.\n\n{shown}", encoding="utf-8")
    paper, folder = load_paper(tmp_path / "paper.md"), tmp_path / "cut"
    folder.mkdir()
    cut = cut_figures(tmp_path / "paper.md", paper, folder, max_pages=9, max_bytes=9999, max_figures=9)
    assert "The paper shows more than 2 pictures; those beyond are not read." in cut.left_out


def test_an_object_stream_that_goes_on_may_name_layers() -> None:
    def stream(size: int, end: bytes) -> bytes:
        return b"/Type /ObjStm >> stream\n" + zlib.compress(b" " * size + end)

    assert has_layers(stream(9, b"/OCProperties"))
    assert not has_layers(stream(2**22 - 9, b""))
    assert has_layers(stream(2**22, b"/OCProperties"))
