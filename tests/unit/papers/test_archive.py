"""Archives that must not be read, each with its own cause; and those that must."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.errors import PaperParseError
from referee.papers.archive import ArchiveLimits, unpack

SMALL = ArchiveLimits(total_bytes=10_000, file_bytes=4_000, count=5, depth=2, ratio=50)


def tar_of(files: Mapping[str, bytes], *extra: tarfile.TarInfo, mode: str = "w:gz") -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=mode) as tar:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for info in extra:
            tar.addfile(info)
    return whole.getvalue()


def zip_of(files: Mapping[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return whole.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def refusal(data: bytes, limits: ArchiveLimits | None = None) -> PaperParseError:
    with pytest.raises(PaperParseError) as caught:
        unpack(Path("paper.tar.gz"), data, limits)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_tar_files_by_path(mode: str) -> None:
    files = {"main.tex": b"a", "sections/one.tex": b"b"}
    data = tar_of({"./main.tex": b"a", "sections/one.tex": b"b"}, mode=mode)
    assert dict(unpack(Path("p.tar"), data)) == files


def test_zip_files_by_path_without_system_leftovers() -> None:
    data = zip_of({"main.tex": b"a", "__MACOSX/._main.tex": b"x", "fig/.DS_Store": b"x", "fig/a.tex": b"b"})
    assert dict(unpack(Path("p.zip"), data)) == {"main.tex": b"a", "fig/a.tex": b"b"}


def test_a_lone_gzipped_tex_file() -> None:
    source = b"\\documentclass{article}\\begin{document}x\\end{document}"
    assert dict(unpack(Path("2301.00001.gz"), gzip.compress(source))) == {"2301.00001.tex": source}


def test_gzip_of_something_else() -> None:
    assert "neither a tar file nor LaTeX" in refusal(gzip.compress(b"%PDF-1.7 ...")).message


def test_an_archive_inside_stays_a_file() -> None:
    inner = zip_of({"deep.tex": b"x"})
    assert dict(unpack(Path("p.zip"), zip_of({"inner.zip": inner}))) == {"inner.zip": inner}


@pytest.mark.parametrize("name", ["/etc/passwd", "C:\\evil.tex", "\\evil.tex"])
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_absolute_paths(name: str, pack: object) -> None:
    assert "absolute" in refusal(pack({name: b"x"})).message  # type: ignore[operator]


@pytest.mark.parametrize("name", ["../evil.tex", "a/../../evil.tex", "a\\..\\..\\evil.tex"])
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_paths_that_lead_out(name: str, pack: object) -> None:
    error = refusal(pack({name: b"x"}))  # type: ignore[operator]
    assert "'..'" in error.message
    assert "evil.tex" in error.message


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_in_a_tar(kind: bytes) -> None:
    error = refusal(tar_of({"a.tex": b"x"}, special("b.tex", kind, "a.tex")))
    assert "link" in error.message
    assert "'b.tex'" in error.message


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_in_a_tar(kind: bytes) -> None:
    assert "device" in refusal(tar_of({}, special("dev", kind))).message


def test_links_in_a_zip() -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        info = zipfile.ZipInfo("b.tex")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert "link" in refusal(whole.getvalue()).message


def test_encrypted_zip() -> None:
    data = bytearray(zip_of({"a.tex": b"secret"}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    error = refusal(bytes(data))
    assert "encrypted" in error.message
    assert "password" in error.hint


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_one_file_too_large(pack: object) -> None:
    assert "at most 4000" in refusal(pack({"a.tex": b"ab" * 2500}), SMALL).message  # type: ignore[operator]


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_too_many_bytes_in_all(pack: object) -> None:
    files = {f"{i}.tex": bytes(range(256)) * 15 for i in range(4)}
    assert "more than 10000 bytes" in refusal(pack(files), SMALL).message  # type: ignore[operator]


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_too_many_files(pack: object) -> None:
    assert "5 files" in refusal(pack({f"{i}.tex": b"x" for i in range(6)}), SMALL).message  # type: ignore[operator]


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_too_deep(pack: object) -> None:
    assert "3 folders deep" in refusal(pack({"a/b/c/d.tex": b"x"}), SMALL).message  # type: ignore[operator]


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_a_bomb_is_stopped_while_it_is_read(pack: object) -> None:
    error = refusal(pack({"bomb.tex": b"\0" * 40_000_000}))  # type: ignore[operator]
    assert "times its packed size" in error.message


def test_a_header_that_lies_about_the_size_is_not_trusted() -> None:
    data = bytearray(zip_of({"a.tex": b"a" * 9000}))
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(mark) + at
        data[place : place + 4] = (100).to_bytes(4, "little")
    assert refusal(bytes(data), SMALL).message


def test_a_name_given_twice() -> None:
    assert "twice" in refusal(tar_of({"a.tex": b"x", "./a.tex": b"y"})).message


@pytest.mark.parametrize("data", [b"PK\x03\x04 broken", b"\x1f\x8b\x08 broken", b"\x1f\x8b"])
def test_broken_archives(data: bytes) -> None:
    assert "cannot be read" in refusal(data).message


def test_a_cut_tar() -> None:
    data = tar_of({"a.tex": bytes(range(256)) * 100}, mode="w")
    assert refusal(data[:3000])


@pytest.mark.parametrize("data", [tar_of({}), zip_of({}), tar_of({}, special("folder", tarfile.DIRTYPE))])
def test_no_file_inside(data: bytes) -> None:
    assert "no file" in refusal(data).message
