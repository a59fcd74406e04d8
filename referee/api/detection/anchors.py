"""``detect_anchors``: papers in, one review of each by each of some models out, to compare other reviews with."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import Field

from referee.agents.anchor_reviewer import PROMPT, AnchorQuestion, AnchorReply, anchor_question, write_anchor
from referee.api.detection.many import Writing, require_text
from referee.api.options import RunOptions
from referee.api.session import Session, session
from referee.data import PaperStore, read_papers
from referee.errors import ContextTooLong, DataError, EvaluationError, SettingsError
from referee.graphs.job import too_little_read
from referee.llm.dialects import reply_schema
from referee.llm.door import Door, prompt_digest
from referee.llm.models import Model, Models, check_models
from referee.prompts import load_prompt, prompt_digests
from referee.runs import RunFolder
from referee.runs.joining import PART, SealedPart, file_digests, join_lines, read_part
from referee.runs.lines import lines_of
from referee.schemas.base import Frozen
from referee.schemas.estimate import WritingEstimate
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut, PaperNotRead, cuts_foreseen, cuts_told
from referee.schemas.usage import Usage

ANCHORS = "anchors.jsonl"

_ROLE = "anchor"
_LOOKED_AT = 20
_TYPICAL_TOKENS = 900


class Anchor(Frozen):
    """One AI review of a paper.

    ``paper_id`` is the id by which reviews name the paper, ``paper_hash`` the digest of what was read, and
    ``prompt_digest`` the identity of the prompt: template and reply schema together. ``cut`` says how much of the paper
    the model read, null for all of it.
    """

    schema_version: Literal[1] = 1
    paper_id: str = Field(min_length=1)
    model: str = Field(min_length=1)
    review: str = Field(min_length=1)
    decision: Literal["Accept", "Reject"]
    prompt: str
    prompt_digest: str
    paper_hash: str
    temperature: float
    cut: PaperCut | None = None


@dataclass(frozen=True)
class Anchors:
    """Finished anchors: their folder, the rows, how many pieces ended how, and the cost over all starts.

    ``unread`` says of how many papers, counted by model, no anchor was asked for because too little of them fitted.
    """

    run: Path
    anchors: tuple[Anchor, ...]
    counts: Counter[str]
    usage: Usage
    unread: tuple[PaperCut, ...] = ()

    @property
    def cut_line(self) -> str:
        """What of the papers was not read; empty where all of each was."""
        cuts = [anchor.cut for anchor in self.anchors]
        return cuts_told([*cuts, *self.unread], [*(True for _ in cuts), *(False for _ in self.unread)])


async def detect_anchors(papers: str | Path, *, models: Sequence[str], options: RunOptions = RunOptions()) -> Anchors:
    """Let models review papers, plainly asked, for the Anchor method.

    ``anchors.jsonl`` in the run folder has a row for each paper and model. What a resumed run has paid for is not
    asked again.

    Args:
        papers: A folder of papers named by their ids, rows with full texts (JSONL, Parquet), or one paper.
        models: The models, each named once; there is no default.
        options: How it runs.

    Returns:
        The anchors. Papers that cannot be read or are declined have none, and are counted.

    Raises:
        DataError: The papers cannot be found.
        SettingsError: No model is named, one is named twice, or a name or key is not usable.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: A model leaves papers unanswered, one after another.
        EvaluationError: There is no anchor at all.
        BudgetExceeded: The next call could pass a limit; what is there is written, resume with a higher limit.

    Source: "Is Your Paper Being Reviewed by an LLM?", Eq. 1.
    """
    named = require_models(models)
    settings = options.settled()
    check_models(settings, judges=named)
    async with session("detect anchors", "anchors", Path(papers).stem, options=options, settings=settings) as run:
        models_by_role = _by_own_role(await run.open_models(named))
        job = AnchorJob(read_papers(Path(papers)), models_by_role, settings.paper.min_read)
        run.check_inputs({**job.inputs(), "temperature": str(settings.models.temperature)})
        job = replace(job, holds=run.holds)
        if run.is_asked:
            run.confirm(await asyncio.to_thread(job.estimate))
        door = run.begin(job.models, prompts=prompt_digests([load_prompt(PROMPT)]))
        return await _written(run, job, door, settings.units_at_once)


def require_models(models: Sequence[str]) -> list[str]:
    """The models' names.

    Raises:
        SettingsError: There is none, or one is named twice.
    """
    named = [name.strip() for name in models if name.strip()]
    if not named:
        raise SettingsError("no model is named, and there is no default.", hint="Give --models A,B,C.")
    for name, count in Counter(named).items():
        if count > 1:
            raise SettingsError(f"model {name!r} is named twice.", hint="Name each model once.")
    return named


def _by_own_role(models: Models) -> Models:
    """One role a model: ``anchor``, ``anchor-2``, ..."""
    names = (_ROLE if number == 1 else f"{_ROLE}-{number}" for number in range(1, len(models.by_role) + 1))
    return Models(dict(zip(names, models.by_role.values(), strict=True)))


@dataclass(frozen=True)
class AnchorJob:
    """Papers, and the models that review them by their roles. A row with several ids is one paper.

    ``least_read`` is the share of a paper's body that a model's window must hold.
    """

    store: PaperStore
    models: Models
    least_read: float
    holds: Callable[[str], bool] = lambda paper_id: True

    @property
    def papers(self) -> dict[str, tuple[str, ...]]:
        """All ids of each paper of the shard by the first of them."""
        ids: dict[int, list[str]] = {}
        for paper_id in self.store.ids():
            ids.setdefault(id(self.store.readers[paper_id]), []).append(paper_id)
        return {names[0]: tuple(names) for names in ids.values() if self.holds(names[0])}

    @property
    def pieces(self) -> list[tuple[str, str]]:
        """Paper id and role of every anchor, all of one paper before the next."""
        return list(product(self.papers, self.models.by_role))

    def inputs(self) -> dict[str, str]:
        """What must be the same for a run to be resumed."""
        return {
            "set of papers": hashlib.sha256("\0".join(self.store.ids()).encode()).hexdigest(),
            f"version of prompt {PROMPT}": load_prompt(PROMPT).digest,
            **{role: model.spec.id for role, model in self.models.by_role.items()},
        }

    def read(self, paper_id: str) -> Paper:
        """The paper.

        Raises:
            DataError: It cannot be read.
        """
        paper = self.store.get(paper_id)
        assert paper is not None, "ids are those of the store"
        return paper

    def question(self, paper: Paper, model: Model) -> AnchorQuestion:
        """What a model is asked about a paper.

        Raises:
            PaperNotRead: Its window holds too little of the paper.
            ContextTooLong: It holds nothing of it.
        """
        asked = anchor_question(paper, context_tokens=model.context_tokens, count=model.count)
        if refusal := too_little_read(asked.cut, self.least_read, paper, model):
            raise refusal
        return asked

    def estimate(self) -> WritingEstimate:
        """By the first papers; the others are taken to be like them."""
        first, notes = list(self.papers)[:_LOOKED_AT], list[str]()
        cuts: list[PaperCut | None] = []
        sizes: list[dict[str, int]] = []
        for paper_id in first:
            try:
                paper = self.read(paper_id)
                asked = {role: self.question(paper, model) for role, model in self.models.by_role.items()}
                sizes.append({role: _tokens_in(asked[role], self.models[role]) for role in asked})
                cuts += [one.cut for one in asked.values()]
            except (DataError, ContextTooLong) as error:
                notes.append(f"paper {paper_id!r}: {error.message.rstrip('.')}")
        if len(self.papers) > len(first):
            notes.append(f"tokens and cost are estimated by the first {len(first)} of {len(self.papers):,} papers")
        notes += [note for model in self.models.by_role.values() for note in model.notes]
        if foreseen := cuts_foreseen(cuts):
            notes.insert(0, foreseen)
        share = len(self.papers) * len(sizes) / len(first) / len(sizes) if sizes else 0.0
        parts = [_part(model, [size[role] for size in sizes], share) for role, model in self.models.by_role.items()]
        ids = tuple(model.spec.id for model in self.models.by_role.values())
        whole = WritingEstimate(what="anchors", reviews=len(self.pieces), models=ids, notes=tuple(notes))
        return whole.holding(parts)


def _tokens_in(asked: AnchorQuestion, model: Model) -> int:
    return sum(map(model.count, (asked.prompt.system, asked.prompt.user, str(reply_schema(AnchorReply)))))


def _part(model: Model, sizes: Sequence[int], share: float) -> WritingEstimate:
    calls = round(len(sizes) * share)
    tokens_in, tokens_out = round(sum(sizes) * share), calls * _TYPICAL_TOKENS
    return WritingEstimate(
        what="anchors",
        reviews=calls,
        models=(model.spec.id,),
        calls=calls,
        most_calls=calls,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=model.cost(tokens_in, tokens_out),
    )


async def _written(run: Session, job: AnchorJob, door: Door, concurrency: int) -> Anchors:
    unread: dict[tuple[str, str], PaperCut] = {}

    async def write(piece: tuple[str, str]) -> list[Anchor]:
        try:
            return await _anchor(job, door, *piece)
        except PaperNotRead as error:
            unread[piece] = error.cut
            raise

    one_by_one = all(model.spec.is_local for model in job.models.by_role.values())
    writing = Writing(
        write,
        lambda piece: f"paper {piece[0]!r}, {job.models[piece[1]].spec.id}",
        1 if one_by_one else concurrency,
        run.progress,
    )
    try:
        await writing.run(job.pieces)
    finally:
        found = [anchor for _, anchors in writing.written for anchor in anchors]
        ordered = sorted(found, key=lambda anchor: (anchor.paper_id, anchor.model))
        cut = {(anchor.paper_id, anchor.model): anchor.cut for anchor in ordered if anchor.cut}
        cut |= {(paper_id, job.models[role].spec.id): one for (paper_id, role), one in unread.items()}
        run.cuts = {f"{paper_id}, {model}": cut[paper_id, model] for paper_id, model in sorted(cut)}
        run.write(ANCHORS, "".join(f"{anchor.model_dump_json()}\n" for anchor in ordered))
    part = AnchorPart(lost=len(writing.lost), reason=writing.lost[0][2] if writing.lost else "")
    if run.shard is not None:
        sealed = part.model_copy(update={"files": file_digests(run.path, ANCHORS)})
        run.write(PART, sealed.model_dump_json() + "\n")
    else:
        _require_some(run.path, part)
    run.remark = _remark(part)
    return Anchors(run.path, tuple(found), writing.counts, run.usage, tuple(unread[piece] for piece in sorted(unread)))


class AnchorPart(SealedPart):
    """How many anchors of a shard, or of a run, did not come about, and the first reason."""

    lost: int
    reason: str


def join_anchors(parts: Sequence[Path], folder: RunFolder) -> str:
    """Join the shards of a run: the anchors in their order.

    Args:
        parts: The shards' folders, in the order of their numbers.
        folder: The whole run's.

    Returns:
        The remark of the run.

    Raises:
        EvaluationError: There is no anchor at all.
        RunError: A shard's anchors are not those that it wrote; the shard is named.
    """
    found = [read_part(one, AnchorPart, ANCHORS) for one in parts]
    reason = next((one.reason for one in found if one.lost), "")
    anchors = [one / ANCHORS for one in parts]
    join_lines(anchors, folder.path / ANCHORS, key=lambda row: (row["paper_id"], row["model"]))
    whole = AnchorPart(lost=sum(one.lost for one in found), reason=reason)
    _require_some(folder.path, whole)
    return _remark(whole)


def _require_some(run: Path, part: AnchorPart) -> None:
    if not next(lines_of(run / ANCHORS), None):
        raise EvaluationError(
            f"none of the {part.lost} anchors came about; the first reason: {part.reason}",
            hint=f"See trace.jsonl; --resume {run} tries them again.",
        )


def _remark(part: AnchorPart) -> str:
    return f"{part.lost} anchor(s) are missing; --resume tries them again" if part.lost else ""


async def _anchor(job: AnchorJob, door: Door, paper_id: str, role: str) -> list[Anchor]:
    """The anchor, once for each id of its paper."""
    paper, model = await asyncio.to_thread(job.read, paper_id), job.models[role]
    question = job.question(paper, model)
    answer = await write_anchor(question, door=door, role=role)
    text = require_text(answer.value.review, f"a review of paper {paper_id!r}")
    prompt = load_prompt(PROMPT)
    row = Anchor(
        paper_id=paper_id,
        model=answer.model,
        review=text,
        decision=answer.value.decision,
        prompt=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt_digest(prompt.render(how_read="", paper=""), reply_schema(AnchorReply)),
        paper_hash=paper.paper_id,
        temperature=model.temperature,
        cut=question.cut,
    )
    return [row.model_copy(update={"paper_id": name}) for name in job.papers[paper_id]]
