"""Pictures of figures, written within limits of number, pixels and bytes."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from referee.papers.captions import Caption
from referee.schemas.figure import Figure
from referee.schemas.paper import Box

# What the providers scale larger pictures down to; more would be paid for and not seen.
MOST_PIXELS_A_SIDE = 1568
MOST_MEGAPIXELS = 50
_MOST_BYTES, _MOST_BYTES_IN_ALL = 2 * 2**20, 24 * 2**20
_QUALITY = 85


@dataclass
class Pictures:
    """Writes pictures into a folder until a limit is reached, and says what was left out.

    Args:
        folder: It must exist.
        most: Figures and tables that get a picture.
        mentions: Sentences that refer to a label.
    """

    folder: Path
    most: int
    mentions: dict[str, tuple[str, ...]]
    left_out: list[str] = field(default_factory=list)
    full: str = ""
    _bytes: int = 0
    _named: int = 0
    _pictured: set[str] = field(default_factory=set)
    _beyond: int = 0

    def has_room(self) -> bool:
        """Whether another figure gets a picture."""
        return not self.full and len(self._pictured) < self.most

    def write(self, picture: Image.Image) -> str | None:
        """Write one picture, scaled down where it is too large; its file's name, or none where the bytes are used up.

        A PNG, which keeps thin lines and small letters; a JPEG where that would be too many bytes.
        """
        picture = _plain(picture)
        picture.thumbnail((MOST_PIXELS_A_SIDE, MOST_PIXELS_A_SIDE))
        suffix, data = "png", _coded(picture, "PNG", optimize=True)
        if len(data) > _MOST_BYTES // 4:
            other = _coded(picture, "JPEG", quality=_QUALITY)
            suffix, data = ("jpg", other) if len(other) < len(data) else (suffix, data)
        if len(data) > _MOST_BYTES or self._bytes + len(data) > _MOST_BYTES_IN_ALL:
            self.full = f"pictures of more than {_MOST_BYTES_IN_ALL // 2**20} MiB are not kept"
            return None
        self._bytes += len(data)
        self._named += 1
        name = f"{self._named:03}.{suffix}"
        (self.folder / name).write_bytes(data)
        return name

    def figure(
        self, caption: Caption, *, page: int | None = None, box: Box | None = None, images: tuple[str, ...] = (),
        whole_page: bool = False, problem: str = "",
    ) -> Figure:  # fmt: skip
        """The record of one figure or table."""
        if images:
            self._pictured.add(caption.label)
        return Figure(
            id=caption.block.id, kind=caption.kind, label=caption.label, caption=caption.block.text,
            block_id=caption.block.id, page=page, box=box, images=images, whole_page=whole_page, problem=problem,
            mentions=self.mentions.get(caption.label, ()),
        )  # fmt: skip

    def beyond(self, caption: Caption) -> Figure:
        """The record of one that gets no picture because a limit is reached."""
        self._beyond += 1
        why = self.full or f"at most {self.most} figures and tables get a picture"
        return self.figure(caption, page=caption.block.page, problem=why)

    def said(self) -> tuple[str, ...]:
        """What the limits kept out."""
        if self._beyond:
            why = self.full or f"at most {self.most} figures and tables get one (paper.max_figures)"
            return (*self.left_out, f"{self._beyond} figures and tables have no picture: {why}.")
        return tuple(self.left_out)


def _plain(picture: Image.Image) -> Image.Image:
    """RGB on white: a transparent plot is black on black elsewhere."""
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        clear = picture.convert("RGBA")
        white = Image.new("RGBA", clear.size, "white")
        return Image.alpha_composite(white, clear).convert("RGB")
    return picture.convert("RGB")


def _coded(picture: Image.Image, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()
