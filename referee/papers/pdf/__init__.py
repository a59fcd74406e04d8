"""PDF papers: limits first, then conversion, repairs, comparison with the page, assembly; one file each."""

from __future__ import annotations

from referee.papers.pdf.load import load_pdf

__all__ = ["load_pdf"]
