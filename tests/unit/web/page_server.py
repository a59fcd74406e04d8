"""A small server on this machine that answers each path as a test says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class PageServer:
    """``pages`` maps a path to what writes its answer; ``seen`` keeps the requests as (path, headers).

    A path that is none of them is answered by ``prefixes``, which map its beginning, or by ``default``.
    """

    address: str
    pages: dict[str, Answer] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    prefixes: dict[str, Answer] = field(default_factory=dict)
    default: Answer | None = None

    def url(self, path: str) -> str:
        return self.address + path

    def put(self, path: str, body: bytes, *, status: int = 200, **headers: str) -> None:
        """Answer with a body; ``Content_Type`` stands for ``Content-Type``."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            sent = {"Content_Length": str(len(body)), **headers}
            for name, value in sent.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(body)

        self.pages[path] = answer

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        self.put(path, b"moved", status=status, Location=to)


@contextmanager
def serving() -> Iterator[PageServer]:
    """Run the server while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            running.seen.append((self.path, dict(self.headers)))
            begins = (one for prefix, one in running.prefixes.items() if self.path.startswith(prefix))
            answer = running.pages.get(self.path) or next(begins, running.default)
            try:
                if answer is None:
                    self.send_error(404)
                else:
                    answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client has seen enough, which some tests are about

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = PageServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
