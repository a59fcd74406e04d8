"""A strong language model's answers about guideline pages, kept as files, and a server of ours that gives them.

    python benchmarks/guidelines_readings.py BOX FOLDER

keeps what a model answered in BOX (requests and answers as text files, ``NNNN.ask.md`` and ``NNNN.answer.txt``) as one
file for each part of a page. A file names the digest of the letters of the part, and holds the answer, never the part.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from guidelines_gold import GoldPage, load_gold, locate, page_text

from tests.support import ChatRequest, FakeServer

PROMPT = "guidelines/read"
_PART = re.compile(r"<page>\n(.*?)\n</page>", re.DOTALL)
_WINDOW = 200_000


def letters_digest(text: str) -> str:
    """SHA-256 of a text's letters and digits in lower case."""
    return hashlib.sha256("".join(filter(str.isalnum, text.casefold())).encode()).hexdigest()


def reading_server(folder: Path, pages: Iterable[tuple[GoldPage, Path]]) -> FakeServer:
    """A server that answers each part of these pages as its file says; another part is an error that names it."""
    held: dict[str, Any] = {}
    for page, _ in pages:
        for path in sorted(folder.glob(f"{page.id}-*.json")):
            kept = json.loads(path.read_text(encoding="utf-8"))
            held[kept["letters_sha256"]] = kept["reading"]

    def reply(request: ChatRequest) -> Any:
        (part,) = request.spans("page")
        return held[letters_digest(part)]

    return FakeServer({PROMPT: reply}, context_tokens=_WINDOW)


def keep(box: Path, folder: Path) -> None:
    """Keep what was answered; parts of pages that may not be passed on are left out, since an answer quotes them."""
    texts = {
        page.id: "".join(filter(str.isalnum, page_text(path).casefold()))
        for page in load_gold()
        if isinstance(path := locate(page), Path) and not page.address
    }
    numbers: dict[str, int] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for ask in sorted(box.glob("*.ask.md")):
        answer = ask.with_name(ask.name.replace(".ask.md", ".answer.txt"))
        found = _PART.search(ask.read_text(encoding="utf-8"))
        if found is None or not answer.is_file():
            continue
        reading = json.loads(answer.read_text(encoding="utf-8"))
        name = _page_of(reading, texts)
        if not name:
            print(f"{ask.name}: of no page whose words may be kept", file=sys.stderr)
            continue
        numbers[name] = numbers.get(name, 0) + 1
        kept = {"letters_sha256": letters_digest(found[1]), "reading": reading}
        text = json.dumps(kept, ensure_ascii=False, indent=1) + "\n"
        (folder / f"{name}-{numbers[name]}.json").write_text(text, encoding="utf-8")


def _page_of(reading: dict[str, Any], texts: dict[str, str]) -> str:
    """The page that holds most of the words that an answer quotes."""
    words = ["".join(filter(str.isalnum, one["words"].casefold())) for one in (*reading["criteria"], *reading["boxes"])]
    counts = {name: sum(bool(word) and word in text for word in words) for name, text in texts.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if 2 * counts[best] > len(words) else ""


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
