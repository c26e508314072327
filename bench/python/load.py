"""A process with writers and a Runner over a session service: carries out tasks of its standard input, as JSON.

Usage: load.py statepad|cached|database ADDRESS. Prints `ready`, and for each line of input a line with the answer.
"""

import asyncio
import json
import sys
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from google.adk.agents import BaseAgent, RunConfig
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.session import Session
from google.genai import types

USER = {"app_name": "bench", "user_id": "u"}
TEXT = "x" * 500
NO_EVENTS = GetSessionConfig(num_recent_events=0)
WINDOW = 20


def content_of(role: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=TEXT)])


def event_of(number: int) -> Event:
    """An event with a text of 500 characters and three keys, one of each scope."""
    delta = {"count": number, "user:count": number, "app:count": number}
    return Event(
        id=uuid.uuid4().hex,
        invocation_id="i",
        author="agent",
        content=content_of("model"),
        actions=EventActions(state_delta=delta),
    )


class Answering(BaseAgent):
    """Answers with one event that changes the state. What a model would take is not in the time of a turn."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        event = event_of(1)
        event.invocation_id = ctx.invocation_id
        event.author = self.name
        yield event


def is_stale(error: Exception) -> bool:
    """True when a session has to be read again, as another writer has changed it."""
    return type(error).__name__ == "StaleSessionError"


class Load:
    """The tasks, over one service."""

    def __init__(self, service: BaseSessionService) -> None:
        self.service = service
        # The seconds that the calls of a turn have taken: a Runner also looks at all events of its session by itself.
        self.in_service = 0.0
        for name in ("get_session", "append_event"):
            setattr(service, name, self._timed(getattr(service, name)))
        self.runner = Runner(app_name=USER["app_name"], agent=Answering(name="agent"), session_service=service)
        self.read_again = 0

    def _timed(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def timed(*args: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return await call(*args, **options)
            finally:
                self.in_service += time.perf_counter() - begun

        return timed

    async def commits(self, *, writers: int, shared: bool, milliseconds: float) -> dict[str, Any]:
        """Has writers append for a while, each to a session of its own or all to one."""
        ids = [(await self.service.create_session(**USER)).id for _ in range(1 if shared else writers)]
        times: list[float] = []
        self.read_again = 0
        start, busy = time.perf_counter(), time.process_time()
        await asyncio.gather(
            *(self._write(ids[number % len(ids)], start + milliseconds / 1_000, times) for number in range(writers))
        )
        took, busy = time.perf_counter() - start, time.process_time() - busy
        return {"times": times, "took": took * 1_000, "busy": busy * 1_000, "readAgain": self.read_again}

    async def _write(self, session_id: str, end: float, times: list[float]) -> None:
        session = await self._opened(session_id)
        number = 0
        while number < 2 or time.perf_counter() < end:
            number += 1
            event = event_of(number)
            begun = time.perf_counter()
            while True:
                try:
                    await self.service.append_event(session, event)
                    break
                except ValueError as error:
                    if not is_stale(error):
                        raise
                    self.read_again += 1
                    session = await self._opened(session_id)
            times.append((time.perf_counter() - begun) * 1_000)
            # The events in memory are not what is measured.
            session.events.clear()

    async def _opened(self, session_id: str) -> Session:
        session = await self.service.get_session(**USER, session_id=session_id, config=NO_EVENTS)
        assert session is not None
        return session

    async def prepare(self, *, events: int) -> dict[str, Any]:
        """Makes a session with so many events."""
        session = await self.service.create_session(**USER)
        for number in range(events):
            await self.service.append_event(session, event_of(number))
            session.events.clear()
        return {"session": session.id}

    async def turns(self, *, session: str, count: int, window: bool) -> dict[str, Any]:
        """Measures turns of a Runner. With `window` it reads the last events of the session only."""
        config = RunConfig(get_session_config=GetSessionConfig(num_recent_events=WINDOW)) if window else RunConfig()
        times, in_service = [], []
        for _ in range(count):
            begun, self.in_service = time.perf_counter(), 0.0
            seen = [
                event
                async for event in self.runner.run_async(
                    user_id=USER["user_id"], session_id=session, new_message=content_of("user"), run_config=config
                )
            ]
            times.append((time.perf_counter() - begun) * 1_000)
            in_service.append(self.in_service * 1_000)
            assert len(seen) == 1
        return {"times": times, "inService": in_service}


def service_at(kind: str, address: str) -> BaseSessionService:
    if kind != "database":
        from statepad.adk import StatepadSessionService

        return StatepadSessionService(address, token="bench", cached_events=20_000 if kind == "cached" else 0)
    from google.adk.sessions.database_session_service import DatabaseSessionService

    return DatabaseSessionService(address)


async def main() -> None:
    kind, address = sys.argv[1:]
    load = Load(service_at(kind, address))
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        task, options = json.loads(line)
        print(json.dumps(await getattr(load, task)(**options)), flush=True)
    await load.service.flush()


asyncio.run(main())
