"""Pages from templates: whole files that fetch nothing, with their style and their one script.

Text of papers and models reaches a page only through the templates, which escape it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
TEMPLATES = HERE / "templates"
STATIC = HERE / "static"
STYLES = ("page.css",)
PAGE = "report.html"
"""The page of a run, in its folder."""


def render(template: str, /, *, styles: Iterable[str] = (), script: str = "", linked: str = "", **names: object) -> str:
    """A page from a template that extends ``base.html``.

    Args:
        template: Its file under ``templates``.
        styles: Files of style beside ``page.css``.
        script: The one file of script; none by default.
        linked: The address under which a server has style and script; by default they stand in the page.
        **names: What the template speaks of; one that is missing is an error.
    """
    files = [*STYLES, *styles]
    page = _environment().get_template(template)
    if linked:
        return page.render(linked=linked, styles=files, script=script, **names)
    code = _static(script) if script else ""
    style = "\n".join(map(_static, files))
    return page.render(linked="", style=style, code=code, policy=policy(code), **names)


def policy(code: str = "") -> str:
    """The content security policy of a page that fetches nothing and runs this script alone."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if code else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def _static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
