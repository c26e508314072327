"""An agent of google-adk that answers: each line that it reads is a message of the user, as JSON.

Usage: agent.py statepad|sqlite ADDRESS APP USER SESSION. Creates the session, and prints `"ready"`; after each turn it
prints the ids of the session's events.
"""

import asyncio
import json
import sys
from pathlib import Path

from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

sys.path.append(str(Path(__file__).parents[2] / "hosts" / "adk-python"))

from agents import tides


def service_at(kind, address):
  if kind == "sqlite":
    return SqliteSessionService(address)
  from statepad.adk import StatepadSessionService

  return StatepadSessionService(address)


async def main():
  kind, address, app, user, session = sys.argv[1:6]
  service = service_at(kind, address)
  runner = Runner(app_name=app, agent=tides(), session_service=service)
  await service.create_session(app_name=app, user_id=user, session_id=session, state={"boat": "Seagull"})
  print(json.dumps("ready"), flush=True)
  while line := await asyncio.to_thread(sys.stdin.readline):
    said = types.Content(role="user", parts=[types.Part(text=json.loads(line))])
    async for _ in runner.run_async(user_id=user, session_id=session, new_message=said):
      pass
    read = await service.get_session(app_name=app, user_id=user, session_id=session)
    print(json.dumps([event.id for event in read.events]), flush=True)
  await runner.close()


asyncio.run(main())
