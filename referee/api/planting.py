"""``plant``: copies of papers with known errors, their clean twins, and the key that says what is wrong where."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from referee.agents import error_planter, plant_judge
from referee.api.options import RunOptions
from referee.api.paper_read import read_and_tell
from referee.api.session import Session, session
from referee.data.papers import paper_name, read_papers
from referee.errors import DataError, SettingsError
from referee.experiments.planting.candidate import Rejection
from referee.experiments.planting.folder import pooled_yields, write_plantings
from referee.experiments.planting.offers import KINDS, MOST, VERSION, KindYield, Wanted, find_offer
from referee.experiments.planting.planter import Choice, Planting, plant_paper
from referee.experiments.planting.reading import Acceptance, reworded, verified
from referee.llm.door import Door
from referee.llm.models import Models
from referee.nearest import did_you_mean
from referee.papers.load import SUPPORTED
from referee.prompts import load_prompt, prompt_digests
from referee.runs import Event
from referee.schemas.estimate import PlantEstimate
from referee.schemas.paper import Paper
from referee.schemas.planted import PlantedKey, PlantedKind
from referee.schemas.usage import Usage

Planter = Literal["rule", "model"]
_TOKENS_A_CALL, _TOKENS_A_REPLY = 900, 120
_READ_AGAIN = 6


@dataclass(frozen=True)
class Planted:
    """What came about.

    Attributes:
        run: The folder: ``clean``, ``planted``, perhaps ``neutral``, ``keys``, ``rejected.jsonl`` and ``yield.md``.
        keys: One a paper, in the order of the papers.
        plantings: The same with texts, rejections and yields.
        yields: What became of every candidate, by kind, over all papers.
        skipped: Papers in which nothing was planted, by name, and why.
        acceptance: What the model that read the errors said of them, by kind; empty without ``verify``.
        usage: What the models cost; nothing where only rules planted.
    """

    run: Path
    keys: tuple[PlantedKey, ...]
    plantings: tuple[Planting, ...]
    yields: Mapping[str, KindYield]
    skipped: Mapping[str, str]
    acceptance: Acceptance
    usage: Usage


async def plant(
    papers: str | Path | Sequence[str | Path],
    *,
    kinds: Sequence[str] | None = None,
    n: int | None = None,
    seed: int = 0,
    neutral: bool = False,
    silent: bool = False,
    planter: Planter = "rule",
    verify: bool = False,
    model: str | None = None,
    model_for: Mapping[str, str] | None = None,
    options: RunOptions = RunOptions(),
) -> Planted:
    """Make copies of papers with known errors, each proved wrong by another passage of the same copy.

    The run folder holds ``clean/``, ``planted/`` and, where asked for, ``neutral/`` with one Markdown file a paper
    under the same meaningless name, ``keys/`` with what is wrong where, ``rejected.jsonl`` and ``yield.md``. The same
    paper, seed and version give the same bytes. No model is opened unless ``planter`` or ``verify`` asks for one.

    Args:
        papers: Files of any format that is read, folders of them, or rows with full texts (JSONL, Parquet).
        kinds: Kinds of errors; all by default.
        n: Errors a paper; by default one for 700 words, six at most.
        seed: Decides which of the possible errors are planted.
        neutral: Whether a copy is made whose changes keep every fact.
        silent: Whether promise and delivery may both go, so that the paper alone does not tell.
        planter: ``model`` lets a model word every second error at most, at places that code found.
        verify: Whether a model that does not know the kind must call each error substantive.
        model: The model for both roles.
        model_for: Other models for single roles: ``writer`` words errors, ``checker`` reads them.
        options: How it runs.

    Returns:
        Keys, texts and yields.

    Raises:
        DataError: A paper cannot be read, one is given twice, or nothing can be planted in any; the reasons are named.
        SettingsError: A kind, a number, a model or a key is not usable.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: The model could not be reached.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    wanted = Wanted(_kinds(kinds), _amount(n), seed, neutral or "neutral" in (kinds or ()), silent)
    given = [papers] if isinstance(papers, str | Path) else list(papers)
    asks = planter == "model" or verify
    settings = options.settled(model=model, model_for=model_for)
    async with session(
        "plant", "plant", Path(given[0]).stem if given else "", options=options, settings=settings
    ) as run:
        read = await _read(given, run)
        models = await run.open_models() if asks else Models({})
        if len(read) == 1:
            wanted.amount(next(iter(read.values())))
        run.check_inputs(_inputs(read, wanted, planter, verify))
        if asks:
            run.confirm(_estimate(read, wanted, models, planter=planter, verify=verify))
        door = _begun(run, models) if asks else None
        work = _Work(wanted, planter, verify, door, settings.models.roles.get("writer", settings.models.default))
        plantings, skipped = await work.all_of(read, run)
        if door is None:  # only what was planted leaves a folder
            run.open_folder()
            run.record()
        write_plantings(run.path, plantings, skipped=skipped, acceptance=work.acceptance)
        return Planted(
            run.path,
            tuple(one.key for one in plantings),
            tuple(plantings),
            pooled_yields(plantings),
            skipped,
            work.acceptance,
            run.usage,
        )


def _begun(run: Session, models: Models) -> Door:
    prompts = prompt_digests(map(load_prompt, (error_planter.PROMPT, plant_judge.PROMPT)))
    return run.begin(models, roles=(error_planter.ROLE, plant_judge.ROLE), prompts=prompts)


