"""Servers and generators for tests: a provider and OpenReview over HTTP, with scripts and faults; valid JSON."""

from tests.support.batches import BatchPlan, FakeBatch
from tests.support.fake_server import FakeServer
from tests.support.faults import Fault, FaultPlan
from tests.support.filling import made_up
from tests.support.instances import instance
from tests.support.log import CallEntry, CallLog
from tests.support.openreview_server import FakeOpenReview, PageFault
from tests.support.request import ChatMessage, ChatRequest
from tests.support.script import Script, ScriptError

__all__ = [
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
    "PageFault",
    "Script",
    "ScriptError",
    "instance",
    "made_up",
]
