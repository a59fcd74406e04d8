"""Text from elsewhere, read by one function for each format: JSON, TOML, XML, numbers.

Each function knows all that its parser can raise, and raises ``Unreadable`` in its place. What it returns can be
walked, stored and written again: it is nested at most ``DEEPEST`` deep, its numbers are finite and of at most
``MOST_DIGITS`` digits, and it has no lone surrogates. A JSON text holds at most ``MOST_VALUES`` values, because small
values take up to thirty times their text in memory.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from referee.errors import DataError

if TYPE_CHECKING:
    from lxml.etree import _Element

DEEPEST = 100
MOST_DIGITS = 300
MOST_VALUES = 1_000_000

Problem = Literal["syntax", "encoding", "depth", "digits", "constant", "key", "size"]

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"\s*(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,5})?\s*", re.ASCII)


class Unreadable(DataError):
    """Foreign text that cannot be used. The message begins with the name of what was read.

    Attributes:
        problem: What is wrong with it, as a word.
        reason: What is wrong with it, in words and without its name.
    """

    def __init__(self, what: str, problem: Problem, reason: str) -> None:
        super().__init__(f"{what} {reason}.")
        self.problem: Problem = problem
        self.reason = reason


def encodable(text: str) -> str:
    """The text with U+FFFD in place of lone surrogates, which no encoding can write."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def utf8_text(source: bytes, what: str) -> str:
    """The text of UTF-8 bytes, without a byte order mark; encoded surrogates are replaced.

    Raises:
        Unreadable: They are not UTF-8.
    """
    try:
        return encodable(source.removeprefix(_BOM).decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8: byte {source.removeprefix(_BOM)[error.start]:#04x} at offset {error.start}"
        raise Unreadable(what, "encoding", reason) from error


def json_value(source: str | bytes, what: str, *, keys_once: bool = False, strict: bool = True) -> Any:
    """The value of a JSON text.

    Args:
        source: The text, or its bytes in UTF-8.
        what: What is read, for the message.
        keys_once: Refuse an object that names a key twice.
        strict: Refuse control characters in strings.

    Raises:
        Unreadable: It is not JSON, or one of the limits of this module is passed.
    """
    text = utf8_text(source, what) if isinstance(source, bytes) else source
    pairs = (lambda found: _once(found, what)) if keys_once else None
    decoder = json.JSONDecoder(
        parse_int=lambda digits: _whole(digits, what),
        parse_float=lambda digits: _real(digits, what),
        parse_constant=lambda name: _no_constant(name, what),
        object_pairs_hook=pairs,
        strict=strict,
    )
    return _read(lambda: decoder.decode(text), text, what)


_ROWS = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= MOST_DIGITS else digits)


def json_value_at(text: str, at: int, what: str) -> tuple[Any, int]:
    """The JSON value that begins at a place in a text of data rows, and where it ends.

    One odd value must not cost its row, so this reader is more tolerant: numbers of more than ``MOST_DIGITS`` digits
    stay texts, and NaN, infinity and lone surrogates stay what they are, for the row's checks to name.

    Raises:
        Unreadable: There is no JSON value, or it is nested too deeply.
    """
    value, end = _parsed(lambda: _ROWS.raw_decode(text, at), "JSON", what)
    _check_depth(value, "JSON", what)
    return value, end


def json_row(text: str, what: str) -> Any:
    """The JSON value that a text is, read as ``json_value_at`` reads; raises ``Unreadable``."""
    value = _parsed(lambda: _ROWS.decode(text), "JSON", what)
    _check_depth(value, "JSON", what)
    return value


def toml_table(source: str | bytes, what: str) -> dict[str, Any]:
    """The table of a TOML text. NaN and infinity are numbers of this language: the check of a key refuses them.

    Raises:
        Unreadable: It is not TOML, or one of the limits of this module is passed.
    """
    text = utf8_text(source, what) if isinstance(source, bytes) else source.removeprefix("\ufeff")
    table: dict[str, Any] = _parsed(lambda: tomllib.loads(text), "TOML", what)
    _check_depth(table, "TOML", what)
    for value in _scalars(table):
        if isinstance(value, int) and value.bit_length() > MOST_DIGITS * 4:
            raise Unreadable(what, "digits", "holds a number with too many digits")
    return table


def xml_root(source: bytes, what: str, *, huge: bool = False) -> _Element:
    """The root of an XML document; no entity is resolved and nothing else is loaded.

    Args:
        source: Its bytes.
        what: What is read, for the message.
        huge: Take texts of more than 10 MB and deep nesting; for files whose size was checked.

    Raises:
        Unreadable: It is not XML, or it is nested too deeply.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=huge)
    try:
        return etree.fromstring(source, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(what, "syntax", f"is not XML that can be read: {_first_line(error)}") from error


def number(text: str, what: str, *, most: float) -> float:
    """The decimal number in a text, from 0 to ``most``.

    Raises:
        Unreadable: The text is none, or the number is larger.
    """
    if not _NUMBER.fullmatch(text):
        raise Unreadable(what, "syntax", f"is no number: {encodable(text[:40])!r}")
    if (found := float(text)) > most:
        raise Unreadable(what, "digits", f"is larger than {most:g}: {text[:40]!r}")
    return found


def _read(parse: Callable[[], Any], text: str, what: str) -> Any:
    if text.count(",") + text.count("[") + text.count("{") > MOST_VALUES:
        raise Unreadable(what, "size", f"holds more than {MOST_VALUES:,} values")
    value = _parsed(parse, "JSON", what)
    _check_depth(value, "JSON", what)
    escaped = "\\ud" in text or "\\uD" in text
    return _encodable_tree(value) if escaped or _SURROGATE.search(text) else value


def _parsed(parse: Callable[[], Any], language: str, what: str) -> Any:
    try:
        return parse()
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise Unreadable(what, "syntax", f"is not valid {language}: {encodable(_first_line(error))}") from error
    except RecursionError as error:
        raise _too_deep(language, what) from error
    except ValueError as error:
        reason = f"is not valid {language}: a number has too many digits"
        raise Unreadable(what, "digits", reason) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["it cannot be parsed"])[0].rstrip(".")


def _too_deep(language: str, what: str) -> Unreadable:
    return Unreadable(what, "depth", f"is not usable {language}: it is nested too deeply")


def _check_depth(value: Any, language: str, what: str) -> None:
    """Parsers take more than what walks their result afterwards does, so it is counted here, level by level."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for outer in level for inner in _inner(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise _too_deep(language, what)


def _inner(value: Any) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in _inner(value):
            yield from _scalars(inner)
    else:
        yield value


def _encodable_tree(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, Mapping):
        return {encodable(key): _encodable_tree(inner) for key, inner in value.items()}
    return [_encodable_tree(inner) for inner in value] if isinstance(value, list) else value


def _whole(digits: str, what: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise Unreadable(what, "digits", "holds a number with too many digits")
    return int(digits)


def _real(digits: str, what: str) -> float:
    found = float(digits)
    if math.isinf(found):
        raise Unreadable(what, "digits", "holds a number that is too large")
    return found


def _no_constant(name: str, what: str) -> NoReturn:
    raise Unreadable(what, "constant", f"holds {name}, which is not a JSON number")


def _once(pairs: list[tuple[str, Any]], what: str) -> dict[str, Any]:
    """The object of its pairs: of a key that is there twice nobody knows which value is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Unreadable(what, "key", f"names {encodable(twice)!r} twice in an object")
    return found
