"""What every format shares about hidden and injected text: invisible characters, markup twins, sentences to a model."""

from referee.papers.hidden.addresses import find_addresses
from referee.papers.hidden.characters import checked
from referee.papers.hidden.text import scan_text

__all__ = ["checked", "find_addresses", "scan_text"]
