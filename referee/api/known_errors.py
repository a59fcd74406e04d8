"""Public sets of papers with known errors, made into one folder that reviews can be measured with."""

from __future__ import annotations

from pathlib import Path

from referee.data.known_layouts import SETS, load_known
from referee.data.known_sets import KnownWriter, Written
from referee.data.papers import paper_files
from referee.errors import DataError, SettingsError
from referee.nearest import did_you_mean
from referee.runs.files import whole_folder


def load_set(source: str, path: Path, *, out: Path, papers: Path | None = None) -> Written:
    """Read the user's own copy of a set, and write its papers, known errors and reviews; nothing is downloaded.

    Args:
        source: One of ``SETS``.
        path: The copy: a file or a folder.
        out: A new folder, which ``referee eval --known`` takes. It stands there once all is written.
        papers: Files of papers, named by paper id, for sets that do not hold the texts.

    Returns:
        How much of each there is. Rows that cannot be used are in ``rejected.jsonl``, with their reasons.

    Raises:
        SettingsError: There is no such set.
        DataError: The path does not hold the set, no known error of it can be used, or ``out`` is there already.
        MissingExtra: It is Parquet, and the package for it is not installed.
    """
    chosen = next((known for known in SETS if known == source), None)
    if chosen is None:
        raise SettingsError(
            f"there is no set {source!r} of known errors.",
            hint=f"{did_you_mean(source, SETS)}There are: {', '.join(SETS)}.",
        )
    if papers is not None and not papers.is_dir():
        raise DataError(f"there is no folder {str(papers)!r}.", hint="Give a folder of papers named by paper id.")
    own = dict(paper_files(papers)) if papers is not None else {}
    found = load_known(chosen, path)
    with whole_folder(out) as folder:
        return KnownWriter(folder, own).write(chosen, found)
