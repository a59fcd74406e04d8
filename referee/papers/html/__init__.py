"""HTML papers: decoding, hidden text, then one walk over LaTeXML or plain markup; one file each."""

from __future__ import annotations

from referee.papers.html.load import load_html

__all__ = ["load_html"]