@dataclass
class _Work:
    """One run's planting; ``door`` is null where rules alone plant."""

    wanted: Wanted
    planter: Planter
    verify: bool
    door: Door | None
    writer: str

    def __post_init__(self) -> None:
        self.acceptance = Acceptance()

    async def all_of(self, read: Mapping[str, Paper], run: Session) -> tuple[list[Planting], dict[str, str]]:
        """Every paper; one in which nothing can be planted is named, and ends the run only where it is all there is."""
        plantings, skipped = [], {}
        for done, (name, paper) in enumerate(read.items(), start=1):
            run.progress(Event("stage", f"planting in {name}", done=done, total=len(read)))
            try:
                plantings.append(await self._one(paper))
            except DataError as error:
                if len(read) == 1:
                    raise
                skipped[name] = error.message
        if not plantings:
            first = next(iter(skipped.values()))
            raise DataError(
                f"nothing can be planted in any of {len(skipped)} papers; of the first: {first}",
                hint="Give papers with tables, repeated values or statistics.",
            )
        return plantings, skipped

    async def _one(self, paper: Paper) -> Planting:
        self.wanted.amount(paper)
        offer = await asyncio.to_thread(find_offer, paper, self.wanted)
        more: list[Rejection] = []
        choice: Choice | None = None
        if self.door is not None and self.planter == "model":
            offer, more = await reworded(offer, self.wanted, paper, self.door)
        if self.door is not None and self.verify:
            choice = await verified(offer, self.wanted, paper, self.door, self.acceptance)
        by = f"model:{self.writer}" if self.planter == "model" else "rule"
        by += "/verified" if self.verify else ""
        planting = await asyncio.to_thread(plant_paper, paper, self.wanted, offer=offer, choice=choice, planter=by)
        return replace(planting, rejected=(*planting.rejected, *more))


def _kinds(named: Sequence[str] | None) -> tuple[PlantedKind, ...]:
    known = get_args(PlantedKind)
    for name in named or ():
        if name not in known:
            raise SettingsError(
                f"the kind {name!r} is unknown.", hint=f"{did_you_mean(name, KINDS)}Kinds are {', '.join(KINDS)}."
            )
    kinds = tuple(kind for kind in KINDS if named is None or kind in named)
    if not kinds:
        raise SettingsError(
            "no kind of error is named: 'neutral' alone plants none.", hint=f"Add one of {', '.join(KINDS)}."
        )
    return kinds


def _amount(n: int | None) -> int | None:
    if n is not None and n < 1:
        raise SettingsError(f"{n!r} errors a paper cannot be planted.", hint="Say --n 1 or more.")
    return n


async def _read(given: Sequence[str | Path], run: Session) -> dict[str, Paper]:
    """Papers by name. A single file is read in a process of its own, as for a review."""
    if not given:
        raise DataError("no paper is named.", hint="Give a file, a folder of papers, or rows with full texts.")
    found: dict[str, Paper] = {}
    for one in map(Path, given):
        run.progress(Event("stage", f"reading {one}"))
        if not one.is_dir() and paper_name(one):
            found[str(one)] = await read_and_tell(one, run.settings.paper, run.progress)
            continue
        store = read_papers(one)
        readers = {id(reader): name for name, reader in reversed(list(store.readers.items()))}
        for name in sorted(readers.values()):
            paper = await asyncio.to_thread(store.get, name)
            if paper is not None:
                found[f"{one}: {name}"] = paper
    if not found:
        raise DataError(f"there is no paper in {given[0]!s}.", hint=f"Papers are {', '.join(SUPPORTED)}, or rows.")
    return found


def _inputs(read: Mapping[str, Paper], wanted: Wanted, planter: Planter, verify: bool) -> dict[str, str]:
    """What must be the same for a run to be resumed."""
    return {
        "set of papers": ",".join(sorted(paper.paper_id[:16] for paper in read.values())),
        "choice of kinds": ",".join(wanted.kinds),
        "number of errors": str(wanted.n),
        "seed": str(wanted.seed),
        "choice of --neutral and --silent": f"{wanted.neutral} {wanted.silent}",
        "planter": f"{planter} {VERSION}",
        "choice of --verify": str(verify),
    }


def _estimate(
    read: Mapping[str, Paper], wanted: Wanted, models: Models, *, planter: Planter, verify: bool
) -> PlantEstimate:
    plants = len(read) * (wanted.n or MOST)
    writes, reads = plants // 2 if planter == "model" else 0, plants if verify else 0
    calls = writes + reads
    costs = [models[role].cost(_TOKENS_A_CALL, _TOKENS_A_REPLY) for role in (error_planter.ROLE, plant_judge.ROLE)]
    known = [cost * number for cost, number in zip(costs, (writes, reads), strict=True) if cost is not None]
    return PlantEstimate(
        papers=len(read),
        plants=plants,
        models=tuple(dict.fromkeys(models.ids()[role] for role in (error_planter.ROLE, plant_judge.ROLE))),
        calls=calls,
        most_calls=writes + reads * _READ_AGAIN,
        input_tokens=calls * _TOKENS_A_CALL,
        output_tokens=calls * _TOKENS_A_REPLY,
        cost_usd=sum(known) if len(known) == len(costs) else None,
    )
