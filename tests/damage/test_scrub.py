"""What is removed as a key, and what stays."""

from __future__ import annotations

import time

import pytest

from referee.secrets import HIDDEN, scrub, scrub_tree

from .planted_keys import KEYS, forms


@pytest.mark.parametrize("name", KEYS)
def test_a_key_in_any_form_is_removed(name: str) -> None:
    for form in forms(KEYS[name]):
        for around in ("{}", "key={}.", "'{}'", "({}),", "Basic {}", "x\\n{}\\ny"):
            left = scrub(around.format(form), {name: KEYS[name]})
            assert HIDDEN in left
            assert not [part for part in forms(KEYS[name]) if part in left]


def test_a_value_with_a_line_end_is_removed_without_it() -> None:
    assert scrub("Bearer: abcdef-ghijkl", {"MY_TOKEN": "abcdef-ghijkl\n"}) == f"Bearer: {HIDDEN}"


@pytest.mark.parametrize(
    "text",
    [
        "The sk-learn pipeline was used; see risk-adjusted results.",
        "Compare A/B with keyword=value and c@d.org // e.",
        "https://example.org/papers?page=2&sort=year",
        "fake@127.0.0.1:8000",
        "abcde is short",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert (
        scrub(text, {"SOME_TOKEN": "abcde", "OTHER_SECRET": "unrelated-and-long-0123456789", "HOME": "/papers"}) == text
    )


@pytest.mark.parametrize(
    "name", ["DB_PASS", "DB_PASSWD", "GPG_PASSPHRASE", "GCP_CREDENTIALS", "OPENAI_API_KEY_2", "SMTP_PASSWORD_10"]
)
def test_other_names_of_keys(name: str) -> None:
    assert scrub("said swordfish-1234", {name: "swordfish-1234"}) == f"said {HIDDEN}"


@pytest.mark.parametrize(
    "key",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abcdefghijkl",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w",
    ],
)
def test_shapes_of_other_keys(key: str) -> None:
    assert scrub(f"with {key}.", {}) == f"with {HIDDEN}."


def test_the_place_of_a_file_with_a_key_is_none() -> None:
    env = {"GOOGLE_APPLICATION_CREDENTIALS": "/papers/of-mine/key.json"}
    assert scrub("reading /papers/of-mine/key.json", env) == "reading /papers/of-mine/key.json"


def test_logins_and_parameters_of_addresses() -> None:
    assert scrub("at http://me:pw@host:8/v1, see", {}) == f"at http://{HIDDEN}@host:8/v1, see"
    assert scrub("https://h/x?page=2&api_key=abc&n=1", {}) == f"https://h/x?page=2&api_key={HIDDEN}&n=1"


def test_all_strings_of_a_tree() -> None:
    tree = {"a": ["sk-0123456789abcdef", 1, None], "sk-0123456789abcdef": {"b": True}}
    assert scrub_tree(tree, {}) == {"a": [HIDDEN, 1, None], HIDDEN: {"b": True}}


def test_long_texts_take_no_long_time() -> None:
    started = time.process_time()  # a busy machine fails nothing
    scrub("lorem ipsum dolor " * 50_000, KEYS)
    assert time.process_time() - started < 10
