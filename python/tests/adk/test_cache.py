"""Sessions whose events are kept between reads."""

from __future__ import annotations

import asyncio

import pytest

from statepad.adk import StatepadSessionService

from .test_sessions import ids_of, writing


@pytest.fixture
def read(monkeypatch):
    """Counts the events that are read."""
    counted: list[int] = []

    def watch(sessions: StatepadSessionService) -> list[int]:
        get = sessions.client.get_session

        async def get_session(*args, **options):
            data = await get(*args, **options)
            counted.append(0 if data is None else len(data.events))
            return data

        monkeypatch.setattr(sessions.client, "get_session", get_session)
        return counted

    return watch


async def test_only_new_events_are_read(connect, app, read):
    cached = connect(cached_events=1_000)
    plain = connect()
    session = await plain.create_session(app_name=app, user_id="ana")
    for index in range(30):
        await plain.append_event(session, writing(n=index))
    counted = read(cached)
    for more in (0, 1, 15, 40):
        for index in range(more):
            await plain.append_event(session, writing(m=index))
        assert await cached.get_session(**ids_of(session)) == await plain.get_session(**ids_of(session))
    # All; the last ones; the same with one and with 15 new ones; and those that show the gap, and fill it.
    assert counted == [30, 16, 16, 16, 56]
    one, two = [await cached.get_session(**ids_of(session)) for _ in range(2)]
    assert one.events is not two.events
    assert one.state is not two.state
    await cached.append_event(one, writing(n="new"))
    assert one == await cached.get_session(**ids_of(session))
    assert len(two.events) == 86


async def test_a_session_that_was_created_anew_is_read_anew(connect, app, read):
    cached = connect(cached_events=1_000)
    ids = {"app_name": app, "user_id": "ana", "session_id": "s1"}
    for number in range(2):
        session = await cached.create_session(**ids)
        for index in range(3 + number):
            await cached.append_event(session, writing(n=index))
        assert await cached.get_session(**ids) == session
        await cached.delete_session(**ids)
    assert await cached.get_session(**ids) is None


async def test_a_log_that_went_back_is_read_anew(start_server, tmp_path_factory, app):
    server = start_server()
    async with StatepadSessionService(server.uri, token=server.token, cached_events=1_000) as cached:
        session = await cached.create_session(app_name=app, user_id="ana")
        await cached.append_event(session, writing(n=1))
        server.stop()
        backup = {path: path.read_bytes() for path in server._folder.glob("sessions.db*")}
        server.start()
        await cached.append_event(session, writing(n=2))
        assert len((await cached.get_session(**ids_of(session))).events) == 2
        server.stop()
        for path in server._folder.glob("sessions.db*"):
            path.unlink()
        for path, content in backup.items():
            path.write_bytes(content)
        server.start()
        assert (await cached.get_session(**ids_of(session))).state == {"n": 1}
        behind = session.model_copy(deep=True)
        await cached.append_event(behind, writing(m=1))
        # It shows an event that the log has no more, and its own.
        assert [event.actions.state_delta for event in behind.events] == [{"n": 1}, {"n": 2}, {"m": 1}]
        assert behind.state == {"n": 1, "m": 1}
        other = await cached.get_session(**ids_of(session))
        await cached.append_event(other, writing(n=3))
        read = await cached.get_session(**ids_of(session))
        assert [event.actions.state_delta for event in read.events] == [{"n": 1}, {"m": 1}, {"n": 3}]
        await cached.append_event(session, writing(o=1))
        assert session.state == {"n": 3, "m": 1, "o": 1}


async def test_it_keeps_no_more_events_than_it_may(connect, app, read):
    cached = connect(cached_events=5)
    sessions = [await cached.create_session(app_name=app, user_id="ana") for _ in range(3)]
    for index, session in enumerate(sessions):
        for _ in range(3 if index < 2 else 9):
            await cached.append_event(session, writing(n=1))
    for _ in range(2):
        for session in sessions:
            assert await cached.get_session(**ids_of(session)) == session
    # The second one: there is no room for the first one beside it, and none for the third one at all.
    assert [(key[2], len(log.events)) for key, log in cached._events._logs.items()] == [(sessions[1].id, 3)]


async def test_parallel_reads_and_writes_agree(connect, app):
    cached = connect(cached_events=100)
    session = await cached.create_session(app_name=app, user_id="ana")

    async def write() -> None:
        for index in range(20):
            await cached.append_event(session, writing(n=index))

    async def look() -> None:
        for _ in range(20):
            found = await cached.get_session(**ids_of(session))
            assert [event.actions.state_delta["n"] for event in found.events] == list(range(len(found.events)))
            assert not found.events or found.state["n"] == len(found.events) - 1

    await asyncio.gather(write(), look(), look())
