"""A plan of an experiment as it stands in its file: arms or a grid of them, papers, what is measured, limits."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from referee.settings import Ablation, BudgetSettings, PromptChoices

Rounds = Annotated[int, Field(ge=0, le=10)]


class PlanPart(BaseModel):
    """A table of a plan: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Grid(PlanPart):
    """Every combination of these is an arm. A list that is not given is the value under ``common``, or the default.

    ``rounds``: rounds of prompt refinement; 0 takes the stored prompts. ``prompts``: tables of versions or files.
    """

    strategies: tuple[str, ...] | None = None
    venues: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    rounds: tuple[Rounds, ...] | None = None
    prompts: tuple[PromptChoices, ...] | None = None


class Common(PlanPart):
    """What holds for every arm that says nothing else."""

    strategy: str | None = None
    venue: str | None = None
    model: str | None = None
    model_for: dict[str, str] = Field(default_factory=dict)
    rounds: Rounds = 0
    prompts: PromptChoices = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)


class ArmPart(PlanPart):
    """One arm. ``settings`` are dotted keys of the settings; ``ablate`` names steps that it leaves out."""

    name: str = Field(min_length=1)
    strategy: str | None = None
    venue: str | None = None
    model: str | None = None
    model_for: dict[str, str] = Field(default_factory=dict)
    rounds: Rounds | None = None
    prompts: PromptChoices = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    ablate: tuple[Ablation, ...] = ()


class Papers(PlanPart):
    """Files, folders and patterns, or a folder of planted papers with their twins and keys, beside the plan."""

    files: tuple[str, ...] = ()
    planted: str | None = Field(default=None, min_length=1)


class Splits(PlanPart):
    """Which papers are kept for ``--on test``: by name, or a share by the digest of each file."""

    development: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    test_share: float | None = Field(default=None, gt=0, lt=1)

    @property
    def named(self) -> bool:
        """Whether the plan says which papers are whose."""
        return bool(self.development or self.test or self.test_share is not None)


class Measure(PlanPart):
    """What is measured, and by whom. ``references``: a set of human reviews of the papers, beside the plan.

    ``planted``: a folder of planted papers with their keys, for metrics that need them. ``paper_table``: whether the
    published table of ReviewEval stands beside ours.
    """

    metrics: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    repeats: int = Field(default=1, ge=1, le=100)
    embedder: str | None = None
    references: str | None = None
    planted: str | None = None
    paper_table: bool = False


class Compare(PlanPart):
    """Which arms are compared: each with the ``baseline``, these ``pairs``, or (without either) all with all."""

    baseline: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()


class Tracking(PlanPart):
    """Where the experiment is logged beside our own records; ``mlflow``: ``local``, a folder, or an address."""

    mlflow: str | None = Field(default=None, min_length=1)


class Plan(PlanPart):
    """The whole file. Either ``grid`` or ``arms``; ``seeds`` tell repeated reviews of one paper by one arm apart."""

    name: str = ""
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = (0,)
    grid: Grid | None = None
    arms: tuple[ArmPart, ...] | None = None
    common: Common = Common()
    papers: Papers = Papers()
    splits: Splits = Splits()
    measure: Measure = Measure()
    compare: Compare = Compare()
    budget: BudgetSettings = BudgetSettings()
    tracking: Tracking = Tracking()


PARTS: dict[str, type[BaseModel]] = {
    "": Plan,
    "grid": Grid,
    "arms": ArmPart,
    "common": Common,
    "papers": Papers,
    "splits": Splits,
    "measure": Measure,
    "compare": Compare,
    "budget": BudgetSettings,
    "tracking": Tracking,
}
