"""Whether long runs stay flat: units per second, memory, resumed work, from a thousand rows to a hundred thousand.

    python benchmarks/scale.py [--part profile,profile2,eval,kills,shards,batch,ray,query] [--rows 1000,10000]

Rows are drawn from the shared reviews. The judge is the scripted server in a process of its own, whose replies take a
fixed time; ``eval`` measures one metric of one call a row in one process, and the machine's cores are shared with that
server. Each command runs in a process of its own: wall time, processor time, and the peak of the largest process.

``profile``: the text metrics, ``profile2`` by two processes. ``eval``: use of the allowed concurrency and calls per
second. ``kills``: SIGKILL at moments spread over the run, then resumed to the end: every unit once, and how many calls
were asked twice (those in flight at a kill may be). ``shards``: four shards of a run in processes of their own, and
their merge, which is what is timed. ``batch``: the calls in the provider's batches, killed and resumed. ``ray``: two
workers on a cluster of this machine (needs ``referee[ray]``). ``query``: DuckDB's means over so many rows of results
(needs duckdb).

It fails where a unit is lost or there twice, a batch is paid twice, memory passes 500 MB, or the use is below 0.95.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from part_arguments import with_parts
from review_processes import ROOT, Ended, run_python
from scale_kills import killed_run, run_together
from scale_rows import sentences_of, write_rows
from scale_server import ServerProcess

METRIC = "constructiveness"
MOST_MEMORY_MB = 500
LEAST_USE = 0.95


@dataclass(frozen=True)
class Figures:
    """One measured set-up; None for what it does not have."""

    part: str
    rows: int
    seconds: float
    units_a_second: float
    cpu_ms_a_unit: float
    peak_mb: float
    use: float | None = None
    note: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether it is within the bars."""
        return (
            self.peak_mb <= MOST_MEMORY_MB and (self.use is None or self.use >= LEAST_USE) and "LOST" not in self.note
        )


