"""What a mutation run says: a table by module and room, survivors as diffs, and a row of JSON for each mutant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from mutation_mutants import Module, Mutant
from mutation_run import INCOMPETENT, KILLED, SURVIVED, TIMED_OUT, Ending

from referee.stats import wilson

HEAD = ("module", "mutants", "drawn", "killed", "survived", "timed out", "incompetent", "score", "95%")


@dataclass(frozen=True)
class Tried:
    """A mutant and how the tests ended on it."""

    mutant: Mutant
    diff: str
    ending: Ending


def table(modules: list[Module], tried: list[Tried]) -> str:
    """A row for each module that had a mutant, then for each room, then for all.

    The score is (killed + timed out) / (drawn - incompetent): a mutant under which tests do not end is noticed. Its
    interval is Wilson's. Rows of rooms pool the drawn mutants, so a small module weighs as much as a large one.
    """
    shown = [module for module in modules if any(one.mutant.module == module.path for one in tried)]
    rooms = sorted({room(module.path) for module in shown})
    rows = [_row(module.path.removeprefix("referee/"), [module], tried) for module in shown]
    rows += [_row(f"**{name}**", [m for m in shown if room(m.path) == name], tried) for name in rooms]
    rows.append(_row("**all**", shown, tried))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *rows])


def survivors(tried: Iterable[Tried]) -> str:
    """The diff of every mutant that no test noticed."""
    return "\n\n".join(one.diff for one in tried if one.ending.outcome == SURVIVED) or "no survivor"


def row(one: Tried) -> dict[str, object]:
    """For the JSON report; ``key`` is what ``--again`` finds the mutant by."""
    return asdict(one.mutant) | {"key": one.mutant.key, "diff": one.diff} | asdict(one.ending)


def room(path: str) -> str:
    """The room a module stands in."""
    return path.split("/")[1]


def _row(name: str, modules: list[Module], tried: list[Tried]) -> tuple[str, ...]:
    paths = {module.path for module in modules}
    ends = [one.ending.outcome for one in tried if one.mutant.module in paths]
    count: Callable[[str], int] = ends.count
    noticed, judged = count(KILLED) + count(TIMED_OUT), len(ends) - count(INCOMPETENT)
    numbers = (sum(m.mutants for m in modules), len(ends), *map(count, (KILLED, SURVIVED, TIMED_OUT, INCOMPETENT)))
    score = wilson(noticed, judged)
    said = ("-", "-") if score.mean is None else (f"{score.mean:.0%}", f"{score.low:.0%}-{score.high:.0%}")
    return (name, *map(str, numbers), *said)
