"""Valid instances of JSON schemas, with quotations cut from the prompt's own material."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from tests.support.material import longest_span, quotation
from tests.support.merging import merge, narrow
from tests.support.patterns import matching
from tests.support.validity import Schema, is_valid, property_schemas, same

_TRIES = 40
_SHALLOW, _DEEPEST = 5, 60
_FORMATS = {
    "date": "2024-05-17",
    "date-time": "2024-05-17T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "P3D",
    "email": "reviewer@example.org",
    "uri": "https://example.org/paper",
    "url": "https://example.org/paper",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "3f2b8c1e-9a4d-4e6f-8b7a-1c2d3e4f5a6b",
}
_TYPES_BY_KEYWORD = {
    "properties": "object",
    "required": "object",
    "additionalProperties": "object",
    "patternProperties": "object",
    "items": "array",
    "prefixItems": "array",
    "minItems": "array",
    "minimum": "number",
    "maximum": "number",
    "multipleOf": "number",
}


def instance(schema: Schema, prompt: str = "", rng: random.Random | None = None) -> Any:
    """A JSON value that is valid under ``schema``.

    Strings under a property whose name contains ``quote`` or ``quotation`` are verbatim spans of the prompt's longest
    delimited text. ``$ref`` (local), ``anyOf``, ``oneOf``, ``allOf``, ``not``, ``enum``, ``const`` and the usual
    keywords of every type are honoured; recursion ends by itself where the schema lets it.

    Args:
        schema: A JSON schema, as a provider receives it.
        prompt: The user message that quotations are cut from.
        rng: Makes every choice; the same state gives the same value. Default: a fresh ``random.Random(0)``.

    Raises:
        ValueError: No valid instance was found.
    """
    maker = _Maker(schema, prompt, rng or random.Random(0))
    problem = "no generated value passed"
    for _ in range(_TRIES):
        try:
            value = maker.make(schema)
        except ValueError as error:
            problem = str(error)
            continue
        if is_valid(value, schema):
            return value
    raise ValueError(f"no valid instance was found for the schema {str(schema)[:200]!r}: {problem}")


class _Maker:
    """One schema's generator: holds the root for references and the material for quotations."""

    def __init__(self, root: Schema, prompt: str, rng: random.Random) -> None:
        self.root, self.prompt, self.rng = root, prompt, rng
        self.words = longest_span(prompt).split()[:4000] or ["nothing", "was", "given"]

    def make(self, schema: Schema, name: str = "", depth: int = 0) -> Any:
        if schema is False or depth > _DEEPEST:
            raise ValueError("a part of it allows nothing." if schema is False else "it recurses without end.")
        whole = narrow(schema, self.root)
        for keyword in ("oneOf", "anyOf"):
            if keyword in whole:
                return self.make_branch(whole, keyword, name, depth)
        if "const" in whole:
            return whole["const"]
        if "enum" in whole:
            return self.make_choice(whole)
        kind = self.type_of(whole, depth)
        return getattr(self, f"make_{kind}")(whole, name, depth)

    def make_branch(self, schema: Mapping[str, Any], keyword: str, name: str, depth: int) -> Any:
        base = {key: value for key, value in schema.items() if key != keyword}
        branches = list(schema[keyword])
        self.rng.shuffle(branches)
        null_last = self.rng.random() < 0.75
        if depth > _SHALLOW:
            branches.sort(key=_weight)
        elif null_last:
            branches.sort(key=lambda branch: _weight(branch) == 0)
        for branch in branches:
            try:
                value = self.make(merge(base, branch, self.root), name, depth + 1)
            except ValueError:
                continue
            if is_valid(value, schema, self.root):
                return value
        raise ValueError(f"no branch of its {keyword} worked.")

    def make_choice(self, schema: Mapping[str, Any]) -> Any:
        options = [option for option in schema["enum"] if is_valid(option, schema, self.root)]
        if not options:
            raise ValueError("an enum offers nothing that fits its siblings.")
        return self.rng.choice(options)

    def type_of(self, schema: Mapping[str, Any], depth: int) -> str:
        types = schema.get("type")
        if types is None:
            return next((kind for key, kind in _TYPES_BY_KEYWORD.items() if key in schema), "string")
        if isinstance(types, str):
            return types
        if not types:
            raise ValueError("its types exclude each other.")
        if depth > _SHALLOW and "null" in types:
            return "null"
        full = [kind for kind in types if kind != "null"] or ["null"]
        return str(self.rng.choice(full if self.rng.random() < 0.75 else list(types)))

    def make_null(self, schema: Mapping[str, Any], name: str, depth: int) -> None:
        return None

    def make_boolean(self, schema: Mapping[str, Any], name: str, depth: int) -> bool:
        return self.rng.random() < 0.5

    def make_integer(self, schema: Mapping[str, Any], name: str, depth: int) -> int:
        low, high = _bounds(schema)
        first, last = math.ceil(low), math.floor(high)
        first += first <= schema.get("exclusiveMinimum", -math.inf)
        last -= last >= schema.get("exclusiveMaximum", math.inf)
        step = Decimal(str(schema.get("multipleOf", 1)))
        whole_step = step.as_integer_ratio()[0] if step != step.to_integral_value() else int(step)
        options = range(-(-first // whole_step) * whole_step, last + 1, whole_step)
        if not options:
            raise ValueError(f"it asks for an integer between {first} and {last}, a multiple of {step}.")
        return self.rng.choice(options)

    def make_number(self, schema: Mapping[str, Any], name: str, depth: int) -> float:
        low, high = _bounds(schema)
        if "multipleOf" in schema:
            step = Decimal(str(schema["multipleOf"]))
            first = (Decimal(str(low)) / step).to_integral_value("ROUND_CEILING")
            last = (Decimal(str(high)) / step).to_integral_value("ROUND_FLOOR")
            options = [k * step for k in range(int(first), min(int(last), int(first) + 100) + 1)]
            fitting = [float(v) for v in options if is_valid(float(v), {**schema, "type": "number"}, self.root)]
            if not fitting:
                raise ValueError(f"it asks for a number between {low} and {high}, a multiple of {step}.")
            return self.rng.choice(fitting)
        exact = self.rng.uniform(low, high)
        rounded = round(exact, 3)
        return rounded if is_valid(rounded, {**schema, "type": "number"}, self.root) else exact

    def make_string(self, schema: Mapping[str, Any], name: str, depth: int) -> str:
        shortest: int = schema.get("minLength", 0)
        longest: int = schema.get("maxLength", max(10_000, shortest))
        if "pattern" in schema:
            return matching(schema["pattern"], self.rng, min_length=shortest, max_length=longest)
        if schema.get("format") in _FORMATS:
            return _FORMATS[str(schema["format"])]
        if "quot" in name.lower():
            cut = quotation(self.prompt, self.rng, min_length=shortest, max_length=longest)
            if cut and len(cut) >= shortest:
                return cut
        count = self.rng.randint(4, 10)
        start = self.rng.randrange(max(1, len(self.words) - count))
        text = f"Remark {self.rng.randrange(10_000)} on " + " ".join(self.words[start : start + count])
        text += " and more" * -(-max(0, shortest - len(text)) // 9)
        return text[:longest]

    def make_array(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        head: Sequence[Schema] = schema.get("prefixItems", ())
        rest: Schema = schema.get("items", True)
        fewest, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        wanted = fewest if depth > _SHALLOW else max(fewest, min(most, len(head) + self.rng.randint(1, 3)))
        if rest is False:
            wanted = min(wanted, len(head))
        parts: list[Schema] = [*head[: int(wanted)], *[rest] * int(wanted - len(head))]
        if "contains" in schema:
            needed = schema.get("minContains", 1)
            parts = [*parts[: len(parts) - needed], *[merge(rest, schema["contains"], self.root)] * needed]
        values: list[Any] = []
        for part in parts:
            self.add_item(values, part, name, depth, unique=bool(schema.get("uniqueItems")))
        return values

    def add_item(self, values: list[Any], part: Schema, name: str, depth: int, *, unique: bool) -> None:
        """Append one item; where items must differ and no new one is found, leave the list as it is."""
        for _ in range(_TRIES if unique else 1):
            value = self.make(part, name, depth + 1)
            if not unique or not any(same(value, other) for other in values):
                values.append(value)
                return

    def make_object(self, schema: Mapping[str, Any], name: str, depth: int) -> dict[str, Any]:
        required = list(schema.get("required", ()))
        declared = list(schema.get("properties", {}))
        chosen = [key for key in declared if key in required or (depth <= _SHALLOW and self.rng.random() < 0.8)] + [
            key for key in required if key not in declared
        ]
        most = schema.get("maxProperties", math.inf)
        while len(chosen) > most and (optional := [key for key in chosen if key not in required]):
            chosen.remove(optional[-1])
        made: dict[str, Any] = {}
        for key in chosen:
            try:
                made[key] = self.make_property(key, schema, depth, name)
            except ValueError:
                if key in required:
                    raise
        self.add_free_properties(made, schema, depth)
        return made

    def make_property(self, key: str, schema: Mapping[str, Any], depth: int, name: str = "") -> Any:
        part, *more = property_schemas(key, schema)
        for other in more:
            part = merge(part, other, self.root)
        inside_quotation = "quot" in name.lower() and key in ("text", "span", "sentence")
        return self.make(part, f"{name}.{key}" if inside_quotation else key, depth + 1)

    def add_free_properties(self, made: dict[str, Any], schema: Mapping[str, Any], depth: int) -> None:
        """Invent names up to ``minProperties``, and a few for an object that is a mapping."""
        fewest, most = schema.get("minProperties", 0), schema.get("maxProperties", math.inf)
        is_mapping = not schema.get("properties") and isinstance(schema.get("additionalProperties"), Mapping)
        wanted = max(fewest, min(most, 2)) if is_mapping and depth <= _SHALLOW else fewest
        for key in schema.get("properties", {}):
            if len(made) < wanted and key not in made:
                made[key] = self.make_property(key, schema, depth)
        for attempt in range(_TRIES):
            if len(made) >= wanted:
                return
            key = self.free_name(schema, attempt)
            if key not in made and is_valid(key, schema.get("propertyNames", True), self.root):
                made[key] = self.make_property(key, schema, depth)

    def free_name(self, schema: Mapping[str, Any], attempt: int) -> str:
        if isinstance(schema.get("propertyNames"), Mapping):
            return str(self.make({"type": "string", **schema["propertyNames"]}))
        if patterns := list(schema.get("patternProperties", {})):
            return matching(patterns[attempt % len(patterns)], self.rng)
        return f"key_{attempt + 1}"


def _bounds(schema: Mapping[str, Any]) -> tuple[float, float]:
    """Finite inclusive bounds; exclusive ones are checked by the caller."""
    low = max(schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf))
    high = min(schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf))
    if low == -math.inf:
        low = min(0, high - 10) if high < math.inf else 0
    if high == math.inf:
        high = low + 10
    if low > high:
        raise ValueError(f"its bounds exclude each other: {low} to {high}.")
    return low, high


def _weight(branch: Schema) -> int:
    """How far a branch is from ending a recursion: null, scalars, arrays, objects, then references."""
    if isinstance(branch, bool):
        return 1
    if branch.get("type") == "null":
        return 0
    if "$ref" in branch:
        return 4
    return {"array": 2, "object": 3}.get(str(branch.get("type")), 1)
