"""The XML names of WordprocessingML that the reader meets."""

from __future__ import annotations

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"


def local(tag: object) -> str:
    """An element's name without its namespace; nothing for comments."""
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""
