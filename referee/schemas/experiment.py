"""The outcome of an experiment, as ``summary.json`` holds it and tables and plots are made from it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from referee.schemas.base import Frozen
from referee.schemas.paper_cut import PaperCut
from referee.schemas.usage import Usage

ValueStatus = Literal["scored", "not_applicable", "failed", "pending"]


class ArmRecord(Frozen):
    """One way to review, how far it came, and what it took.

    ``models`` are ids by role. ``units`` counts its reviews by ``finished``, ``failed`` and ``pending``, ``reused``
    those of the finished that an earlier plan had made. ``usage`` is what the finished reviews took, whichever plan
    paid them; replies from a cache count as reused and cost nothing there. ``judging`` is what measuring them took.
    """

    name: str
    strategy: str
    venue: str
    rounds: int
    models: dict[str, str] = Field(default_factory=dict)
    prompts: dict[str, str] = Field(default_factory=dict, description="prompt versions the arm names")
    settings: dict[str, Any] = Field(default_factory=dict)
    ablate: tuple[str, ...] = ()
    units: dict[str, int] = Field(default_factory=dict)
    usage: Usage = Usage()
    judging: Usage = Usage()


class PaperRecord(Frozen):
    """A paper of the split. ``excluded`` says why it is in no arm; ``references`` counts its human reviews."""

    name: str
    paper_id: str
    title: str = ""
    references: int = 0
    excluded: str = ""


class PaperValue(Frozen):
    """One metric of one arm on one paper: the mean over its seeds, or why there is none.

    ``failed`` and ``not_applicable`` say what befell the arm itself, or (where ``reason`` names another arm) that the
    paper is out because it failed there. ``pending``: a budget ended the run before it. ``by_seed`` are the single
    reviews' values in the order of the plan's seeds. Of planted recall alone: ``errors`` is by planted error the share
    of these reviews that name it, ``undecided`` the share of which only a judge could say; they count as not naming it.
    """

    paper: str
    arm: str
    metric: str
    status: ValueStatus
    value: float | None = None
    reason: str = ""
    by_seed: tuple[float | None, ...] = ()
    errors: dict[str, float] = Field(default_factory=dict)
    undecided: dict[str, float] = Field(default_factory=dict)


class PromptChange(Frozen):
    """How a prompt of the first arm differs from the second's: ``diff`` is unified and empty where they are the same.

    ``named`` are the two files or versions.
    """

    first: str
    second: str
    prompt: str
    named: tuple[str, str]
    diff: str


class ArmCell(Frozen):
    """One metric of one arm over the papers: what ``low`` and ``high`` bound is the mean, at ``level``.

    ``at_top`` and ``at_bottom`` are the shares of its reviews at the ends of a judged metric's range, null where there
    is no such end. ``self_difference`` is by how much two runs of the arm differ in this mean (root mean square
    over repeats); null where there is one seed.
    """

    arm: str
    metric: str
    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    n_scored: int = 0
    n_not_applicable: int = 0
    n_failed: int = 0
    n_pending: int = 0
    at_top: float | None = None
    at_bottom: float | None = None
    self_difference: float | None = None


class ArmComparison(Frozen):
    """First arm less second in one metric, paired by paper.

    The four counts sum to the papers that were not excluded: a paper that failed in any arm is failed here, never left
    out in silence. ``low`` and ``high`` bound the mean difference at ``level``; ``p`` is two-sided, ``p_holm`` is
    corrected over all comparisons and metrics of the plan. Null where it is undefined, as with fewer than two pairs.
    """

    first: str
    second: str
    metric: str
    n_pairs: int
    n_failed: int
    n_not_applicable: int
    n_pending: int
    mean_difference: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    p: float | None = None
    p_holm: float | None = None


class ExperimentResult(Frozen):
    """The whole. ``paid`` is what this experiment paid itself; ``plan_digest`` names the plan without its limits.

    ``cuts`` are the reviews whose reviewer did not read all of the paper, and those not made because it would have read
    too little; ``cut_line`` says so in one line. ``planted``: each paper is a planted copy and its clean twin.
    ``prompt_changes`` are of arms that are compared and name prompts. ``error_statements`` say by paper what each
    planted error is. ``null_tests`` are pairs of arms that are the same, reviewed apart.
    """

    schema_version: Literal[1] = 1
    name: str
    split: Literal["development", "test"]
    plan_digest: str
    package_version: str
    status: Literal["finished", "stopped", "failed"]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    judges: tuple[str, ...] = ()
    repeats: int = 1
    embedder: str = ""
    arms: tuple[ArmRecord, ...]
    papers: tuple[PaperRecord, ...]
    values: tuple[PaperValue, ...]
    cells: tuple[ArmCell, ...]
    comparisons: tuple[ArmComparison, ...]
    method: str = ""
    notes: tuple[str, ...] = ()
    planted: bool = False
    prompt_changes: tuple[PromptChange, ...] = ()
    error_statements: dict[str, dict[str, str]] = Field(default_factory=dict)
    null_tests: tuple[tuple[str, str], ...] = ()
    paid: Usage = Usage()
    cut_line: str = ""
    cuts: dict[str, PaperCut] = Field(default_factory=dict)
