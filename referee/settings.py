"""One settings tree: arguments over ``REFEREE_*`` variables over ``referee.toml`` over defaults.

Settings hold values and build nothing. Unknown keys are refused wherever they come from, with the nearest known name.
Keys of providers are not settings: they stay in the providers' own environment variables, and a key found in a file is
refused, because files get shared. A value that looks like one is warned about, and never written down as it is.
"""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from referee.errors import SettingsError
from referee.nearest import did_you_mean, nearest
from referee.secrets import holds_key, names_key, scrub

SERVER_KEY = "REFEREE_API_KEY"
"""The variable with the key for a server at ``models.base_url``."""
ENV_PREFIX = "REFEREE_"
FILE_NAME = "referee.toml"

# Variables that share the prefix but are no settings: secrets and folders, read where they are used.
RESERVED_ENV = frozenset({"REFEREE_API_KEY", "REFEREE_CACHE_DIR", "REFEREE_CONFIG_DIR"})

EMBEDDED_MODEL = "local"

Ablation = Literal[
    "blind-check",
    "card",
    "check",
    "cross",
    "example",
    "merge",
    "quotation-check",
    "retrieval",
    "rules",
    "score-from-points",
    "venue",
    "whole-section",
]
"""A step of the strategy ``sections`` that a run for research can leave out, or take in a simpler way."""

logger = logging.getLogger(__name__)


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _an_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise PydanticCustomError("address", "no address that begins with http:// or https://")
    return value.rstrip("/")


Address = Annotated[str, AfterValidator(_an_address)]


def _words(value: Any) -> Any:
    """A list, which the environment gives with commas."""
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


class ModelSettings(_Group):
    """Which model plays which role, and how it is called.

    ``key_hosts`` are addresses of servers that ``REFEREE_API_KEY`` may be sent to beside ``base_url``, where a plan
    names one.

    ``context_tokens`` and ``prices`` answer for models that the price list does not know: a context window in tokens,
    and US dollars per million input and output tokens, with a third number for input that the provider serves from its
    cache where that is cheaper. ``reading_tokens`` bounds how much of a paper one call shows;
    without it the context does, and for the embedded model 4,000 tokens, because it reads some 70 a second.
    """

    default: str = EMBEDDED_MODEL
    roles: dict[str, str] = Field(default_factory=dict)
    base_url: str | None = None
    key_hosts: Annotated[tuple[Address, ...], BeforeValidator(_words)] = ()
    temperature: float = Field(default=0.0, ge=0, le=2)
    context_tokens: int | None = Field(default=None, ge=512)
    reading_tokens: int | None = Field(default=None, ge=400)
    prices: dict[str, tuple[float, float] | tuple[float, float, float]] = Field(default_factory=dict)


class CallSettings(_Group):
    """Retry, timeout and rate limits of the door to models. Times are in seconds.

    ``stop_after_s``: SIGTERM, or Stop in the app, ends the process within this time; longer calls are dropped.
    ``batch``: calls go in batches, for half the price and within a day.
    ``shared_limits``: a file by which several processes of a machine keep one rate and one budget together, or ``ray:``
    and the name of an actor that keeps them.
    """

    concurrency: int = Field(default=8, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    timeout_s: float = Field(default=600.0, gt=0)
    stop_after_s: float = Field(default=10.0, gt=0)
    max_tries: int = Field(default=6, ge=1, le=6)
    retry_wait_s: float = Field(default=1.0, ge=0)
    retry_max_wait_s: float = Field(default=60.0, ge=0)
    repair_rounds: int = Field(default=2, ge=0, le=2)
    cache: bool = True
    batch: bool = False
    shared_limits: str | None = None


class BatchSettings(_Group):
    """How calls are made into batches where ``calls.batch`` is set.

    What waits is handed in once for ``quiet_s`` seconds nothing more came, in batches of ``most_requests`` at most. A
    batch is looked at after ``poll_s`` seconds, then ever more rarely, at last every 20 times that. ``units`` are
    under way at once: as many as a batch should hold.
    """

    quiet_s: float = Field(default=5.0, gt=0)
    poll_s: float = Field(default=30.0, gt=0)
    most_requests: int = Field(default=10_000, ge=1)
    units: int = Field(default=10_000, ge=1)


class BudgetSettings(_Group):
    """Limits that no call may pass: US dollars, and tokens in and out together."""

    max_cost: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)


