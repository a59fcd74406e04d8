"""What a run folder records about the run and about each model call."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from referee.schemas.base import Frozen
from referee.schemas.paper_cut import PaperCut
from referee.schemas.usage import Usage

RunStatus = Literal["running", "finished", "failed", "stopped"]


class ModelRecord(Frozen):
    """A model as it was called: its id and parameters; never a key."""

    id: str
    base_url: str | None = None
    context_tokens: int
    parameters: dict[str, Any] = Field(default_factory=dict)


class CallRecord(Frozen):
    """One line of ``trace.jsonl``: one model call, with the reply it brought.

    ``request`` is the digest of model, messages, schema and parameters: the key under which a resumed run finds the
    reply again. ``base`` is the first request of the question that a repair round belongs to. A ``failed`` line has no
    reply: the provider gave none, or (``request`` equal to ``base``) no reply was of use, and the earlier ones of this
    ``base`` are not found any more.
    """

    call_id: str
    request: str
    base: str
    role: str
    prompt: str
    prompt_digest: str
    model: str
    status: Literal["answered", "failed"]
    origin: Literal["provider", "cache", "ledger"] = "provider"
    attempt: int = 1
    repair_round: int = 0
    seconds: float = 0.0
    at: str = ""
    usage: Usage = Usage()
    messages: tuple[tuple[str, str], ...] = ()
    images: tuple[str, ...] = Field(default=(), description="digest, kind and size of each picture that was sent")
    reply: str | None = None
    error: str = ""


class ShardRecord(Frozen):
    """Which part of a run this is, counted from 1, and the digest of what all its parts must have in common."""

    number: int = Field(ge=1)
    of: int = Field(ge=1)
    plan: str


class RunRecord(Frozen):
    """``run.json``: what was run on what, with which settings, and what it cost.

    ``cuts`` are the papers, by id, of which a model did not read all. ``shard`` is set for a part of a run. ``workers``
    is set for a run that its own processes make: so many shards, in its folder ``shards``. ``unused_prompts`` are those
    that were chosen for the run, and that nothing in it uses.
    """

    schema_version: Literal[1] = 1
    run_id: str
    command: str
    status: RunStatus
    started_at: str
    finished_at: str | None = None
    inputs: dict[str, str] = Field(description="digests that must agree when the run is resumed")
    asked: dict[str, str] = Field(default_factory=dict, description="how the inputs were named")
    settings: dict[str, Any]
    models: dict[str, ModelRecord]
    prompts: dict[str, str] = Field(default_factory=dict)
    unused_prompts: tuple[str, ...] = ()
    package_version: str
    python_version: str
    commit: str | None = None
    dirty: bool | None = None
    usage: Usage = Usage()
    usage_by_role: dict[str, Usage] = Field(default_factory=dict)
    error: str = ""
    cuts: dict[str, PaperCut] = Field(default_factory=dict)
    shard: ShardRecord | None = None
    workers: int | None = None
    merged: tuple[str, ...] = Field(default=(), description="ids of the shards that a run was joined from")
