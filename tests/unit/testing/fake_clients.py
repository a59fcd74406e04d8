"""What the tests of the fake server ask, and with which clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import BaseModel, Field

PAPER = (
    "We train a detector on two public sets and report the mean of five runs with their standard deviation. "
    "The code is released together with all trained weights and the exact commands that produced every table."
)
PROMPT = f"Name one weakness.\n<paper>\n{PAPER}\n</paper>"
PROVIDERS = ("openai", "anthropic", "google")


class Weakness(BaseModel):
    """One weakness."""

    claim: str = Field(max_length=80)
    quote: str
    severity: Literal["minor", "major"]
    score: int = Field(ge=1, le=10)


def chat_body(text: str = PROMPT, schema: Any = None, **more: Any) -> dict[str, Any]:
    """The body of an OpenAI chat completion."""
    messages = [{"role": "system", "content": "You review."}, {"role": "user", "content": text}]
    body = {"model": "fake", "messages": messages, **more}
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    return body


@contextmanager
def provider_chat(provider: str, url: str, key: str = "k", **more: Any) -> Iterator[Any]:
    """A LangChain chat model that talks to the fake server, without retries; closed at the end."""
    if provider == "openai":
        from langchain_openai import ChatOpenAI

        chat: Any = ChatOpenAI(model="fake", base_url=f"{url}/v1", api_key=key, max_retries=0, **more)
        close = chat.root_client.close
    elif provider == "anthropic":
        from langchain_anthropic import ChatAnthropic

        chat = ChatAnthropic(model="claude-fake", base_url=url, api_key=key, max_retries=0, **more)
        close = chat._client.close
    else:
        from langchain_google_genai import ChatGoogleGenerativeAI

        chat = ChatGoogleGenerativeAI(model="gemini-2.5-flash", base_url=url, api_key=key, max_retries=0, **more)
        close = chat.client.close
    try:
        yield chat
    finally:
        close()
