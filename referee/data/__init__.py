"""Review sets and their papers in: every layout becomes a stream of ``ReviewCase``, every paper a ``Paper``."""

from __future__ import annotations

from referee.data.layout import LAYOUTS, SetFile, find_layouts
from referee.data.layouts.detection import TreeChecks
from referee.data.papers import PaperStore, read_papers
from referee.data.prose import canonical_text
from referee.data.reading import RejectedSink, read_cases, rejected_text
from referee.data.reading_notes import ReadingNotes

__all__ = [
    "LAYOUTS",
    "PaperStore",
    "ReadingNotes",
    "RejectedSink",
    "SetFile",
    "TreeChecks",
    "canonical_text",
    "find_layouts",
    "read_cases",
    "read_papers",
    "rejected_text",
]
