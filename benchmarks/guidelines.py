"""How many of a guideline page's criteria `referee venue compile` keeps, against lists made by hand: gold/README.md.

    python benchmarks/guidelines.py [--model local] [--base-url URL] [--page ID ...] [--details] [--json FILE]

For each page: what code cut from it (all of it kept would be the most that a model can find), and what was kept with
the model's labels. Needs the shared data beside the checkout. Venues and run folders go to a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from guidelines_gold import Comparison, GoldPage, compare, load_gold, page_text

import referee
from referee.api.venues.compiling import compile_venue
from referee.errors import RefereeError
from referee.settings import Settings, load_settings

DATA = Path(__file__).parents[2] / "shared" / "data"
HEAD = "| page | statements | kept | right | borderline | precision | recall | F1 | kind agrees | calls | s |"


def main() -> int:
    """Compile each page, print the table, write the JSON; 2 where a page could not be compiled at all."""
    given = _arguments()
    settings = load_settings(
        {"models.default": given.model, "models.base_url": given.base_url, "calls.cache": False},
    )
    figures: list[dict[str, Any]] = []
    for page in given.pages:
        with tempfile.TemporaryDirectory(prefix="referee-guidelines-") as name:
            os.environ["REFEREE_CONFIG_DIR"] = name
            try:
                figures.append(asyncio.run(_measured(page, settings, Path(name))))
            except RefereeError as error:
                print(f"{page.id}: {error}", file=sys.stderr)
    if figures:
        _print(figures, details=given.details)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if len(figures) == len(given.pages) else 2


def _arguments() -> argparse.Namespace:
    gold = {page.id: page for page in load_gold()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="as for referee venue compile")
    parser.add_argument("--base-url", help="as for referee venue compile")
    parser.add_argument("--page", nargs="+", choices=sorted(gold), default=sorted(gold))
    parser.add_argument("--details", action="store_true", help="also what was missed and what was wrongly kept")
    parser.add_argument("--json", type=Path, help="also write everything here")
    given = parser.parse_args()
    given.pages = [gold[name] for name in given.page]
    if missing := [page.page for page in given.pages if not (DATA / page.page).is_file()]:
        parser.error(f"not beside this checkout: {', '.join(missing)}")
    return given


async def _measured(page: GoldPage, settings: Settings, folder: Path) -> dict[str, Any]:
    started = time.monotonic()
    compiled = await compile_venue(
        DATA / page.page,
        venue_id=page.id.replace("_", "-"),
        options=referee.RunOptions(out=folder / "run", settings=settings),
    )
    seconds, text = time.monotonic() - started, page_text(DATA / page.page)
    kept = [fate for fate in compiled.statements if fate.fate == "kept"]
    return {
        "version": referee.__version__,
        "model": settings.models.default,
        "page": page.id,
        "cut": _figures(
            compare([(fate.words, fate.criterion_kind) for fate in compiled.statements], page.criteria, text)
        ),
        "kept": _figures(compare([(fate.words, fate.criterion_kind) for fate in kept], page.criteria, text)),
        "by_rule": sum(fate.by == "rule" for fate in compiled.statements),
        "seconds": round(seconds, 1),
        "usage": compiled.usage.model_dump(mode="json"),
    }


def _figures(compared: Comparison) -> dict[str, Any]:
    shares = {"precision": compared.precision, "recall": compared.recall, "f1": compared.f1}
    return {**asdict(compared), **shares}


def _print(figures: list[dict[str, Any]], *, details: bool) -> None:
    print(f"referee {figures[0]['version']}, model {figures[0]['model']}\n\n{HEAD}\n|{'---|' * 11}")
    for one in figures:
        print(_row(one["page"], "cut by code", one["cut"], "", "", ""))
        kinds = f"{one['kept']['same_kind']} of {one['kept']['right']}"
        print(_row(one["page"], "kept", one["kept"], kinds, one["usage"]["calls"], one["seconds"]))
    by_rule = ", ".join(f"{one['page']} {one['by_rule']} of {one['cut']['kept']}" for one in figures)
    print(f"\nlabelled by a rule: {by_rule}")
    for one in figures if details else ():
        lost = [name for name in one["kept"]["missed"] if name not in one["cut"]["missed"]]
        print(f"\n{one['page']}\n  never cut: {', '.join(one['cut']['missed']) or 'none'}")
        print(f"  cut, not kept: {', '.join(lost) or 'none'}")
        print("".join(f"  wrongly kept: {words}\n" for words in one["kept"]["wrong"]), end="")


def _row(page: str, name: str, was: dict[str, Any], kinds: str, calls: object, seconds: object) -> str:
    recall = f"{_share(was['recall'])} ({was['found']} of {was['wanted']})"
    shares = (_share(was["precision"]), recall, _share(was["f1"]))
    cells = (page, name, was["kept"], was["right"], was["neutral"], *shares, kinds, calls, seconds)
    return f"| {' | '.join(map(str, cells))} |"


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
