"""``answers:DIR``: questions and answers as files."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import time
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from referee.errors import ModelRefused, SettingsError
from referee.llm.clients import Carrier
from referee.llm.dialects import reply_schema
from referee.llm.door import Door
from referee.llm.embeddings import make_embedder
from referee.llm.models import JUDGE, check_models, open_models
from referee.llm.prices import cost_usd
from referee.llm.providers import answers, parse_model
from referee.llm.providers.answers import AnswersFolder
from referee.llm.providers.protocol import WireRequest
from referee.llm.requests import request_digest
from referee.llm.spec import ModelSpec
from referee.llm.vision import probe_image
from referee.llm.wire import AnswersWire, Wire
from referee.runs import Event
from referee.runs.stopping import Stop, stoppable
from referee.settings import load_settings

from .shared import GOOD, Verdict, sharing

T = TypeVar("T")
FITS = json.dumps(GOOD)


class Box:
    """A folder of answers, the model that uses it, and what it said."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, list[str]()
        self.spec = ModelSpec("answers", str(folder))
        self.wire = self.another()

    def another(self) -> AnswersWire:
        """What another process has of the folder, or this one when it is started again."""
        return AnswersWire(self.spec, AnswersFolder(self.spec, lambda event: self.said.append(event.text)))

    def file(self, name: str) -> Path:
        return self.folder / name

    def put(self, name: str, content: str | bytes, *, age_s: float = 60) -> None:
        """Write a file that is so old."""
        path = self.file(name)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(path, (time.time() - age_s,) * 2)

    async def answered(self, asked: WireRequest, number: int, answer: str = FITS) -> str:
        """Ask the question, which gets this number, and answer it."""
        task = await held_up(self.wire.send(asked), self, f"{number:04d}.answer.txt")
        self.put(f"{number:04d}.answer.txt", answer)
        return (await task).text

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name[0] != ".")


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    monkeypatch.setattr(answers, "POLL_S", 0.01)
    return Box(tmp_path / "box")


def request(user: str = "Is it sound?", *, images: bool = False, sample: int = 0, spec: Any = None) -> WireRequest:
    asked = WireRequest(
        messages=(("system", "You judge ü."), ("user", f"<paper>\n{user}"), ("assistant", "{}"), ("user", "Again.")),
        schema=reply_schema(Verdict),
        max_output_tokens=100,
        temperature=0.0,
        native=True,
        role="judge",
        prompt="test/verdict@v1",
        prefix_chars=8,
        images=(probe_image(), probe_image()) if images else (),
    )
    if spec is None:
        return asked
    digest = request_digest(spec.id, asked, (sample, 0))
    return WireRequest(**{name: getattr(asked, name) for name in asked.__slots__} | {"digest": digest})


async def held_up(work: Awaitable[T], box: Box, until: str) -> asyncio.Task[T]:
    """The work, begun, once the last thing said holds this."""
    task = asyncio.ensure_future(work)
    async with asyncio.timeout(20):
        while not any(until in said for said in box.said) and not task.done():  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return task


