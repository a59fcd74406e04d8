"""Keys: where they come from, and how they are kept out of every text this package writes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_NAMES = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SHAPES = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{20,}|(?<=Bearer )\S{8,}")
HIDDEN = "[key removed]"


def scrub(text: str, env: Mapping[str, str] | None = None) -> str:
    """Remove keys from a text: the values of the environment's key variables, and what looks like a key.

    Values under 6 characters are left alone: removing them would garble ordinary words.
    """
    values = os.environ if env is None else env
    secrets = sorted((v for n, v in values.items() if _NAMES.search(n) and len(v) >= 6), key=len, reverse=True)
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return _SHAPES.sub(HIDDEN, text)
