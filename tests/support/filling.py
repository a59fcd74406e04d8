"""Replies that a scripted model makes up."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from referee.testing import Asked
from tests.support.instances import instance


def made_up(seed: int = 0) -> Callable[[Asked], Any]:
    """For ``ScriptedModel({"*": made_up()})``: a valid instance of the reply, quotations cut from the prompt."""

    def reply(asked: Asked) -> Any:
        rng = random.Random(f"{seed}:{asked.prompt_id}:{asked.sample}:{asked.user}")
        return instance(asked.reply.model_json_schema(), asked.prefix + asked.user, rng)

    return reply
