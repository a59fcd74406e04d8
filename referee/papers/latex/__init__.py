"""Papers from LaTeX sources: a lone file with its folder, or an archive."""

from referee.papers.latex.load import load_latex, load_latex_archive, load_latex_folder

__all__ = ["load_latex", "load_latex_archive", "load_latex_folder"]
