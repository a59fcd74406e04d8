"""Papers by arXiv id or web address: fetched once, kept in the cache with their origin, then read like any file."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from referee.errors import DataError, PaperParseError
from referee.machine import try_lock
from referee.papers.sniff import Kind, describe_bytes, kind_of
from referee.runs import Event, Progress, silent
from referee.runs.files import write_atomically
from referee.schemas.base import Frozen
from referee.web import Answer, WebLimits, fetch_page
from referee.web.targets import scrubbed

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
    host, path = _parted(text)
    match = _PATH.fullmatch(path) if host in _HOSTS else None
    return match["id"] if match else ""


def _parted(address: str) -> tuple[str, str]:
    """Host and path of a web address; nothing where it is none."""
    with suppress(ValueError):
        parts = urlsplit(address)
        return (parts.hostname or "", unquote(parts.path)) if parts.scheme.lower() in ("http", "https") else ("", "")
    return "", ""


_RECORD = "source.json"
_LOCK_POLL_S = 0.2


class Origin(Frozen):
    """Where a kept file came from. ``note`` is what the person has to know about it, or empty."""

    source: str
    url: str
    file: str
    sha256: str
    fetched_at: datetime
    note: str = ""


def kept_origin(folder: Path) -> Origin | None:
    """The record of a folder whose file is whole; None where there is none, or the file was changed or removed."""
    try:
        origin = Origin.model_validate_json((folder / _RECORD).read_bytes())
        data = (folder / origin.file).read_bytes()
    except (OSError, ValidationError):
        return None
    return origin if hashlib.sha256(data).hexdigest() == origin.sha256 else None


def keep(folder: Path, data: bytes, *, source: str, url: str, file: str, note: str) -> Path:
    """Store a file and then its record; what an interrupted process leaves is no kept file.

    Raises:
        OSError: The folder cannot be written.
    """
    write_atomically(folder / file, data)
    digest = hashlib.sha256(data).hexdigest()
    origin = Origin(source=source, url=url, file=file, sha256=digest, fetched_at=datetime.now(UTC), note=note)
    write_atomically(folder / _RECORD, origin.model_dump_json(indent=1) + "\n")
    return folder / file


@asynccontextmanager
async def one_at_a_time(cache_folder: Path) -> AsyncGenerator[None]:
    """Hold the right to fetch papers: one request at a time, over all processes that share the cache.

    Raises:
        OSError: The folder cannot be written.
    """
    folder = cache_folder / "papers"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        while not try_lock(handle.fileno()):  # noqa: ASYNC110 - the system tells nobody that a lock is free
            await asyncio.sleep(_LOCK_POLL_S)
        yield


_FRESH = timedelta(days=1)
_SUFFIXES: dict[Kind, str] = {"pdf": ".pdf", "docx": ".docx", "html": ".html", "latex": ".tex"}
_TEXT_SUFFIXES = (".md", ".markdown", ".qmd", ".rmd", ".txt", ".tex", ".html", ".htm")
_KNOWN_SUFFIXES = (*_SUFFIXES.values(), *_TEXT_SUFFIXES, ".zip", ".gz", ".tgz", ".tar")
_LONGEST_NAME = 60
_ABOUT_HTML = (
    "The address gave an HTML page, whose text is read as the paper. If the page is only about the paper, give the "
    "address of its PDF"
)
_NOT_YET = ("429", "500", "502", "503", "504")


def remote_name(source: str | Path) -> str | None:
    """A short name for what an arXiv id or a web address leads to; None for a path, or where a file has that name."""
    with suppress(OSError, ValueError):  # longer than any path, as an address may be
        if isinstance(source, Path) or Path(source).exists():
            return None
    return _name(str(source))


def _name(source: str) -> str | None:
    if arxiv := parse_arxiv(source):
        return arxiv.file_name
    address = source.strip()
    if not address.lower().startswith(("http://", "https://")):
        return None
    host, path = _parted(address)
    last = PurePosixPath(path).name
    suffix = PurePosixPath(last).suffix
    stem = last.removesuffix(suffix) if suffix.lower() in _KNOWN_SUFFIXES else last
    return _safe(stem) or _safe(host) or "page"


async def fetch_paper(
    source: str,
    cache_folder: Path,
    *,
    max_bytes: int = 100 * 2**20,
    progress: Progress = silent,
    readable: Callable[[Path], object] | None = None,
    site: str = ARXIV,
    pause_s: float = 3.0,
    allow_local: bool = False,
) -> Path:
    """Bring a paper from the network, or from the cache.

    Of an arXiv paper the submitted source is taken. Where arXiv serves none, or it cannot be read, the PDF is, and a
    note says so. A kept file serves forever for an arXiv id with a version, else for a day; without a network also
    an older one serves, with a note. Nothing is tried twice, and there is one request at a time.

    Args:
        source: ``2401.01234``, ``arXiv:2401.01234v2``, ``cs/0112017``, an address of arXiv, or any http(s) address.
        cache_folder: The cache; files lie in ``papers`` under it, by the source's digest.
        max_bytes: Size the file may have.
        progress: Told what is fetched, and the notes.
        readable: Reads a fetched source for a trial and raises ``PaperParseError``; ``load_paper`` by default.
        site: Where arXiv is.
        pause_s: Seconds between two requests to arXiv.
        allow_local: Lets this machine's own addresses pass: for tests only.

    Returns:
        The file, named after the source and what its bytes are.

    Raises:
        PaperParseError: The source is neither id nor address, there is no network, or what came is no paper; the hint
            says how to get the file by hand.
        DataError: The cache cannot be written.
    """
    name = _name(source)
    if name is None:
        raise PaperParseError(
            f"{source!r} is neither an arXiv id nor a web address.",
            hint="Examples: 2401.01234, arxiv:cs/0112017, https://example.org/paper.pdf.",
        )
    from referee.papers.load import load_paper

    limits = WebLimits(max_bytes=max_bytes, read_s=30, total_s=300)
    job = _Job(
        source.strip(), name, parse_arxiv(source), limits, progress, readable or load_paper, pause_s, allow_local
    )
    try:
        async with one_at_a_time(cache_folder):
            return await job.run(cache_folder, site)
    except OSError as error:
        raise DataError(
            f"{scrubbed(source)!r} cannot be stored in {str(cache_folder)!r}: {error.strerror or error}.",
            hint="Free some space, or set REFEREE_CACHE_DIR to a folder you may write.",
        ) from error


@dataclass(frozen=True)
class _Job:
    source: str
    name: str
    arxiv: ArxivId | None
    limits: WebLimits
    progress: Progress
    readable: Callable[[Path], object]
    pause_s: float
    allow_local: bool

    async def run(self, cache_folder: Path, site: str) -> Path:
        """The kept file where it still serves, else a new one; an old one is better than none."""
        # The folder's name is the source's digest, so no source can name a path.
        named = f"arxiv:{self.arxiv}" if self.arxiv else self.source.partition("#")[0]
        folder = cache_folder / "papers" / hashlib.sha256(named.encode()).hexdigest()[:32]
        folder.mkdir(parents=True, exist_ok=True)
        kept = kept_origin(folder)
        if kept and ((self.arxiv and self.arxiv.version) or datetime.now(UTC) - kept.fetched_at < _FRESH):
            return self._from_cache(folder, kept)
        self.progress(Event("stage", f"fetching {scrubbed(self.source)}"))
        try:
            return await (self._from_arxiv(self.arxiv, folder, site) if self.arxiv else self._from_page(folder))
        except DataError as error:
            if kept and error.ids.get("cause") == "network":
                self._note(f"{error.message} The copy of {kept.fetched_at:%Y-%m-%d} is read")
                return self._from_cache(folder, kept)
            raise self._explained(error, site) from error

    def _from_cache(self, folder: Path, kept: Origin) -> Path:
        if kept.note:
            self._note(kept.note)
        return folder / kept.file

    async def _from_arxiv(self, arxiv: ArxivId, folder: Path, site: str) -> Path:
        """The source; the PDF where there is none that can be read."""
        try:
            page = await self._fetch(arxiv.source_address(site))
        except DataError as error:
            if error.ids.get("cause") == "network" or error.ids.get("status") in _NOT_YET:
                raise
            missing = error.message
        else:
            if kind_of(page.content) == "pdf":
                return self._keep(folder, page, note=f"arXiv has no source of {arxiv}, only its PDF")
            path = self._keep(folder, page)
            missing = await self._reason_against(path)
            if not missing:
                return path
        await asyncio.sleep(self.pause_s)
        page = await self._fetch(arxiv.pdf_address(site))
        if kind_of(page.content) != "pdf":
            raise PaperParseError(f"arXiv sent {describe_bytes(page.content)} instead of the PDF of {str(arxiv)!r}.")
        note = f"The source of {arxiv} could not be used, so its PDF is read: {missing}"
        return self._keep(folder, page, note=note)

    async def _reason_against(self, path: Path) -> str:
        """Why the LaTeX reader refuses the source; empty where it does not."""
        try:
            await asyncio.to_thread(self.readable, path)
        except PaperParseError as error:
            return error.message
        return ""

    async def _from_page(self, folder: Path) -> Path:
        page = await self._fetch(self.source)
        is_html = kind_of(page.content) == "html"
        return self._keep(folder, page, note=_ABOUT_HTML if is_html else "")

    async def _fetch(self, url: str) -> Answer:
        return await fetch_page(url, limits=self.limits, allow_local=self.allow_local)

    def _keep(self, folder: Path, page: Answer, note: str = "") -> Path:
        suffix = _suffix(page)
        if suffix is None or not page.content:
            what = describe_bytes(page.content) if page.content else "nothing"
            raise PaperParseError(
                f"{scrubbed(page.url)!r} gave {what}, which is no paper.",
                hint="Give the address of the paper's file, or download it and give its path.",
            )
        if note:
            self._note(note)
        shown, url = scrubbed(self.source), scrubbed(page.url)
        return keep(folder, page.content, source=shown, url=url, file=self.name + suffix, note=note)

    def _note(self, text: str) -> None:
        self.progress(Event("note", text.rstrip(".")))

    def _explained(self, error: DataError, site: str) -> PaperParseError:
        """The failure of a page as that of a paper, with the way around it."""
        addresses = f"{self.arxiv.pdf_address(site)} or {self.arxiv.source_address(site)}" if self.arxiv else "the file"
        by_hand = f"Download {addresses} by hand and give the file's path."
        what, hint = error.message, error.hint
        if error.ids.get("cause") == "network":
            what = f"There is no way to the network, or not to this host: {what}"
            hint = by_hand
        elif self.arxiv and error.ids.get("status") == "404":
            hint = "Check the id: arXiv does not know it."
        elif self.arxiv:
            hint = f"{hint} {by_hand}" if error.ids.get("status") in _NOT_YET else by_hand
        return PaperParseError(what, hint=hint, ids={**error.ids, "source": scrubbed(self.source)})


def _suffix(page: Answer) -> str | None:
    """The suffix for what the bytes are; for text the address's own, where it has one."""
    kind = kind_of(page.content)
    if kind == "archive":
        return {b"PK": ".zip", b"\x1f\x8b": ".tar.gz"}.get(page.content[:2], ".tar")
    if kind != "text":
        return _SUFFIXES[kind] if kind else None
    own = PurePosixPath(unquote(urlsplit(page.url).path)).suffix.lower()
    return own if own in _TEXT_SUFFIXES else ".txt"


def _safe(name: str) -> str:
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "-" for char in name)
    return kept.strip("-.")[:_LONGEST_NAME]
