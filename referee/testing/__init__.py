"""Tools for tests: a fake provider and a fake OpenReview over HTTP, a scripted model without HTTP, a hash embedder."""

from referee.testing.batches import BatchPlan, FakeBatch
from referee.testing.embedding import HashEmbedder
from referee.testing.fake_server import FakeServer
from referee.testing.faults import Fault, FaultPlan
from referee.testing.instances import instance
from referee.testing.log import CallEntry, CallLog
from referee.testing.model import Asked, ScriptedModel, ScriptedModelError
from referee.testing.openreview_server import FakeOpenReview, PageFault
from referee.testing.request import ChatMessage, ChatRequest
from referee.testing.script import Script, ScriptError

__all__ = [
    "Asked",
    "BatchPlan",
    "CallEntry",
    "CallLog",
    "ChatMessage",
    "ChatRequest",
    "FakeBatch",
    "FakeOpenReview",
    "FakeServer",
    "Fault",
    "FaultPlan",
    "HashEmbedder",
    "PageFault",
    "Script",
    "ScriptError",
    "ScriptedModel",
    "ScriptedModelError",
    "instance",
]
