"""How much of a guideline page `referee venue compile` reads, against a language model's lists: gold/README.md.

    python benchmarks/guidelines.py [--model local] [--base-url URL] [--page ID ...] [--details] [--json FILE]
    python benchmarks/guidelines.py --readings benchmarks/gold/readings

For each page: the criteria that were kept, beside what code cut from it; and the boxes, scales, lengths and the rule on
language models of the form. A page that is not here is left out with the reason. ``--readings`` takes a strong model's
answers from a folder, which a server of ours on this machine gives. Venues and run folders go to a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from guidelines_forms import compare_form
from guidelines_gold import Comparison, GoldPage, compare, load_gold, locate, page_text

import referee
from referee.api.venues.compiling import compile_venue
from referee.errors import RefereeError
from referee.settings import Settings, load_settings

HEAD = "| page | statements | kept | right | borderline | precision | recall | F1 | kind agrees | calls | s |"

FORM_HEAD = "| page | boxes found | invented | added | scales right | labels right | invented | lengths | rule right |"
_PARTS = (("scales_right", "scales"), ("labels_right", "labelled"), ("lengths_found", "lengths"))


def main() -> int:
    """Compile each page, print the tables, write the JSON; 2 where a page could not be compiled at all."""
    given = _arguments()
    with _reader(given) as reader:
        base_url, model = (reader.base_url, "fake") if reader else (given.base_url, given.model)
        settings = load_settings({"models.default": model, "models.base_url": base_url, "calls.cache": False})
        figures = [_tried(page, path, settings) for page, path in given.pages]
    measured = [one for one in figures if "form" in one]
    for one in figures:
        if "refused" in one:
            print(f"{one['page']}: {one['refused']}", file=sys.stderr)
    if measured:
        _print(measured, details=given.details)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if len(measured) == len(figures) else 2


def _arguments() -> argparse.Namespace:
    gold = {page.id: page for page in load_gold()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="as for referee venue compile")
    parser.add_argument("--base-url", help="as for referee venue compile")
    parser.add_argument("--readings", type=Path, help="a folder with a strong language model's answers, PAGE-PART.json")
    parser.add_argument("--page", nargs="+", choices=sorted(gold), default=sorted(gold))
    parser.add_argument("--details", action="store_true", help="also what was missed and what was wrongly kept")
    parser.add_argument("--json", type=Path, help="also write everything here")
    given = parser.parse_args()
    places = {name: locate(gold[name]) for name in given.page}
    for name, place in places.items():
        if isinstance(place, str):
            print(f"{name} is left out: {place}", file=sys.stderr)
        elif given.readings and not list(given.readings.glob(f"{name}-*.json")):
            print(f"{name} is left out: no reader's answers are in {given.readings}", file=sys.stderr)
    given.pages = [
        (gold[name], place)
        for name, place in places.items()
        if not isinstance(place, str) and (not given.readings or list(given.readings.glob(f"{name}-*.json")))
    ]
    return given


def _reader(given: argparse.Namespace) -> Any:
    """A server that gives the answers of a folder, or nothing."""
    if given.readings is None:
        return nullcontext()
    from guidelines_readings import reading_server

    return reading_server(given.readings, given.pages)


def _tried(page: GoldPage, path: Path, settings: Settings) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="referee-guidelines-") as name:
        os.environ["REFEREE_CONFIG_DIR"] = name
        try:
            return asyncio.run(_measured(page, path, settings, Path(name)))
        except RefereeError as error:
            return {"page": page.id, "refused": str(error)}


async def _measured(page: GoldPage, path: Path, settings: Settings, folder: Path) -> dict[str, Any]:
    started = time.monotonic()
    compiled = await compile_venue(
        path,
        venue_id=page.id.replace("_", "-"),
        rounds=0,
        options=referee.RunOptions(out=folder / "run", settings=settings),
    )
    seconds, text = time.monotonic() - started, page_text(path)
    kept = [fate for fate in compiled.statements if fate.fate == "kept"]
    return {
        "version": referee.__version__,
        "model": settings.models.default,
        "page": page.id,
        "cut": None
        if any(fate.statement == "read" for fate in compiled.statements)
        else _figures(
            compare([(fate.words, fate.criterion_kind) for fate in compiled.statements], page.criteria, text)
        ),
        "kept": _figures(compare([(fate.words, fate.criterion_kind) for fate in kept], page.criteria, text)),
        "form": asdict(compare_form(compiled.form, page.fields, page.policy)),
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
        if one["cut"]:
            print(_row(one["page"], "cut by code", one["cut"], "", "", ""))
        kinds = f"{one['kept']['same_kind']} of {one['kept']['right']}"
        print(_row(one["page"], "kept", one["kept"], kinds, one["usage"]["calls"], one["seconds"]))
    _print_forms(figures)
    by_rule = ", ".join(f"{one['page']} {one['by_rule']} of {one['cut']['kept']}" for one in figures if one["cut"])
    print(f"\nlabelled by a rule: {by_rule}" if by_rule else "")
    for one in figures if details else ():
        form, kept = one["form"], one["kept"]
        never = one["cut"]["missed"] if one["cut"] else ()
        lost = [name for name in kept["missed"] if name not in never]
        print(f"\n{one['page']}\n  boxes missed: {', '.join(form['missed']) or 'none'}")
        print(f"  boxes invented: {', '.join(form['invented']) or 'none'}")
        print(f"  scales invented: {', '.join(form['scales_invented']) or 'none'}")
        print(f"  criteria never cut: {', '.join(never) or 'none'}")
        print(f"  criteria missed: {', '.join(lost) or 'none'}")
        print("".join(f"  wrongly kept: {words}\n" for words in kept["wrong"]), end="")


def _print_forms(figures: list[dict[str, Any]]) -> None:
    print(f"\n{FORM_HEAD}\n|{'---|' * 9}")
    for one in figures:
        form = one["form"]
        of = [(form[right], form[every]) for right, every in _PARTS]
        cells = [one["page"], f"{form['found']} of {form['wanted']}", len(form["invented"]), form["added"]]
        cells += [f"{right} of {every}" for right, every in of[:2]]
        cells += [len(form["scales_invented"]), f"{of[2][0]} of {of[2][1]}", "yes" if form["policy_right"] else "no"]
        print(f"| {' | '.join(map(str, cells))} |")


def _row(page: str, name: str, was: dict[str, Any], kinds: str, calls: object, seconds: object) -> str:
    recall = f"{_share(was['recall'])} ({was['found']} of {was['wanted']})"
    shares = (_share(was["precision"]), recall, _share(was["f1"]))
    cells = (page, name, was["kept"], was["right"], was["neutral"], *shares, kinds, calls, seconds)
    return f"| {' | '.join(map(str, cells))} |"


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
