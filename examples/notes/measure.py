"""The tables of ``compression.md`` and ``filters.md``.

python examples/notes/measure.py
"""

from __future__ import annotations

import json
import math
import random
import zlib
from collections.abc import Callable, Iterator
from hashlib import blake2b

EVENTS = ("login", "logout", "upload", "download", "rename", "share")
FOLDERS = ("home", "shared", "archive", "team", "drafts")
RECORDS, USERS = 2_000, 5_000
POSITIONS, BITS_A_KEY, QUERIES = 7, 10, 200_000

Positions = Callable[[str, int], list[int]]


def main() -> None:
    """Print both tables."""
    draw = random.Random(7)
    known = [_json(number, draw) for number in range(RECORDS)]
    measured = [_json(RECORDS + number, draw) for number in range(RECORDS)]
    dictionaries = [b"\n".join(known[:records]) for records in (0, 1, 10, 100)]
    for group in (1, 4, 16, 64):
        print(f"groups of {group}:", *(f"{share(measured, group, one):.1f}" for one in dictionaries))
    xml = [_xml(number, draw) for number in range(RECORDS)]
    print("XML records:", *(f"{share(xml, 1, one):.1f}" for one in dictionaries))
    for keys, filters in ((100, 200), (1_000, 20), (10_000, 2)):
        formula = 100 * (1 - math.exp(-POSITIONS / BITS_A_KEY)) ** POSITIONS
        rates = (false_positives(keys, filters, positions) for positions in (independent, double, enhanced))
        print(f"{keys} keys: {formula:.3f}", *(f"{rate:.3f}" for rate in rates))


def share(records: list[bytes], group: int, dictionary: bytes) -> float:
    """The compressed size of records in groups, in percent of their own; a rest that fills no group is left out."""
    groups = [b"\n".join(records[at : at + group]) for at in range(0, len(records) - group + 1, group)]
    return 100 * sum(_size(one, dictionary) for one in groups) / sum(map(len, groups))


def _size(data: bytes, dictionary: bytes) -> int:
    settings = (9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY)
    packer = zlib.compressobj(*settings, dictionary) if dictionary else zlib.compressobj(*settings)
    return len(packer.compress(data) + packer.flush())


def _json(number: int, draw: random.Random) -> bytes:
    record = {
        "id": number,
        "event": draw.choice(EVENTS),
        "user": f"user-{draw.randrange(USERS):04d}",
        "bytes": draw.randrange(10**6),
        "ok": draw.random() < 0.97,
        "path": "/".join(draw.choice(FOLDERS) for _ in range(3)),
    }
    return json.dumps(record).encode()


def _xml(number: int, draw: random.Random) -> bytes:
    user = f"user-{draw.randrange(USERS):04d}"
    return f'<log n="{number}"><who>{user}</who><did>{draw.choice(EVENTS)}</did></log>'.encode()


def false_positives(keys: int, filters: int, positions: Positions) -> float:
    """The share of queries for keys that are in no filter and are found, in percent."""
    found = sum(map(sum, (_found(number, keys, filters, positions) for number in range(filters))))
    return 100 * found / QUERIES


def _found(number: int, keys: int, filters: int, positions: Positions) -> Iterator[bool]:
    size = BITS_A_KEY * keys
    bits = bytearray(size)
    for key in range(keys):
        for position in positions(f"{number}-in-{key}", size):
            bits[position] = 1
    for key in range(QUERIES // filters):
        yield all(bits[position] for position in positions(f"{number}-out-{key}", size))


def independent(key: str, size: int) -> list[int]:
    """Hashes of different salts."""
    return [
        int.from_bytes(blake2b(key.encode(), digest_size=8, salt=bytes([salt]) * 8).digest(), "big") % size
        for salt in range(POSITIONS)
    ]


def double(key: str, size: int) -> list[int]:
    """Equal steps from a first position."""
    first, step = _two(key, size)
    return [(first + place * step) % size for place in range(POSITIONS)]


def enhanced(key: str, size: int) -> list[int]:
    """Steps that grow."""
    at, step = _two(key, size)
    found = []
    for place in range(POSITIONS):
        found.append(at)
        at, step = (at + step) % size, (step + place + 1) % size
    return found


def _two(key: str, size: int) -> tuple[int, int]:
    digest = blake2b(key.encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big") % size, int.from_bytes(digest[8:], "big") % size


if __name__ == "__main__":
    main()
