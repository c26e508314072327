"""Connections that are cut, and servers that are killed: nothing is lost, and nothing is written twice."""

import asyncio
import random
import sys

import pytest
from support.proxy import FaultProxy

from statepad import AppKey, Client, CommitUnknown, SessionKey, StatepadError, StoreUnavailable, increment

PASSING = ("STORE_UNAVAILABLE", "COMMIT_UNKNOWN", "CLOSED")


def counted(name, number):
    """An event that counts, and whose id depends on its number alone."""
    id = f"{name}.{number}"
    return {"id": id, "author": name, "actions": {"stateDelta": {id: number, "n": increment()}}}


async def again(call):
    """Calls until there is an answer: for the same event that is safe."""
    while True:
        try:
            return await call()
        except StatepadError as error:
            if error.code not in PASSING:
                raise


@pytest.mark.parametrize("direction", ["request", "answer"])
async def test_a_connection_that_is_cut_at_any_byte_loses_and_doubles_nothing(connect, client, proxy, app, direction):
    through = connect(proxy.uri)
    session = await client.create_session(app, "ana")
    written = 0
    # A request has about 500 bytes, an answer about 600.
    for after in (0, 1, 15, 16, 17, *range(40, 900, 29)):
        proxy.cut(direction, after)
        written += 1
        appended = await through.append_event(session, counted("ana", written))
        assert appended.event["actions"]["stateDelta"]["n"] == written
        assert appended.revision == written
    assert proxy.cuts > 20
    proxy.calm()
    shown = await client.get_session(app, "ana", session.id)
    assert (shown.revision, shown.state["n"]) == (written, written)


async def test_creations_forks_and_rewinds_whose_answers_are_lost_happen_once(connect, client, proxy, app):
    through = connect(proxy.uri)
    for number in range(1, 8):
        proxy.cut("answer", number * 40)
        session = await through.create_session(app, "ana", state={"a": number})
        await through.append_event(session, {"invocationId": "i", "actions": {"stateDelta": {"a": -1}}})
        proxy.cut("answer", number * 40)
        assert (await through.rewind(session, before="i")).revision == 2
        proxy.cut("answer", number * 40)
        fork = await through.fork(session)
        assert fork.state == {"a": number}
    assert proxy.cuts == 21
    assert (await client.list_sessions(app)).total == 14


async def test_a_read_whose_answer_is_cut_is_read_again(connect, client, proxy, app):
    session = await client.create_session(app, "ana", state={"text": "x" * 200_000})
    through = connect(proxy.uri)
    for after in (0, 100, 5_000, 150_000):
        proxy.cut("answer", after)
        assert await through.get_session(app, "ana", session.id) == session
        assert proxy.has_cut


async def test_an_outcome_that_stays_open_is_an_error_that_says_so(connect, client, proxy, app):
    session = await client.create_session(app, "ana")
    through = connect(proxy.uri, timeout=0.6)
    proxy.hold()
    with pytest.raises(CommitUnknown):
        await through.append_event(session, counted("ana", 1))
    with pytest.raises(StoreUnavailable):
        await through.get_session(app, "ana", session.id)
    proxy.release()
    # The same event tells.
    assert (await through.append_event(session, counted("ana", 1))).revision == 1
    assert (await client.get_session(app, "ana", session.id)).state["n"] == 1


