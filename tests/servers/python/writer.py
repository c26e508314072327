"""Writes events to a session through servers, one after the other, until all are acknowledged.

Usage: writer.py JSON, with the members url, key, name, from and count. Prints `ready`, waits for a line, and then
prints the number of each event when it is acknowledged. What has failed is sent again as it was: the ids and the times
of the events depend on nothing else than their numbers. In the end the session that it has written through must show
the log.
"""

import asyncio
import json
import sys

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session

from statepad import AppKey, CommitUnknown, StateConflict, StoreUnavailable, TooManyRequests, increment
from statepad.adk import StatepadSessionService

# The errors that another try may mend.
PASSING = (CommitUnknown, StateConflict, StoreUnavailable, TooManyRequests)
# Without a pause it would be done before others, which are slower, have begun. In seconds.
PAUSE = 0.02

asked = json.loads(sys.argv[1])
name = asked["name"]
KEY = {
    "app_name": asked["key"]["appName"],
    "user_id": asked["key"]["userId"],
    "session_id": asked["key"]["sessionId"],
}


def event_of(number: int) -> Event:
    """An event that counts, also by an operator on a key that all share."""
    key = f"{name}.{number}"
    delta = {key: number, f"user:{key}": number, "app:total": increment(), f"user:{name}": increment()}
    return Event(
        id=key,
        invocation_id=f"i-{key}",
        author=name,
        timestamp=1_700_000_000 + number,
        actions=EventActions(state_delta=delta),
    )


async def append(service: StatepadSessionService, session: Session, number: int) -> None:
    """Appends until it is acknowledged, with the session that it has."""
    while True:
        try:
            await service.append_event(session, event_of(number))
            return
        except PASSING:
            pass


async def count_up(service: StatepadSessionService) -> None:
    """Counts once: an answer that was lost is found again, perhaps without the count."""
    while True:
        try:
            await service.client.update_state(AppKey(KEY["app_name"]), {"app:updates": increment()})
            return
        except CommitUnknown as error:
            if error.committed:
                return
        except PASSING:
            pass


async def read(service: StatepadSessionService, config: GetSessionConfig | None = None) -> Session:
    """The session, however often that takes."""
    while True:
        try:
            session = await service.get_session(**KEY, config=config)
            assert session is not None
            return session
        except PASSING:
            pass


async def main() -> None:
    async with StatepadSessionService(asked["url"]) as service:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        session = await read(service, GetSessionConfig(num_recent_events=0))
        for number in range(asked["from"], asked["count"] + 1):
            await append(service, session, number)
            await count_up(service)
            print(number, flush=True)
            await asyncio.sleep(PAUSE)
        # The first one may lie before the others: an earlier process has stored it, and was killed.
        shown = [event.id for event in session.events if event.id != f"{name}.{asked['from']}"]
        log = [event.id for event in (await read(service)).events]
        start = log.index(shown[0]) if shown else 0
        expected = [id for id in log[start:] if id != f"{name}.{asked['from']}"][: len(shown)]
        assert shown == expected, f"the session shows {shown}, and the log has {expected}"


asyncio.run(main())
