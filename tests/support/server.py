"""``python -m tests.support.server``: the fake server as a process of its own, for tests that kill their client."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from tests.support.batches import BatchPlan
from tests.support.fake_server import FakeServer
from tests.support.faults import FaultPlan
from tests.support.script import Script

__all__ = ["FakeServer", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the first line on stdout is JSON with ``base_url``, ``url`` and ``port``.

    Returns:
        1 if the script failed at some call, else 0.
    """
    options = _parser().parse_args(arguments)
    server = FakeServer(
        Script.load(options.script) if options.script else None,
        faults=FaultPlan.load(options.faults) if options.faults else (),
        latency_s=options.latency,
        stream_s=options.stream,
        seed=options.seed,
        expected_key=options.key,
        models=options.model or ("fake",),
        context_tokens=options.context,
        log_path=options.log,
        port=options.port,
        strict=False,
        prompt_cache=not options.no_prompt_cache,
        batches=BatchPlan(delay_s=options.batch_delay) if options.batch_delay is not None else None,
    )
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with server:
        where = {"base_url": server.base_url, "url": server.url, "port": int(server.url.rsplit(":", 1)[1])}
        print(json.dumps(where), flush=True)
        stop.wait(options.max_seconds)
    for problem in server.problems:
        print(problem, file=sys.stderr)
    return 1 if server.problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.support.server", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds every reply takes")
    parser.add_argument("--stream", type=float, default=0.0, help="seconds from a stream's first event to the rest")
    parser.add_argument("--no-prompt-cache", action="store_true", help="report no cached tokens")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--script", type=Path, help="JSON file with entries, rules, otherwise")
    parser.add_argument("--faults", type=Path, help="JSON file with a list of faults")
    parser.add_argument("--log", type=Path, help="append the call log here, one JSON line a call")
    parser.add_argument("--key", help="the only key that is accepted")
    parser.add_argument("--model", action="append", help="an id under /v1/models; may be repeated")
    parser.add_argument("--context", type=int, help="the models' context in tokens, as /v1/models names it")
    parser.add_argument("--batch-delay", type=float, help="have batches, which take so many seconds")
    parser.add_argument("--max-seconds", type=float, default=3600.0, help="end by itself after this time")
    return parser


if __name__ == "__main__":
    sys.exit(main())
