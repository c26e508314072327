"""Makes a database by running adk-python's own session services, and prints what they read of it, as JSON.

Usage: sessions.py v1|v0|sqlite URL-OR-PATH
"""

import asyncio
import json
import sys

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions, EventCompaction
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types

from auth import auth_config

APP = "shop"
ODD = "a/b \"c'; 😀 \\ %s ü"


def rich_events():
  """Events that have a bit of everything, at times in seconds: of one moment, going back, before 1970, fractional."""
  call = types.Part(function_call=types.FunctionCall(id="c1", name="find_it", args={"snake_key": {"in_side": [1, None]}}))
  answer = types.Part(function_response=types.FunctionResponse(id="c1", name="find_it", response={"found_it": True}))
  picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\x89PNG\xff\xfe"))
  compacted = EventCompaction(
      start_timestamp=1.5, end_timestamp=2.25, compacted_content=types.Content(role="model", parts=[call])
  )
  user = types.Content(role="user", parts=[types.Part(text="hallo 😀"), picture])
  return [
      Event(id="b", author="user", timestamp=100.123456, invocation_id="i1", content=user),
      Event(
          id="a", author="agent", timestamp=100.123456, invocation_id="i1", branch="root.leaf",
          content=types.Content(role="model", parts=[call]), long_running_tool_ids={"c1"},
          actions=EventActions(
              state_delta={"count": 1, "app:theme": "dark", "user:visits": 2, "snake_key": {"in_side": 1}},
              requested_tool_confirmations={"c1": ToolConfirmation(hint="sure?", payload={"some_key": 1})},
              artifact_delta={"file_name.txt": 3},
          ),
      ),
      Event(
          id="c", author="agent", timestamp=1769817600.5, content=types.Content(role="user", parts=[answer]),
          actions=EventActions(state_delta={"count": 2, "late": None}, transfer_to_agent="other", escalate=True),
          custom_metadata={"my_key": {"deep_key": 1}}, error_code="SAFETY", error_message="no", interrupted=False,
          usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=7),
          turn_complete=True,
      ),
      Event(id="d", author="agent", timestamp=1769817599.0, actions=EventActions(state_delta={"count": 1, "back": 1})),
      Event(id="e", author="agent", timestamp=-2.5, actions=EventActions(state_delta={"count": 3})),
      Event(
          id="f", author="agent", timestamp=1769817601.000001,
          actions=EventActions(compaction=compacted, skip_summarization=True),
      ),
      Event(
          id="g", author="agent", timestamp=1769817602.0,
          actions=EventActions(requested_auth_configs={"call_1": auth_config()}),
      ),
  ]


async def fill(service):
  state = {"given": {"a": [1, "x"]}, "count": 0, "app:made": 1, "user:made": True, "temp:gone": 1}
  session = await service.create_session(app_name=APP, user_id="ana", session_id="rich", state=state)
  for event in rich_events():
    await service.append_event(session, event)

  await service.create_session(app_name=APP, user_id="ana", session_id="empty")
  odd = await service.create_session(app_name=ODD, user_id=ODD, session_id=ODD, state={"__proto__": 1, "": 2, ODD: 3})
  await service.append_event(odd, Event(id=ODD, author="x", timestamp=5.0))

  second = await service.create_session(app_name=APP, user_id="ben", session_id="rich", state={"user:name": "Ben"})
  await service.append_event(second, Event(id="a", author="user", timestamp=7.0, actions=EventActions(
      state_delta={"app:theme": "light"})))

  await service.create_session(app_name=APP, user_id="eve", session_id="gone", state={"user:left": 1})
  await service.delete_session(app_name=APP, user_id="eve", session_id="gone")
  await service.create_session(app_name="alone", user_id="eve", session_id="gone", state={"app:left": {"x": None}})
  await service.delete_session(app_name="alone", user_id="eve", session_id="gone")


async def told(service, app):
  listed = await service.list_sessions(app_name=app)
  sessions = []
  for row in listed.sessions:
    session = await service.get_session(app_name=app, user_id=row.user_id, session_id=row.id)
    sessions.append({
        "appName": app,
        "userId": session.user_id,
        "id": session.id,
        "state": session.state,
        "lastUpdateTime": session.last_update_time,
        "events": [event.model_dump(by_alias=True, exclude_none=True, mode="json") for event in session.events],
    })
  return sessions


async def open_service(layout, url):
  if layout == "sqlite":
    return SqliteSessionService(url)
  service = DatabaseSessionService(url)
  if layout == "v0":
    from google.adk.sessions.schemas.v0 import Base

    async with service.db_engine.begin() as connection:
      await connection.run_sync(Base.metadata.create_all)
  return service


async def main():
  service = await open_service(*sys.argv[1:3])
  await fill(service)
  print(json.dumps(await told(service, APP) + await told(service, ODD)))
  close = getattr(service, "close", None)
  if close:
    await close()


asyncio.run(main())
