"""Loading and strict rendering of prompt files, and untrusted text inside delimiters that it cannot close.

A template is the file's text with ``{{name}}`` places. There is no logic in it, and values are never read again as
template, so text under review cannot become a place. A version that some run has recorded is never edited; a change is
the next file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

from referee.errors import PromptError
from referee.nearest import did_you_mean

PLACE = re.compile(r"\{\{\s*([a-z_][a-z0-9_]*)\s*\}\}")
_HEADER = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)
_PARTS = re.compile(r"\A\s*(?:# system\n(.*?)\n)?# user\n(.*)\Z", re.DOTALL)
HEADER_KEYS = frozenset({"id", "version", "inputs", "reply", "source", "changed"})


@dataclass(frozen=True)
class RenderedPrompt:
    """A prompt with its inputs filled in: what the door sends.

    ``digest`` is the digest of the template; the door joins it with the reply schema's. ``prefix`` stands before
    ``user`` in the same message: with ``system`` it is what the calls of a run begin with, byte for byte, so that a
    provider's prompt cache can serve it.
    """

    id: str
    version: str
    digest: str
    system: str
    user: str
    prefix: str = ""

    def as_beginning(self) -> RenderedPrompt:
        """This prompt, all of it marked as what later tasks begin with too, so that providers keep it for them."""
        return replace(self, prefix=f"{self.user}\n\n", user="")

    def after(self, shared: RenderedPrompt) -> RenderedPrompt:
        """This task behind what all calls of a run share: the other prompt's system text and user text.

        Raises:
            PromptError: The task has a system text of its own, so that its call would begin differently.
        """
        if self.system:
            raise PromptError(f"prompt {self.id!r} has a system text and cannot follow {shared.id!r}.")
        digest = hashlib.sha256(f"{shared.digest}\x00{self.digest}".encode()).hexdigest()
        return replace(self, system=shared.system, prefix=f"{shared.user}\n\n", digest=digest)


@dataclass(frozen=True)
class Prompt:
    """A prompt file: header and template. ``reply`` is a dotted name that only the tests resolve; a caller who reads
    replies of two shapes goes by it.

    ``is_own``: the user's, in place of one that ships; ``version`` is then the file's name and a short digest.
    """

    id: str
    version: str
    inputs: frozenset[str]
    reply: str
    source: str
    changed: str
    system: str
    user: str
    is_own: bool = False

    @property
    def digest(self) -> str:
        """sha-256 of the template, both parts."""
        return hashlib.sha256(f"{self.system}\x00{self.user}".encode()).hexdigest()

    @property
    def places(self) -> frozenset[str]:
        """The names the template uses."""
        return frozenset(PLACE.findall(self.system) + PLACE.findall(self.user))

    def render(self, **inputs: str) -> RenderedPrompt:
        """Fill the places in.

        Raises:
            PromptError: An input is missing, or one was given that the header does not declare.
        """
        missing, extra = sorted(self.inputs - set(inputs)), sorted(set(inputs) - self.inputs)
        if missing or extra:
            problem = f"lacks {', '.join(missing)}" if missing else f"does not take {', '.join(extra)}"
            raise PromptError(f"prompt {self.id!r} {self.version} {problem}.", hint="Compare with its `inputs:` line.")
        return RenderedPrompt(
            id=self.id,
            version=self.version,
            digest=self.digest,
            system=_fill(self.system, inputs),
            user=_fill(self.user, inputs),
        )


def _fill(template: str, inputs: dict[str, str]) -> str:
    return PLACE.sub(lambda place: inputs[place.group(1)], template)


_SHIPPED: Mapping[str, Prompt] = MappingProxyType({})
_ACTIVE: ContextVar[Mapping[str, Prompt]] = ContextVar("prompts of a run", default=_SHIPPED)


@contextmanager
def active(prompts: Mapping[str, Prompt]) -> Iterator[None]:
    """Within it these prompts are used in place of those that ship, in this task and in tasks that it begins."""
    token = _ACTIVE.set(prompts)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def is_in_run() -> bool:
    """Whether a run has chosen its prompts already, if only by leaving all as they ship."""
    return _ACTIVE.get() is not _SHIPPED


def active_prompts() -> Mapping[str, Prompt]:
    """The prompts that are used in place of the newest that ship, by id."""
    return _ACTIVE.get()


def prompt_digests(prompts: Iterable[Prompt]) -> dict[str, str]:
    """Digest by prompt and version, as ``run.json`` names them."""
    return {f"{prompt.id}@{prompt.version}": prompt.digest for prompt in prompts}


def load_prompt(prompt_id: str, version: str | None = None) -> Prompt:
    """The prompt that is in use, or one version that ships.

    Args:
        prompt_id: Room and name, as ``review/single``.
        version: ``v1``, ``v2``, ...; by default what the run has chosen, else the highest there is.

    Raises:
        PromptError: There is no such prompt or version, or its file is malformed.
    """
    if version is None and (chosen := _ACTIVE.get().get(prompt_id)):
        return chosen
    return _load(prompt_id, version or prompt_versions(prompt_id)[-1])


@lru_cache(maxsize=256)
def _load(prompt_id: str, version: str) -> Prompt:
    file = _folder(prompt_id) / f"{version}.md"
    if not file.is_file():
        known = ", ".join(prompt_versions(prompt_id))
        raise PromptError(f"prompt {prompt_id!r} has no version {version!r}.", hint=f"There are: {known}.")
    return parse_prompt(file.read_text(encoding="utf-8"), prompt_id, version)


def shipped_text(prompt_id: str, version: str) -> str:
    """The file of a version that ships, as it is; raises ``PromptError`` where there is none."""
    _load(prompt_id, version)
    return (_folder(prompt_id) / f"{version}.md").read_text(encoding="utf-8")


def parse_prompt(text: str, prompt_id: str, version: str) -> Prompt:
    """Parse a prompt file's text and check its header against its place and its template."""
    header_and_body = _HEADER.match(text)
    parts = _PARTS.match(header_and_body.group(2)) if header_and_body else None
    if header_and_body is None or parts is None:
        raise PromptError(
            f"prompt {prompt_id!r} {version} is malformed.",
            hint="It needs front matter between --- lines, then a '# system' part (not for a task that follows another "
            "prompt) and a '# user' part.",
        )
    header = dict(_header_lines(header_and_body.group(1)))
    if set(header) != HEADER_KEYS or header["id"] != prompt_id or header["version"] != version:
        raise PromptError(
            f"prompt {prompt_id!r} {version} has a wrong header.", hint=f"It needs {', '.join(sorted(HEADER_KEYS))}."
        )
    names = header["inputs"].strip("[]").replace(" ", "")
    prompt = Prompt(
        id=prompt_id,
        version=version,
        inputs=frozenset(filter(None, names.split(","))),
        reply=header["reply"],
        source=header["source"],
        changed=header["changed"],
        system=(parts.group(1) or "").strip(),
        user=parts.group(2).strip(),
    )
    if prompt.places != prompt.inputs:
        odd = ", ".join(sorted(prompt.places ^ prompt.inputs))
        raise PromptError(f"prompt {prompt_id!r} {version} declares and uses different inputs: {odd}.")
    return prompt


