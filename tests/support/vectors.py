"""Vectors as servers send them."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence

from referee.testing import hash_vector

__all__ = ["as_base64", "hash_vector"]


def as_base64(vector: Sequence[float]) -> str:
    """Little-endian float32, as ``encoding_format: base64`` sends it."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")
