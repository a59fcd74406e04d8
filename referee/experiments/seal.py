"""The seal of a test split: it is opened once, and what came out is bound to the plan by digests.

It says too what is known of the papers: whether anybody looked at them before, in which plan and how.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from referee.errors import RunError
from referee.experiments.looked_at import Look, damaged_lines, earlier_looks, looks, note_look, register_path
from referee.experiments.papers import Split
from referee.runs.files import write_atomically
from referee.schemas.base import Frozen
from referee.schemas.experiment import ExperimentResult

SEAL = "seal.json"
SEALS = "seals"
_NAME_CHARS = 24


class Seal(Frozen):
    """Which plan opened its test split, where, and the digest of what came out.

    ``closed`` is set once every pair of the run has a value or cannot have one; until then that run may be resumed.
    ``looked_at`` says who looked at the papers before; ``papers`` are digests by name.
    """

    schema_version: Literal[1] = 1
    plan: str
    plan_digest: str
    papers: dict[str, str]
    run: str
    opened_at: str
    closed_at: str = ""
    results_digest: str = ""
    metrics: tuple[str, ...] = ()
    looked_at: tuple[str, ...] = ()


class Seals:
    """The seals of all plans, in one folder beside the store of units."""

    def __init__(self, folder: Path) -> None:
        self.path = folder

    def file(self, plan_digest: str) -> Path:
        """Where the seal of a plan lies, or will."""
        return self.path / f"{plan_digest[:_NAME_CHARS]}.json"

    def require_unopened(self, plan_digest: str, run: Path) -> None:
        """See that the test split may be opened by that run: by none before, or by this very one, still unfinished.

        Raises:
            RunError: It was opened before; the message names the seal.
        """
        file = self.file(plan_digest)
        if not file.exists():
            return
        seal = _read(file)
        if seal.run == _run_name(run) and not seal.closed_at:
            return
        ended = "and finished " if seal.closed_at else "and may be resumed "
        raise RunError(
            f"the test split of this plan was opened on {seal.opened_at[:10]} {ended}in {seal.run!r}; "
            f"the seal is {str(file)!r}.",
            hint=f"Its results are in {seal.run!r}. A test split is opened once; new questions need new papers.",
        )

    def looked_at(self, papers: Mapping[str, str], metrics: Sequence[str], plan_digest: str) -> tuple[str, ...]:
        """What is known of earlier looks at these test papers, by the register and the seals of this store.

        Of a split that is open already it is what was known when it was opened.

        Raises:
            RunError: The register or a seal cannot be read.
        """
        if self.file(plan_digest).exists():
            return _read(self.file(plan_digest)).looked_at
        known = earlier_looks((*self._looks(), *looks()), set(papers.values()), metrics=metrics, store=self._store)
        if damaged := damaged_lines():
            lost = f"{damaged} line(s) of {str(register_path())!r} are damaged: earlier looks may be missing"
            return (*known, lost)
        return known

    def open(self, name: str, plan_digest: str, papers: Mapping[str, str], metrics: Sequence[str], run: Path) -> None:
        """Write the seal before the first test paper is looked at; one that this run wrote before stays.

        Raises:
            OSError: It cannot be written.
            RunError: The register of earlier looks cannot be read.
        """
        if self.file(plan_digest).exists():
            return
        seal = Seal(
            plan=name,
            plan_digest=plan_digest,
            papers=dict(papers),
            run=_run_name(run),
            opened_at=_now(),
            metrics=tuple(metrics),
            looked_at=self.looked_at(papers, metrics, plan_digest),
        )
        self.path.mkdir(parents=True, exist_ok=True)
        self._write(seal, run)

    def note_look(self, plan: str, split: Split, papers: Mapping[str, str], metrics: Sequence[str], run: Path) -> None:
        """Tell the register that a run opens these papers.

        Raises:
            OSError: It cannot be written.
            RunError: It cannot be read.
        """
        note_look(
            Look(
                at=_now(),
                plan=plan,
                split=split,
                metrics=tuple(metrics),
                store=self._store,
                run=_run_name(run),
                papers=tuple(sorted(papers.values())),
            )
        )

    def close(self, result: ExperimentResult, run: Path) -> None:
        """Bind the results to the plan; final where no pair failed or is pending.

        Raises:
            OSError: It cannot be written.
        """
        seal = _read(self.file(result.plan_digest))
        final = not any(value.status in ("failed", "pending") for value in result.values)
        update = {"results_digest": results_digest(result), "closed_at": _now() if final else ""}
        self._write(seal.model_copy(update=update), run)

    @property
    def _store(self) -> str:
        return str(self.path.parent.absolute())

    def _looks(self) -> Iterator[Look]:
        """What the seals of this store say themselves: the register may be younger, or another account's."""
        for file in sorted(self.path.glob("*.json")) if self.path.is_dir() else ():
            seal = _read(file)
            yield Look(
                at=seal.opened_at,
                plan=seal.plan,
                split="test",
                metrics=seal.metrics,
                store=self._store,
                run=seal.run,
                papers=tuple(seal.papers.values()),
            )

    def _write(self, seal: Seal, run: Path) -> None:
        text = seal.model_dump_json(indent=2) + "\n"
        write_atomically(self.file(seal.plan_digest), text)
        write_atomically(run / SEAL, text)


def results_digest(result: ExperimentResult) -> str:
    """The digest of values and comparisons."""
    return hashlib.sha256(result.model_dump_json(include={"values", "comparisons", "papers"}).encode()).hexdigest()


def _read(file: Path) -> Seal:
    try:
        return Seal.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise RunError(
            f"the seal {str(file)!r} cannot be read, so nobody can tell whether its test split was opened.",
            hint="Mend its rights, or restore it from the run folder's seal.json.",
        ) from error


def _run_name(run: Path) -> str:
    return str(run.absolute())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