async def stopped(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


class OldServer:
    """What wrote such folders before: a server in OpenAI's format, with its key and its text of a question."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        folder.mkdir()

    def _text(self, content: Any, number: int) -> str:
        if isinstance(content, str):
            return content
        parts, pictures = [], 0
        for part in content or []:
            url = (part.get("image_url") or {}).get("url", "") if part.get("type") == "image_url" else ""
            if url.startswith("data:image/"):
                pictures += 1
                name = f"{number:04d}-{pictures}.{url[11:].split(';')[0]}"
                (self.folder / name).write_bytes(base64.b64decode(url.split(",", 1)[1]))
                parts.append(f"[picture: {name}]")
            else:
                parts.append(part.get("text") or json.dumps(part))
        return "\n".join(parts)

    async def answer(self, sent: bytes) -> tuple[int, bytes]:
        body = json.loads(sent)
        schema = body["response_format"]["json_schema"]["schema"]
        key = hashlib.sha256(json.dumps([body["messages"], schema], sort_keys=True).encode()).hexdigest()
        self.count += 1
        text = "\n\n".join(f"## {m['role']}\n\n{self._text(m['content'], self.count)}" for m in body["messages"])
        text += "\n\n## answer with one JSON object that fits this schema\n\n```json\n" + json.dumps(schema, indent=1)
        (self.folder / f"{self.count:04d}.ask.md").write_text(text + "\n```\n", encoding="utf-8")
        (self.folder / f"{self.count:04d}.key").write_text(key)
        (self.folder / f"{self.count:04d}.answer.txt").write_text(FITS)
        message = {"role": "assistant", "content": FITS}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        kind = {"id": "m", "created": 1, "model": "reader", "object": "chat.completion"}
        return 200, json.dumps(kind | {"usage": usage, "choices": choices}).encode()

    async def ask(self, asked: WireRequest) -> None:
        """Send it as it goes to ``--base-url``."""
        spec = ModelSpec("server", "reader", "http://127.0.0.1:9/v1")
        wire = Wire(spec, key=None, timeout_s=60, carrier=Carrier(self.answer))
        await wire.send(asked)
        await wire.aclose()


async def test_folders_of_the_server_that_was_used_before_replay(box: Box, tmp_path: Path) -> None:
    old = OldServer(tmp_path / "old")
    asked = [request(), request("Another?"), request(images=True)]
    for one in asked:
        await old.ask(one)
    kept = {path.name: path.read_bytes() for path in old.folder.iterdir()}
    replayed = Box(old.folder)
    for one in asked:
        assert (await replayed.wire.send(one)).text == FITS
    assert {path.name: path.read_bytes() for path in old.folder.iterdir() if path.name != ".lock"} == kept
    assert replayed.said == []
    # A new folder is like it, but for the sample beside the key.
    for number, one in enumerate(asked, 1):
        await box.answered(one, number)
    for name, content in kept.items():
        mine = box.file(name).read_bytes()
        assert mine.split()[0] == content if name.endswith(".key") else mine == content, name


async def test_a_question_waits_is_named_once_and_answered(box: Box) -> None:
    first = await held_up(box.wire.send(request()), box, "1 question waits")
    second = await held_up(box.wire.send(request("Another?")), box, "2 questions wait")
    assert (
        box.said[0] == f"1 question waits: {box.file('0001.ask.md')}; write the answer as {box.file('0001.answer.txt')}"
    )
    await asyncio.sleep(0.1)
    assert len(box.said) == 2
    box.put("0002.answer.txt", f"Here it is:\n```json\n{FITS}\n```\n", age_s=0)
    assert json.loads((await second).text.split("```")[1][5:]) == GOOD
    box.put("0001.answer.txt", b"\xef\xbb\xbf" + FITS.encode(), age_s=0)
    completion = await first
    assert completion.text == FITS
    assert completion.input_tokens is None, "they are counted here"
    assert (await box.another().send(request())).text == FITS
    assert len(box.said) == 2


async def test_questions_that_begin_alike_are_asked_at_once(box: Box) -> None:
    models = await open_models(load_settings({"models.default": f"answers:{box.folder}"}), box_says(box), judges=[])
    calls = load_settings({"calls.timeout_s": 0.05, "calls.concurrency": 1}).calls
    door = Door(models, calls=calls)
    asks = [door.ask(sharing(f"Task {n}."), Verdict, role=JUDGE, max_output_tokens=100) for n in range(3)]
    task = await held_up(asyncio.gather(*asks), box, "3 questions wait")
    await asyncio.sleep(0.2)
    assert not task.done(), "nobody is hurried"
    for number in (3, 1, 2):
        box.put(f"{number:04d}.answer.txt", FITS, age_s=0)
    got = await task
    assert [answer.value.score for answer in got] == [2, 2, 2]
    assert got[0].usage.cost_usd == 0
    assert got[0].usage.input_tokens > 2_000
    assert "estimates" in got[0].notes[0]


def box_says(box: Box) -> Any:
    def say(event: Event) -> None:
        box.said.append(event.text)

    return say


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("I think it is fine.", "not a JSON object"),
        ('{"reason": "because", "score": 7}', "score: Input should be 1, 2 or 3 (given: 7)"),
        ('{"reason": "because"}', "score: Field required"),
        ('{"reason": "because", "score": 2', "no valid JSON"),
        (b'{"reason": "\xe9", "score": 2}', "not UTF-8 text (byte 12)"),
        ("x" * 5_297, "more than 5,296 characters"),
        ("é" * 20_000, "more than 5,296 characters"),
        ("  \n", "empty"),
    ],
)
async def test_an_answer_that_does_not_fit_is_explained(box: Box, content: str | bytes, why: str) -> None:
    task = await held_up(box.wire.send(request()), box, "waits")
    box.put("0001.answer.txt", content)
    task = await held_up(task, box, "not accepted")
    explained = box.file("0001.bad.txt").read_text()
    assert why in explained
    assert explained.endswith("is now called 0001.answer.rejected. Write another one as 0001.answer.txt.\n")
    kept = content.encode() if isinstance(content, str) else content
    assert box.file("0001.answer.rejected").read_bytes() == kept
    box.put("0001.answer.txt", FITS)
    assert (await task).text == FITS
    assert "0001.bad.txt" not in box.names()


async def test_a_file_that_is_still_being_written_is_left_alone(box: Box) -> None:
    task = await held_up(box.wire.send(request()), box, "waits")
    with box.file("0001.answer.txt").open("w") as file:
        file.write(FITS[:9])
        file.flush()
        await asyncio.sleep(0.1)
        assert box.names() == ["0001.answer.txt", "0001.ask.md", "0001.key"]
        file.write(FITS[9:])
    assert (await task).text == FITS


async def test_an_empty_file_is_said_and_stays_for_the_command_that_fills_it(box: Box) -> None:
    task = await held_up(box.wire.send(request()), box, "waits")
    box.put("0001.answer.txt", "")
    task = await held_up(task, box, "not accepted")
    assert "is empty. The run waits" in box.file("0001.bad.txt").read_text()
    with box.file("0001.answer.txt").open("a") as file:
        file.write(FITS)
    assert (await task).text == FITS
    assert sum("not accepted" in said for said in box.said) == 1


async def test_an_answer_under_another_name_is_said_and_not_read(box: Box) -> None:
    task = await held_up(box.wire.send(request()), box, "waits")
    box.put("0001.answer.json", '{"reason": "the wrong one", "score": 1}')
    task = await held_up(task, box, "not read")
    assert box.said[-1] == f"{box.file('0001.answer.json')} is not read; call it 0001.answer.txt"
    box.put("0001.answer.txt", FITS)
    assert (await task).text == FITS


async def test_an_answer_that_is_a_folder_is_set_aside(box: Box) -> None:
    task = await held_up(box.wire.send(request()), box, "waits")
    box.file("0001.answer.txt").mkdir()
    os.utime(box.file("0001.answer.txt"), (1, 1))
    task = await held_up(task, box, "not accepted")
    assert "Is a directory" in box.file("0001.bad.txt").read_text()
    await stopped(task)


async def test_a_damaged_key_is_said_and_mended_where_the_question_is_the_same(box: Box) -> None:
    await box.answered(request(images=True), 1)
    key = box.file("0001.key").read_text()
    box.file("0001.key").write_bytes(b"\xff\x00")
    box.wire = box.another()
    await box.answered(request("Another?"), 2)
    assert box.said[1].startswith(f"{box.file('0001.key')} is damaged")
    assert (await box.wire.send(request(images=True))).text == FITS
    assert box.file("0001.key").read_text() == key
    assert len(box.said) == 3


async def test_two_processes_number_alike(box: Box) -> None:
    wires = [box.wire, box.another()]
    tasks = [asyncio.ensure_future(wire.send(request(f"Q{n}"))) for n in range(6) for wire in wires]
    await held_up(asyncio.sleep(0.2), box, "6 questions wait")
    assert [name for name in box.names() if name.endswith(".key")] == [f"{n:04d}.key" for n in range(1, 7)]
    for number in range(1, 7):
        box.put(f"{number:04d}.answer.txt", json.dumps(GOOD | {"reason": str(number)}))
    texts = [json.loads((await task).text)["reason"] for task in tasks]
    assert texts[::2] == texts[1::2] == [str(number) for number in range(1, 7)]


async def test_other_samples_of_a_question_are_other_questions(box: Box) -> None:
    second, first = (request(sample=sample, spec=box.spec) for sample in (1, 0))
    await box.answered(second, 1, FITS.replace("because", "second"))
    await box.answered(first, 2, FITS.replace("because", "first"))
    for wire in (box.wire, box.another()):
        assert "second" in (await wire.send(second)).text
        assert "first" in (await wire.send(first)).text


async def test_a_stop_ends_what_waits_at_once_and_the_question_keeps_its_number(box: Box) -> None:
    ended: list[bool] = []
    stop = Stop(lambda: ended.append(True))
    with stoppable(stop):
        async with stop.call():
            task = await held_up(box.wire.send(request()), box, "waits")
            stop.request()
            assert ended == [True]
            await stopped(task)
    box.said.clear()
    box.wire = box.another()
    assert await box.answered(request(), 1) == FITS


async def test_a_folder_that_goes_away_ends_the_call(box: Box) -> None:
    task = await held_up(box.wire.send(request()), box, "waits")
    for name in (".lock", *box.names()):
        box.file(name).unlink()
    box.folder.rmdir()
    with pytest.raises(ModelRefused, match=r"0001.ask.md' cannot be used: No such file or directory"):
        await task


def test_folders_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "2024-mine.md").write_text("x")
    for name, why in (
        ("file", "(it is a file)"),
        ("file/box", "(Not a directory)"),
        ("papers", "holds other files, as '2024-mine.md', and no question"),
    ):
        with pytest.raises(SettingsError) as refused:
            Box(tmp_path / name)
        assert why in refused.value.message
        assert f"answers:{tmp_path / name}" in refused.value.message
    assert [path.name for path in (tmp_path / "papers").iterdir()] == ["2024-mine.md"]
    assert Box(tmp_path / "papers" / "new").names() == []
    if os.geteuid():
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(SettingsError, match="Permission denied"):
            Box(tmp_path / "closed" / "box")


def test_the_name_of_such_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = parse_model("answers:some/where:else/box/", base_url="http://127.0.0.1:1/v1")
    assert (spec.provider, spec.name, spec.id) == ("answers", "some/where:else/box/", "answers:box")
    assert cost_usd(spec, 10, 10, {}) == 0
    assert cost_usd(spec, 10**6, 0, {"answers:box": (1.0, 1.0)}) == 1
    with pytest.raises(SettingsError, match="names no known provider"):
        parse_model("answers:")
    with pytest.raises(SettingsError, match="not to be had in batches: its provider has none"):
        check_models(load_settings({"models.default": "answers:box", "calls.batch": True}))


@pytest.mark.parametrize("base_url", [None, "http://127.0.0.1:1/v1"])
def test_such_a_model_makes_no_vectors(base_url: str | None) -> None:
    with pytest.raises(SettingsError, match="no embedder is called 'answers:box'"):
        make_embedder("answers:box", base_url=base_url)


async def test_the_context_is_long_and_can_be_set(tmp_path: Path) -> None:
    values = {"models.default": f"answers:{tmp_path}/box"}
    for given, tokens in ((None, 200_000), (9_000, 9_000)):
        models = await open_models(load_settings(values | {"models.context_tokens": given}), lambda event: None)
        assert models["writer"].context_tokens == tokens
