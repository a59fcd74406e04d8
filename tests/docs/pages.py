"""The documentation's pages as blocks: what is shown, where it stands, and what the comment above it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]

# A block that is not run says why, in a comment on the line above it: <!-- not run: REASON -->
REASONS = frozenset(
    {
        "needs a key",
        "needs a file of yours",
        "needs a server of yours",
        "needs data outside the repository",
        "downloads a model",
        "installs packages",
        "is itself a check",
    }
)
SHELLS = frozenset({"bash", "sh", "shell", "zsh"})
SHOWN_ONLY = frozenset({"", "text", "toml", "json"})

_FENCE = re.compile(r"^ {0,3}(?P<marks>`{3,}|~{3,})\s*(?P<language>\S*)")
_COMMENT = re.compile(r"^<!-- (?P<text>.*?) -->$")
_INDENTED_COMMAND = re.compile(r"^(?: {4}|\t)\s*(?:\$ )?(?:referee|python3?|pip|pytest|make|git) ")


@dataclass(frozen=True)
class Block:
    """A fenced block. ``line`` is that of its opening fence; ``comment`` is what the line above it says."""

    page: Path
    line: int
    language: str
    comment: str
    lines: tuple[str, ...]

    @property
    def where(self) -> str:
        """File and line, as an editor takes them."""
        return f"{self.page}:{self.line}"

    @property
    def text(self) -> str:
        """What stands between the fences."""
        return "".join(f"{line}\n" for line in self.lines)

    def said(self, key: str) -> str | None:
        """The value of a comment ``<!-- key: value -->``."""
        name, _, value = self.comment.partition(":")
        return value.strip() if name == key else None

    @property
    def runs(self) -> bool:
        """Whether the test runs it. In README's blocks for CI only the lines that call us are run here.

        A block of a recipe is followed by ``test_recipes.py``.
        """
        if self.said("not run") is not None or self.said("recipe") is not None:
            return False
        return self.language in ("console", "python") or self.said("ci") is not None


@dataclass
class Command:
    """One command of a console block with the output the page shows for it."""

    line: int
    text: str
    shown: list[str] = field(default_factory=list)


def pages() -> list[Path]:
    """All pages whose blocks are run, relative to the repository."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page.relative_to(ROOT) for page in found if page.is_file()]


def blocks(page: Path, root: Path = ROOT) -> list[Block]:
    """The page's fenced blocks in their order."""
    lines = (root / page).read_text(encoding="utf-8").splitlines()
    found, number = [], 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        if fence is None:
            number += 1
            continue
        end = next((n for n in range(number + 1, len(lines)) if lines[n].strip() == fence["marks"]), len(lines))
        above = _COMMENT.match(lines[number - 1]) if number else None
        comment = above["text"] if above else ""
        found.append(Block(page, number + 1, fence["language"], comment, tuple(lines[number + 1 : end])))
        number = end + 1
    return found


def prose(page: Path, root: Path = ROOT) -> str:
    """The page without its fenced blocks: what holds headings and links."""
    inside = {n for block in blocks(page, root) for n in range(block.line, block.line + len(block.lines) + 2)}
    lines = (root / page).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for number, line in enumerate(lines, start=1) if number not in inside)


def headings(page: Path, root: Path = ROOT) -> list[tuple[int, str]]:
    """The page's headings in their order: level and text, without backquotes."""
    found = re.findall(r"^(#{1,6}) (.+)$", prose(page, root), re.MULTILINE)
    return [(len(marks), text.replace("`", "").strip()) for marks, text in found]


def anchors(page: Path, root: Path = ROOT) -> set[str]:
    """The anchors that GitHub gives the page's headings; a second heading of the same text gets ``-1``."""
    found: dict[str, int] = {}
    for _, text in headings(page, root):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
        name = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {f"{name}-{n}" if n else name for name, times in found.items() for n in range(times + 1)}


def links(text: str) -> list[str]:
    """The targets of links and images in a text, in their order; those to other sites are left out."""
    return re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)", re.sub(r"`[^`\n]*`", "", text))


def commands(block: Block) -> list[Command]:
    """The commands of a console block, or those of a block for CI that call us."""
    if block.language == "console":
        return list(_console(block))
    numbered = enumerate(block.lines, start=block.line + 1)
    return [Command(number, line) for number, line in numbered if line.startswith("referee ")]


def _console(block: Block) -> Iterator[Command]:
    current: Command | None = None
    for number, line in enumerate(block.lines, start=block.line + 1):
        if line.startswith("$ "):
            if current:
                yield current
            current = Command(number, line.removeprefix("$ "))
        elif current is None:
            raise AssertionError(f"{block.page}:{number}: a console block begins with a line '$ COMMAND'")
        elif current.text.endswith("\\"):
            current.text = current.text.removesuffix("\\") + line.removeprefix("> ").strip()
        else:
            current.shown.append(line)
    if current:
        yield current


def problems(page: Path, root: Path = ROOT) -> Iterator[str]:
    """What keeps a page's blocks from being run without anybody saying why."""
    inside = {n for b in blocks(page, root) for n in range(b.line, b.line + len(b.lines) + 2)}
    for number, line in enumerate((root / page).read_text(encoding="utf-8").splitlines(), start=1):
        if number not in inside and _INDENTED_COMMAND.match(line):
            yield f"{page}:{number}: a command in an indented block is not run; use a ```console fence"
    for block in blocks(page, root):
        reason = block.said("not run")
        if reason is not None and reason not in REASONS:
            yield f"{block.where}: {reason!r} is no reason; there are: {', '.join(sorted(REASONS))}"
        if block.said("ci") is not None and page.name != "README.md":
            yield f"{block.where}: only README.md has blocks for CI"
        elif block.language in SHELLS and not block.runs:
            yield f"{block.where}: write ```console with '$ ' before each command"
        elif block.language not in SHELLS | SHOWN_ONLY | {"console", "python"}:
            yield f"{block.where}: the language {block.language!r} is not known here"
