"""adk-python's VertexAiSessionService over a server that is not Google's, driven by lines of JSON.

Usage: vertex.py URL PROJECT LOCATION. Each line is a command, {"call": name, ...its arguments}; each is answered by a
line: {"answer": ...} or {"error": name, "message": text}.
"""

import asyncio
import json
import sys

from google.adk.events.event import Event
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.vertex_ai_session_service import VertexAiSessionService
from google.oauth2.credentials import Credentials


class LocalService(VertexAiSessionService):
  """The service as it is, whose own client asks another server, with a token that is good for nothing."""

  def __init__(self, address, project, location):
    super().__init__(project, location)
    self.address = address

  def _build_api_client(self):
    from google.adk.dependencies._agentplatform import agentplatform

    return agentplatform.Client(
        project=self._project,
        location=self._location,
        credentials=Credentials("token"),
        http_options={"base_url": self.address, "api_version": "v1beta1"},
    ).aio


def told(session):
  return session and json.loads(session.model_dump_json(by_alias=True, exclude_none=True))


# The session that was read last: events are appended to it.
held = None


async def create(service, state=None, **key):
  return told(await service.create_session(state=state, **key))


async def get(service, config=None, **key):
  global held
  held = await service.get_session(config=config and GetSessionConfig(**config), **key)
  return told(held)


async def append(service, event):
  return told(await service.append_event(held, Event.model_validate(event)))


async def list_sessions(service, **key):
  return told(await service.list_sessions(**key))


async def delete(service, **key):
  await service.delete_session(**key)


CALLS = {"create": create, "get": get, "append": append, "list": list_sessions, "delete": delete}


async def settled():
  """Waits for the requests of a failed call that are still under way: get_session asks for two things at once."""
  others = asyncio.all_tasks() - {asyncio.current_task()}
  await asyncio.gather(*others, return_exceptions=True)


async def main():
  service = LocalService(*sys.argv[1:])
  print(json.dumps("ready"), flush=True)
  for line in sys.stdin:
    command = json.loads(line)
    try:
      answer = {"answer": await CALLS[command.pop("call")](service, **command)}
    except Exception as error:  # pylint: disable=broad-exception-caught
      answer = {"error": type(error).__name__, "message": str(error)}
      await settled()
    print(json.dumps(answer), flush=True)


asyncio.run(main())
