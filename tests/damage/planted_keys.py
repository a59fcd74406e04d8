"""Keys that are told apart from all other text, and a search for them in everything a command leaves behind."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

KEYS = {
    "OPENAI_API_KEY": "sk-proj-Zq7vN3/pLw8+Rt5yKe2=Hd9uQx4",
    "ANTHROPIC_API_KEY": "sk-ant-Mb4xQ8/Gs1+Vf6jPo3=Ny7tWc5a",
    "GOOGLE_API_KEY": "AIzaSyUk2rB5/Dx9+Eh4mLz8=Aj6wTi1oCv",
    "REFEREE_API_KEY": "Jw6sTn1/Xc8+Yb3kFv5=Qg9dRl2eMu7hSp",
}


def forms(key: str) -> list[str]:
    """The key itself, in base64 (alone, and after a user's name and a colon), escaped for addresses, and its halves."""
    raw = key.encode()
    whole = [key, quote(key), quote(key, safe=""), quote_plus(key)]
    encoded = [
        encode(data).decode().rstrip("=") for encode in (b64encode, urlsafe_b64encode) for data in (raw, b"u:" + raw)
    ]
    half = len(key) // 2
    return [*whole, *encoded, key[:half], key[half:]]


def echo() -> str:
    """What a careless provider might say: all keys in all forms."""
    return "rejected: " + " ".join(form for key in KEYS.values() for form in forms(key))


def leaks(where: str, data: bytes) -> list[str]:
    """The names of keys of which a form stands in the data. ASCII forms are the same in UTF-8 and in SQLite's pages."""
    return [f"{name} in {where}" for name, key in KEYS.items() if any(form.encode() in data for form in forms(key))]


def leaks_in(*folders: Path) -> list[str]:
    """The same for all files under some folders, and for their names."""
    return [leak for folder in folders for path in _files(folder) for leak in (*leaks(str(path), path.read_bytes()),)]


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        assert not leaks("a name", str(path).encode())
        if path.is_file():
            yield path
