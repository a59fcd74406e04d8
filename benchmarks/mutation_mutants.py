"""Mutants of a module: cosmic-ray's operators tell where one can be, a seed tells which are drawn."""

from __future__ import annotations

import ast
import difflib
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

try:
    import cosmic_ray.plugins
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.operators.operator import Operator
except ImportError as absent:
    raise SystemExit("mutation testing needs cosmic-ray: pip install 'cosmic-ray>=8.4,<9'") from absent

Place = tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """One change: which operator, and the how-manieth place it finds in the module."""

    module: str
    operator: str
    occurrence: int
    line: int

    @property
    def key(self) -> str:
        """What names it among all mutants of this state of the module."""
        return f"{self.module}:{self.line}:{self.operator}:{self.occurrence}"


@dataclass(frozen=True)
class Module:
    """A module's source and all its mutants, by place: an operator sign has up to eleven, a ``not`` has one."""

    path: str
    source: str
    places: dict[Place, list[Mutant]]

    @property
    def mutants(self) -> int:
        """How many there are in all."""
        return sum(map(len, self.places.values()))

    def drawn(self, number: int, seed: int) -> list[Mutant]:
        """Some places at random, and of each one of its mutants at random; all places where there are fewer."""
        chance = random.Random(f"{seed} {self.path}")
        places = chance.sample(sorted(self.places), min(number, len(self.places)))
        return [chance.choice(self.places[place]) for place in sorted(places)]


def module_mutants(path: str, source: str) -> Module:
    """All mutants but those in annotations, which are never evaluated here or only ever by pydantic."""
    spans = list(_annotations(ast.parse(source)))
    nodes = list(ast_nodes(get_ast(source)))
    places: dict[Place, list[Mutant]] = defaultdict(list)
    for name, operator in _operators().items():
        found = (at for node in nodes for at, _ in operator.mutation_positions(node))
        for occurrence, place in enumerate(found):
            if not any(begin <= place < end for begin, end in spans):
                places[place].append(Mutant(path, name, occurrence, place[0]))
    return Module(path, source, dict(places))


def mutated(mutant: Mutant, source: str) -> str | None:
    """The changed source; None where the operator changes nothing, or the result is no Python."""
    code = mutate_code(source, _operators()[mutant.operator], mutant.occurrence)
    if code is None:
        return None
    try:
        changed = ast.dump(ast.parse(code)) != ast.dump(ast.parse(source))
    except SyntaxError:
        return None
    return code if changed else None


def diff(mutant: Mutant, source: str, code: str) -> str:
    """The change as a unified diff of one line of context."""
    lines = difflib.unified_diff(
        source.splitlines(), code.splitlines(), mutant.module, mutant.operator.removeprefix("core/"), n=1, lineterm=""
    )
    return "\n".join(lines)


@cache
def _operators() -> dict[str, Operator]:
    """Operators without arguments; the two that want names of variables are left out."""
    classes = {name: cosmic_ray.plugins.get_operator(name) for name in sorted(cosmic_ray.plugins.operator_names())}
    return {name: operator() for name, operator in classes.items() if not operator.arguments()}


def _annotations(tree: ast.AST) -> Iterator[tuple[Place, Place]]:
    for node in ast.walk(tree):
        for held in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(held, ast.expr) and held.end_lineno is not None and held.end_col_offset is not None:
                yield (held.lineno, held.col_offset), (held.end_lineno, held.end_col_offset)