async def test_a_server_that_is_not_there_is_unavailable_and_nothing_is_open(connect, app):
    nobody = connect("statepad://127.0.0.1:1", attempts=3)
    for call in (nobody.create_session(app, "ana"), nobody.append_event(SessionKey(app, "ana", "s"), {})):
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            await call


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_writers_over_connections_that_break_by_chance_lose_and_double_nothing(connect, server, app, seed):
    async with FaultProxy(server.port) as proxy:
        calm = connect(server.uri)
        session = await calm.create_session(app, "ana")
        writers = [connect(proxy.uri, attempts=4) for _ in range(3)]
        proxy.chaos(seed, 1_000)

        async def write(number, writer):
            for turn in range(15):
                event = counted(f"w{number}", turn)
                await again(lambda event=event: writer.append_event(session, event))

        await asyncio.gather(*(write(*each) for each in enumerate(writers)))
        assert proxy.cuts > 10
        shown = await calm.get_session(app, "ana", session.id)
        assert (shown.revision, shown.state["n"]) == (45, 45)
        assert len({event["id"] for event in shown.events}) == 45
        for number in range(3):
            own = [event["id"] for event in shown.events if event["author"] == f"w{number}"]
            assert own == [f"w{number}.{turn}" for turn in range(15)]


@pytest.mark.parametrize("seed", [4, 5])
async def test_counters_over_connections_that_break_by_chance_are_exact(connect, server, app, seed):
    async with FaultProxy(server.port) as proxy:
        proxy.chaos(seed, 1_000)
        outcomes = {"counted": 0, "open": 0}
        seen = []

        async def count(client):
            for _ in range(15):
                try:
                    seen.append((await client.update_state(AppKey(app), {"app:n": increment()}))["app:n"])
                    outcomes["counted"] += 1
                except CommitUnknown as error:
                    outcomes["counted" if error.committed else "open"] += 1
                except StoreUnavailable:
                    continue

        await asyncio.gather(*(count(connect(proxy.uri, attempts=4)) for _ in range(3)))
        assert proxy.cuts > 10
        total = (await connect(server.uri).get_app_state(app))["n"]
        assert outcomes["counted"] <= total <= outcomes["counted"] + outcomes["open"]
        assert outcomes["counted"] > 30
        # Each number is told once.
        assert len(seen) == len(set(seen))


async def test_writers_outlive_servers_that_are_killed_and_started_again(start_server, app):
    server = start_server()
    async with Client(server.uri, token=server.token, pause=0.05, attempts=200) as client:
        session = await client.create_session(app, "ana")
        acknowledged = []
        moment = asyncio.Condition()

        async def write(name):
            for number in range(40):
                stored = await again(lambda number=number: client.append_event(session, counted(name, number)))
                async with moment:
                    acknowledged.append(stored.event["id"])
                    moment.notify_all()
                await client.update_state(AppKey(app), {f"app:{name}": number})

        writing = asyncio.gather(*(write(name) for name in ("ana", "ben")))
        for _ in range(3):
            async with moment:
                most = len(acknowledged) + 8
                await moment.wait_for(lambda most=most: len(acknowledged) >= most)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        await writing
        shown = await client.get_session(app, "ana", session.id)
        assert (shown.revision, shown.state["n"]) == (80, 80)
        assert {event["id"] for event in shown.events} == set(acknowledged)


# A program that appends until it is killed. It prints the id of each event that is acknowledged.
WRITER = """
import asyncio, sys
from statepad import Client, SessionKey, increment

async def main(uri, token, app, first):
    async with Client(uri, token=token) as client:
        for number in range(int(first), 10_000):
            event = {"id": f"e{number}", "actions": {"stateDelta": {"n": increment()}}}
            await client.append_event(SessionKey(app, "ana", "s"), event)
            print(event["id"], flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_what_a_killed_writer_was_told_is_stored_and_can_be_sent_again(client, server, app):
    await client.create_session(app, "ana", session_id="s")
    told = 0
    generator = random.Random(7)
    for _ in range(3):
        # It begins with the last event that was told: that one is stored once.
        arguments = [sys.executable, "-c", WRITER, server.uri, server.token, app, str(told)]
        process = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
        for _ in range(generator.randint(3, 12)):
            told = int((await process.stdout.readline())[1:])
        process.kill()
        await process.wait()
    shown = await client.get_session(app, "ana", "s")
    ids = [event["id"] for event in shown.events]
    assert len(ids) == len(set(ids)) == shown.state["n"] == shown.revision
    assert {f"e{number}" for number in range(told + 1)} <= set(ids)
