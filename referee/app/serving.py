"""The app as a server of this machine: its address, its token, one app per folder."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from referee.app.guard import Guard
from referee.app.jobs import JOBS, Jobs
from referee.app.processes import load_ahead
from referee.app.server import Place, build_app
from referee.errors import RunError, SettingsError
from referee.runs.lock import FolderLock
from referee.settings import Settings

_GOODBYE_S = 3
_MOST_CONNECTIONS = 500


@dataclass(frozen=True)
class Wanted:
    """How the app is to be served.

    Attributes:
        root: The folder of runs.
        host: The address to listen at.
        port: 0 for a free one.
        papers: Folders under which papers may be named by their path; for loopback only.
        names: Other names, with their ports, by which browsers reach it, as behind a proxy.
        token: Whether browsers must show a token on loopback too.
    """

    root: Path
    host: str = "127.0.0.1"
    port: int = 8484
    papers: tuple[Path, ...] = ()
    names: tuple[str, ...] = ()
    token: bool = False


def serve(wanted: Wanted, settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; work under way is then stopped so that it can go on later.

    Args:
        wanted: How.
        settings: Those in force.
        ready: Told the address to open, with its token where there is one.

    Raises:
        RunError: Another app works in the folder, it cannot be written, or the port is in use.
        SettingsError: The address cannot be listened at, or paths are offered to others than this machine.
    """
    local = _is_loopback(wanted.host)
    if wanted.papers and not local:
        raise SettingsError(
            "papers can be named by their path on this machine alone.", hint="Leave --papers away, or --host."
        )
    for folder in wanted.papers:
        if not folder.is_dir():
            raise SettingsError(f"{str(folder)!r} is no folder (--papers).", hint="Name folders that are there.")
    lock = _only_app(wanted.root)
    try:
        with _listening(wanted.host, wanted.port) as door:
            port = door.getsockname()[1]
            token = secrets.token_urlsafe(24) if wanted.token or not local else None
            jobs = Jobs(wanted.root, base_url=settings.models.base_url, stop_after_s=settings.calls.stop_after_s)
            app = build_app(Place(jobs, settings, wanted.papers))
            guarded = Guard(app, hosts=_names(wanted, port, local), token=token)
            config = uvicorn.Config(
                guarded,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="on",
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_graceful_shutdown=_GOODBYE_S,
            )
            load_ahead()
            ready(f"http://{_shown(wanted.host)}:{port}/{f'?token={token}' if token else ''}")
            with suppress(KeyboardInterrupt):  # it was heard, and is raised once more at the end
                asyncio.run(_Server(config, jobs).serve(sockets=[door]))
    finally:
        lock.release()


class _Server(uvicorn.Server):
    """Stops the work first, and lets live pages end: they would keep it from ending."""

    def __init__(self, config: uvicorn.Config, jobs: Jobs) -> None:
        super().__init__(config)
        self._jobs = jobs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End live pages and the work, then the rest."""
        self._jobs.stop_all()
        await super().shutdown(sockets)


def _only_app(root: Path) -> FolderLock:
    """The lock of the one app in a folder of runs."""
    try:
        (root / JOBS).mkdir(parents=True, exist_ok=True)
        lock = FolderLock(root / JOBS)
        lock.acquire()
    except OSError as error:
        raise RunError(
            f"the folder of runs {str(root)!r} cannot be written: {error.strerror or error}.",
            hint="Choose another with --runs.",
        ) from error
    except RunError as error:
        raise RunError(
            f"another app works on the runs in {str(root)!r}: {error.message}",
            hint="Use that one, or choose another folder with --runs.",
        ) from error
    return lock


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise RunError(
                f"port {port} of {host} is in use.", hint="Choose another with --port, or 0 for a free one."
            ) from error
        raise SettingsError(
            f"nothing can listen at {host!r}, port {port}: {error.strerror or error}.",
            hint="Choose an address of this machine with --host, and a port from 1024 to 65535.",
        ) from error


def _names(wanted: Wanted, port: int, local: bool) -> set[str]:
    own = {"127.0.0.1", "localhost", "[::1]"} if local else {_shown(wanted.host), socket.gethostname().lower()}
    return {f"{name}:{port}" for name in own} | {name.lower() for name in wanted.names}


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
