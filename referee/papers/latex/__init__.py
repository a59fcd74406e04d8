"""Papers from LaTeX sources: a lone file with its folder, a folder, or an archive."""

from referee.papers.latex.load import load_latex

__all__ = ["load_latex"]
