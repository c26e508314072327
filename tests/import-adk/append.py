"""Appends events to a session, one after the other, and prints the id of each; at the end the state of the session.

Usage: append.py sqlite|database URL-OR-PATH COUNT
"""

import asyncio
import json
import sys

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService

KEY = {"app_name": "shop", "user_id": "ana", "session_id": "live"}


async def main():
  layout, url, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
  service = SqliteSessionService(url) if layout == "sqlite" else DatabaseSessionService(url)
  session = await service.create_session(**KEY, state={"n": 0})
  print("created", flush=True)
  sys.stdin.readline()
  for n in range(1, count + 1):
    delta = {"n": n, "app:last": n}
    event = await service.append_event(session, Event(author="agent", actions=EventActions(state_delta=delta)))
    print(event.id, flush=True)
  read = await service.get_session(**KEY)
  print(json.dumps(read.state), flush=True)


asyncio.run(main())
