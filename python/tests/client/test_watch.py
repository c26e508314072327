"""Watching: every change comes once, in order, whatever becomes of the connection."""

import asyncio
import gc
import itertools

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.proxy import FaultProxy
from support.sockets import connections_to

from statepad import (
    DELETED,
    AppKey,
    Client,
    DeletedChange,
    EventChange,
    InvalidArgument,
    ReloadChange,
    SessionChange,
    SessionKey,
    SessionNotFound,
    StatepadError,
    StoreUnavailable,
    Unauthenticated,
    UserKey,
    ValuesChange,
    apply_change,
    increment,
)
from statepad.changes import digest
from statepad.sse import Message, MessageReader


async def read(watch, count):
    """The next changes of a watch."""
    async with asyncio.timeout(20):
        return [await anext(watch) for _ in range(count)]


async def until(condition):
    """Waits until a condition holds, of which nothing tells."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def append(client, session, *numbers):
    for number in numbers:
        await client.append_event(session, {"id": f"e{number}", "actions": {"stateDelta": {"n": number}}})


async def test_the_events_of_a_session_come_after_the_revision_that_was_read(client, app):
    session = await client.create_session(app, "ana")
    await append(client, session, 1, 2)
    read_at = await client.get_session(app, "ana", session.id)
    await append(client, session, 3)
    async with client.watch(read_at) as watch:
        await append(client, session, 4)
        changes = await read(watch, 2)
    assert [(change.revision, change.event["id"]) for change in changes] == [(3, "e3"), (4, "e4")]
    for since in (2, changes[0].place):
        async with client.watch(SessionKey(app, "ana", session.id), since=since) as watch:
            assert (await read(watch, 1))[0].revision in (3, 4)


async def test_the_watch_of_a_name_begins_with_the_next_event(client, app):
    session = await client.create_session(app, "ana")
    await append(client, session, 1)
    async with client.watch(SessionKey(app, "ana", session.id)) as watch:
        next_change = asyncio.create_task(anext(watch))
        await until(lambda: watch._since is not None)
        await append(client, session, 2)
        assert (await next_change).revision == 2


async def test_the_values_of_an_app_and_a_user(client, app):
    await client.update_state(UserKey(app, "ana"), {"user:a": 1, "app:b": 1})
    async with client.watch(UserKey(app, "ana"), initial=True) as watch:
        first = (await read(watch, 1))[0]
        assert (first.position, first.from_position, first.delta) == (1, 0, {"user:a": 1})
        session = await client.create_session(app, "ana")
        await client.append_event(session, {"id": "e", "actions": {"stateDelta": {"user:a": DELETED, "user:c": 2}}})
        change = (await read(watch, 1))[0]
        assert change == ValuesChange(2, 1, {"user:a": DELETED, "user:c": 2}, change.place, None, change.by)
        assert change.by == {"userId": "ana", "sessionId": session.id, "eventId": "e"}
    async with client.watch(AppKey(app), since=1) as watch:
        await client.update_state(AppKey(app), {"app:b": 2})
        assert (await read(watch, 1))[0].delta == {"app:b": 2}


async def test_a_whole_session_is_kept_up_to_date_by_its_changes(client, app):
    session = await client.create_session(app, "ana", state={"a": 1, "user:u": 1, "app:v": 1}, ttl=3600)
    shown = None
    async with client.watch(session, whole=True) as watch:
        first = (await read(watch, 1))[0]
        assert isinstance(first, SessionChange)
        shown = apply_change(shown, first)
        await asyncio.sleep(0.002)
        await append(client, session, 1)
        await client.update_state(session, {"user:u": DELETED, "app:w": [1], "a": DELETED, "b": None})
        await client.update_state(UserKey(app, "ana"), {"user:x": increment()})
        target = await client.get_session(app, "ana", session.id)
        kinds = set()
        while (shown.state, shown.revision) != (target.state, target.revision):
            change = (await read(watch, 1))[0]
            kinds.add(type(change))
            shown = apply_change(shown, change)
    assert kinds == {EventChange, ValuesChange}
    assert list(shown.state) == list(target.state)
    assert (shown.events, shown.last_update_time) == (target.events, target.last_update_time)
    assert shown.expire_time == target.expire_time > first.session.expire_time
    async with client.watch(session, whole=True, since=change.place) as watch:
        await append(client, session, 2)
        assert isinstance((await read(watch, 1))[0], EventChange)
    async with client.watch(session, whole=True, initial=False) as watch:
        next_change = asyncio.create_task(anext(watch))
        await until(lambda: watch._since is not None)
        await append(client, session, 3)
        assert (await next_change).revision == 4


async def test_a_place_that_is_gone_is_read_anew(client, app):
    session = await client.create_session(app, "ana")
    await append(client, session, 1)
    async with client.watch(SessionKey(app, "ana", session.id), since=7) as watch:
        change = (await read(watch, 1))[0]
        assert isinstance(change, ReloadChange)
        assert change.at == 1
    async with client.watch(SessionKey(app, "ana", session.id), since="1:other") as watch:
        assert isinstance((await read(watch, 1))[0], ReloadChange)


async def test_a_deleted_session_is_the_last_change(client, app):
    session = await client.create_session(app, "ana")
    for options in ({}, {"whole": True, "initial": False}):
        other = await client.create_session(app, "ana")
        watch = client.watch(other, **options)
        waiting = asyncio.create_task(anext(watch))
        await until(lambda watch=watch: watch._was_connected)
        await client.delete_session(other)
        assert await asyncio.wait_for(waiting, 10) == DeletedChange()
        with pytest.raises(StopAsyncIteration):
            await anext(watch)
    assert apply_change(session, DeletedChange()) is None


async def test_a_refused_target_raises_at_its_first_change(client, app, connect, server):
    with pytest.raises(SessionNotFound):
        await anext(client.watch(SessionKey(app, "ana", "nowhere")))
    with pytest.raises(Unauthenticated):
        await anext(connect(server.uri, token="another-one").watch(AppKey(app)))
    with pytest.raises(StoreUnavailable):
        await anext(connect("statepad://127.0.0.1:1").watch(AppKey(app)))
    with pytest.raises(InvalidArgument):
        await anext(client.watch(AppKey(app), since="nonsense"))
    for arguments, options in (
        ((AppKey(app),), {"whole": True}),
        ((AppKey(app),), {"since": 1.5}),
        ((AppKey(app),), {"since": True}),
        ((AppKey(app),), {"silence": 0}),
        ((AppKey("\ud800"),), {}),
    ):
        with pytest.raises(InvalidArgument):
            client.watch(*arguments, **options)


async def test_a_call_that_is_cancelled_loses_no_change(client, app, proxy, connect):
    session = await client.create_session(app, "ana")
    watch = connect(proxy.uri).watch(session)
    seen = []

    async def write():
        for number in range(30):
            await append(client, session, number)
            await asyncio.sleep(0.003)

    writing = asyncio.create_task(write())
    async with asyncio.timeout(20):
        while len(seen) < 30:
            try:
                async with asyncio.timeout(0.004):
                    seen.append((await anext(watch)).revision)
            except TimeoutError:
                continue
    await writing
    assert seen == list(range(1, 31))
    # A call that is cancelled keeps the connection.
    assert proxy.connections < 8
    await watch.aclose()


@pytest.mark.parametrize("seed", range(1, 5))
async def test_a_stream_that_is_cut_at_random_bytes_misses_and_repeats_nothing(client, server, connect, app, seed):
    async with FaultProxy(server.port) as proxy:
        session = await client.create_session(app, "ana")
        reader = connect(proxy.uri, attempts=50)
        events, whole, values = (
            reader.watch(session),
            reader.watch(session, whole=True),
            reader.watch(UserKey(app, "ana")),
        )
        for watch in (events, whole, values):
            watch._pause = 0.005
        proxy.chaos(seed, 1_500, "answer")
        count = 40

        async def revisions():
            return [(await anext(events)).revision for _ in range(count)]

        async def kept():
            shown = None
            while shown is None or shown.revision < count or shown.state.get("user:total") != count:
                shown = apply_change(shown, await anext(whole))
            return shown

        async def positions():
            change = await anext(values)
            steps = [(change.from_position, change.position)]
            total = change.delta["user:total"]
            while total < count:
                change = await anext(values)
                steps.append((change.from_position, change.position))
                total = change.delta["user:total"]
            return steps

        async with asyncio.timeout(100), asyncio.TaskGroup() as group:
            reading = [group.create_task(work()) for work in (revisions, kept, positions)]
            # A whole session that has grown would not fit between two cuts.
            await until(lambda: events._was_connected and whole._since and values._since)
            for number in range(count):
                delta = {"n": number, "text": "x" * (number * 7), "user:total": increment()}
                await client.append_event(session, {"actions": {"stateDelta": delta}})
        seen, shown, steps = [each.result() for each in reading]
        assert seen == list(range(1, count + 1))
        assert shown.state == (await client.get_session(app, "ana", session.id)).state
        assert [after for _, after in steps[:-1]] == [before for before, _ in steps[1:]]
        assert proxy.cuts > 5
        for watch in (events, whole, values):
            watch._pause = 0.005
            await watch.aclose()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Pauses between connections that are short, also where the server sets others."""
    monkeypatch.setattr("statepad.watch._MAX_PAUSE", 0.02)


