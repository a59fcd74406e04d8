"""The nine papers as Markdown, clean and planted: from the shared files and records, nothing stored.

    python benchmarks/planted/texts.py DIR                 write p1.md … p9.md, planted, into DIR
    python benchmarks/planted/texts.py DIR --papers p7 p8  write these
    python benchmarks/planted/texts.py --check             say whether every record still fits its paper

A record (``records/p1.json``) names its edits by character offsets into the clean Markdown and by the sha-256 of the
words they replace; ``clean_sha256`` is the digest of the whole clean text. A text that a library now writes in another
way is refused by its digest, never planted at the wrong place.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHARED = ROOT.parent / "shared" / "data"

# A heading of a paper that was printed without marks: "3.2 METHOD", "ABSTRACT", "REFERENCES".
_HEADING = re.compile(r"^(?:(\d+(?:\.\d+)*)\s+)?([A-Z][A-Z\d ,:&\-]{3,60})$", re.MULTILINE)

_RIGHT, _LEFT = r"\overrightarrow", r"\overleftarrow"
# Where no reader gets a formula or a table out of the PDF: the words before and behind it, and what the page prints.
_LITERATURE_GRAPH = (
    ("a directed citation edge from paper nodes ", " for each ", r"$p_1 \rightarrow p_2$"),
    ("between an author node and a paper node ", " for each author", r"$a \rightarrow p$"),
    ("as two directed edges ", ". Entity–entity", r"$m_1 \rightarrow m_2$ and $m_2 \rightarrow m_1$"),
    ("We scale the values linearly to range from ", " at the top-left", "(-0.5, -0.5)"),
    ("at the top-left corner of the page to ", " at the bottom-right", "(0.5, 0.5)"),
    (
        "1997), i.e.,",
        "sequences in the opposite direction. Following",
        f"\n\n$$\n{_RIGHT}{{g}}_k = LSTM(W i_k, {_RIGHT}{{g}}_{{k-1}}), g_k = [{_RIGHT}{{g}}_k; {_LEFT}{{g}}_k],\n"
        f"{_RIGHT}{{h}}_k = LSTM(g_k, {_RIGHT}{{h}}_{{k-1}}), h_k = [{_RIGHT}{{h}}_k; {_LEFT}{{g}}_k]\n$$\n\n"
        f"where $W$ is a weight matrix, ${_LEFT}{{g}}_k$ and ${_LEFT}{{h}}_k$ are defined similarly to "
        f"${_RIGHT}{{g}}_k$ and ${_RIGHT}{{h}}_k$ but process token ",
    ),
    ("Given the token sequence ", " in a sentence, we need", r"$t_1, \ldots, t_N$"),
    ("First, we construct the token embedding ", " for each token", "$x_k = [c_k; w_k]$"),
    (
        "word embeddings, denoted as ",
        ", by concatenating the projected",
        f"$lm_k = [{_RIGHT}{{lm}}_k; {_LEFT}{{lm}}_k]$",
    ),
    (
        "While training the LM parameters, ",
        " We fix the LM",
        f"${_RIGHT}{{lm}}_k$ is used to predict $t_{{k+1}}$ and ${_LEFT}{{lm}}_k$ is used to predict $t_{{k-1}}$.",
    ),
    ("embeddings for each token ", ", we use a two-layer", r"$k \in \{1, \ldots, N\}$"),
    (
        "second layer, respectively. That is,",
        "direction. Similar to the model",
        f"\n\n$$\n{_RIGHT}{{g}}_k = LSTM(x_k, {_RIGHT}{{g}}_{{k-1}}), g_k = [{_RIGHT}{{g}}_k; {_LEFT}{{g}}_k],\n"
        f"{_RIGHT}{{h}}_k = LSTM([g_k; lm_k], {_RIGHT}{{h}}_{{k-1}}), h_k = [{_RIGHT}{{h}}_k; {_LEFT}{{h}}_k],\n$$\n\n"
        f"where ${_LEFT}{{g}}_k$ and ${_LEFT}{{h}}_k$ are defined similarly to ${_RIGHT}{{g}}_k$ and "
        f"${_RIGHT}{{h}}_k$ but process token sequences in the opposite ",
    ),
    (
        "respectively, as follows:",
        "where m.surface",
        "\n\n$$\nf(m) = [v_{m.name}; avg(v_{m.lc}, v_{m.rc})],\ng(e) = [v_{e.name}; v_{e.def}],\n$$\n\n",
    ),
    ("collected in the index described\n\n", "Table 4: The Bag", ""),
    (
        "model on the two curated datasets.",
        "earlier. We compute two scores",
        "\n\n|  | CS | Bio |\n| --- | --- | --- |\n| Baseline | 84.2 | 54.2 |\n| Neural | 84.6 | 85.8 |\n\n",
    ),
    ("the cosine similarity between ", " and the intersection-based", "$f(m)$ and $g(e)$"),
)
_ESSENTIAL_OIL = (
    (
        "was calculated with the following equation: ",
        "%AA—percentage",
        "\n\n$$\n"
        r"(\%AA) = 100 - \left\{\frac{[(Abs_{sample} - Abs_{white}) \cdot 100]}{Abs_{control}}\right\}"
        "\n$$\n\n",
    ),
    (
        "(MBC) of the essential oil Aeollanthus suaveolens.",
        "ND: Not Detected",
        "\n\n| Microorganism | MIC (mg.mL-1) | MBC (mg.mL-1) |\n| --- | --- | --- |\n| Escherichia coli | 50 | 100 |\n"
        "| Staphylococcus aureus | 100 | ND |\n| Salmonella sp | 50 | ND |\n"
        "| Amoxilina (Controle positivo) | 0,048 | 0,048 |\n| DMSO (Controle negativo) | - | - |\n\n",
    ),
)


def _record(file: str, title: str) -> dict[str, Any]:
    """The paper of a file of records whose title begins so."""
    for line in (SHARED / "papers" / file).read_text(encoding="utf-8").splitlines():
        record: dict[str, Any] = json.loads(line)
        if record["title"].startswith(title):
            return record
    raise SystemExit(f"{file} holds no paper whose title begins with {title!r}")


def _full_text(file: str, title: str) -> str:
    """A record with sections as Markdown: title, abstract, sections at their levels, titles of the references."""
    record = _record(file, title)
    parts = [f"# {record['title']}", "## Abstract", re.sub(r"^10\.7554/eLife\.[\d.]+", "", record["abstract"])]
    for section in record["sections"]:
        parts += [f"{'#' * (section['level'] + 1)} {section['heading']}", section["text"]]
    references = [entry["title"] for entry in record["references"] if entry.get("title")]
    parts += ["## References", "\n".join(f"[{n}] {entry}" for n, entry in enumerate(references, 1))]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _marked_up(file: str, title: str) -> str:
    """A record's own Markdown, its bare headings marked as such."""
    record = _record(file, title)

    def heading(match: re.Match[str]) -> str:
        number, words = match.groups()
        level = 2 + (number or "").count(".")
        return f"{'#' * level} {f'{number} ' if number else ''}{words}"

    return _HEADING.sub(heading, record["markdown"])


