"""Colours by name, model and mixture, as numbers, to tell text that has its background's colour."""

from __future__ import annotations

import re

Colour = tuple[float, float, float]
WHITE: Colour = (1.0, 1.0, 1.0)
_NAMES: dict[str, Colour] = {
    "white": WHITE, "black": (0, 0, 0), "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "cyan": (0, 1, 1),
    "magenta": (1, 0, 1), "yellow": (1, 1, 0), "gray": (0.5, 0.5, 0.5), "grey": (0.5, 0.5, 0.5),
    "lightgray": (0.75, 0.75, 0.75), "darkgray": (0.25, 0.25, 0.25), "snow": (1, 0.98, 0.98),
    "ghostwhite": (0.97, 0.97, 1), "ivory": (1, 1, 0.94), "floralwhite": (1, 0.98, 0.94),
}  # fmt: skip
_DEFINED = re.compile(
    r"\\(?:definecolor|providecolor)\s*\{([^{}]+)\}\s*\{([^{}]+)\}\s*\{([^{}]+)\}|\\colorlet\s*\{([^{}]+)\}\s*\{([^{}]+)\}"
)


def defined_colours(source: str) -> dict[str, Colour]:
    """Named colours, with those that the source defines."""
    known = dict(_NAMES)
    for name, model, values, let, mixture in _DEFINED.findall(source):
        colour = by_model(model, values) if name else mixed(mixture, known)
        if colour is not None:
            known[(name or let).strip()] = colour
    return known


def by_model(model: str, values: str) -> Colour | None:
    """A colour from xcolor's models; None for a model or value that is not known."""
    model = model.strip()
    if model == "HTML" and re.fullmatch(r"\s*[0-9a-fA-F]{6}\s*", values):
        text = values.strip()
        return (int(text[0:2], 16) / 255, int(text[2:4], 16) / 255, int(text[4:6], 16) / 255)
    try:
        parts = [float(value) for value in values.split(",")]
    except ValueError:
        return None
    if model == "rgb" and len(parts) == 3:
        return (parts[0], parts[1], parts[2])
    if model == "RGB" and len(parts) == 3:
        return (parts[0] / 255, parts[1] / 255, parts[2] / 255)
    if model == "gray" and len(parts) == 1:
        return (parts[0],) * 3
    if model == "cmyk" and len(parts) == 4:
        cyan, magenta, yellow, key = parts
        return ((1 - cyan) * (1 - key), (1 - magenta) * (1 - key), (1 - yellow) * (1 - key))
    return None


def mixed(expression: str, known: dict[str, Colour]) -> Colour | None:
    """A colour from ``red!10!white``-like mixtures; a share without a second colour is mixed with white."""
    parts = expression.strip().lstrip("-").split("!")
    colour = known.get(parts[0].strip())
    for index in range(1, min(len(parts), 12), 2):
        other = known.get(parts[index + 1].strip()) if index + 1 < len(parts) else WHITE
        try:
            share = float(parts[index]) / 100
        except ValueError:
            return None
        if colour is None or other is None:
            return None
        colour = tuple(share * a + (1 - share) * b for a, b in zip(colour, other, strict=True))  # type: ignore[assignment]
    return colour


def alike(first: Colour | None, second: Colour | None) -> bool:
    """Whether two colours differ by at most a tenth in every part; false where one is not known."""
    if first is None or second is None:
        return False
    return max(abs(a - b) for a, b in zip(first, second, strict=True)) <= 0.1
