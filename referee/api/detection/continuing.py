"""A chat model that writes on where a review stops, for DNA-GPT."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from referee.agents.asking import Asks
from referee.agents.text_writers import continue_text
from referee.errors import EvaluationError
from referee.evals.detection.dna_gpt import NEW_TOKENS, TEMPERATURE
from referee.evals.detection.protocols import ModelIdentity
from referee.llm.models import Model, Models

ROLE = "generator"

# English text has about three words in four tokens.
_WORDS_A_TOKEN = 0.75


def generator_models(model: Model, temperature: float = TEMPERATURE) -> Models:
    """The model in the role ``generator``, at the temperature at which continuations are drawn.

    A door knows one temperature a model: the one that DNA-GPT samples at is not the settings'.
    """
    return Models({ROLE: replace(model, temperature=temperature)})


class DoorGenerator:
    """Continuations by the model of a role, asked through the door: cached, counted and limited as every call is.

    A chat model is told to write on in the prompt ``detect/continue``, where the published method lets a model complete
    the text itself. What it writes beyond the length asked for is cut off.

    Args:
        door: Answers prompts.
        model: The model that plays the role.
        role: Whose model it is.
    """

    def __init__(self, door: Asks, model: Model, role: str = ROLE) -> None:
        self._door, self._model, self._role = door, model, role

    @property
    def identity(self) -> ModelIdentity:
        """Which model writes; its bytes are not known."""
        return ModelIdentity(name=self._model.spec.id, runtime="chat", max_tokens=NEW_TOKENS)

    async def continuations(
        self, prefix: str, count: int, *, seed: int, temperature: float, max_tokens: int
    ) -> Sequence[str]:
        """So many sampled continuations, each without the prefix.

        Args:
            prefix: Where to go on from.
            count: How many.
            seed: Tells continuations of one prefix apart; providers are not sent it.
            temperature: Must be the one that the model was opened with.
            max_tokens: Length of each, about.

        Raises:
            EvaluationError: The model samples at another temperature.
            ModelError: The model did not answer validly.
        """
        if temperature != self._model.temperature:
            raise EvaluationError(
                f"{self._model.spec.id!r} samples at temperature {self._model.temperature:g}, and continuations are "
                f"drawn at {temperature:g}.",
                hint="Open it with generator_models(model, temperature).",
            )
        words = max(round(max_tokens * _WORDS_A_TOKEN), 1)
        asked = (
            continue_text(prefix, words, door=self._door, role=self._role, sample=seed + number)
            for number in range(count)
        )
        return [_cut(answer.value.text, prefix, words) for answer in await asyncio.gather(*asked)]


def _cut(text: str, prefix: str, words: int) -> str:
    """The first words of what follows the prefix, which some models repeat."""
    follows = text.strip().removeprefix(prefix.strip())
    return " ".join(follows.split()[:words])