class PaperSettings(_Group):
    """Limits that are checked before a file is parsed, and those of the process that parses it.

    ``isolated``: the file is read in a process of its own, which may run for ``max_seconds`` and use ``max_memory_mb``.
    ``max_figures`` is the number of figures and tables that get a picture. ``min_read`` is the share of a paper's body
    that a model's window must hold for it to be asked.
    """

    max_pages: int = Field(default=400, ge=1)
    max_bytes: int = Field(default=100 * 2**20, ge=1)
    isolated: bool = True
    max_seconds: float = Field(default=120.0, ge=1, le=3600)
    max_memory_mb: int = Field(default=2048, ge=512)
    max_figures: int = Field(default=40, ge=1, le=400)
    min_read: float = Field(default=0.5, ge=0, le=1)


class ReviewSettings(_Group):
    """How a review is written. ``strategy`` ``auto``: ``single`` on the embedded model, else ``audited``.

    ``preset``: ``full`` refines the venue's prompts first, in ``rounds`` rounds; ``quick`` takes those that ship; by
    default refined ones are used where there are any. Strategy ``sections``: ``appendices`` are read too. Strategy
    ``ensemble``: ``ensemble_size`` reviewers, at most ``reflections`` rounds, worked examples from the file
    ``few_shot``. ``persona`` is that of ``archetype``, by default drawn by the paper; ``target`` the rating that
    ``aligned`` and ``enriched`` argue for.
    ``literature`` and ``references`` say where works are looked up: ``none``, ``online``, or the path of an index.
    ``support`` asks whether cited works say what is claimed of them; ``as_of`` is the last day of works that count (by
    default that of the file, where it says one). ``figures``: those of the paper are shown to a model that takes
    pictures, cut out (``auto``) or as whole ``pages``, or not at all (``none``).
    For research on ``sections``: ``ablate`` names steps to take out, ``quota`` is a number of points to ask for.
    """

    strategy: Literal[
        "auto",
        "sections",
        "single",
        "audited",
        "ensemble",
        "multi-agent",
        "progressive",
        "archetype",
        "aligned",
        "enriched",
    ] = "auto"
    appendices: bool = False
    preset: Literal["quick", "full"] | None = None
    rounds: int = Field(default=3, ge=1, le=10)
    ensemble_size: int = Field(default=5, ge=1, le=20)
    reflections: int = Field(default=5, ge=0, le=10)
    few_shot: str | None = None
    persona: Literal["balanced", "conservative", "innovative", "nitpicky"] | None = None
    target: str | None = Field(default=None, coerce_numbers_to_str=True)
    literature: str = "none"
    references: str = "none"
    support: bool = False
    as_of: date | None = None
    figures: Literal["auto", "none", "pages"] = "auto"
    ablate: tuple[Ablation, ...] = ()
    quota: int | None = Field(default=None, ge=1, le=100)

    @field_validator("ablate", mode="before")
    @classmethod
    def _known_steps(cls, value: Any) -> Any:
        """Names once each and in one order, from a list or, as variables give them, a text with commas."""
        names = [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            return value
        for name in names:
            if name not in (known := get_args(Ablation)):
                near = nearest(name, known)
                offer = f"did you mean {near[0]!r}" if near else f"there are {', '.join(known)}"
                raise PydanticCustomError("ablation", "{problem}", {"problem": f"{name!r} is no step; {offer}"})
        return tuple(sorted(set(names)))


class CitationSettings(_Group):
    """Whom look-ups of works ask (``profile``, ``references``, ``review``), and the e-mail address they give.

    The addresses are those of the services, or of mirrors. A key for a service goes to its own address only.
    """

    contact: str | None = None
    crossref: Address = "https://api.crossref.org"
    openalex: Address = "https://api.openalex.org"
    dblp: Address = "https://dblp.org"
    arxiv: Address = "https://export.arxiv.org"
    semantic_scholar: Address = "https://api.semanticscholar.org"


class CollectSettings(_Group):
    """How ``referee collect`` asks OpenReview: where its two APIs answer, how often, and how long it is waited for.

    ``requests_per_minute`` is for all requests together. A request is tried ``max_tries`` times, after pauses that
    double from ``retry_wait_s``; where OpenReview itself names a pause, that is kept, unless it is longer than
    ``longest_wait_s``. Times are in seconds.
    """

    api_v1: Address = "https://api.openreview.net"
    api_v2: Address = "https://api2.openreview.net"
    requests_per_minute: int = Field(default=60, ge=1)
    timeout_s: float = Field(default=180.0, gt=0)
    max_tries: int = Field(default=6, ge=1, le=20)
    retry_wait_s: float = Field(default=2.0, ge=0)
    longest_wait_s: float = Field(default=4500.0, ge=0)


class PromptText(_Group):
    """A prompt of the user's own as it was read: its file's name, without folders, and its text."""

    file: str
    text: str


PromptChoices = dict[str, str | PromptText]
"""By a prompt's id, what takes the place of its newest version: another version that ships, or a text of one's own."""

_VERSION = re.compile(r"v[0-9]+")


def read_choices(given: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """The choices with the files that are named in them read, once: what changes in a file later changes nothing.

    Args:
        given: By a prompt's id a version as ``v2``, a file, or what was read before.
        folder: What relative paths are beside; the working folder by default.

    Raises:
        SettingsError: A file cannot be read, or holds a key.
    """
    return {
        name: _read_prompt(name, Path(folder or "", value))
        if isinstance(value, Path) or (isinstance(value, str) and not _VERSION.fullmatch(value))
        else value
        for name, value in given.items()
    }


def _read_prompt(prompt_id: str, path: Path) -> PromptText:
    try:
        if not path.is_file():
            raise SettingsError(
                f"prompt {prompt_id!r}: there is no file {str(path)!r}.",
                hint=f"Name a version that ships, as v1, or a file: `referee prompts copy {prompt_id} FILE` makes one.",
            )
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"prompt {prompt_id!r}: {str(path)!r} cannot be read: {error}.", hint="Give a text file in UTF-8."
        ) from error
    return given_prompt(path.name, text)


def given_prompt(file: str, text: str) -> PromptText:
    """A prompt of the user's own by its file's name and its text; raises ``SettingsError`` where it holds a key."""
    for number, line in enumerate(text.splitlines(), 1):
        if holds_key(line):
            raise SettingsError(
                f"{file!r}, line {number}: this looks like a key.",
                hint="Take it out: a prompt is sent to the model and kept in the run folder.",
            )
    return PromptText(file=file, text=text)


class Settings(_Group):
    """The whole tree.

    ``prompts`` names, by a prompt's id, a version that ships or a file that is used in its place; a file is read when
    the settings are. ``embedder`` names the embedding model, as ``local`` or ``provider:model``.
    """

    models: ModelSettings = ModelSettings()
    calls: CallSettings = CallSettings()
    batches: BatchSettings = BatchSettings()
    budget: BudgetSettings = BudgetSettings()
    paper: PaperSettings = PaperSettings()
    review: ReviewSettings = ReviewSettings()
    citations: CitationSettings = CitationSettings()
    collect: CollectSettings = CollectSettings()
    prompts: PromptChoices = Field(default_factory=dict)
    embedder: str = "local"

    @field_validator("prompts", mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        return read_choices(value) if isinstance(value, Mapping) else value

    @property
    def units_at_once(self) -> int:
        """How many units that ask models may be under way: as many as calls, or in batches as one should hold."""
        return self.batches.units if self.calls.batch else self.calls.concurrency


def stored_settings(values: Mapping[str, Any]) -> Settings:
    """The settings that a run wrote down, without those that there are no more; ``prompts`` had another name once.

    Raises:
        ValidationError: They are of another version.
    """
    review = {name: value for name, value in values.get("review", {}).items() if name != "readings"}
    prompts = {**review.pop("prompt_versions", {}), **values.get("prompts", {})}
    kept = {name: value for name, value in values.items() if name != "checkpoints"}
    return Settings.model_validate({**kept, "review": review, "prompts": prompts})


def load_settings(
    overrides: Mapping[str, Any] | None = None,
    *,
    file: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Settings:
    """Build the settings from all four layers.

    Args:
        overrides: Dotted keys to values (``{"models.default": "openai:gpt-x"}``); None values are left out.
        file: A settings file; by default ``referee.toml`` in the working folder, where there is one.
        env: The environment; by default the process's own.

    Raises:
        SettingsError: A key is unknown or a value is not usable; the message names the layer and the nearest key.
    """
    tree: dict[str, Any] = {}
    env = os.environ if env is None else env
    for origin, values in _layers(overrides or {}, file, env):
        for key, value in values.items():
            _put(tree, key, value, origin)
    return _validated(tree)


def changed_settings(settings: Settings, overrides: Mapping[str, Any]) -> Settings:
    """The settings with some dotted keys replaced; None values are left out.

    Raises:
        SettingsError: A key is unknown or a value is not usable.
    """
    tree = settings.model_dump()
    for key, value in overrides.items():
        if value is not None:
            _put(tree, key, value, "the arguments")
    return _validated(tree)


_QUOTED = re.compile(r"'([^']*)'")


def _validated(tree: dict[str, Any]) -> Settings:
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        choices = _QUOTED.findall(first["ctx"]["expected"]) if first["type"] == "literal_error" else []
        raise SettingsError(
            f"setting {key!r} has an unusable value {scrub(repr(first.get('input')))}: {first['msg'].lower()}.",
            hint=f"{did_you_mean(str(first.get('input')), choices)}See docs/settings.md for what each setting takes.",
        ) from error


def _layers(
    overrides: Mapping[str, Any], file: Path | None, env: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _file_layer(file, env)
    yield "the environment", _env_layer(env)
    yield "the arguments", {key: value for key, value in overrides.items() if value is not None}


def _file_layer(file: Path | None, env: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    path = file or Path(FILE_NAME)
    if file is None and not path.is_file():
        return
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SettingsError(f"settings file {str(path)!r} does not exist.", hint="Check the path.") from error
    except (ValueError, RecursionError) as error:  # also of its depth and its numbers
        raise SettingsError(f"settings file {str(path)!r} is not valid TOML: {error}.", hint="Mend it.") from error
    _look_for_keys(data, repr(str(path)), env)
    if isinstance(data.get("prompts"), dict):
        data["prompts"] = read_choices(data["prompts"], path.parent)
    yield repr(str(path)), dict(_flatten(data, _known_keys()))


def _look_for_keys(data: Mapping[str, Any], origin: str, env: Mapping[str, str], prefix: str = "") -> None:
    """Refuse what is named like a key and warn of values that look like one, in tables with free names too."""
    for name, value in data.items():
        dotted = f"{prefix}{name}"
        if isinstance(value, Mapping):
            _look_for_keys(value, origin, env, f"{dotted}.")
        elif names_key(name):
            _refuse_key(dotted, origin)
        elif any(holds_key(str(text), env) for text in (name, *(value if isinstance(value, list) else [value]))):
            _warn_of_key(scrub(dotted, env), origin)


def _warn_of_key(dotted: str, origin: str) -> None:
    if dotted in ("embedder", "models.default") or dotted.startswith("models.roles."):
        raise SettingsError(
            f"{origin} sets {dotted!r} to what looks like a key; a model's name belongs there.",
            hint="Put the key into the provider's environment variable (see `referee doctor`) and remove it there.",
        )
    logger.warning(
        "%s: the value of %r looks like a key. Files get shared: put it into an environment variable (see "
        "`referee doctor`), remove it there, and replace a key that others may have seen.",
        origin,
        dotted,
    )


def _env_layer(env: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, raw in env.items():
        if name.startswith(ENV_PREFIX) and name not in RESERVED_ENV:
            values[name.removeprefix(ENV_PREFIX).lower().replace("__", ".")] = raw
    return values


def _flatten(data: Mapping[str, Any], known: frozenset[str], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        dotted = f"{prefix}{key}"
        if isinstance(value, Mapping) and dotted not in known:
            yield from _flatten(value, known, f"{dotted}.")
        else:
            yield dotted, value


def _put(tree: dict[str, Any], key: str, value: Any, origin: str) -> None:
    if key not in _known_keys():
        _refuse(key, origin)
    *groups, last = key.split(".")
    for group in groups:
        tree = tree.setdefault(group, {})
    tree[last] = value


def _refuse(key: str, origin: str) -> None:
    if names_key(key.split(".")[-1]):
        _refuse_key(key, origin)
    if key.startswith("review.prompt_versions"):
        raise SettingsError(
            f"{origin} sets {key!r}, which is called 'prompts' now.",
            hint='Write it under [prompts], as "review/single" = "v1", or name a file of your own there.',
        )
    offer = did_you_mean(key, _known_keys(), most=3).strip() or "See docs/settings.md for all settings."
    raise SettingsError(f"{origin} sets {key!r}, which is not a setting.", hint=offer)


def _refuse_key(key: str, origin: str) -> None:
    raise SettingsError(
        f"{origin} holds {key!r}: keys are not settings.",
        hint="Put the key into the provider's environment variable (see `referee doctor`) and remove it there.",
    )


def _known_keys() -> frozenset[str]:
    return frozenset(_keys(Settings, ""))


def _keys(group: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in group.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
