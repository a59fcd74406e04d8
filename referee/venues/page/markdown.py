"""Markdown and plain text files as the page's text: front matter, Liquid, directives and inline markup cleaned away."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from referee.venues.page.blocks import FENCE
from referee.venues.page.decode import without_spans

_FRONT = re.compile(r"\A\ufeff?\s*(---|\+\+\+)[ \t]*\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title\s*[:=]\s*(.+)$", re.MULTILINE | re.IGNORECASE)
_LIQUID = re.compile(r"\{%-?.{0,300}?-?%\}|\{\{.{0,300}?\}\}|\{:[^{}\n]{0,300}\}|\{#[\w-]{1,100}\}")
_MYST_LABEL = re.compile(r"^\([\w-]{1,100}\)=\s*$", re.MULTILINE)
_HIDDEN = ("script", "style", "svg")
_BLOCK_TAGS = (
    (re.compile(r"<h([1-6])\b[^>]{0,500}>", re.IGNORECASE), lambda tag: "\n\n" + "#" * int(tag[1]) + " "),
    (re.compile(r"<li\b[^>]{0,500}>", re.IGNORECASE), lambda tag: "\n- "),
    (re.compile(r"</t[dh]\s*>\s*<t[dh]\b[^>]{0,500}>", re.IGNORECASE), lambda tag: " | "),
    (re.compile(r"<(?:textarea|input)\b[^>]{0,500}>", re.IGNORECASE), lambda tag: f"\n{FENCE}\n{FENCE}\n"),
    (re.compile(r"</?(?:p|div|ul|ol|tr|table|section|details|summary|center|blockquote|h[1-6]|hr|br|dl|dt|dd)\b[^>]{0,500}>",
                re.IGNORECASE), lambda tag: "\n\n"),
)  # fmt: skip
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]{0,30}(?:\s[^<>]{0,1000})?/?>")
_IMAGE = re.compile(r"!\[([^\[\]]{0,300})\]\([^()\s]{0,1000}(?:\s+\"[^\"]{0,200}\")?\)")
_LINK = re.compile(
    r"\[([^\[\]]{1,500})\](?:\([^()\s]{0,1000}(?:\([^()\s]{0,200}\))?[^()\s]{0,300}(?:\s+[\"'][^\"']{0,200}[\"'])?\)|"
    r"\[[^\[\]]{0,100}\])"
)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,500})>")
_LINK_TARGET = re.compile(r"^ {0,3}\[[^\[\]]{1,100}\]:\s+\S+.*$", re.MULTILINE)
_STRONG = re.compile(
    r"(?<![\w*])\*\*(?=\S)([^*\n]{1,600}?)(?<=\S)\*\*(?![*])|(?<!\w)__(?=\S)([^_\n]{1,600}?)(?<=\S)__(?!\w)"
)
_EMPHASIS = re.compile(
    r"(?<![\w*\\])\*(?=[^\s*])([^*\n]{1,600}?)(?<=[^\s*])\*(?![\w*])|"
    r"(?<![\w_])_(?=[^\s_])([^_\n]{1,600}?)(?<=[^\s_])_(?![\w_])"
)
_CODE_SPAN = re.compile(r"(`{1,2})(?!`)([^`\n]{1,300})\1(?!`)")
_FENCE_LINE = re.compile(r"^ {0,6}(`{3,}|~{3,}|:{3,})\s*(?:\{?([\w-]*)\}?)?\s*(.*)$")
_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]*([^#\s].*?|)(?:[ \t]+#+)?[ \t]*$")
_ITEM = re.compile(r"^(\s*)(?:([-*+•–])|(\d{1,3})[.)])\s+(\S.*)$")
_TASK = re.compile(r"^\[[ xX]\]\s+")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$|^\s*\|\s*:?-+:?\s*\|\s*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{3,})\s*$")
_MARKED = re.compile(r"^(?:#{1,6} |\s*[-*+] |\s*\d{1,3}\. )| \| ")
_BOLD_LINE = re.compile(r"^\*\*([^*\n]{2,100}?):?\*\*:?$|^__([^_\n]{2,100}?):?__:?$")
_CODE_FENCES = (
    "",
    "python",
    "bash",
    "sh",
    "console",
    "text",
    "plaintext",
    "json",
    "yaml",
    "toml",
    "r",
    "latex",
    "code",
)
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
    notes: list[str] = []
    lines = list(_joined(_without_markup(source).split("\n"), notes))
    if not title:
        title = next((line.lstrip("# ") for line in lines if line.startswith("#")), "")
    return title, "\n".join(lines), tuple(notes)


def _without_markup(text: str) -> str:
    """Comments, Liquid, labels and HTML tags taken out; tags that begin a block become line breaks."""
    text = without_spans(text, "<!--", "-->")
    for name in _HIDDEN:
        text = without_spans(text, f"<{name}", f"</{name}>")
    for pattern in (_LIQUID, _MYST_LABEL, _LINK_TARGET):
        text = pattern.sub("", text)
    text = _AUTOLINK.sub(r"\1", text)
    if "<" in text:
        for pattern, replacement in _BLOCK_TAGS:
            text = pattern.sub(replacement, text)
        text = _TAG.sub("", text)
    return text


def _joined(lines: list[str], notes: list[str]) -> Iterator[str]:
    """The lines of the page's text: one block each."""
    pending = ""
    fences: list[tuple[str, bool]] = []
    depths: list[int] = []
    for line in lines:
        if (match := _FENCE_LINE.match(line)) and _is_fence(match, fences):
            if pending:
                yield _inline(pending)
            pending = ""
            yield from _fence(match, fences, notes)
            continue
        if fences and fences[-1][1]:
            yield line
            continue
        new, text = _read_line(line, pending, depths)
        if (match := _SETEXT.match(line)) and pending and not _MARKED.match(pending):
            yield ("# " if match[1][0] == "=" else "## ") + _inline(pending)
            pending = ""
            continue
        if new and pending:
            yield _inline(pending)
            pending = ""
        if new or not pending:
            pending = text
        else:
            pending += " " + text
    if pending:
        yield _inline(pending)
    if fences and fences[-1][1]:
        yield FENCE