@dataclass(frozen=True)
class Bench:
    """Where it is measured, and with what."""

    folder: Path
    sentences: list[str]
    slots: int
    latency_s: float

    def rows(self, count: int) -> Path:
        """A set of so many rows, written once."""
        file = self.folder / f"rows-{count}.jsonl"
        return file if file.exists() else write_rows(self.sentences, count, file)

    @contextmanager
    def server(self) -> Iterator[ServerProcess]:
        """A judge in a process of its own."""
        with ServerProcess(self.folder, latency_s=self.latency_s) as server:
            yield server

    @contextmanager
    def batches(self) -> Iterator[ServerProcess]:
        """The same, with batches, which take a second."""
        with ServerProcess(self.folder, latency_s=0.0, options=("--batch-delay", "1")) as server:
            yield server

    def evaluation(self, server: ServerProcess, count: int) -> list[str]:
        """The command that measures these rows, but for its folder."""
        judge = ["--judge", "fake", "--base-url", server.base_url, "--no-cache", "--yes"]
        return ["-m", "referee", "eval", str(self.rows(count)), "--metrics", METRIC, *judge]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table; 1 where a bar is missed."""
    given = _arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="referee-scale-", dir=given.folder) as name:
        sentences = sentences_of(given.data)
        if not sentences:
            sys.exit(f"{str(given.data)!r} holds no reviews: give the folder of the shared data with --data.")
        bench = Bench(Path(name), sentences, given.slots, given.latency)
        found = []
        for part in given.part.split(","):
            for count in map(int, given.rows.split(",")):
                found.append(PARTS[part](bench, count))
                print(_line(found[-1]), flush=True)
    print("", *_table(found), sep="\n")
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n", encoding="utf-8")
    return int(not all(one.is_sound for one in found))


def profile(bench: Bench, count: int) -> Figures:
    """``referee profile`` with the text metrics."""
    out = bench.folder / f"profile-{count}"
    ended = run_python(["-m", "referee", "profile", str(bench.rows(count)), "--out", str(out)], bench.folder)
    return _figures("profile", count, ended)


def profile_in_two(bench: Bench, count: int) -> Figures:
    """The same, its texts measured by two processes."""
    out = bench.folder / f"profile-in-two-{count}"
    arguments = ["-m", "referee", "profile", str(bench.rows(count)), "--processes", "2", "--out", str(out)]
    return _figures("profile2", count, run_python(arguments, bench.folder))


def evaluation(bench: Bench, count: int) -> Figures:
    """``referee eval`` with one call a row."""
    out = bench.folder / f"eval-{count}"
    with bench.server() as server:
        command = [*bench.evaluation(server, count), "--out", str(out)]
        ended = run_python(command, bench.folder, bench.slots)
        use = server.use(bench.slots)
    note = _lost(out, count)
    return _figures("eval", count, ended, use=use, note=note)


def kills(bench: Bench, count: int) -> Figures:
    """The same, killed three times on the way."""
    out = bench.folder / f"kills-{count}"
    with bench.server() as server:
        killed = killed_run(bench.evaluation(server, count), out, count, bench.folder, bench.slots)
        asked = server.requests()
    twice = sum(asked.values()) - len(asked)
    resumed = f"{killed.kills} kills, {twice} asked twice (in flight), resumed in {killed.resumed_s:.1f} s"
    return _figures("kills", count, killed.last, note=f"{resumed}; {_lost(out, count)}")


def shards(bench: Bench, count: int) -> Figures:
    """Four shards at the same time, then their merge, whose time and memory these are."""
    parts = [bench.folder / f"part-{count}-{number}" for number in range(1, 5)]
    whole = bench.folder / f"merged-{count}"
    with bench.server() as server:
        commands = [
            [*bench.evaluation(server, count), "--shard", f"{number}/4", "--out", str(part)]
            for number, part in enumerate(parts, 1)
        ]
        seconds = run_together(commands, bench.folder, bench.slots // 4)
        use = server.use(bench.slots)
    ended = run_python(["-m", "referee", "merge", *map(str, parts), "--out", str(whole)], bench.folder)
    note = f"merged; the shards took {seconds:.0f} s; {_lost(whole, count)}"
    return _figures("shards", count, ended, use=use, note=note)


def batch(bench: Bench, count: int) -> Figures:
    """``--batch``, killed while calls are collected, while a batch is waited for, and while replies are read."""
    out = bench.folder / f"batch-{count}"
    (bench.folder / "referee.toml").write_text("[batches]\nquiet_s = 1.0\npoll_s = 0.5\n", encoding="utf-8")
    with bench.batches() as server:
        killed = killed_run([*bench.evaluation(server, count), "--batch"], out, count, bench.folder, bench.slots)
        answered = server.requests()
    (bench.folder / "referee.toml").unlink()
    twice = sum(answered.values()) - len(answered)
    note = f"{killed.kills} kills, {len(answered)} calls answered, LOST: {twice} handed in twice" if twice else (
        f"{killed.kills} kills, {len(answered)} calls answered, none handed in twice"
    )  # fmt: skip
    return _figures("batch", count, killed.last, note=f"{note}; {_lost(out, count)}")


def ray(bench: Bench, count: int) -> Figures:
    """Two workers on a Ray cluster of this machine."""
    out = bench.folder / f"ray-{count}"
    with bench.server() as server:
        command = [*bench.evaluation(server, count), "--processes", "2", "--engine", "ray", "--out", str(out)]
        ended = run_python(command, bench.folder, bench.slots)
        use = server.use(bench.slots)
    return _figures("ray", count, ended, use=use, note=_lost(out, count))


def query(bench: Bench, count: int) -> Figures:
    """Means by source and metric of so many rows of results in Parquet."""
    script = bench.folder / "query.py"
    script.write_text(_QUERY, encoding="utf-8")
    ended = run_python([str(script), str(count), str(bench.folder / f"results-{count}.parquet")], bench.folder)
    return _figures("query", count, ended, note=ended.output.strip().splitlines()[-1])


_QUERY = """
import sys, time
import duckdb
count, file = int(sys.argv[1]), sys.argv[2]
duckdb.sql(
    f"copy (select 'case-' || range as case_id, 'source-' || range % 4 as source, 'metric-' || range % 6 as metric, "
    f"'scored' as status, random() as value from range({count})) to '{file}' (format parquet)"
)
start = time.perf_counter()
rows = duckdb.sql(
    f"select source, metric, count(value), avg(value) from '{file}' where status = 'scored' group by all"
).fetchall()
print(f"{len(rows)} means in {time.perf_counter() - start:.2f} s")
"""

PARTS: dict[str, Callable[[Bench, int], Figures]] = {
    "profile": profile,
    "profile2": profile_in_two,
    "eval": evaluation,
    "kills": kills,
    "shards": shards,
    "batch": batch,
    "ray": ray,
    "query": query,
}
USUAL = "profile,eval,kills,shards,batch"


def _lost(out: Path, count: int) -> str:
    """Whether every unit is there once."""
    ids = [json.loads(line)["case_id"] for line in (out / "results.jsonl").open(encoding="utf-8")]
    return (
        "each unit once"
        if len(ids) == len(set(ids)) == count
        else f"LOST OR TWICE: {len(ids)} rows, {len(set(ids))} ids"
    )


def _figures(part: str, count: int, ended: Ended, *, use: float | None = None, note: str = "") -> Figures:
    return Figures(
        part,
        count,
        seconds=ended.seconds,
        units_a_second=count / ended.seconds,
        cpu_ms_a_unit=1000 * ended.cpu_seconds / count,
        peak_mb=ended.peak_bytes / 2**20,
        use=use,
        note=note,
    )


def _table(found: Sequence[Figures]) -> list[str]:
    head = "| part | rows | seconds | units a second | CPU ms a unit | peak MB | use | |"
    return [head, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |", *map(_line, found)]


def _line(one: Figures) -> str:
    use = "" if one.use is None else f"{one.use:.2f}"
    numbers = f"{one.seconds:.1f} | {one.units_a_second:.0f} | {one.cpu_ms_a_unit:.1f} | {one.peak_mb:.0f} | {use}"
    return f"| {one.part} | {one.rows:,} | {numbers} | {one.note} |"


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default=USUAL, help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--rows", default="1000,10000")
    parser.add_argument("--latency", type=float, default=2.0, help="seconds that every reply takes")
    parser.add_argument("--slots", type=int, default=64, help="calls that are allowed at once")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--folder", type=Path, help="where runs are written while they are measured")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    return with_parts(parser, arguments, PARTS)


if __name__ == "__main__":
    sys.exit(main())
