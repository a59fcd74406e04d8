"""No file imports itself through others, not even inside a function; imports for types alone do not count."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp


def test_no_circle_of_files() -> None:
    graph = grimp.build_graph("referee", cache_dir=None, exclude_type_checking_imports=True)
    graph.remove_module("referee")  # it hands out the public functions when they are asked for
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise AssertionError(f"a circle of files: {' imports '.join(reversed(error.args[1]))}") from None
