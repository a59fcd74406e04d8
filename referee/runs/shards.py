"""Shards: the papers of a run dealt to several machines or processes, and what shards of one run have in common."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from referee.errors import SettingsError
from referee.schemas.run import RunRecord, ShardRecord

SHARD_INPUT = "shard"
_GIVEN = re.compile(r"(\d{1,6})/(\d{1,6})")
# What may differ from machine to machine: limits, where a model is served, how a paper's reading is guarded.
_OF_THE_MACHINE = ("calls.", "budget.", "checkpoints", "models.base_url")
_OF_READING = ("paper.isolated", "paper.max_seconds", "paper.max_memory_mb")


@dataclass(frozen=True)
class Shard:
    """One of ``of`` parts of a run, counted from 1. A paper is in one of them, with all its reviews."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that was named as ``i/n``.

        Raises:
            SettingsError: It is none: not ``i/n``, or i is not among 1 to n.
        """
        found = _GIVEN.fullmatch(text.strip())
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of:
            why = f"there is no part {number} of {of}" if found else "it is not i/n"
            raise SettingsError(f"{text!r} names no shard: {why}.", hint="Give i/n with i from 1 to n, as --shard 2/8.")
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def holds(self, paper_id: str) -> bool:
        """Whether a paper is in it: by the digest of its id, so the same on every machine."""
        digest = hashlib.sha256(paper_id.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1


def shard_of(record: RunRecord) -> Shard | None:
    """The shard that a run is; None for a whole run."""
    return Shard(record.shard.number, record.shard.of) if record.shard else None


def shard_record(shard: Shard, record: RunRecord) -> ShardRecord:
    """What ``run.json`` says of the shard."""
    facts = json.dumps(plan_facts(record), sort_keys=True)
    return ShardRecord(number=shard.number, of=shard.of, plan=hashlib.sha256(facts.encode()).hexdigest())


def whole_inputs(record: RunRecord) -> dict[str, str]:
    """The inputs of the run that a shard is a part of."""
    return {name: value for name, value in record.inputs.items() if name != SHARD_INPUT}


def plan_facts(record: RunRecord) -> dict[str, str]:
    """All that must be the same in the shards of one run, by names that read well after "was made with another"."""
    models = {
        f"model for {role}": json.dumps([model.id, model.context_tokens, model.parameters], sort_keys=True)
        for role, model in record.models.items()
    }
    settings = {
        f"setting {name}": value
        for name, value in _flat(record.settings)
        if not name.startswith(_OF_THE_MACHINE) and name not in _OF_READING
    }
    prompts = {f"text of prompt {name}": digest for name, digest in record.prompts.items()}
    version = {"version of referee": record.package_version}
    return {"command": record.command, **whole_inputs(record), **models, **prompts, **settings, **version}


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, sort_keys=True)
