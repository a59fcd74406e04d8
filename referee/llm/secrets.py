"""What keeps keys out of texts, for the room that holds them."""

from referee.secrets import HIDDEN, scrub

__all__ = ["HIDDEN", "scrub"]