async def test_a_watch_outlives_servers_that_are_killed(start_server, app, connect):
    server = start_server()
    client = connect(server.uri, attempts=200, pause=0.02)
    session = await client.create_session(app, "ana")
    watch = client.watch(session)
    for number in range(1, 7, 2):
        await append(client, session, number)
        assert [change.revision for change in await read(watch, 1)] == [number]
        waiting = asyncio.create_task(anext(watch))
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        await append(client, session, number + 1)
        assert (await asyncio.wait_for(waiting, 20)).revision == number + 1
    await watch.aclose()


async def test_a_silent_connection_is_renewed(client, proxy, connect, app):
    session = await client.create_session(app, "ana")
    watch = connect(proxy.uri).watch(session, silence=0.3)
    await append(client, session, 1)
    assert (await read(watch, 1))[0].revision == 1
    proxy.hold()
    waiting = asyncio.create_task(anext(watch))
    before = proxy.connections
    await append(client, session, 2)
    await until(lambda: proxy.connections > before)
    proxy.release()
    assert (await asyncio.wait_for(waiting, 20)).revision == 2
    await watch.aclose()


async def test_a_closed_watch_and_a_closed_client_end_the_loop(server, app):
    client = Client(server.uri, token=server.token)
    session = await client.create_session(app, "ana")

    async def loop(watch):
        return [change async for change in watch]

    one, other = client.watch(session), client.watch(AppKey(app))
    looping = [asyncio.create_task(loop(watch)) for watch in (one, other)]
    await asyncio.sleep(0.1)
    await one.aclose()
    assert await asyncio.wait_for(looping[0], 5) == []
    assert not looping[1].done()
    await client.aclose()
    assert await asyncio.wait_for(looping[1], 5) == []
    assert [change async for change in other] == []


