"""google-adk's VertexAiSessionService, as it is, against a server of statepad, driven by lines of JSON.

Usage: client.py URL TOKEN APP [httpx]. Each line is a command, {"call": name, ...its arguments}; each is answered by a
line: {"answer": ...} or {"error": name, "message": text}. With "httpx" its client does without aiohttp, which others
may not have installed.
"""

import asyncio
import json
import sys

if "httpx" in sys.argv[4:]:
  sys.modules["aiohttp"] = None

from google.adk.events.event import Event
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.in_memory_session_service import InMemorySessionService

import agents
import members
from at_server import service_at

URL, TOKEN, APP = sys.argv[1:4]
service = service_at(URL, TOKEN, APP)

# The session that was created or read last: events are appended to it.
held = None


def told(session):
  return session and json.loads(session.model_dump_json(by_alias=True, exclude_none=True))


def ids(user, session=None):
  return {"app_name": APP, "user_id": user, **({"session_id": session} if session else {})}


async def create(user, session=None, state=None):
  global held
  held = await service.create_session(**ids(user, session), state=state)
  return told(held)


async def get(user, session, config=None):
  global held
  held = await service.get_session(**ids(user, session), config=config and GetSessionConfig(**config))
  return told(held)


async def append(event):
  """Appends to the session in hand. Answers what it shows then, without being read again."""
  await service.append_event(held, Event.model_validate(event))
  return told(held)


async def list_sessions(user=None):
  answer = await service.list_sessions(app_name=APP, user_id=user)
  return [told(session) for session in answer.sessions]


async def delete(user, session):
  await service.delete_session(**ids(user, session))


async def write(user, session, name, count):
  """Writes so many keys of each scope to a session, one event for each, and counts in a key of its own."""
  session = await service.get_session(**ids(user, session), config=GetSessionConfig(num_recent_events=0))
  for index in range(count):
    key = f"{name}{index}"
    delta = {key: index, f"user:{key}": index, f"app:{key}": index, f"app:count of {name}": index + 1}
    await service.append_event(session, Event.model_validate(event_of(key, delta)))


def event_of(key, delta):
  return {"id": key, "invocation_id": f"i-{key}", "author": "agent", "actions": {"state_delta": delta}}


async def converse(over, user, turns, agent, state=None):
  """A conversation with an agent, with the server or ADK's own service in memory; told as it is read afterwards."""
  sessions = service if over == "server" else InMemorySessionService()
  return await agents.converse(sessions, ids(user), turns, agent, state)


async def every_member(user):
  """Appends events with every member that the models have. Answers the differences of what is read afterwards."""
  session = await service.create_session(**ids(user))
  sent = members.events()
  for event in sent:
    await service.append_event(session, event.model_copy(deep=True))
  read = await service.get_session(**ids(user, session.id))
  unused = sorted(members.met - members.used)
  return {"members": len(members.used), "unused": unused, "differences": members.differences(sent, read.events)}


CALLS = {
    "create": create,
    "get": get,
    "append": append,
    "list": list_sessions,
    "delete": delete,
    "write": write,
    "converse": converse,
    "everyMember": every_member,
}


async def main():
  print(json.dumps("ready"), flush=True)
  while line := await asyncio.to_thread(sys.stdin.readline):
    command = json.loads(line)
    try:
      answer = {"answer": await CALLS[command.pop("call")](**command)}
    except Exception as error:  # Whatever it is, the test is told.
      answer = {"error": type(error).__name__, "message": str(error)}
    print(json.dumps(answer), flush=True)


asyncio.run(main())
