from __future__ import annotations

import random
from typing import Any, Literal

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tests.support import instance
from tests.support.validity import is_valid

PAPER = "We train a detector on two public sets and report the mean of five runs with their standard deviation."
PROMPT = f'Review this.\n<paper id="p1">\n[s1] {PAPER}\n[s2] Code is released.\n</paper>\nBe fair.'

names = st.sampled_from(["claim", "score", "kind", "quote", "x"])
text_schemas = st.builds(
    lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
    st.integers(0, 30),
    st.integers(0, 60),
)
scalar_schemas = st.one_of(
    text_schemas,
    st.sampled_from([{"type": "string", "pattern": "^[a-z]{3}-[0-9]+$"}, {"type": "string", "format": "date"}]),
    st.builds(lambda a, b: {"type": "integer", "minimum": a, "maximum": a + b}, st.integers(-9, 9), st.integers(0, 9)),
    st.builds(lambda m: {"type": "integer", "multipleOf": m, "minimum": 1}, st.integers(1, 7)),
    st.builds(
        lambda a, b: {"type": "number", "exclusiveMinimum": a, "maximum": a + b}, st.integers(-3, 3), st.floats(0.25, 9)
    ),
    st.just({"type": "number", "multipleOf": 0.25, "minimum": 0, "exclusiveMaximum": 2}),
    st.builds(lambda v: {"enum": v}, st.lists(st.one_of(st.integers(0, 9), st.text(max_size=4)), min_size=1)),
    st.sampled_from([{"const": "a"}, {"type": "boolean"}, {"type": "null"}, {"type": ["integer", "null"]}, {}, True]),
)


def _objects(children: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda parts, drop, closed: {
            "type": "object",
            "properties": parts,
            "required": sorted(set(parts) - {drop}),
            "additionalProperties": not closed,
        },
        st.dictionaries(names, children, max_size=4),
        names,
        st.booleans(),
    )


def _nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        _objects(children),
        st.builds(
            lambda items, low, more: {"type": "array", "items": items, "minItems": low, "maxItems": low + more},
            children,
            st.integers(0, 2),
            st.integers(0, 2),
        ),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(children, min_size=1, max_size=3)),
        st.builds(lambda part: {"oneOf": [part, {"type": "null"}]}, _objects(children)),
        st.builds(
            lambda a, b: {"allOf": [{"type": "object", "properties": a}, b]},
            st.dictionaries(names, children),
            _objects(children),
        ),
        st.builds(lambda part: {"type": "object", "additionalProperties": part, "minProperties": 1}, children),
        st.builds(
            lambda a, b: {"type": "array", "prefixItems": [a, b], "items": False, "minItems": 2}, children, children
        ),
    )


schemas = st.recursive(scalar_schemas, _nested, max_leaves=6)


def _satisfiable(schema: Any) -> bool:
    """``allOf`` may join two properties that exclude each other; nothing else above can."""
    return "allOf" not in str(schema)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schemas, st.integers(0, 99))
def test_every_instance_validates_and_repeats(schema: Any, seed: int) -> None:
    try:
        made = instance(schema, PROMPT, random.Random(seed))
    except ValueError:
        assert not _satisfiable(schema)
        return
    jsonschema.Draft202012Validator(schema).validate(made)
    assert made == instance(schema, PROMPT, random.Random(seed))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schemas, schemas)
def test_our_check_agrees_with_jsonschema(schema: Any, other: Any) -> None:
    try:
        made = instance(other, PROMPT)
    except ValueError:
        return
    assert is_valid(made, schema) == jsonschema.Draft202012Validator(schema).is_valid(made)


class Point(BaseModel):
    """One point."""

    claim: str = Field(max_length=60)
    quote: str
    severity: Literal["minor", "major"] | None
    share: float = Field(gt=0, lt=1)
    below: list[Point] = Field(default=[], max_length=3)
    marks: dict[Literal["a", "b"], int] = {}
    pair: tuple[int, str] = (1, "x")


@pytest.mark.parametrize("seed", range(20))
def test_pydantic_models_accept_their_instances(seed: int) -> None:
    made = instance(Point.model_json_schema(), PROMPT, random.Random(seed))
    point = Point.model_validate(made)
    assert point.quote in PROMPT
    assert 8 <= len(point.quote.split()) <= 25


def test_quotations_inside_a_quotation_object_and_a_list_are_verbatim() -> None:
    text = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {
            "quotation": {"type": "object", "properties": {"text": text}, "required": ["text"]},
            "quotes": {"type": "array", "items": text, "minItems": 2},
        },
        "required": ["quotation", "quotes"],
    }
    made = instance(schema, PROMPT)
    assert made["quotation"]["text"] in PAPER
    assert all(quote in PAPER for quote in made["quotes"])


def test_a_short_quotation_stays_verbatim() -> None:
    schema = {"type": "object", "properties": {"quote": {"type": "string", "maxLength": 20}}, "required": ["quote"]}
    for seed in range(20):
        quote = instance(schema, PROMPT, random.Random(seed))["quote"]
        assert 0 < len(quote) <= 20
        assert quote in PAPER


def test_unique_items_and_contains() -> None:
    schema = {
        "type": "array",
        "items": {"enum": [1, 2, 3]},
        "uniqueItems": True,
        "minItems": 3,
        "contains": {"const": 3},
    }
    assert sorted(instance(schema)) == [1, 2, 3]


def test_discriminated_union_and_not() -> None:
    schema = {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": k}}, "required": ["kind"]} for k in ("cat", "dog")
        ],
        "not": {"properties": {"kind": {"const": "cat"}}, "required": ["kind"]},
    }
    assert instance(schema)["kind"] == "dog"


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"$ref": "#"},
        {"$ref": "#/$defs/none"},
        {"$ref": "http://example.org/schema"},
        {"type": "object", "properties": {"again": {"$ref": "#"}}, "required": ["again"]},
        {"type": "string", "pattern": "^a$", "minLength": 4},
        {"enum": ["a"], "type": "integer"},
    ],
)
def test_what_has_no_instance_is_an_error(schema: Any) -> None:
    with pytest.raises(ValueError, match=r"no valid instance|schema reference"):
        instance(schema)
