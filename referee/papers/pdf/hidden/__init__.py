"""Text that a reader of a PDF cannot see: found on the pages, taken out of a copy, listed as findings."""

from referee.papers.pdf.hidden.scan import Scan, scan_pdf

__all__ = ["Scan", "scan_pdf"]
