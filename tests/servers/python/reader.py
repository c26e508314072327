"""Watches a session from its first event on, until so many events are there, and reads it with google-adk.

Usage: reader.py JSON, with the members url, key and count. When it was told of all events, it waits for a line before
it reads the session. Prints JSON: the ids that it was told, and the ids of the events and the state that it has read.
"""

import asyncio
import json
import sys

from statepad import EventChange, SessionKey, StoreUnavailable
from statepad.adk import StatepadSessionService

asked = json.loads(sys.argv[1])
KEY = (asked["key"]["appName"], asked["key"]["userId"], asked["key"]["sessionId"])


async def main() -> None:
    async with StatepadSessionService(asked["url"]) as service:
        told: list[str] = []
        async with service.client.watch(SessionKey(*KEY), since=0) as changes:
            async for change in changes:
                assert isinstance(change, EventChange), change
                assert change.revision == len(told) + 1
                told.append(change.event["id"])
                if len(told) == asked["count"]:
                    break
        await asyncio.to_thread(sys.stdin.readline)
        while True:
            try:
                session = await service.get_session(app_name=KEY[0], user_id=KEY[1], session_id=KEY[2])
                break
            except StoreUnavailable:
                pass
        assert session is not None
        print(json.dumps({"told": told, "ids": [event.id for event in session.events], "state": session.state}))


asyncio.run(main())
