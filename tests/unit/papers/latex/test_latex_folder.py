"""A LaTeX project as a folder: which file is the paper, and what is never opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.papers.isolated import load_as_set
from referee.papers.latex import folder as folder_module
from referee.settings import PaperSettings

WHOLE = "\\documentclass{article}\\begin{document}\\section{One}The text of %s.\n%s\\end{document}"


def test_the_main_file_is_found_and_its_includes_are_read(project: Path) -> None:
    by_folder, by_file = load_paper(project), load_paper(project / "main.tex")
    assert by_folder == by_file
    assert load_as_set(project, PaperSettings()) == by_folder, "the child reads it as well"


def test_a_main_file_below_reads_beside_itself_and_above_but_not_outside(tmp_path: Path) -> None:
    folder = tmp_path / "paper.md"  # a folder's name says nothing
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "old.tex").write_text(WHOLE % ("history", ""))
    (tmp_path / "secret.tex").write_text("outside words")
    (folder / "shared.tex").write_text("shared words")
    (folder / "src" / "near.tex").write_text("near words")
    inputs = r"\input{near} \input{../shared} \input{../../secret} \input{/etc/hostname}"
    (folder / "src" / "draft.tex").write_text(WHOLE % ("a draft", inputs))
    paper = load_as_set(folder, PaperSettings())
    text = " ".join(block.text for _, block in paper.blocks())
    assert "near words" in text
    assert "shared words" in text
    assert "outside words" not in text
    lost = [finding.message for finding in paper.findings if finding.kind == "lost_text"]
    assert len(lost) == 2, lost
    assert all("lies outside the paper's folder and is not read" in message for message in lost)


def test_several_papers_are_named(tmp_path: Path) -> None:
    for name in ("first.tex", "second.tex"):
        (tmp_path / name).write_text(WHOLE % (name, ""))
    with pytest.raises(PaperParseError, match=r"holds 2 papers: 'first.tex', 'second.tex'"):
        load_paper(tmp_path)
    (tmp_path / "first.tex").rename(tmp_path / "main.tex")
    assert "The text of first.tex" in load_paper(tmp_path).sections[0].blocks[0].text


def test_a_folder_without_a_paper_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(PaperParseError, match=r"without a \.tex file") as caught:
        load_paper(tmp_path)
    assert caught.value.hint == "Give one paper."
    (tmp_path / "mine.pdf").write_bytes(b"%PDF-")
    with pytest.raises(PaperParseError) as caught:
        load_paper(tmp_path)
    assert "mine.pdf" in caught.value.hint
    (tmp_path / "part.tex").write_text("only a part")
    with pytest.raises(PaperParseError, match=r"documentclass.*it holds 'part.tex'"):
        load_paper(tmp_path)


def test_links_and_special_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    outside = tmp_path / "outside.tex"
    outside.write_text(WHOLE % ("somebody else", ""))
    link = folder / "main.tex"
    link.symlink_to(outside)
    with pytest.raises(PaperParseError, match=r"'main.tex' in the folder .* is a link"):
        load_paper(folder)
    link.unlink()
    os.mkfifo(link)
    with pytest.raises(PaperParseError, match="is no file, but a pipe"):
        load_paper(folder)
    link.unlink()
    (folder / "linked").symlink_to(tmp_path, target_is_directory=True)
    link.write_text(WHOLE % ("ours", r"\input{linked/outside}"))
    paper = load_paper(folder)
    assert "somebody else" not in paper.model_dump_json()
    assert any("linked/outside" in finding.message for finding in paper.findings)


def test_what_is_no_project_is_not_searched_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "_ENTRIES", 3)
    for number in range(4):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(PaperParseError, match="more than 3 files"):
        load_paper(tmp_path)


def test_the_size_counts_together(tmp_path: Path) -> None:
    for name in ("main.tex", "notes.tex"):
        (tmp_path / name).write_text("x" * 60)
    with pytest.raises(PaperParseError, match="more bytes than are read"):
        load_paper(tmp_path, max_bytes=100)
