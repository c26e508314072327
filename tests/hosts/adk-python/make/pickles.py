"""Prints pickles of actions as adk-python keeps them in databases of schema 0, and the JSON that pydantic makes of them.

tests/import-adk/pickles.jsonl has what it prints under the versions of google-adk that it names.
"""

import base64
import collections
import datetime
import decimal
import json
import pathlib
import pickle
import uuid

from google.adk.events.event_actions import EventActions, EventCompaction
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.adk.version import __version__
from google.genai import types
from pydantic_core import PydanticSerializationError

from auth import auth_config

utc = datetime.timezone.utc
moment = datetime.datetime(2024, 2, 29, 3, 4, 5, 678, tzinfo=utc)
east = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
shared = {"same_key": [1]}

STATES = {
    "plain": {"n": 1, "f": 0.1, "t": "ü😀\x00", "none": None, "yes": True, "l": [1, [2.5]], "__proto__": {"": 1}},
    "numbers": {"a": 255, "b": 65535, "c": -1, "d": 2**31, "e": -(2**40), "f": 2**53 - 1, "g": -0.0, "h": 1e300},
    "python": {"t": (1, (2,)), "s": {7}, "fs": frozenset({"x"}), "b": b"text", "ba": bytearray(b"x"), "e": ()},
    "moments": {"m": moment, "e": moment.astimezone(east), "naive": moment.replace(tzinfo=None), "d": moment.date(),
                "t": datetime.time(1, 2, 3, 4), "z": datetime.time(0, 0)},
    "spans": {"a": datetime.timedelta(days=1, seconds=2), "b": datetime.timedelta(0),
              "c": datetime.timedelta(hours=5, microseconds=1500), "d": datetime.timedelta(seconds=-90)},
    "exact": {"d": decimal.Decimal("1.50"), "u": uuid.UUID("12345678-1234-5678-1234-567812345678")},
    "paths": {"p": pathlib.PurePosixPath("/a/b c/d"), "r": pathlib.PurePosixPath("rel/x"),
              "w": pathlib.PureWindowsPath("C:\\a\\b")},
    "dicts": {"o": collections.OrderedDict([("z", 1), ("a", 2)]), "d": collections.defaultdict(list, {"k": [1]}),
              "twice": [shared, shared], "numbers": {1: "x", True: "y"}},
    "long": {"text": "x" * 300, "list": list(range(1100))},
}


def compaction():
  call = types.Part(function_call=types.FunctionCall(id="c1", name="find", args={"snake_key": {"a_b": 1}}))
  blob = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\x89PNG\xff\xfe"))
  content = types.Content(role="model", parts=[types.Part(text="x"), call, blob])
  return EventCompaction(start_timestamp=1.5, end_timestamp=2.0, compacted_content=content)


def all_actions():
  for name, state in STATES.items():
    yield name, EventActions(state_delta=state)
  yield "empty", EventActions()
  yield "members", EventActions(
      artifact_delta={"file_name.txt": 3}, transfer_to_agent="other", escalate=True, skip_summarization=False,
      requested_tool_confirmations={"call_1": ToolConfirmation(hint="sure?", payload={"some_key": 1})},
  )
  yield "compaction", EventActions(compaction=compaction())
  yield "auth", EventActions(requested_auth_configs={"call_1": auth_config()})


for name, actions in all_actions():
  try:
    expected = actions.model_dump(by_alias=True, exclude_none=True, mode="json")
  except PydanticSerializationError:
    # Earlier versions cannot write paths.
    continue
  for protocol in (4, 5):
    data = base64.b64encode(pickle.dumps(actions, protocol)).decode()
    print(json.dumps({"adk": __version__, "name": name, "protocol": protocol, "json": expected, "pickle": data}))
