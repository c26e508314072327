"""Writes events to a session through a server with google-adk, one after the other, until all are acknowledged.

Usage: writer.py JSON, with the members url, appName, userId, sessionId, name, from and count. Prints `ready`, waits for
a line, and then prints the number of each event when it is acknowledged. What has failed is sent again as it was: the
ids and the times of the events depend on nothing else than their numbers.
"""

import asyncio
import json
import sys

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai.errors import APIError

from at_server import service_at

asked = json.loads(sys.argv[1])
name = asked["name"]


def event_of(number):
  key = f"{name}.{number}"
  delta = {key: number, f"user:{key}": number, f"app:count of {name}": number}
  return Event(
      id=key,
      invocation_id=f"i-{key}",
      author=name,
      timestamp=1_700_000_000 + number,
      actions=EventActions(state_delta=delta),
  )


def is_final(error):
  """True for an answer that another try would not change."""
  return isinstance(error, APIError) and error.code not in (429, 503)


async def main():
  service = service_at(asked["url"], "token", asked["appName"])
  key = {"app_name": asked["appName"], "user_id": asked["userId"], "session_id": asked["sessionId"]}
  print("ready", flush=True)
  await asyncio.to_thread(sys.stdin.readline)
  session = None
  for number in range(asked["from"], asked["count"] + 1):
    while True:
      try:
        session = session or await service.get_session(**key, config=GetSessionConfig(num_recent_events=0))
        await service.append_event(session, event_of(number))
        break
      except Exception as error:  # Its client throws errors of several libraries when a connection is cut.
        if is_final(error):
          raise
        session = None
        await asyncio.sleep(0.02)
    print(number, flush=True)


asyncio.run(main())
