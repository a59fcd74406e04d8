"""Signals to a process whose loop is busy, or whose thread hangs: neither could be asked to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

PATIENCE_S = 60.0
_BEGUN = "print('begun', flush=True)"
WORK = {
    "a busy loop": f"    {_BEGUN}\n    while True: pass",
    "a thread": f"    {_BEGUN}\n    await asyncio.to_thread(time.sleep, 99)",
    "a pool": f"    with ThreadPoolExecutor() as pool:\n        {_BEGUN}\n        pool.submit(time.sleep, 99)",
}
PROGRAM = """
import asyncio, sys, time
from concurrent.futures import ThreadPoolExecutor
from referee.cli.interrupt import Interrupted, run_interruptible
from referee.cli.progress import ProgressLine

async def work():
{work}

try:
    run_interruptible(work(), ProgressLine())
except Interrupted as error:
    print(f"interrupted: {{error.message}}", file=sys.stderr)
    sys.exit(130)
"""


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]], ids=["term", "twice"])
@pytest.mark.parametrize("work", WORK)
def test_whatever_the_work_waits_for(work: str, signals: Sequence[signal.Signals]) -> None:
    program = PROGRAM.format(work=WORK[work])
    env = {**os.environ, "REFEREE_CALLS__STOP_AFTER_S": "2"}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        for number in signals:
            process.send_signal(number)
            time.sleep(0.2)  # two at a time would be one
        try:
            _, said = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 130, said
    assert said.count("interrupted: nothing was sent or written.") == 1 or said == "", said
