"""A chat model that writes on where a review stops, for DNA-GPT."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.agents.asking import Asks
from referee.agents.text_writers import continue_text
from referee.errors import EvaluationError
from referee.evals.detection.dna_gpt import NEW_TOKENS, TEMPERATURE
from referee.evals.detection.protocols import ModelIdentity
from referee.evals.detection.services import DetectionServices
from referee.llm.models import GENERATOR, Model, Models

# English text has about three words in four tokens.
_WORDS_A_TOKEN = 0.75


def generator_models(model: Model, temperature: float = TEMPERATURE) -> Models:
    """The model in the role ``generator``, at the temperature at which continuations are drawn.

    A door knows one temperature a model: the one that DNA-GPT samples at is not the settings'.
    """
    return Models({GENERATOR: replace(model, temperature=temperature)})


class DoorGenerator:
    """Continuations by the model of a role, asked through the door: cached, counted and limited as every call is.

    A chat model is told to write on in the prompt ``detect/continue``, where the published method lets a model complete
    the text itself. What it writes beyond the length asked for is cut off.

    Args:
        door: Answers prompts; None until the run has one, when it says which model it is and writes nothing.
        model: The model that plays the role.
        role: Whose model it is.
    """

    def __init__(self, door: Asks | None, model: Model, role: str = GENERATOR) -> None:
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
        assert self._door is not None, "the run has begun"
        door = self._door
        words = max(round(max_tokens * _WORDS_A_TOKEN), 1)
        asked = (
            continue_text(prefix, words, door=door, role=self._role, sample=seed + number) for number in range(count)
        )
        return [_cut(answer.value.text, prefix, words) for answer in await asyncio.gather(*asked)]


@dataclass(frozen=True)
class OpenedDetectors:
    """What detectors work with, and the chat models among it, which answer only through the run's door.

    Attributes:
        services: The models; its generator writes nothing until ``through`` was given the door.
        chat: Role to model: that of ``generator``, or none.
        notes: What was left out of the files that they compare with.
    """

    services: DetectionServices
    chat: Models = Models({})
    notes: tuple[str, ...] = ()

    @property
    def generator(self) -> Model | None:
        """Who writes on."""
        return self.chat.by_role.get(GENERATOR)

    def through(self, door: Asks) -> DetectionServices:
        """The services with a generator that asks this door."""
        model = self.generator
        return self.services if model is None else replace(self.services, generator=DoorGenerator(door, model))


def _cut(text: str, prefix: str, words: int) -> str:
    """The first words of what follows the prefix, which some models repeat."""
    follows = text.strip().removeprefix(prefix.strip())
    return " ".join(follows.split()[:words])
