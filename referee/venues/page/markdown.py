"""Markdown and plain text files as the page's text: rendered to HTML, and read as HTML is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from referee.venues.page.decode import without_spans
from referee.venues.page.html import text_of_markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

_FRONT = re.compile(r"\A\ufeff?\s*(---|\+\+\+)[ \t]*\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title\s*[:=]\s*(.+)$", re.MULTILINE | re.IGNORECASE)
_LIQUID = re.compile(r"\{%-?.{0,300}?-?%\}|\{\{.{0,300}?\}\}|\{:[^{}\n]{0,300}\}|\{#[\w-]{1,100}\}")
_MYST_LABEL = re.compile(r"^\([\w-]{1,100}\)=\s*$", re.MULTILINE)
_OPTION = re.compile(r"^ *:[\w-]{2,20}:(?:[ \t].*)?$", re.MULTILINE)
_COLONS = re.compile(r"^ {0,6}:{3,}[ \t]*(?:\{?[\w-]*\}?)?", re.MULTILINE)
# Writers leave out the blank line that CommonMark wants before a list, and use signs of their own.
_ITEM = re.compile(r"^( *)([-*+•–]|\d{1,3}[.)])(?= +\S)(?: +\[[ xX]\](?= ))?", re.MULTILINE)
_BARS_ONLY = re.compile(r"[-:| ]+")
_DEEPEST = 20
# Labels of links and images are looked through once for each bracket around them, so this bounds the time.
_DEEPEST_LABEL = 3
_MOST_DIRECTIVES = 8
_Env = dict[str, list[str]]  # notes for the reader, and the names of the directives around
_CODE = ("", "python", "bash", "sh", "console", "text", "plaintext", "json", "yaml", "toml", "r", "latex", "code")
_NO_PROSE = ("include", "toctree", "figure", "image", "math", "mermaid", "bibliography", "raw", "button")


def read_markdown(source: str) -> tuple[str, str, tuple[str, ...]]:
    """Title, text in the page's form, and notes of what could not be brought along.

    Front matter, comments, Liquid and inline markup go; directives ("note", "admonition") keep their words; an empty
    code block is a text box; lines of one paragraph or item are joined.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    title = ""
    if match := _FRONT.match(source):
        found = _TITLE.search(match[2])
        title = found[1].strip().strip("\"'") if found else ""
        source = source[match.end() :]
    env: _Env = {"notes": [], "inside": []}
    text = text_of_markup(_rendered(_spaced(source), env))
    if not title:
        title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), "")
    return title, text, tuple(dict.fromkeys(env["notes"]))


def _spaced(text: str) -> str:
    """Without what only a site generator reads, and with blank lines where a block begins."""
    text = without_spans(text, "<!--", "-->")
    for pattern in (_LIQUID, _MYST_LABEL, _OPTION):
        text = pattern.sub("", text)
    text = _COLONS.sub("\n", text)
    return _ITEM.sub(lambda item: f"\n{item[1]}{'-' if item[2] in '•–' else item[2]}", text)


def _rendered(text: str, env: _Env) -> str:
    parser = _parser()
    tokens = parser.parse(text, env)
    if any(token.level >= _DEEPEST - 1 for token in tokens):
        env["notes"].append(f"The page nests lists and quotations {_DEEPEST} deep; what lies deeper was not read.")
    return str(parser.renderer.render(tokens, parser.options, env))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    parser.disable(["code", "newline", "html_block"]).core.ruler.after("block", "rows", _rows)
    parser.core.ruler.at("inline", _inline)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("list_item_open", _item)
    parser.add_render_rule("code_inline", lambda _, tokens, at, *__: f"<tt>{escapeHtml(tokens[at].content)}</tt>")
    return parser


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": _DEEPEST_LABEL}).disable("newline")


def _inline(state: StateCore) -> None:
    """What stands in a line, read with less nesting than blocks may have."""
    parser = _inline_parser()
    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            parser.inline.parse(token.content, parser, state.env, token.children)


def _rows(state: StateCore) -> None:
    """Lines between bars are rows, as Jekyll has them, also where no rule or another number of columns stands below."""
    for token in state.tokens:
        if token.type == "inline" and "\n|" in f"\n{token.content}":
            lines = (line for line in token.content.split("\n") if not _BARS_ONLY.fullmatch(line))
            token.content = "<br>".join(line.strip("| ") for line in lines)


def _item(_: Any, tokens: Sequence[Token], at: int, __: Any, ___: Any) -> str:
    """An item with its own number, which CommonMark would count on from the first: scales run downwards."""
    return f'<li value="{tokens[at].info}">' if tokens[at].info else "<li>"


def _fence(_: Any, tokens: Sequence[Token], at: int, __: Any, env: _Env) -> str:
    """Code as it stands, a directive as its words; what a directive would bring in is noted."""
    from markdown_it.common.utils import escapeHtml

    name, _, rest = tokens[at].info.strip().partition(" ")
    directive, name = name.startswith("{"), name.strip("{}").lower()
    if (name in _CODE and not directive) or len(env["inside"]) >= _MOST_DIRECTIVES:
        return f"<pre>{escapeHtml(tokens[at].content)}</pre>\n"
    if name not in _NO_PROSE:
        inside = {"notes": env["notes"], "inside": [*env["inside"], name]}
        return _rendered(f"{rest}\n\n{tokens[at].content}", inside)
    env["notes"].append(f"The page brings in {name!r} {rest!r}, which is not part of the file.".replace(" ''", ""))
    return ""
