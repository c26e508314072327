"""How many acknowledged writes the session services of adk-python lose when several write at the same time.

    python -m venv venv && venv/bin/pip install google-adk==2.13.0 redis
    venv/bin/python lost_writes.py redis PORT [USERS [WRITES]]        8 users, 50 writes each
    venv/bin/python lost_writes.py sqlite FILE [PROCESSES [WRITES]]   2 processes, 150 writes each

redis: users of one app, in one process, append to a session of their own each, and each event writes a key of the app
that no other event writes. A key that is not there afterwards is lost.

sqlite: processes append to a session of their own each, and each event adds one to a counter of the app that was read
right before. What the counter misses is lost. (Keys that are written once each are all there, as this service merges
them in the database.)
"""

import asyncio
import json
import subprocess
import sys
import uuid

from google.adk.events import Event, EventActions

APP = "app"


def redis_service(port):
    from google.adk.integrations.redis import RedisSessionService, RedisSessionServiceConfig

    return RedisSessionService(RedisSessionServiceConfig(port=int(port)))


def sqlite_service(file):
    from google.adk.sessions.sqlite_session_service import SqliteSessionService

    return SqliteSessionService(file)


async def append(service, session, delta):
    """Appends an event with a delta; answers whether it was acknowledged."""
    event = Event(id=str(uuid.uuid4()), author=session.user_id, actions=EventActions(state_delta=delta))
    try:
        await service.append_event(session, event)
    except Exception as error:  # noqa: BLE001 - each database refuses in its own words
        print("refused:", repr(error)[:80], file=sys.stderr)
        return False
    return True


async def app_state(service):
    """The state that a new session of the app begins with."""
    return (await service.create_session(app_name=APP, user_id="reader")).state


def tell(acknowledged, asked, lost):
    print(f"{asked} asked, {acknowledged} acknowledged, {lost} of them lost")


async def keys_in_one_process(port, users, times):
    service = redis_service(port)

    async def write(user):
        session = await service.create_session(app_name=APP, user_id=user)
        keys = [f"app:{user}-{number}" for number in range(times)]
        return [key for key in keys if await append(service, session, {key: 1})]

    written = await asyncio.gather(*(write(f"u{user}") for user in range(users)))
    acknowledged = [key for keys in written for key in keys]
    state = await app_state(redis_service(port))
    tell(len(acknowledged), users * times, sum(key not in state for key in acknowledged))


async def counter_in_processes(file, processes, times):
    await app_state(sqlite_service(file))
    command = [sys.executable, __file__, "count", file, str(times)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for child in children:
        child.stdout.readline()
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    acknowledged = sum(json.loads(child.communicate()[0]) for child in children)
    state = await app_state(sqlite_service(file))
    tell(acknowledged, processes * times, acknowledged - state["app:count"])


async def count(file, times):
    """What one process does, once it is told to go."""
    service = sqlite_service(file)
    key = {"app_name": APP, "user_id": "ana"}
    session_id = (await service.create_session(**key)).id
    print("ready", flush=True)
    sys.stdin.readline()
    acknowledged = 0
    for _ in range(times):
        session = await service.get_session(**key, session_id=session_id)
        acknowledged += await append(service, session, {"app:count": session.state.get("app:count", 0) + 1})
    print(json.dumps(acknowledged))


if __name__ == "__main__":
    what, place, *given = sys.argv[1:]
    run, counts = {
        "redis": (keys_in_one_process, [8, 50]),
        "sqlite": (counter_in_processes, [2, 150]),
        "count": (count, []),
    }[what]
    chosen = [int(each) for each in given]
    asyncio.run(run(place, *chosen, *counts[len(chosen) :]))
