"""What a Word file holds beside its pages' text: properties, comments, headers, deleted text, alternative texts."""

from __future__ import annotations

import re
from typing import Any

from referee.papers.docx.styles import W, local
from referee.papers.hidden.addresses import addresses_a_model
from referee.papers.hidden.unprinted import Unprinted
from referee.schemas.foreign import Unreadable, xml_root

_CORE = ("title", "subject", "keywords", "comments", "category", "content_status")
_PARTS = {"comments": "its comments", "header": "its headers", "footer": "its footers"}
_ELEMENTS = {"delText": "its deleted text", "instrText": "its field codes", "delInstrText": "its deleted text"}
_FOR_PROGRAMS = ("/docProps/app", "/docProps/custom", "/customXml/", "/word/glossary/")
_TAGS = re.compile(r"<[^<>]*>")
_MOST = 2**20


def unprinted_text(document: Any, title: str) -> Unprinted:
    """Collect it; ``title`` is the paper's, which its properties repeat. Field codes and program data are ordinary."""
    found = Unprinted()
    relations = document.part.package.rels.values()
    for name in _CORE if any(one.reltype.endswith("/core-properties") for one in relations) else ():
        text = getattr(document.core_properties, name) or ""
        if text.split() != title.split():
            found.add(f"its properties ({name})", text)
    for relation in document.part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if not relation.is_external and kind in _PARTS:
            found.add(_PARTS[kind], _words(relation.target_part))
    for element in document.element.body.iter():
        name = local(element.tag)
        if name in _ELEMENTS:
            found.add(_ELEMENTS[name], element.text)
        elif name in ("docPr", "cNvPr"):
            found.add("alternative texts", element.get("descr"))
            found.add("alternative texts", element.get("title"))
    for part in document.part.package.iter_parts():
        if str(part.partname).startswith(_FOR_PROGRAMS) and addresses_a_model(text := _words(part)):
            found.add(f"its part {str(part.partname)!r}", text)
    return found


def _words(part: Any) -> str:
    """The text of a part, paragraph by paragraph; of program data all text between tags."""
    try:
        root = getattr(part, "element", None)
        if root is None:
            root = xml_root(part.blob, "the part")
    except Unreadable:
        return _TAGS.sub(" ", part.blob[:_MOST].decode("utf-8", "ignore"))
    paragraphs = ["".join(text.text or "" for text in p.iter(f"{W}t")) for p in root.iter(f"{W}p")]
    return " ".join(paragraphs) or " ".join(str(text) for text in root.itertext())
