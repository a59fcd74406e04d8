"""Whether a file has layers (optional content), read from its bytes: pdfium draws by them but does not tell of them."""

from __future__ import annotations

import re
import zlib

_KEY = b"/OCProperties"
_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm\b[^>]{0,400}>>\s*stream\r?\n|/ObjStm\b[^>]{0,400}>>\s*stream\r?\n")
_MAX_STREAM = 2**22


def has_layers(data: bytes) -> bool:
    """Whether the catalogue names optional content, in plain objects or in deflated object streams."""
    if _KEY in data:
        return True
    for match in _OBJECT_STREAM.finditer(data):
        try:
            plain = zlib.decompressobj().decompress(data[match.end() :], _MAX_STREAM)
        except zlib.error:
            return True
        if _KEY in plain:
            return True
    return False
