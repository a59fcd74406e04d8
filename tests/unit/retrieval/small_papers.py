from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from referee.schemas.paper import Block, Converter, Paper, Reference, Section
from referee.testing import HashEmbedder

TOPICS = ("whales", "bridges", "volcanoes", "orchestras", "glaciers", "beehives")


class WordEmbedder(HashEmbedder):
    """Hashed words under an id; counts what it embedded and can be told to fail."""

    def __init__(self, dim: int = 256, embedder_id: str = "hash:words") -> None:
        super().__init__(dim)
        self.id = embedder_id
        self.failure: BaseException | None = None

    async def embed(self, texts: Sequence[str], *, urgency: int = 0) -> NDArray[np.float32]:
        if self.failure is not None:
            raise self.failure
        return await super().embed(texts, urgency=urgency)

    @property
    def embedded(self) -> int:
        return sum(len(texts) for texts in self.calls)


def words(text: str) -> int:
    return len(text.split())


def block(number: int, text: str, kind: str = "paragraph", page: int | None = 1) -> Block:
    return Block.model_validate({"id": f"b{number}", "kind": kind, "text": text, "page": page})


def paper(*sections: Section, paper_id: str = "a" * 64, abstract: str = "", version: str = "1") -> Paper:
    return Paper(
        paper_id=paper_id,
        title="A title",
        abstract=abstract,
        format="text",
        sections=sections,
        references=(Reference(id="r1", text="Doe. A work. 2020."),),
        converter=Converter(name="test", version=version),
    )


def topical(prefix: str = "study", paper_id: str = "a" * 64, version: str = "1") -> Paper:
    """A paper with one section a topic; every sentence has the prefix, so that papers can be told apart."""
    sections = [
        Section(
            id=f"s{number}",
            heading=topic.capitalize(),
            number=str(number),
            level=1,
            blocks=tuple(
                block(10 * number + part, f"{prefix} {part} on {topic} measured {topic} item{part}.", page=number)
                for part in range(3)
            ),
        )
        for number, topic in enumerate(TOPICS, start=1)
    ]
    return paper(*sections, paper_id=paper_id, version=version)
