"""A venue file that was damaged anywhere is a form or a venue error, never another exception."""

from __future__ import annotations

import contextlib
import json
import random
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import VenueError
from referee.schemas.venue import VenueForm
from referee.venues.files import BUNDLED, read_venue_file
from tests.processor_time import within

from .fuzz_budget import tries

FILES = sorted(BUNDLED.glob("*.toml"))
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    1e308,
    "",
    "x" * 5000,
    "\x00",
    "\ud800",
    [],
    {},
    [[]],
    {"": {}},
    [{}],
    "1",
    "arr",
]
SNIPPETS = [
    "[",
    "]",
    "[[fields]]\n",
    "= ",
    '"',
    '"""',
    "\n",
    "nan",
    "inf",
    "0x",
    "1979-05-27",
    "\x00",
    "'",
    "{",
    "#",
    "é",
    "9" * 30,
]


def read(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with within(20):
        try:
            form = read_venue_file(path)
        except VenueError:
            return
    assert VenueForm.model_validate_json(form.model_dump_json()) == form


@tries(120)
@given(st.sampled_from(FILES), st.randoms(use_true_random=False), st.integers(1, 4))
def test_damaged_toml(tmp_path_factory: pytest.TempPathFactory, source: Path, rng: random.Random, times: int) -> None:
    text = source.read_text()
    for _ in range(times):
        at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        end = min(end, at + rng.choice([0, 1, 5, 200, len(text)]))
        text = text[:at] + rng.choice([*SNIPPETS, "", text[at:end] * 2]) + text[end:]
    read(tmp_path_factory.getbasetemp(), "venue.toml", text)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [found for key, value in inner for found in [(*path, key), *places(value, (*path, key))]]


@tries(120)
@given(st.sampled_from(FILES), st.randoms(use_true_random=False), st.integers(1, 3))
def test_a_tree_with_other_values(
    tmp_path_factory: pytest.TempPathFactory, source: Path, rng: random.Random, times: int
) -> None:
    data = json.loads(json.dumps(tomllib.loads(source.read_text()), default=str))
    for _ in range(times):
        *above, last = rng.choice(places(data) or [("id",)])
        node = data
        for part in above:
            node = node[part]
        if rng.random() < 0.2 and isinstance(node, dict):
            node[rng.choice(["colour", "", "\x00", "fields_as", "scale", "\u202e"])] = deepcopy(rng.choice(ODD))
        else:
            node[last] = deepcopy(rng.choice(ODD))
    read(tmp_path_factory.getbasetemp(), "venue.json", json.dumps(data))


@tries(60)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
@pytest.mark.parametrize("name", ["any.toml", "any.json"])
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(data)
    with contextlib.suppress(VenueError):
        read_venue_file(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "[" * 100_000),
        ("a.json", '{"a":' * 100_000),
        ("a.toml", "a = " + "[" * 100_000),
        ("a.toml", "a." * 2_000 + "b = 1"),
        ("a.json", '{"year": ' + "9" * 5_000 + "}"),
        ("a.toml", "year = " + "9" * 5_000),
        ("a.toml", f'id = "a"\n[fields_as]\nvenue = "{"x" * 5_000}"'),
    ],
)
def test_deep_and_huge(tmp_path: Path, name: str, text: str) -> None:
    read(tmp_path, name, text)


@pytest.mark.parametrize("place", ["name", "fields"])
def test_half_of_a_character_is_replaced(tmp_path: Path, place: str) -> None:
    """What is wrong with the rest is said in words that can be written."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"id": "a", place: "\ud800"}))
    with pytest.raises(VenueError, match="llm_policy is missing") as caught:
        read_venue_file(path)
    caught.value.message.encode()
