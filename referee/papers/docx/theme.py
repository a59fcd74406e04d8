"""Colours of a Word document: a theme's, tinted or shaded, and fills of letters (ECMA-376 17.3.2.6, [MS-DOCX] 2.6)."""

from __future__ import annotations

import colorsys
from typing import Any

from referee.papers.docx.styles import W14, W, local
from referee.papers.hidden.css import Colour, colour

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_OWN = {
    "background1": "lt1", "bg1": "lt1", "light1": "lt1", "text1": "dk1", "tx1": "dk1", "dark1": "dk1",
    "background2": "lt2", "bg2": "lt2", "light2": "lt2", "text2": "dk2", "tx2": "dk2", "dark2": "dk2",
    "hyperlink": "hlink", "followedHyperlink": "folHlink",
}  # fmt: skip


class Theme:
    """The theme's colours by name; white and black where the document brings none."""

    def __init__(self, root: Any | None = None) -> None:
        self._colours: dict[str, Colour] = {"lt1": (255, 255, 255, 1), "dk1": (0, 0, 0, 1)}
        scheme = None if root is None else next(root.iter(f"{A}clrScheme"), None)
        for entry in () if scheme is None else scheme:
            for child in entry:
                found = colour(f"#{child.get('lastClr') or child.get('val') or ''}")
                if found is not None:
                    self._colours[local(entry.tag)] = found

    def ink(self, element: Any | None) -> Colour | None:
        """The colour of a ``w:color``; a theme's colour goes before the value beside it. Null: left to Word."""
        return None if element is None else self._read(element, "val", "theme", "themeColor")

    def fill(self, shade: Any | None) -> Colour | None:
        """The colour of a ``w:shd``; null where there is none, or it is left to Word."""
        return None if shade is None else self._read(shade, "fill", "themeFill", "themeFill")

    def _read(self, element: Any, plain: str, prefix: str, named: str) -> Colour | None:
        found = self.named(element.get(f"{W}{named}") or "")
        if found is None:
            return colour(f"#{element.get(f'{W}{plain}') or ''}")
        tint, shade = element.get(f"{W}{prefix}Tint"), element.get(f"{W}{prefix}Shade")
        return _lighter(found, _share(tint), _share(shade))

    def named(self, name: str) -> Colour | None:
        """A colour of the theme by the name that text or drawings use."""
        return self._colours.get(_OWN.get(name, name))

    def behind(self, box: Any, place: Colour | None) -> Colour | None:
        """What is behind a text box's letters: its shape's fill, null where that is no one colour, else ``place``."""
        for above in box.iterancestors():
            if local(above.tag) == "r":
                break
            if (named := above.get("fillcolor")) and above.get("filled") not in ("f", "false"):
                return colour(named.split(" ")[0])
            for fill in (child for part in above if local(part.tag) == "spPr" for child in part):
                if local(fill.tag) in ("solidFill", "gradFill", "blipFill", "pattFill"):
                    return self._solid(fill)
        return place

    def _solid(self, fill: Any) -> Colour | None:
        own = fill[0] if local(fill.tag) == "solidFill" and len(fill) else None
        if own is None or len(own):
            return None
        printed = own.get("val") or own.get(f"{W14}val") or ""
        return colour(f"#{printed}") if local(own.tag) == "srgbClr" else self.named(printed)

    def letters(self, run: Any) -> tuple[bool, Colour | None]:
        """Whether a run's letters have a fill of their own that hides them, and its colour where it is one colour."""
        fill = run.find(f"{W}rPr/{W14}textFill")
        for child in () if fill is None else fill:
            if local(child.tag) == "noFill":
                return True, None
            if local(child.tag) == "solidFill" and len(child):
                own = child[0].get(f"{W14}val") or ""
                alpha = next(child[0].iter(f"{W14}alpha"), None)
                gone = alpha is not None and (alpha.get(f"{W14}val") or "0").startswith(("100", "9"))
                return gone, colour(f"#{own}") if local(child[0].tag) == "srgbClr" else self.named(own)
        return False, None


def _share(printed: str | None) -> float:
    try:
        return int(printed, 16) / 255 if printed else 1.0
    except ValueError:
        return 1.0


def _lighter(found: Colour, tint: float, shade: float) -> Colour:
    hue, light, saturation = colorsys.rgb_to_hls(*(part / 255 for part in found[:3]))
    light = (light * shade) * tint + (1 - tint)
    red, green, blue = (255 * part for part in colorsys.hls_to_rgb(hue, light, saturation))
    return (red, green, blue, found[3])