def _pdf(file: str) -> str:
    import rustypaper

    return rustypaper.to_markdown(str(SHARED / "pdfs" / file))


def _read(file: str, mends: tuple[tuple[str, str, str], ...]) -> str:
    """A PDF through the package's own reader, headings with their printed numbers, formulas and tables mended.

    Raises:
        SystemExit: The words around a mend do not stand once in the text.
    """
    from referee.papers import load_paper
    from referee.papers.markdown import write_markdown

    paper = load_paper(SHARED / "layouts" / "pdfs" / file)
    numbered = tuple(
        section.model_copy(update={"heading": f"{section.number} {section.heading}"}) if section.number else section
        for section in paper.sections
    )
    text = write_markdown(paper.model_copy(update={"sections": numbered})).text
    for before, after, printed in mends:
        head, found, rest = text.partition(before)
        _, closed, tail = rest.partition(after)
        if not (found and closed) or before in rest:
            raise SystemExit(f"{file}: {before!r} and {after!r} do not stand once around what is to be mended")
        text = head + before + printed + after + tail
    return text


def _example(name: str) -> str:
    return (ROOT / "examples" / name).read_text(encoding="utf-8")


PAPERS: dict[str, Callable[[], str]] = {
    "p1": lambda: _full_text("elife_fulltext_reviews.jsonl", "Herbivory-induced volatiles"),
    "p2": lambda: _full_text("elife_fulltext_reviews.jsonl", "Neuron hemilineages"),
    "p3": lambda: _marked_up("ai_scientist_generated_fulltext.jsonl", "grid based noise adaptation"),
    "p4": lambda: _pdf("acl2020_s2orc_two_column.pdf"),
    "p5": lambda: _pdf("naacl2025_openreviewer_two_column.pdf"),
    "p6": lambda: _example("paper.md"),
    "p7": lambda: _full_text("elife_fulltext_reviews.jsonl", "Kinesin-1 regulates"),
    "p8": lambda: _read("01_acl_naacl2018.pdf", _LITERATURE_GRAPH),
    "p9": lambda: _read("14_plos_one.pdf", _ESSENTIAL_OIL),
}
"""Two long articles, a machine-written paper, two conference papers from their PDFs, and the example; then an article,
a conference paper and a journal's paper, both from their PDFs."""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def clean(name: str) -> str:
    """The paper as its authors wrote it."""
    return PAPERS[name]()


def records(name: str) -> dict[str, Any]:
    """What is planted into a paper; see README.md beside this file for the fields."""
    data: dict[str, Any] = json.loads((HERE / "records" / f"{name}.json").read_text(encoding="utf-8"))
    return data


def planted(name: str) -> str:
    """The paper with all its errors.

    Raises:
        SystemExit: The text, or the words at an edit, are not those that the records were written for.
    """
    text, held = clean(name), records(name)
    if sha256(text) != held["clean_sha256"]:
        raise SystemExit(f"{name}: the clean text is not the one that the records were written for")
    edits = sorted((e for r in held["records"] for e in r["edits"]), key=lambda e: -e["start"])
    for edit in edits:
        before = text[edit["start"] : edit["end"]]
        if sha256(before) != edit["before_sha256"]:
            raise SystemExit(f"{name}: the words at {edit['start']} are not those that an edit replaces")
        text = text[: edit["start"]] + edit["after"] + text[edit["end"] :]
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--clean", action="store_true", help="write the clean papers, not the planted ones")
    parser.add_argument("--papers", nargs="+", choices=PAPERS, default=list(PAPERS), metavar="P", help="only these")
    args = parser.parse_args()
    for name in args.papers:
        text = clean(name) if args.clean else planted(name)
        print(f"{name}: {len(text):,} characters, {0 if args.clean else len(records(name)['records'])} errors")
        if args.folder:
            args.folder.mkdir(parents=True, exist_ok=True)
            (args.folder / f"{name}.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
