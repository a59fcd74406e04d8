"""A person or an assistant as the model, ``answers:DIR``: a request becomes a file, its answer is read from another.

For question 3 the folder holds:

- ``0003.ask.md``: the messages and the answer's JSON schema; pictures are ``0003-1.png``, ``0003-2.png``, ...
- ``0003.key``: a digest of the question, and which sample it is. An equal question gets the same answer, so that a kept
  folder replays.
- ``0003.answer.txt``: the answer, which somebody else writes.
- ``0003.bad.txt``: why an answer was not accepted, which is then called ``0003.answer.rejected``.

Several processes can use one folder at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from referee.errors import ModelRefused, SettingsError
from referee.llm.bounds import most_characters
from referee.llm.dialects import ReplySchema, bounded_schema
from referee.llm.json_text import UnusableReply
from referee.llm.providers.protocol import Provider, WireRequest
from referee.llm.replies import read_reply
from referee.llm.spec import ANSWERS, ModelSpec
from referee.machine import try_lock
from referee.runs.files import write_atomically
from referee.runs.progress import Event, Progress
from referee.runs.stopping import current_stop

if TYPE_CHECKING:
    from referee.llm.clients import Connection

CONTEXT_TOKENS = 200_000
"""What is taken to be read by whoever answers."""
POLL_S = 0.5
SETTLED_S = 3.0
"""An answer that does not fit may still be being written: it is refused when its file is unchanged for so long."""

_QUESTION = re.compile(r"\d{4,}\.(key|ask\.md)")
_NUMBERED = re.compile(r"(\d{4,})[-.]")
# Which sample it was is not in older files.
_FIRST = "first"
_KEY = re.compile(rf"([0-9a-f]{{64}})(?:\n({_FIRST}|[0-9a-f]{{64}}))?")
_STRAYS = (".answer.json", ".answer.md", ".answer", ".txt", ".json")
_BYTES_A_CHARACTER = 4
_LOCK_S = 0.02


class Answers(Provider):
    """Folders of answers."""

    def load(self) -> None:
        """Nothing is sent."""

    def spec(self, form: str, name: str, base_url: str | None) -> ModelSpec:
        """The folder is the model's name; a server's address is for other roles."""
        return ModelSpec(self.name, name)

    def errors(self) -> tuple[type[Exception], ...]:
        """None beside those of this package."""
        return ()

    def context_note(self, spec: ModelSpec, tokens: int) -> str:
        """Nothing is counted or paid by anybody else."""
        return f"the tokens of {spec.id} are estimates, and its calls are counted as free"

    def chat(self, connection: Connection, temperature: float | None, max_tokens: int) -> NoReturn:
        """There is no client."""
        raise NotImplementedError

    def arguments(self, request: WireRequest) -> NoReturn:
        """There is no client."""
        raise NotImplementedError


ANSWERS_FILES = Answers(
    name=ANSWERS, forms=(ANSWERS,), keeps_form=True, key_is_optional=True, assumed_context=CONTEXT_TOKENS
)


class AnswersFolder:
    """A folder that questions are written to and answers are read from; it is made where it is not there.

    Args:
        spec: The model; its name is the folder.
        progress: Told of each question that waits, and of each answer that does not fit.

    Raises:
        SettingsError: The folder cannot be made or written, or it holds other files and no question.
    """

    def __init__(self, spec: ModelSpec, progress: Progress) -> None:
        self._spec, self._say = spec, progress
        self._box = Path(spec.name).expanduser()
        self._numbers: dict[str, int] = {}
        self._samples: dict[str, str] = {}
        self._damaged: set[int] = set()
        self._waiting = 0
        named = f"model '{ANSWERS}:{spec.name}'"
        try:
            self._box.mkdir(parents=True, exist_ok=True)
            others = sorted(path.name for path in self._box.iterdir() if not path.name.startswith("."))
            if is_usable := not others or any(map(_QUESTION.fullmatch, others)):
                with self._locked():
                    pass  # it can be written
        except OSError as error:
            why = "it is a file" if self._box.is_file() else error.strerror or str(error)
            raise SettingsError(
                f"{named}: {str(self._box)!r} cannot be its folder ({why}).",
                hint="Name a folder that you can write, or one that is not there yet.",
            ) from error
        if not is_usable:
            raise SettingsError(
                f"{named}: {str(self._box)!r} holds other files, as {others[0]!r}, and no question.",
                hint="Name a folder of its own: a new one, an empty one, or one of an earlier run.",
            )

    async def answer(self, request: WireRequest, begun: Callable[[], None]) -> str:
        """Write the question down and wait for an answer that fits, however long that takes.

        ``begun`` is called once the question is written down, so that the next ones need not wait.

        Raises:
            ModelRefused: The folder can no longer be read or written.
        """
        try:
            question = _Question(self._box, self._number(request), request, self._say)
            text = question.answered()
            begun()
            return text or await self._waited(question)
        except OSError as error:
            raise ModelRefused(
                f"{error.filename or str(self._box)!r} cannot be used: {error.strerror or error}.",
                hint="Make the folder of the answers usable, and resume the run: the answers in it are kept.",
                ids={"model": self._spec.id},
            ) from error

    async def _waited(self, question: _Question) -> str:
        self._waiting += 1
        count = "1 question waits" if self._waiting == 1 else f"{self._waiting} questions wait"
        self._say(Event("note", f"{count}: {question.ask}; write the answer as {question.answer}"))
        try:
            with current_stop().aside():
                while (text := question.answered()) is None:  # noqa: ASYNC110 (no event tells of files)
                    await asyncio.sleep(POLL_S)
        finally:
            self._waiting -= 1
        return text

    def _number(self, request: WireRequest) -> int:
        """That of an equal question, else the next one."""
        from referee.llm.requests import request_digest

        parts = [wire_messages(request), bounded_schema(request.schema)]
        is_first = request.digest in ("", request_digest(self._spec.id, request, (0, 0)))
        sample = _FIRST if is_first else request.digest
        if (key := self._key(parts, sample)) not in self._numbers:
            with self._locked():
                self._read_keys()
                if (key := self._key(parts, sample)) not in self._numbers:
                    taken = [int(found[1]) for path in self._box.iterdir() if (found := _NUMBERED.match(path.name))]
                    number = self._damaged_number(request) or max(taken, default=0) + 1
                    write_atomically(self._box / f"{number:04d}.key", f"{key}\n{sample}\n")
                    self._numbers[key], self._samples[key] = number, sample
        return self._numbers[key]

    def _key(self, parts: list[Any], sample: str) -> str:
        """A question's digest; one that was asked as another sample is another question, where that is known."""
        key = _digest(parts)
        return key if self._samples.get(key, sample) in ("", sample) else _digest([*parts, sample])

    def _read_keys(self) -> None:
        seen = {*self._numbers.values(), *self._damaged}
        for path in sorted(self._box.glob("*.key")):
            if not path.stem.isdecimal() or (number := int(path.stem)) in seen:
                continue
            if found := _KEY.fullmatch(path.read_bytes().decode("utf-8", "replace").strip()):
                self._numbers[found[1]], self._samples[found[1]] = number, found[2] or ""
            else:
                self._damaged.add(number)
                self._say(Event("note", f"{path} is damaged; its answer is used if {number:04d}.ask.md is asked again"))

    def _damaged_number(self, request: WireRequest) -> int | None:
        """The number of a question with a damaged key and the same text."""
        for number in sorted(self._damaged):
            question = _Question(self._box, number, request, self._say)
            with suppress(OSError, UnicodeDecodeError):
                if question.ask.read_text(encoding="utf-8") == question.text:
                    self._damaged.remove(number)
                    return number
        return None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time gives out numbers."""
        with (self._box / ".lock").open("a") as file:
            while not try_lock(file.fileno()):
                time.sleep(_LOCK_S)
            yield


class _Question:
    """A request under its number, and the files of that number."""

    def __init__(self, box: Path, number: int, request: WireRequest, say: Progress) -> None:
        self._request, self._say, self._stem = request, say, str(box / f"{number:04d}")
        self.ask, self.answer, self._bad = map(self._file, (".ask.md", ".answer.txt", ".bad.txt"))
        self._explained = False
        self._strays: set[Path] = set()

    def _file(self, ending: str) -> Path:
        return Path(self._stem + ending)

    @cached_property
    def text(self) -> str:
        """What the ask file holds."""
        names = (f"[picture: {path.name}]" for path in self._pictures)

        def shown(content: str | list[dict[str, Any]]) -> str:
            if isinstance(content, str):
                return content
            return "\n".join(next(names) if "image_url" in part else part["text"] for part in content)

        messages = [f"## {message['role']}\n\n{shown(message['content'])}" for message in wire_messages(self._request)]
        schema = json.dumps(bounded_schema(self._request.schema), indent=1)
        schema = f"## answer with one JSON object that fits this schema\n\n```json\n{schema}\n```\n"
        return "\n\n".join([*messages, schema])

    @property
    def _pictures(self) -> list[Path]:
        kinds = (image.media.removeprefix("image/") for image in self._request.images)
        return [self._file(f"-{place}.{kind}") for place, kind in enumerate(kinds, 1)]

    def answered(self) -> str | None:
        """The answer, if there is one that fits; otherwise the question stands there, and what is wrong is said."""
        changed_s = 0.0
        try:
            changed_s = abs(time.time() - self.answer.stat().st_mtime)
            text = self._read()
            if isinstance(self._request.schema, ReplySchema):
                read_reply(text, self._request.schema.reply)
        except FileNotFoundError:
            self._write()
            self._name_strays()
        except (UnusableReply, OSError) as error:
            if changed_s > SETTLED_S:
                self._refuse(str(error))
        else:
            if self._explained:
                self._bad.unlink(missing_ok=True)
            return text
        return None

    def _write(self) -> None:
        if self.ask.exists():
            return
        for path, image in zip(self._pictures, self._request.images, strict=True):
            write_atomically(path, image.data)
        write_atomically(self.ask, self.text)

    def _read(self) -> str:
        most = most_characters(self._request.max_output_tokens)
        too_long = UnusableReply(f"The answer has more than {most:,} characters. Write a shorter one.")
        if self.answer.stat().st_size > _BYTES_A_CHARACTER * most:
            raise too_long
        try:
            text = self.answer.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnusableReply(f"The answer is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
        if len(text) > most:
            raise too_long
        return text

    def _refuse(self, problem: str) -> None:
        """Explain what is wrong. An empty file stays: a command whose output goes there may still be at work."""
        if self.answer.is_file() and not self.answer.stat().st_size:
            if not self._explained:
                self._explain(f"{self.answer.name} is empty. The run waits until an answer stands in it.")
            return
        refused = self._file(".answer.rejected")
        with suppress(FileNotFoundError):  # where another process was faster
            self.answer.replace(refused)
        self._explain(f"{problem}\n\nThe answer is now called {refused.name}. Write another one as {self.answer.name}.")

    def _explain(self, text: str) -> None:
        self._explained = True
        write_atomically(self._bad, f"{text}\n")
        self._say(Event("note", f"{self.answer} was not accepted; {self._bad} says why"))

    def _name_strays(self) -> None:
        """Say once of a file that looks like an answer that it is not read."""
        for path in map(self._file, _STRAYS):
            if path not in self._strays and path.exists():
                self._strays.add(path)
                self._say(Event("note", f"{path} is not read; call it {self.answer.name}"))


def wire_messages(request: WireRequest) -> list[dict[str, Any]]:
    """The messages as an OpenAI-compatible server gets them: of these a question's digest is made."""
    (_, system), (_, user), *rest = request.messages
    content: str | list[dict[str, Any]] = user
    if request.images:
        urls = [f"data:{image.media};base64,{image.base64}" for image in request.images]
        pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        shared, own = user[: request.prefix_chars], user[request.prefix_chars :]
        content = [*([_text(shared)] if shared else []), *pictures, _text(own)]
    return [{"role": role, "content": said} for role, said in (("system", system), ("user", content), *rest)]


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
