"""``kill -9`` at random moments of a run and of its resumed parts, until it ends by itself."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bad_days_runs import VENUE, comparable, flushed, paid, record, sent
from bad_days_script import serving
from forked_commands import Command, ForkServer, fork_server

from tests.support import FakeServer

# A run is killed so often, then left to end: the second and third kill meet a run that was resumed.
KILLS_A_RUN = 3
# Each reply takes from 0 to this long, and a kill falls this long, or less, after the step it was to meet.
SPREAD_S = 0.3
_START_S = 1.0


@dataclass
class Tally:
    """What became of the killed runs.

    ``kept`` counts the kills by how many replies were on the disk. ``paid_again`` counts requests that were sent
    although their reply was there, ``lost`` calls that a kill cut off, ``other`` runs whose review differs.
    """

    calls: int
    kills: int = 0
    runs: int = 0
    lost: int = 0
    paid_again: int = 0
    other: int = 0
    kept: Counter[int] = field(default_factory=Counter)
    differing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Bench:
    """Where commands run, against which server, and what an undisturbed run gives."""

    folder: Path
    paper: Path
    server: FakeServer
    forks: ForkServer

    def start(self, name: str) -> Command:
        """Start a run, or go on with it where its ``run.json`` is there."""
        goes_on = (self.folder / name / "run.json").exists()
        where = ("--resume" if goes_on else "--out", name)
        on = ("--model", "fake", "--embedder", "fake", "--base-url", self.server.base_url, "--no-cache")
        argv = ("review", self.paper, "--venue", VENUE, "--strategy", "sections", *on, *where)
        env = {"REFEREE_CACHE_DIR": str(self.folder / f"{name}.cache")}  # the index is built, and killed, in each run
        return self.forks.start(argv, self.folder, out=self.folder / f"{name}.log", env=env)


def killed_runs(paper: Path, folder: Path, *, kills: int, seed: int = 0) -> Tally:
    """Kill runs of a paper at random moments until there were so many kills; all their files lie in the folder.

    A moment is a step of the run (its start, its folder, each reply on the disk) and a random time after it, so that
    the kills are spread over the run on a slow machine too.
    """
    dice = random.Random(seed)
    with serving(spread_s=SPREAD_S) as server, fork_server() as forks:
        bench = Bench(folder, paper.resolve(), server, forks)
        assert bench.start("undisturbed").ended() == 0, (folder / "undisturbed.log").read_text()
        undisturbed = comparable(folder / "undisturbed")
        tally = Tally(len(sent(server)))
        while tally.kills < kills:
            name = f"run-{tally.runs}"
            _killed(bench, name, dice, tally, min(KILLS_A_RUN, kills - tally.kills))
            tally.runs += 1
            _compared(folder / name, undisturbed, tally)
    return tally


def _killed(bench: Bench, name: str, dice: random.Random, tally: Tally, kills: int) -> None:
    """Start, kill and resume one run until it has ended by itself."""
    run = bench.folder / name
    for number in range(kills + 1):
        kept, before = set(paid(run)), len(bench.server.log)
        step = dice.randint(_step(run), tally.calls + 1)
        child = bench.start(name)
        if number < kills:
            then_s = dice.random() * (SPREAD_S if step else _START_S)
            killed = child.killed_once(lambda step=step: _step(run) >= step, then_s)
        else:
            killed = child.ended() != 0
            assert not killed, (bench.folder / f"{name}.log").read_text()
        asked = sent(bench.server, before)
        tally.paid_again += len(kept.intersection(asked))
        tally.lost += len(set(asked).difference(paid(run)))
        if not killed:
            return
        tally.kills += 1
        tally.kept[len(paid(run))] += 1


def _step(run: Path) -> int:
    """How far a run has come: 0 before it has its folder, then 1 and a step for each reply on the disk."""
    if not (run / "run.json").exists():
        return 0
    trace = run / "trace.jsonl"
    return 1 + (trace.read_bytes().count(b"\n") if trace.exists() else 0)


def _compared(run: Path, undisturbed: dict[str, Any], tally: Tally) -> None:
    answered = [call.request for call in flushed(run) if call.reply is not None]
    sound = record(run).status == "finished" and len(answered) == len(set(answered)) == tally.calls
    if not sound or comparable(run) != undisturbed:
        tally.other += 1
        tally.differing.append(run.name)
