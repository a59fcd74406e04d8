"""Pictures that go with a prompt: bytes for the provider, a digest for every record, a price in tokens."""

from __future__ import annotations

import base64
import hashlib
import io
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from referee.errors import DataError

MOST_IMAGES = 20
"""Pictures of one call: Anthropic's and Google's limits lie far above, those of most servers do not."""

_MEDIA = {"PNG": "image/png", "JPEG": "image/jpeg"}
_MOST_BYTES = 5 * 2**20


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
