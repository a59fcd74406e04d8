"""Which test files can see a module: those whose imports, followed through the repository, reach it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path


class Sight:
    """The imports of one copy of the repository, read from the source and never executed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._reached = cache(self._reach)
        self._names = cache(self._imported)

    def tests_for(self, module: str, folders: list[str]) -> list[str]:
        """Test files under the folders that see the module, those named after it first; all, where none does.

        Args:
            module: The module's path in the repository.
            folders: Folders of the repository, searched with those below them, or single files.
        """
        places = [self._root / name for name in folders]
        tests = [test for at in places for test in (sorted(at.rglob("test_*.py")) if at.is_dir() else [at])]
        seen = [t for t in tests if self._root / module in self._reached(t)] or tests
        stem = Path(module).stem
        seen.sort(key=lambda test: (stem not in test.stem, len(self._reached(test))))
        return [test.relative_to(self._root).as_posix() for test in seen]

    def _reach(self, path: Path) -> set[Path]:
        reached: set[Path] = set()
        ahead = [path]
        while ahead:
            at = ahead.pop()
            if at not in reached:
                reached.add(at)
                ahead.extend(set(self._names(at).values()))
        return reached

    def _imported(self, path: Path) -> dict[str, Path]:
        """What a file imports of the repository: by the bound name, the file that defines it."""
        found: dict[str, Path] = {}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                above = path.relative_to(self._root).parts[: -node.level] if node.level else ()
                module = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    found.update((alias.asname or alias.name, file) for file in self._defines(module, alias.name))
            elif isinstance(node, ast.Import):
                found.update((alias.name, file) for alias in node.names for file in self._files(alias.name))
        return found

    def _defines(self, module: str, name: str) -> Iterator[Path]:
        """The file of a submodule, or the one from which a package passes the name on, or the module's own."""
        below = list(self._files(f"{module}.{name}"))
        for file in below or self._files(module):
            passed_on = self._names(file).get(name) if file.name == "__init__.py" and not below else None
            yield passed_on or file

    def _files(self, module: str) -> Iterator[Path]:
        base = self._root.joinpath(*module.split("."))
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                yield file
