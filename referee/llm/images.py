"""Pictures that go with a prompt: bytes for the provider, a digest for every record, a price in tokens."""

from __future__ import annotations

import base64
import hashlib
import io
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from referee.errors import DataError
from referee.llm.spec import ModelSpec

MOST_IMAGES = 20
"""Pictures of one call: Anthropic's and Google's limits lie far above, those of most servers do not."""

_MEDIA = {"PNG": "image/png", "JPEG": "image/jpeg"}
_MOST_BYTES = 5 * 2**20
# OpenAI: scaled into 2048 x 2048, then to 768 on the shorter side; 170 a tile of 512, and 85.
_OPENAI_FIT, _OPENAI_SHORT, _OPENAI_TILE = 2048, 768, 512
# Anthropic: scaled to 1568 on the longer side; a token for 750 dots.
_ANTHROPIC_LONG, _ANTHROPIC_DOTS = 1568, 750
# Google: 258 for a picture up to 384 x 384, else for each tile of 768.
_GOOGLE_SMALL, _GOOGLE_TILE, _GOOGLE_TOKENS = 384, 768, 258


@dataclass(frozen=True)
class PromptImage:
    """One picture, whole: PNG or JPEG. Caches, ledgers and traces hold ``said`` in its place, never the bytes."""

    data: bytes = field(repr=False)
    media: str
    width: int
    height: int

    @cached_property
    def digest(self) -> str:
        """sha-256 of the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def said(self) -> str:
        """How a record names it."""
        return f"sha256:{self.digest} {self.media} {self.width}x{self.height}"

    @cached_property
    def base64(self) -> str:
        """The bytes as providers are sent them."""
        return base64.b64encode(self.data).decode()


def read_image(path: Path) -> PromptImage:
    """A PNG or JPEG file as it goes with a prompt.

    Raises:
        DataError: It is another kind of file, or has more than 5 MiB, which no provider takes.
    """
    return image_of(path.read_bytes(), path.name)


def image_of(data: bytes, name: str) -> PromptImage:
    """The bytes of a PNG or JPEG; ``name`` is for the error.

    Raises:
        DataError: As ``read_image``.
    """
    from PIL import Image, UnidentifiedImageError

    if len(data) > _MOST_BYTES:
        raise DataError(f"{name!r} has more than {_MOST_BYTES // 2**20} MiB.", hint="Scale the picture down.")
    try:
        with Image.open(io.BytesIO(data), formats=tuple(_MEDIA)) as picture:
            return PromptImage(data, _MEDIA[str(picture.format)], picture.width, picture.height)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"{name!r} is neither a PNG nor a JPEG.", hint="Save it as one of them.") from error


@dataclass(frozen=True)
class LabelledImage:
    """A picture and what it shows, as ``Figure 2 (p. 4)``."""

    label: str
    image: PromptImage


def thumbnail(image: PromptImage, side: int) -> PromptImage:
    """The picture as a PNG whose longer side has at most so many dots."""
    from PIL import Image

    stream = io.BytesIO()
    with Image.open(io.BytesIO(image.data)) as picture:
        small = picture.convert("RGB")
    small.thumbnail((side, side))
    small.save(stream, "PNG")
    return PromptImage(stream.getvalue(), "image/png", small.width, small.height)


def image_tokens(spec: ModelSpec, image: PromptImage) -> int:
    """What a picture counts as among a prompt's tokens, by the provider's own rule; for others the most of the three.

    Sources: the providers' pages on pictures (OpenAI "Images and vision", Anthropic "Vision", Google "Understand and
    count tokens"). Models that count otherwise are told apart by nobody: what a call reports replaces the estimate.
    """
    size = (image.width, image.height)
    rules = {"openai": _openai, "anthropic": _anthropic, "google_genai": _google}
    if spec.provider in rules:
        return rules[spec.provider](*size)
    return max(rule(*size) for rule in rules.values())


def _openai(width: int, height: int) -> int:
    scale = min(1.0, _OPENAI_FIT / max(width, height))
    scale *= min(1.0, _OPENAI_SHORT / (scale * min(width, height)))
    tiles = math.ceil(width * scale / _OPENAI_TILE) * math.ceil(height * scale / _OPENAI_TILE)
    return 85 + 170 * tiles


def _anthropic(width: int, height: int) -> int:
    scale = min(1.0, _ANTHROPIC_LONG / max(width, height))
    return math.ceil(width * scale * height * scale / _ANTHROPIC_DOTS)


def _google(width: int, height: int) -> int:
    if max(width, height) <= _GOOGLE_SMALL:
        return _GOOGLE_TOKENS
    return _GOOGLE_TOKENS * math.ceil(width / _GOOGLE_TILE) * math.ceil(height / _GOOGLE_TILE)
