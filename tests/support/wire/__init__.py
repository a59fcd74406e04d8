"""The wire formats of the providers: each file reads one provider's requests and writes its replies and errors."""

from tests.support.wire import anthropic, google, ollama, openai
from tests.support.wire.reply import ChatReply, ErrorReply

__all__ = ["ChatReply", "ErrorReply", "anthropic", "google", "ollama", "openai"]
