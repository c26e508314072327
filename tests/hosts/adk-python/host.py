"""adk-python's DatabaseSessionService, driven by lines of JSON: each command is answered by a line.

Usage: host.py URL SCHEMA
"""

import asyncio
import json
import sys

from google.adk.errors._stale_session_error import StaleSessionError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.genai import types

# Sessions that were read and are still in hand, by the names that commands give them.
held = {}


def told(session):
  """A session as JSON: its events in camelCase, as ADK's own JSON has them."""
  return session and {
      "state": session.state,
      "lastUpdateTime": session.last_update_time,
      "events": [event.model_dump(by_alias=True, exclude_none=True, mode="json") for event in session.events],
  }


def key_of(command):
  return {"app_name": command["app"], "user_id": command["user"], "session_id": command["session"]}


async def get(service, command):
  config = GetSessionConfig(**command["config"]) if "config" in command else None
  session = await service.get_session(**key_of(command), config=config)
  if "hold" in command:
    held[command["hold"]] = session
  return told(session)


async def create(service, command):
  session = await service.create_session(**key_of(command), state=command.get("state"))
  return told(session)


async def append(service, command):
  """Appends an event, through a session in hand or one that is read for it."""
  session = held[command["held"]] if "held" in command else await service.get_session(**key_of(command))
  event = Event.model_validate(command["event"])
  await service.append_event(session, event)
  return told(session)


async def append_many(service, command):
  """Appends events one after the other, each with a key of its own in every scope, until all are acknowledged."""
  stale = 0
  session = await service.get_session(**key_of(command))
  for index in range(command["count"]):
    name = f"{command['name']}{index}"
    delta = {f"app:{name}": index, f"user:{name}": [index], name: {"index": index}}
    while True:
      event = Event(
          id=name,
          invocation_id=f"i-{name}",
          author="python",
          content=types.Content(role="model", parts=[types.Part(text=f"text of {name}")]),
          actions=EventActions(state_delta=delta),
      )
      try:
        await service.append_event(session, event)
        break
      except StaleSessionError:
        # Others have written: it is read again, as adk-python asks for.
        stale += 1
        session = await service.get_session(**key_of(command))
  return {"stale": stale}


async def list_all(service, command):
  answer = await service.list_sessions(app_name=command["app"], user_id=command.get("user"))
  return [{"id": session.id, "user": session.user_id, **told(session)} for session in answer.sessions]


async def delete(service, command):
  await service.delete_session(**key_of(command))


async def prepare(service, command):
  await service.prepare_tables()


COMMANDS = {
    "prepare": prepare,
    "get": get,
    "create": create,
    "append": append,
    "appendMany": append_many,
    "list": list_all,
    "delete": delete,
}


async def main():
  url, schema = sys.argv[1:]
  settings = {"server_settings": {"search_path": schema}}
  async with DatabaseSessionService(url, connect_args=settings) as service:
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
      command = json.loads(line)
      try:
        answer = {"answer": await COMMANDS[command["do"]](service, command)}
      except Exception as error:  # Whatever it is, the test is told.
        answer = {"error": type(error).__name__, "message": str(error)}
      print(json.dumps(answer), flush=True)


asyncio.run(main())