@cache
def prompt_ids() -> tuple[str, ...]:
    """All prompts that ship, as room and name."""
    root = resources.files("referee.prompts")
    found = sorted(
        f"{room.name}/{prompt.name}"
        for room in root.iterdir()
        if room.is_dir() and not room.name.startswith("__")
        for prompt in room.iterdir()
        if prompt.is_dir()
    )
    return tuple(found)


def _header_lines(text: str) -> list[tuple[str, str]]:
    pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
    return [(key.strip(), value.strip().strip('"')) for key, _, value in pairs]


def _folder(prompt_id: str) -> Traversable:
    folder = resources.files("referee.prompts").joinpath(*prompt_id.split("/"))
    if prompt_id not in prompt_ids():
        near = did_you_mean(prompt_id, prompt_ids(), most=3)
        raise PromptError(f"there is no prompt {prompt_id!r}.", hint=f"{near}`referee prompts list` shows all.")
    return folder


def prompt_versions(prompt_id: str) -> list[str]:
    """The versions of a prompt that ship, the newest last; raises ``PromptError`` where there is no such prompt."""
    names = [file.name.removesuffix(".md") for file in _folder(prompt_id).iterdir() if file.name.endswith(".md")]
    return sorted(names, key=lambda name: int(name[1:]))


_UNSAFE = re.compile(r'["<>\n]')
# Control characters (but line break and tab), lone surrogates, and a "<" in its compatibility forms.
_CLEANED = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)]) | {0xFF1C: "<", 0xFE64: "<"}
del _CLEANED[ord("\n")], _CLEANED[ord("\t")]
# What is not seen or looks like a slash could stand between the sign and the name and be read over by a model.
_UNSEEN = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef"
)
_SLASHES = r"/\u2044\u2215\u29f8\uff0f"
_TAG = re.compile(rf"<(?=(?:[\s{_SLASHES}{_UNSEEN}]|\\(?=[{_SLASHES}]))*[A-Za-z_|\uff21-\uff3a\uff41-\uff5a])")


def delimit(tag: str, text: str, **attributes: str) -> str:
    """Wrap material in ``<tag ...>`` so that nothing inside can end or open a delimiter.

    Every ``<`` that could begin a tag or a model's control token such as ``<|im_end|>`` (in any compatibility form,
    spaced or not, with signs between that are not seen, with an escaped slash or one that looks like it) becomes ``‹``;
    comparison signs before digits stay as they are. Control characters other than line breaks and tabs go.

    Args:
        tag: The delimiter's name, lower case.
        text: Paper, review or web text: data, never instructions.
        **attributes: Short trusted values for the opening tag; quotes and angle brackets in them are dropped.
    """
    clean = _TAG.sub("‹", text.translate(_CLEANED))
    extra = "".join(f' {name}="{_UNSAFE.sub("", value)}"' for name, value in attributes.items())
    return f"<{tag}{extra}>\n{clean}\n</{tag}>"
