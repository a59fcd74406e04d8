"""What arXiv calls a paper: its ids, old and new, and the addresses its files have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

ARXIV = "https://arxiv.org"
_HOSTS = frozenset({"arxiv.org", "www.arxiv.org", "export.arxiv.org", "browse.arxiv.org"})
_PAGES = "abs|pdf|html|e-print|src|format|ps"
_ARCHIVES = (
    "acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas cond-mat cs dg-ga "
    "econ eess funct-an gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th nlin nucl-ex nucl-th patt-sol physics "
    "plasm-ph q-alg q-bio q-fin quant-ph solv-int stat supr-con"
).replace(" ", "|")
_ID = re.compile(rf"(?P<id>\d{{4}}\.\d{{4,5}}|(?:{_ARCHIVES})(?:\.[A-Z]{{2}})?/\d{{7}})(?P<version>v[1-9]\d?)?")
_PATH = re.compile(rf"/(?:{_PAGES})/(?P<id>.+?)(?:\.pdf)?/?")
_PREFIX = re.compile(r"arxiv:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class ArxivId:
    """An id as ``2401.01234`` or ``cs/0112017``, and its version as ``v2``; empty means the newest one."""

    id: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.id}{self.version}"

    @property
    def file_name(self) -> str:
        """The id as the beginning of a file's name."""
        return str(self).replace("/", "-")

    def source_address(self, base: str = ARXIV) -> str:
        """Where the submitted source is: a tar or gzip file, or the PDF where only that was submitted."""
        return f"{base}/src/{self}"

    def pdf_address(self, base: str = ARXIV) -> str:
        """Where the PDF is."""
        return f"{base}/pdf/{self}"


def parse_arxiv(text: str) -> ArxivId | None:
    """The id in ``2401.01234v2``, ``arXiv:cs/0112017`` or the address of a page or file of arXiv; None for all else.

    An old id without its archive's name (``0112017``) is ambiguous and no id.
    """
    text = text.strip()
    if "://" in text:
        text = _id_in_address(text)
    elif prefix := _PREFIX.match(text):
        text = text[prefix.end() :]
    match = _ID.fullmatch(text)
    return ArxivId(match["id"], match["version"] or "") if match else None


def _id_in_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or host not in _HOSTS:
        return ""
    match = _PATH.fullmatch(unquote(parts.path))
    return match["id"] if match else ""
