"""Word papers: limits before the archive is opened, then styles, text, tables and formulas; one file each."""

from __future__ import annotations

from referee.papers.docx.load import load_docx

__all__ = ["load_docx"]
