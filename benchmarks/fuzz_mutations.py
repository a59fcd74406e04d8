"""Damaged copies of real files: what is cut, flipped, repeated, mixed or lied about, from a seeded random source."""

from __future__ import annotations

import gzip
import io
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from random import Random

Mutation = Callable[[bytes, Random], bytes]
_NUMBER = re.compile(rb"(?<![\w.])\d{1,10}(?![\w.])")
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_NUMBERS = (b"0", b"-1", b"1", b"255", b"65535", b"65536", b"2147483647", b"4294967295", b"99999999999", b"1e9", b".")
_BYTES = (
    b"\x00",
    b"\xff",
    b"(",
    b")",
    b"<<",
    b">>",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\\",
    b"<",
    b">",
    b"&",
    b"/",
    b"%",
    b"\n",
)
# Checksums refuse most damage to a packed file before any reader of its content is reached.
_SHARE_INSIDE = 0.4
_MOST_BYTES = 8 * 2**20


def mutated(data: bytes, rng: Random) -> tuple[bytes, str]:
    """A damaged copy and what was done, by name; one to four mutations of one kind."""
    name = "inside" if rng.random() < _SHARE_INSIDE else rng.choice(list(MUTATIONS))
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        data = MUTATIONS[name](data, rng)[:_MOST_BYTES]
    return data, name


def flip_bits(data: bytes, rng: Random) -> bytes:
    """1 to 64 bits anywhere."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 4, 64]) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(data: bytes, rng: Random) -> bytes:
    """The beginning, or all but the beginning's end."""
    at = rng.randrange(len(data) + 1)
    return data[:at] if rng.random() < 0.7 else data[: at // 8] + data[at // 4 :]


def duplicate(data: bytes, rng: Random) -> bytes:
    """One chunk twice or very often."""
    at, size = _chunk(data, rng)
    return data[:at] + data[at : at + size] * rng.choice([2, 3, 50]) + data[at + size :]


def splice(data: bytes, rng: Random) -> bytes:
    """One chunk moved over another place."""
    at, size = _chunk(data, rng)
    to = rng.randrange(len(data) + 1)
    return data[:to] + data[at : at + size] + data[to + size :]


def insert(data: bytes, rng: Random) -> bytes:
    """A byte that means something, once or a thousand times."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_BYTES) * rng.choice([1, 8, 1000]) + data[at:]


def change_number(data: bytes, rng: Random) -> bytes:
    """A written number (a PDF's length, offset, size or object) becomes another one."""
    return _replaced(data, _NUMBER, rng.choice(_NUMBERS), rng)


def change_field(data: bytes, rng: Random) -> bytes:
    """Two or four bytes that hold a small binary number (an archive's size, offset or count) become an extreme."""
    size, code = rng.choice([(2, "<H"), (4, "<I")])
    if len(data) < 64:
        return data
    for _ in range(40):
        at = rng.choice([rng.randrange(len(data) - size), rng.randrange(60), len(data) - rng.randrange(size, 64)])
        if 0 < struct.unpack_from(code, data, at)[0] < 2**22:
            break
    most = 2 ** (8 * size) - 1
    return data[:at] + struct.pack(code, rng.choice([0, 1, most, most // 2, most - 1])) + data[at + size :]


def inside(data: bytes, rng: Random) -> bytes:
    """A member of an archive, or a packed stream of a PDF, is damaged and packed again so that it unpacks."""
    if data.startswith(b"PK"):
        return _inside_zip(data, rng)
    if data.startswith(b"\x1f\x8b"):
        return gzip.compress(_inside_tar(_unpacked(data), rng), 1)
    return _inside_stream(data, rng)


MUTATIONS: dict[str, Mutation] = {
    function.__name__: function
    for function in (flip_bits, truncate, duplicate, splice, insert, change_number, change_field, inside)
}
_PLAIN: Sequence[Mutation] = (flip_bits, truncate, duplicate, splice, insert, change_number)


def _chunk(data: bytes, rng: Random) -> tuple[int, int]:
    size = min(len(data), rng.choice([1, 16, 256, 4096, 65536]))
    return rng.randrange(len(data) - size + 1), size


def _replaced(data: bytes, pattern: re.Pattern[bytes], new: bytes, rng: Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    match = pattern.search(data, start) or pattern.search(data)
    return data[: match.start()] + new + data[match.end() :] if match else data


def _inside_zip(data: bytes, rng: Random) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, ValueError, EOFError, RuntimeError, OSError):
        return data
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _one_damaged(members, rng):
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _unpacked(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return data


def _inside_tar(data: bytes, rng: Random) -> bytes:
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            files = [member for member in archive.getmembers() if member.isfile()]
            members = [(member.name, stream.read()) for member in files if (stream := archive.extractfile(member))]
    except (tarfile.TarError, EOFError, OSError, ValueError):
        return rng.choice(_PLAIN)(data, rng)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in _one_damaged(members, rng):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _one_damaged(members: Sequence[tuple[str, bytes]], rng: Random) -> Iterator[tuple[str, bytes]]:
    text = [at for at, (name, _) in enumerate(members) if name.endswith((".xml", ".tex", ".rels", ".bbl", ".bib"))]
    chosen = rng.choice(text or range(max(1, len(members))))
    for at, (name, content) in enumerate(members):
        yield name, rng.choice(_PLAIN)(content, rng) if at == chosen and content else content


def _inside_stream(data: bytes, rng: Random) -> bytes:
    """The length that the PDF states is wrong afterwards where the size changes; readers look for the end then."""
    streams = list(_STREAM.finditer(data, rng.randrange(max(1, len(data) // 2))))[:200]
    if not streams:
        return flip_bits(data, rng)
    stream = rng.choice(streams)
    try:
        content = zlib.decompress(stream[1])
    except zlib.error:
        return data[: stream.start(1)] + rng.choice(_PLAIN)(stream[1], rng) + data[stream.end(1) :]
    return data[: stream.start(1)] + zlib.compress(rng.choice(_PLAIN)(content, rng), 1) + data[stream.end(1) :]