def _is_fence(match: re.Match[str], fences: list[tuple[str, bool]]) -> bool:
    """Inside code only the closing fence counts."""
    return not (fences and fences[-1][1]) or (match[1][:3] == fences[-1][0][:3] and not match[2] and not match[3])


def _fence(match: re.Match[str], fences: list[tuple[str, bool]], notes: list[str]) -> Iterator[str]:
    """What an opening or closing fence writes; the words of a directive's title stay, its options go."""
    mark, name, rest = match[1], match[2].lower(), match[3].strip()
    if fences and not name and not rest and mark[:3] == fences[-1][0][:3]:
        if fences.pop()[1]:
            yield FENCE
        return
    is_code = name in _CODE_FENCES and "{" not in match[0]
    if name in _NO_PROSE:
        notes.append(f"The page brings in {name!r} {rest!r}, which is not part of the file.".replace(" ''", ""))
    fences.append((mark, is_code))
    if is_code:
        yield FENCE
    elif rest and name not in _NO_PROSE:
        yield _inline(rest)


def _read_line(line: str, pending: str, depths: list[int]) -> tuple[bool, str]:
    """Whether a line begins a block, and its text; an empty text ends the block before it."""
    stripped = line.strip()
    if not stripped or _RULE.match(line) or _TABLE_RULE.match(line) or re.match(r"^:[\w-]{2,20}:(?:\s|$)", stripped):
        return True, ""
    if match := _ATX.match(line):
        depths.clear()
        return True, f"{match[1]} {match[2]}" if match[2] else ""
    if match := _ITEM.match(line):
        return True, _item(match, depths)
    if stripped.startswith("|") or stripped.count(" | ") > 1:
        return True, " | ".join(cell.strip() for cell in stripped.strip("|").split("|"))
    if not pending and (match := _BOLD_LINE.match(stripped)):
        return True, f"###### {match[1] or match[2]}"
    if not pending and not line.startswith(" "):
        depths.clear()
    return not pending or pending.startswith("#"), stripped.lstrip("> ")


def _item(match: re.Match[str], depths: list[int]) -> str:
    """An item line with its depth counted in levels, whatever the file's indentation."""
    width = len(match[1])
    while depths and depths[-1] >= width:
        depths.pop()
    depths.append(width)
    marker = f"{match[3]}. " if match[3] else "- "
    return "  " * (len(depths) - 1) + marker + _TASK.sub("", match[4].strip())


def _inline(text: str) -> str:
    """One line without inline markup; a lone star of a name (``*ACL``) stays."""
    indent = text[: len(text) - len(text.lstrip())]
    body = _IMAGE.sub(r"\1", text.strip())
    body = _LINK.sub(r"\1", body)
    for pattern in (_STRONG, _EMPHASIS):
        body = pattern.sub(lambda match: match[1] or match[2], body)
    body = _CODE_SPAN.sub(r"\2", body)
    body = html.unescape(re.sub(r"\\([\\`*_{}\[\]()#+.!|>-])", r"\1", body))
    return indent + " ".join(body.split())
