"""Pictures in calls: sent in each provider's format, named by digests in every record, asked about where unknown."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from referee.errors import DataError, ModelRefused
from referee.llm.cache import ReplyCache
from referee.llm.images import PromptImage, image_of, read_image
from referee.llm.prices import image_tokens
from referee.llm.providers.protocol import WireRequest
from referee.llm.requests import counted, request_digest
from referee.llm.spec import ModelSpec
from referee.llm.vision import known_to_take_images, probe_image, probe_tokens, takes_images
from referee.llm.wire import Wire
from referee.runs import Ledger
from tests.support import ChatRequest, FakeServer, Fault

from .shared import GOOD, PREFIX, SPECS, Verdict, door_to, sharing

PROVIDERS = list(SPECS)
SEEN = {"left": "orange", "right": "blue"}


def picture(colour: str, size: tuple[int, int] = (60, 40), kind: str = "PNG") -> PromptImage:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, kind)
    return image_of(stream.getvalue(), "a picture")


RED, BLUE = picture("red"), picture("blue", kind="JPEG")


@pytest.mark.parametrize("prefix", ["", PREFIX], ids=["alone", "behind a prefix"])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_each_provider_is_sent_the_pictures_themselves(provider: str, prefix: str) -> None:
    with FakeServer({"*": GOOD}) as server:
        async with door_to(provider, server) as door:
            prompt = sharing("Look.", prefix=prefix)
            await door.ask(prompt, Verdict, role="writer", max_output_tokens=200, images=(RED, BLUE))
        sent = server.log.entries[0].request
    assert sent is not None
    assert sent.images == (RED.data, BLUE.data)
    assert [Image.open(io.BytesIO(one)).size for one in sent.images] == [(60, 40), (60, 40)]
    assert sent.user.startswith(prefix)
    assert "Look." in sent.user
    if prefix and provider == "anthropic":
        assert sent.marked is not None
        assert sent.marked.endswith(prefix), "the pictures stand behind what is shared"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_repair_sends_the_pictures_again(provider: str) -> None:
    with FakeServer({"*": ["no json", GOOD]}) as server:
        async with door_to(provider, server) as door:
            await door.ask(sharing("Look.", prefix=""), Verdict, role="writer", max_output_tokens=200, images=(RED,))
        assert [entry.request.images for entry in server.log if entry.request] == [(RED.data,), (RED.data,)]


async def test_another_picture_is_another_question_and_records_hold_digests(tmp_path: Path) -> None:
    ledger, cache = Ledger(tmp_path / "trace.jsonl"), ReplyCache(tmp_path / "cache")
    large = picture("green", (1500, 1500), "JPEG")
    with FakeServer({"*": GOOD}) as server:
        async with door_to("server", server, ledger=ledger, cache=cache) as door:
            for images in ((RED,), (RED,), (large,), ()):
                await door.ask(sharing("Look."), Verdict, role="writer", max_output_tokens=200, images=images)
    assert len(server.log) == 3, "the same picture is not asked about twice"
    records = ledger.records
    assert {record.images for record in records} == {(RED.said,), (large.said,), ()}
    assert RED.digest in RED.said
    kept = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert large.digest in kept
    assert large.base64[100:160] not in kept


def wire_request(*images: PromptImage) -> WireRequest:
    messages = (("system", "You judge."), ("user", "Look."))
    return WireRequest(messages, {}, 100, 0.0, native=True, role="writer", prompt="a/b@v1", images=images)


def test_the_order_of_pictures_is_part_of_the_question() -> None:
    digests = {request_digest("m", wire_request(*images), (0, 0)) for images in ((RED, BLUE), (BLUE, RED), (RED,), ())}
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("provider", "size", "tokens"),
    [
        ("openai", (1024, 1024), 85 + 170 * 4),  # the example of the provider's page
        ("openai", (2048, 4096), 85 + 170 * 6),  # likewise
        ("anthropic", (750, 100), 100),
        ("google_genai", (384, 384), 258),
        ("google_genai", (960, 540), 258 * 2),
        ("server", (384, 384), 258),
    ],
)
def test_pictures_count_by_the_providers_own_rules(provider: str, size: tuple[int, int], tokens: int) -> None:
    assert image_tokens(SPECS[provider], picture("red", size)) == tokens


async def test_pictures_are_in_what_a_call_may_cost() -> None:
    with FakeServer({"*": GOOD}) as server:
        async with door_to("anthropic", server) as door:
            model = door.models["writer"]
            bare, with_one = counted(model, wire_request())[0], counted(model, wire_request(RED))[0]
    assert with_one - bare == image_tokens(model.spec, RED)


@pytest.mark.parametrize("data", [b"", b"GIF89a nothing", RED.data[:20], b"\0" * (6 * 2**20)])
def test_what_is_no_picture_is_refused_by_its_name(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "figure.png"
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"'figure\.png'"):
        read_image(path)


@pytest.mark.parametrize(
    ("provider", "name", "takes"),
    [
        ("openai", "gpt-5", True),
        ("openai", "gpt-3.5-turbo", False),
        ("anthropic", "claude-sonnet-4-5", True),
        ("google_genai", "gemini-2.5-flash", True),
        ("openai", "nobody-knows-it", None),
        ("server", "gpt-5", None),
        ("local", "any", False),
    ],
)
async def test_the_list_of_models_is_asked_first(provider: str, name: str, takes: bool | None) -> None:
    with FakeServer({"*": GOOD}) as server:
        async with door_to("openai", server) as door:
            spec = ModelSpec(provider, name)  # type: ignore[arg-type]
            base = server.base_url if provider == "server" else None
            wire = Wire(spec, key="k", timeout_s=5, base_url=base)
            model = replace(door.models["writer"], spec=spec, wire=wire)
            known = known_to_take_images(model)
            assert (known.takes if known else None) is takes
            assert (probe_tokens(model) > 0) is (takes is None)
            await wire.aclose()
        assert not server.log.entries


def sees(request: ChatRequest) -> dict[str, str]:
    """What a model that sees says of the picture it is really sent."""
    with Image.open(io.BytesIO(request.images[0])) as shown:
        left, right = (shown.convert("RGB").getpixel((x, 32)) for x in (8, 56))
    return {"left": "orange" if left[0] > 200 else "no picture", "right": "blue" if right[2] > 200 else "no picture"}


@pytest.mark.parametrize(
    ("script", "faults", "takes", "said"),
    [
        (sees, [], True, "saw a small picture"),
        ({"left": "red", "right": "red"}, [], False, "did not see it: it said red and red"),
        (SEEN, [Fault("400", message="image input is not supported")], False, "image input is not supported"),
        (["no", "no", "no"], [], False, "no valid answer"),
    ],
)
async def test_an_unknown_model_is_asked_once(
    script: dict[str, str] | Callable[..., Any], faults: list[Fault], takes: bool, said: str
) -> None:
    with FakeServer({"*": script}, faults=faults) as server:
        async with door_to("server", server) as door:
            found = await takes_images(door, "writer")
            again = await takes_images(door, "writer") if takes else found
    assert found.takes is takes
    assert said in found.reason
    assert again == found
    assert len(server.log) == (3 if isinstance(script, list) else 1)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_model_that_is_listed_and_refuses_is_named_and_not_asked_again(provider: str) -> None:
    with FakeServer(faults=[Fault("400", message="this model does not take pictures")]) as server:
        async with door_to(provider, server) as door:
            with pytest.raises(ModelRefused, match="does not take pictures"):
                await door.ask(sharing("Look."), Verdict, role="writer", max_output_tokens=200, images=(RED,))
    assert len(server.log) == 1


def test_the_question_is_small() -> None:
    assert len(probe_image().data) < 1000
