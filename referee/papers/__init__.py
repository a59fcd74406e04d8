"""Papers in: a file of a supported kind to the one ``Paper`` that the rest of the package reads."""

from __future__ import annotations

from referee.papers.load import SUPPORTED, load_paper

__all__ = ["SUPPORTED", "load_paper"]
