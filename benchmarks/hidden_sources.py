"""Hidden text in HTML, Markdown, LaTeX and Word files: what is reported, what is only kept out, what reaches the text.

    python benchmarks/hidden_sources.py [--drawn] [--only html ...]

Each technique is one file that is made here. ``--drawn`` asks a renderer of each whether its reader sees the sentence
(see ``hidden_renderers.py``); otherwise the answers of the last such run are taken, ``hidden_sources.json``. A sentence
that the renderer shows has to stay in the text; one that it does not show has to be reported and kept out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import hidden_documents as documents
import hidden_pages as pages
import hidden_renderers as renderers
from hidden_attacks import SENTENCE
from hidden_text import squeezed

from referee.papers import load_paper

TWIN = "Cartographers who draw islands sometimes colour every shallow bay of them and then publish the whole atlases."
DRAWN = Path(__file__).with_name("hidden_sources.json")
_SUFFIX = {"html": ".html", "markdown": ".md", "latex": ".tex", "docx": ".docx"}
# Drawn as grey specks or a blur by a renderer: nobody reads it.
SPECKS = frozenset({"tiny", "own font size in its style", "zero scale", "narrow letters"})
# CommonMark has no formulas, and fillers have a width but no ink: the rules of TeX and of Unicode say what is seen.
BY_RULE = frozenset(
    ["white TeX", "white TeX by model", "white TeX by textcolor", "phantom", "fillers", "Hangul fillers"]
)
ON_CLICK = frozenset({"details"})


@dataclass(frozen=True)
class Made:
    """One file in one format; ``printed`` is false for parts of a file that no page shows."""

    format: str
    technique: str
    printed: bool
    make: Callable[[str], bytes]

    @property
    def key(self) -> str:
        """Format and technique."""
        return f"{self.format}: {self.technique}"


def suite() -> list[Made]:
    """All of them."""

    def text(write: Callable[[str, str], str], technique: str) -> Callable[[str], bytes]:
        return lambda sentence: write(technique, sentence).encode()

    def data(write: Callable[[str, str], bytes], technique: str) -> Callable[[str], bytes]:
        return lambda sentence: write(technique, sentence)

    html = {**dict.fromkeys([*pages.STYLES, *pages.ELEMENTS], True), **dict.fromkeys(pages.UNPRINTED, False)}
    tex = {**dict.fromkeys(documents.TEX, True), **dict.fromkeys(documents.TEX_UNPRINTED, False)}
    word = {**dict.fromkeys(documents.WORD, True), **dict.fromkeys(documents.WORD_UNPRINTED, False)}
    return [
        *(Made("html", name, printed, text(pages.page, name)) for name, printed in html.items()),
        *(Made("markdown", name, True, text(pages.markdown, name)) for name in pages.MARKDOWN),
        *(Made("latex", name, printed, data(documents.latex, name)) for name, printed in tex.items()),
        *(Made("docx", name, printed, data(documents.word, name)) for name, printed in word.items()),
    ]


def outcome(made: Made, folder: Path) -> str:
    """'reported', 'kept out' (in no finding) or 'in the text'; 'refused' where the file is not read."""
    path = folder / f"paper{_SUFFIX[made.format]}"
    path.write_bytes(made.make(SENTENCE))
    paper = load_paper(path)
    words = [paper.title, paper.abstract, *(r.text for r in paper.references)]
    words += [f"{section.heading} {section.text}" for section in paper.sections]
    start, whole = squeezed(SENTENCE)[:40], " ".join(words)
    if start in squeezed(whole.replace("\u00ad", "")) or "\u3164" in whole:
        return "in the text"
    if any(start in squeezed(f.text) for f in paper.findings if f.kind in ("hidden_text", "not_printed")):
        return "reported"
    return "kept out"


def drawn(suite: list[Made]) -> dict[str, list[str]]:
    """Whether each is seen ('shown', 'hidden'), and who says so."""
    said = {made.key: ["hidden", "rules"] for made in suite}
    said |= {made.key: ["hidden", "no page shows it"] for made in suite if not made.printed}
    of = {kind: [made for made in suite if made.format == kind and made.printed] for kind in _SUFFIX}
    if of["html"] or of["markdown"]:
        with renderers.chromium() as browser:
            for made in [one for one in (*of["html"], *of["markdown"]) if one.technique not in BY_RULE]:
                texts = [made.make(sentence).decode() for sentence in (SENTENCE, TWIN)]
                if made.format == "markdown":
                    texts = [renderers.rendered_markdown(text) for text in texts]
                seen = renderers.differ(*(renderers.draw_html(browser, text) for text in texts))
                said[made.key] = [_word(seen), "Chromium" if made.format == "html" else "markdown-it, Chromium"]
    for made in of["latex"]:
        first, second = (renderers.draw_latex(made.make(sentence)) for sentence in (SENTENCE, TWIN))
        if first is not None and second is not None:
            said[made.key] = [_word(renderers.differ(first, second)), "pdfTeX"]
    if of["docx"]:
        files = [made.make(sentence) for made in of["docx"] for sentence in (SENTENCE, TWIN)]
        images = renderers.draw_words(files)
        for made, first, second in zip(of["docx"], images[::2], images[1::2], strict=True):
            if first is not None and second is not None:
                said[made.key] = [_word(renderers.differ(first, second)), "LibreOffice"]
    for made in suite:
        if made.format == "docx" and (rule := documents.WORD_RULES.get(made.technique)):
            said[made.key] = ["hidden", rule]
        if made.technique in SPECKS and said[made.key][0] == "shown":
            said[made.key] = ["hidden", f"{said[made.key][1]}: specks"]
        if made.technique in ON_CLICK:
            said[made.key] = ["shown", "on a click"]
    return said


def _word(seen: bool) -> str:
    return "shown" if seen else "hidden"


def main(arguments: argparse.Namespace) -> int:
    """Print both tables; 1 when something hidden reached the text."""
    chosen = [made for made in suite() if not arguments.only or made.format in arguments.only]
    known = json.loads(DRAWN.read_text()) if DRAWN.is_file() else {}
    if arguments.drawn:
        known |= drawn(chosen)
        DRAWN.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n")
    counts: Counter[tuple[str, str]] = Counter()
    print("| format | technique | a reader | by | referee |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for made in chosen:
            seen, by = known[made.key]
            found = outcome(made, Path(folder))
            counts[made.format, found if seen == "hidden" else f"shown, {found}"] += 1
            print(f"| {made.format} | {made.technique} | {seen} | {by} | {found} |")
    kinds = ("reported", "kept out", "in the text")
    print("\n| format | hidden | reported and kept out | kept out in silence | leaks | shown | of these in the text |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind in dict.fromkeys(made.format for made in chosen):
        hidden = [counts[kind, one] for one in kinds]
        shown = [counts[kind, f"shown, {one}"] for one in kinds]
        print(f"| {kind} | {sum(hidden)} | {' | '.join(map(str, hidden))} | {sum(shown)} | {shown[-1]} |")
    return int(any(found == "in the text" for _, found in counts))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drawn", action="store_true")
    parser.add_argument("--only", nargs="*", choices=sorted(_SUFFIX))
    sys.exit(main(parser.parse_args()))
