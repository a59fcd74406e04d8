"""Starts one command and prints its seconds, processor time, peak memory and exit code as JSON.

    python -I -S review_launcher.py OUTPUT COMMAND...

It is a process of its own, and imports next to nothing, because a child's peak memory begins at that of the process
that started it: started from the benchmark itself, no child would seem smaller than the benchmark.
"""

import os
import sys
import time


def main() -> None:
    output, *command = sys.argv[1:]
    to_file = (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    began_at, began = time.time(), time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[to_file, (os.POSIX_SPAWN_DUP2, 1, 2)])
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - began
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    code, cpu = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    told = f'"began_at": {began_at}, "seconds": {seconds}, "cpu_seconds": {cpu}, "peak_bytes": {peak}, "code": {code}'
    print(f"{{{told}}}")


main()
