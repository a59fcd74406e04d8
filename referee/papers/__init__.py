"""Papers in: a file, an arXiv id or a web address to the one ``Paper`` that the rest of the package reads."""

from __future__ import annotations

from referee.papers.load import SUPPORTED, load_paper
from referee.papers.remote import fetch_paper, remote_name

__all__ = ["SUPPORTED", "fetch_paper", "load_paper", "remote_name"]
