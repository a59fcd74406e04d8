"""The seal of a test split: it is opened once, and what came out is bound to the plan by digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from referee.errors import RunError
from referee.runs.files import write_atomically
from referee.schemas.base import Frozen
from referee.schemas.experiment import ExperimentResult

SEAL = "seal.json"
SEALS = "seals"
_NAME_CHARS = 24


class Seal(Frozen):
    """Which plan opened its test split, where, and the digest of what came out.

    ``closed`` is set once every pair of the run has a value or cannot have one; until then that run may be resumed.
    """

    schema_version: Literal[1] = 1
    plan: str
    plan_digest: str
    papers: dict[str, str]
    run: str
    opened_at: str
    closed_at: str = ""
    results_digest: str = ""


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

    def open(self, name: str, plan_digest: str, papers: Mapping[str, str], run: Path) -> None:
        """Write the seal before the first test paper is looked at; one that this run wrote before stays.

        Raises:
            OSError: It cannot be written.
        """
        if self.file(plan_digest).exists():
            return
        self.path.mkdir(parents=True, exist_ok=True)
        self._write(
            Seal(plan=name, plan_digest=plan_digest, papers=dict(papers), run=_run_name(run), opened_at=_now()), run
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

    def opened_before(self, papers: Mapping[str, str], plan_digest: str) -> str:
        """The name of another plan that has opened one of these papers; empty where there is none."""
        for file in sorted(self.path.glob("*.json")) if self.path.is_dir() else ():
            seal = _read(file)
            if seal.plan_digest != plan_digest and set(seal.papers.values()) & set(papers.values()):
                return seal.plan
        return ""

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
