"""The wire formats of the providers: each file reads one provider's requests and writes its replies and errors."""

from referee.testing.wire import anthropic, google, ollama, openai
from referee.testing.wire.reply import ChatReply, ErrorReply

__all__ = ["ChatReply", "ErrorReply", "anthropic", "google", "ollama", "openai"]