async def test_two_calls_at_a_time_are_refused(client, app):
    watch = client.watch(AppKey(app))
    first = asyncio.create_task(anext(watch))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="another task"):
        await anext(watch)
    await watch.aclose()
    with pytest.raises(StopAsyncIteration):
        await first


async def test_a_loop_that_is_left_lets_the_connection_go(start_server, app):
    server = start_server("memory:")
    async with Client(server.uri, token=server.token) as client:
        session = await client.create_session(app, "ana")
        await append(client, session, 1)
        async for change in client.watch(SessionKey(app, "ana", session.id), since=0):
            assert change.revision == 1
            break
        gc.collect()
        await asyncio.sleep(0.1)
        await client.append_event(session, {})
        assert connections_to(server.port) == 1


async def test_a_long_target_travels_in_a_body(client, app):
    user = "u" * 3_000
    session = await client.create_session(app, user)
    async with client.watch(session) as watch:
        await append(client, session, 1)
        assert (await read(watch, 1))[0].revision == 1


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ([httpx.Response(200, html="<h1>Log in</h1>")], StoreUnavailable),
        ([httpx.Response(404, text="no such page")], StoreUnavailable),
        ([httpx.Response(502, text="bad gateway")], StoreUnavailable),
        ([httpx.Response(307, headers={"location": "https://elsewhere.example"})], StatepadError),
        (
            [
                httpx.Response(
                    200, text='event: error\nid: 0/\ndata: {"a":1}\n\n', headers={"content-type": "text/event-stream"}
                )
            ],
            StatepadError,
        ),
    ],
)
async def test_an_answer_of_another_program_is_an_error(answers, kind):
    handler = lambda request: answers[0]  # noqa: E731
    make = lambda: httpx.AsyncClient(transport=httpx.MockTransport(handler), max_redirects=2)  # noqa: E731
    client = Client("statepad://localhost", http_client=make)
    with pytest.raises(kind):
        await anext(client.watch(AppKey("a")))


STREAM = (
    b'\xef\xbb\xbfretry: 250\n\n: \n\nid: 0/3\n\nevent: event\rid: 0/4:x\rdata: {"a":\ndata:1}\r\n\r\n'
    b"data\n\nid: a\0b\nevent: x\n\nunknown: 1\nevent: values\ndata: \xc3\xbc\n\nevent: half\ndata: 1\n"
)
MESSAGES = [
    Message("message", "", "0/3"),
    Message("event", '{"a":\n1}', "0/4:x"),
    Message("message", "", None),
    Message("values", "ü", None),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_messages_are_the_same_in_whatever_pieces_they_come(cuts):
    reader = MessageReader()
    places = [0, *sorted(cuts), len(STREAM)]
    messages = [message for begin, end in itertools.pairwise(places) for message in reader.push(STREAM[begin:end])]
    assert messages == MESSAGES
    assert reader.retry == 0.25


async def test_the_place_of_an_event_is_the_one_that_a_server_gives(client, app):
    session = await client.create_session(app, "ana")
    ids = ["e-1", "a longer id with ü and \U0001f600", "\x00", "~" * 200]
    for id in ids:
        await client.append_event(session, {"id": id})
    async with client.watch(session, since=0) as watch:
        changes = await read(watch, len(ids))
    assert [change.place for change in changes] == [f"{at}:{digest(id)}" for at, id in enumerate(ids, 1)]
