from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from referee.collecting.client import _named_pause_s
from referee.collecting.files import archived
from referee.collecting.kinds import kind_of, parse_kinds
from referee.collecting.snapshot import Forum
from referee.errors import SettingsError, VenueError
from referee.venues import list_venues
from referee.venues.openreview import load_openreview_venue, openreview_venues

KINDS = [
    ("ICLR.cc/2025/Conference/Submission1/-/Official_Review", "reviews"),
    ("ICLR.cc/2017/conference/-/paper12/official/review", "reviews"),
    ("TMLR/Paper12/-/Review", "reviews"),
    ("ICLR.cc/2019/Conference/-/Paper12/Meta_Review", "decisions"),
    ("ICLR.cc/2018/Conference/-/Acceptance_Decision", "decisions"),
    ("ICLR.cc/2017/conference/-/paper12/acceptance", "decisions"),
    ("ICML.cc/2026/Conference/Submission1/-/Rebuttal", "rebuttals"),
    ("ICML.cc/2026/Conference/Submission1/-/Rebuttal_Acknowledgement", "comments"),
    ("ICLR.cc/2025/Conference/Submission1/-/Public_Comment", "comments"),
    ("NeurIPS.cc/2023/Conference/Submission1/-/Ethics_Review", "others"),
    ("ICLR.cc/2025/Conference/Submission1/-/Withdrawal", "others"),
]


@pytest.mark.parametrize(("invitation", "kind"), KINDS)
def test_a_note_is_told_by_its_invitation(invitation: str, kind: str) -> None:
    assert kind_of({"invitation": invitation}) == kind
    assert kind_of({"invitations": [invitation, "ICLR.cc/2025/Conference/-/Edit"]}) == kind


def test_a_comment_of_the_authors_is_a_rebuttal() -> None:
    signed = {"signatures": ["ICLR.cc/2025/Conference/Submission1/Authors"]}
    assert kind_of({"invitations": ["ICLR.cc/2025/Conference/Submission1/-/Official_Comment"], **signed}) == "rebuttals"
    assert kind_of({"invitations": ["ICLR.cc/2025/Conference/Submission1/-/Withdrawal"], **signed}) == "others"


def test_kinds_are_checked_and_put_in_order() -> None:
    assert parse_kinds(["decisions", " PDF ", "reviews", "decisions", ""]) == ("pdf", "decisions")
    with pytest.raises(SettingsError, match="Did you mean 'rebuttals'"):
        parse_kinds(["rebutal"])


PAUSES: list[tuple[str | None, str, float | None]] = [
    ("12", "", 12.0),
    (None, "Please try again in 60 minutes and 13 seconds (2026-08-31-4689127)", 3613.0),
    (None, "try again in 1 minute", 60.0),
    (None, "try again in 9 seconds", 9.0),
    ("soon", "try again in 9 seconds", 9.0),
    (None, "try again in a while", None),
    (None, "", None),
]


@pytest.mark.parametrize(("header", "said", "seconds"), PAUSES)
def test_a_pause_is_read_from_the_header_or_the_words(header: str | None, said: str, seconds: float | None) -> None:
    assert _named_pause_s(header or "", said) == seconds


def given(content: bytes, forums: list[Forum], largest: int, folder: Path) -> dict[str, bytes]:
    (folder / "archive").write_bytes(content)
    return dict(archived(folder / "archive", forums, largest))


def packed(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return content.getvalue()


OWNERS = {
    "12_pdf.pdf": "aaa",
    "Submission13.pdf": "bbb",
    "aaa.pdf": "aaa",
    "deep/bbb_pdf.pdf": "bbb",
    "3f12a9.pdf": None,  # a digest is no number
    "12ab.pdf": None,
    "aaa_bbb.pdf": None,
    "14_pdf.pdf": None,
}


@pytest.mark.parametrize(("name", "owner"), OWNERS.items())
def test_a_file_of_an_archive_goes_to_the_submission_it_names_or_to_none(
    tmp_path: Path, name: str, owner: str | None
) -> None:
    forums = [Forum("aaa", 12, ""), Forum("bbb", 13, "")]
    assert given(packed(name), forums, 1000, tmp_path) == ({} if owner is None else {owner: name.encode()})


@pytest.mark.parametrize("content", [b"", b"%PDF-1.4", packed("12_pdf.pdf")[:60]])
def test_what_is_no_archive_holds_nothing(tmp_path: Path, content: bytes) -> None:
    assert given(content, [Forum("aaa", 12, "")], 1000, tmp_path) == {}


def test_a_file_larger_than_allowed_is_left_out(tmp_path: Path) -> None:
    assert given(packed("12_pdf.pdf"), [Forum("aaa", 12, "")], 5, tmp_path) == {}


def test_an_archive_that_lists_far_more_than_was_asked_for_is_not_read(tmp_path: Path) -> None:
    assert given(packed("aaa.pdf", *(f"{n}.txt" for n in range(2_000))), [Forum("aaa", 12, "")], 1000, tmp_path) == {}


def test_a_number_of_thousands_of_digits_is_no_submissions(tmp_path: Path) -> None:
    assert given(packed("1" * 5_000 + ".pdf"), [Forum("aaa", 12, "")], 10_000, tmp_path) == {}


def test_lists_lie_in_the_group_that_the_form_names() -> None:
    known = openreview_venues()
    forms = {form.id: form for form in list_venues()}
    for venue in known.values():
        assert venue.reviews == "none" or venue.id in forms, f"{venue.id} has no form"
        group = forms[venue.id].provenance.venue_id if venue.id in forms else ""
        own = [name for name in venue.submissions if not name.startswith(group.removesuffix("Round1"))]
        assert own == []
    elsewhere = {"acm-transactions", "elife", "ieee-transactions", "jmlr", "nature-portfolio", "plos-one"}
    older = {"arr-2021", "arr-2022", "arr-2024", "icml-2025-position", "tmlr-before-2025"}
    no_list = {*older, *elsewhere, "openreview-default"}
    assert forms.keys() - known.keys() == no_list


@pytest.mark.parametrize(
    ("venue", "words"),
    [
        ("iclr-205", "Did you mean 'iclr-2025'"),
        ("ICLR-2025", r"Did you mean 'iclr-2025'\?"),
        ("icml-2024", "not public.*those of icml-2025, icml-2026"),
        ("cvpr-2025", "not public.*No year of it.*tmlr"),
        ("zzz", "There are: aaai-2026"),
    ],
)
def test_a_venue_without_public_reviews_says_which_have_them(venue: str, words: str) -> None:
    with pytest.raises(VenueError, match=words):
        load_openreview_venue(venue)
