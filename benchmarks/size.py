"""Statements and syntax nodes of the package by room, without imports and docstrings.

Nodes are counted beside statements, so that one long line is no saving.

    python benchmarks/size.py [ROOT]
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path


def size_of(source: str) -> tuple[int, int]:
    """Statements and syntax nodes of a module, without imports and docstrings."""
    statements = nodes = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.alias | ast.Module | ast.expr_context):
            continue
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        nodes += 0 if is_text else 1
        statements += isinstance(node, ast.stmt) and not is_text
    return statements, nodes


def main(root: Path) -> None:
    """Print a line per room and the sum."""
    statements, nodes, files = Counter[str](), Counter[str](), Counter[str]()
    for path in sorted(root.rglob("*.py")):
        room = path.relative_to(root).parts[0].removesuffix(".py")
        counted = size_of(path.read_text(encoding="utf-8"))
        statements[room] += counted[0]
        nodes[room] += counted[1]
        files[room] += 1
    for room, count in statements.most_common():
        print(f"{room:16} {files[room]:4} files {count:7,} statements {nodes[room]:9,} nodes")
    print(f"{'all':16} {files.total():4} files {statements.total():7,} statements {nodes.total():9,} nodes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "referee")
