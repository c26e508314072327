"""Operations that google-adk's interface does not have."""

from __future__ import annotations

import asyncio

import pytest
from google.adk.events.event import Event
from google.adk.sessions.session import Session

from statepad import (
    DELETED,
    MISSING,
    AppKey,
    InvalidArgument,
    LeaseHeld,
    LeaseLost,
    SessionKey,
    StateConflict,
    UserKey,
    compare_and_set,
    increment,
)
from statepad.adk import (
    AlreadyExistsError,
    DeletedChange,
    EventChange,
    SessionChange,
    SessionNotFoundError,
    ValuesChange,
)

from .agents import take_over
from .test_sessions import ids_of, writing


@pytest.fixture
def ids(app) -> dict[str, str]:
    return {"app_name": app, "user_id": "ana"}


def in_turn(invocation_id: str, **delta) -> Event:
    event = writing(**delta)
    event.invocation_id = invocation_id
    return event


def name_of(session: Session) -> SessionKey:
    return SessionKey(session.app_name, session.user_id, session.id)


async def test_a_session_is_got_or_created(sessions, ids):
    made = await sessions.get_or_create_session(**ids, session_id="s1", state={"n": 1, "temp:x": 1})
    assert made.state == {"n": 1}
    assert await sessions.get_or_create_session(**ids, session_id="s1", state={"n": 2}) == made


async def test_the_values_of_an_app_have_no_prefix(sessions, ids, app):
    await sessions.create_session(**ids, state={"app:theme": "dark"})
    assert await sessions.get_app_state(app_name=app) == {"theme": "dark"}


async def test_a_session_is_refreshed_in_place(sessions, ids):
    one = await sessions.create_session(**ids, state={"list": [1], "n": 1})
    two = await sessions.get_session(**ids_of(one))
    assert sessions.revision(one) == 0
    for index in range(40):
        await sessions.append_event(two, writing(n=index))
    values, state = one.state["list"], one.state
    await sessions.refresh(one)
    assert one == two
    assert one.state is state
    assert one.state["list"] is values
    assert sessions.revision(one) == 40
    assert sessions.revision(Session.model_validate(one.model_dump())) is None
    await sessions.delete_session(**ids_of(one))
    with pytest.raises(SessionNotFoundError):
        await sessions.refresh(one)
    await sessions.create_session(**ids, session_id=one.id)
    with pytest.raises(SessionNotFoundError):
        await sessions.refresh(one)
    assert len(one.events) == 40


async def test_updates_lose_no_write_and_show_on_the_session(sessions, ids):
    session = await sessions.create_session(**ids, state={"n": 0})

    async def count(state):
        await asyncio.sleep(0)
        return {"n": state["n"] + 1}

    await asyncio.gather(*(sessions.update_state(name_of(session), count) for _ in range(10)))
    assert await sessions.update_state(session, {"n": increment(5), "user:m": 1}, author="clerk") == {
        "n": 15,
        "user:m": 1,
    }
    assert session.state == {"n": 15, "user:m": 1}
    assert [event.author for event in session.events] == ["system"] * 10 + ["clerk"]
    assert session == await sessions.get_session(**ids_of(session))
    await sessions.update_state(UserKey(session.app_name, "ana"), lambda state: {"user:m": state["user:m"] + 1})
    await sessions.update_state(AppKey(session.app_name), {"app:x": 1})
    await sessions.refresh(session)
    assert session.state == {"n": 15, "user:m": 2, "app:x": 1}
    assert await sessions.update_state(session, lambda state: None) == session.state
    with pytest.raises(SessionNotFoundError):
        await sessions.update_state(SessionKey(session.app_name, "ana", "none"), {"n": 1})


async def test_the_state_of_a_revision_and_the_writes_of_a_key(sessions, ids):
    session = await sessions.create_session(**ids, state={"n": 0})
    events = [writing(n=1), writing(other=1), writing(n=DELETED)]
    for event in events:
        await sessions.append_event(session, event)
    assert await sessions.state_at(session, 0) == {"n": 0}
    assert await sessions.state_at(session, 2) == {"n": 1, "other": 1}
    assert await sessions.state_at(name_of(session)) == {"other": 1}
    with pytest.raises(InvalidArgument):
        await sessions.state_at(session, 9)
    steps = await sessions.history(session, "n")
    assert [(step.revision, step.before, step.after) for step in steps] == [
        (0, MISSING, 0),
        (1, 0, 1),
        (3, 1, MISSING),
    ]
    assert [step.event for step in steps] == [None, events[0], events[2]]
    assert steps[1].timestamp == events[0].timestamp
    assert [step.revision for step in await sessions.history(name_of(session), "n", last=1)] == [3]


async def test_the_writes_of_a_shared_key_have_their_writers(sessions, ids, app):
    session = await sessions.create_session(**ids, session_id="s1")
    event = writing(**{"app:n": 1, "user:n": 2})
    await sessions.append_event(session, event)
    (step,) = await sessions.history(AppKey(app), "app:n")
    assert (step.before, step.after, step.position) == (MISSING, 1, 1)
    assert step.by == {"userId": "ana", "sessionId": "s1", "eventId": event.id}
    assert [step.after for step in await sessions.history(UserKey(app, "ana"), "user:n")] == [2]


async def test_a_rewind_restores_the_creation_and_a_redo_takes_it_back(sessions, ids):
    session = await sessions.create_session(**ids, state={"made": 1, "n": 0, "user:n": 0})
    await sessions.append_event(session, in_turn("i1", n=1))
    await sessions.append_event(session, in_turn("i2", **{"n": 2, "made": None, "new": 1, "user:n": 2}))
    other = await sessions.get_session(**ids_of(session))
    event = await sessions.rewind(session, before="i2")
    assert event is session.events[-1]
    assert event.actions.rewind_before_invocation_id == "i2"
    assert session.state == {"made": 1, "n": 1, "user:n": 2}
    assert session == await sessions.get_session(**ids_of(session))
    await sessions.append_event(other, in_turn("i3", m=1))
    assert other.state == {"made": 1, "n": 1, "m": 1, "user:n": 2}
    with pytest.raises(InvalidArgument):
        await sessions.rewind(session, before="none")

    again = await sessions.create_session(**ids, state={"n": 0})
    await sessions.append_event(again, in_turn("i1", n=1))
    await sessions.rewind(name_of(again), before="i1")
    await sessions.refresh(again)
    assert again.state["n"] == 0
    await sessions.redo(again)
    assert again.state["n"] == 1
    assert again == await sessions.get_session(**ids_of(again))


async def test_a_fork_continues_from_a_moment(sessions, ids):
    session = await sessions.create_session(**ids, state={"n": 0})
    for index in (1, 2):
        await sessions.append_event(session, writing(n=index))
    fork = await sessions.fork(session, at=1, session_id="fork")
    assert (fork.id, fork.state) == ("fork", {"n": 1})
    assert fork.events[0] == session.events[0]
    assert fork == await sessions.get_session(**ids_of(fork))
    await sessions.append_event(fork, writing(n=9))
    assert (await sessions.get_session(**ids_of(session))).state == {"n": 2}
    with pytest.raises(AlreadyExistsError):
        await sessions.fork(session, at=2, session_id="fork")
    with pytest.raises(SessionNotFoundError):
        await sessions.fork(SessionKey(ids["app_name"], "ana", "none"))


async def test_a_watch_has_the_events_of_all_writers(sessions, connect, ids):
    session = await sessions.create_session(**ids)
    first = writing(n=1)
    await sessions.append_event(session, first)
    events = [writing(n=2), writing(n=3)]
    other = await connect().get_session(**ids_of(session))
    for event in events:
        await connect().append_event(other, event)
    # From the events that the session shows.
    async with sessions.watch(session) as changes:
        seen = [await anext(changes), await anext(changes)]
    assert [change.event for change in seen] == events
    assert [change.revision for change in seen] == [2, 3]
    assert isinstance(seen[0], EventChange)
    resumed = sessions.watch(name_of(session), since=seen[0].place)
    assert (await anext(resumed)).event == events[1]
    await sessions.delete_session(**ids_of(session))
    assert isinstance(await anext(resumed), DeletedChange)
    with pytest.raises(StopAsyncIteration):
        await anext(resumed)


async def test_a_watch_of_a_whole_session_begins_with_it(sessions, ids, app):
    session = await sessions.create_session(**ids, state={"n": 1, "user:n": 1})
    async with sessions.watch(session, whole=True) as changes, sessions.watch(UserKey(app, "ana")) as values:
        waiting = asyncio.ensure_future(anext(values))
        begin = await anext(changes)
        assert isinstance(begin, SessionChange)
        assert begin.session.model_dump() == session.model_dump()
        await sessions.append_event(session, writing(**{"user:n": 2}))
        assert {type(await anext(changes)) for _ in range(2)} == {EventChange, ValuesChange}
        while not waiting.done():
            await sessions.append_event(session, writing(**{"user:n": 2}))
            await asyncio.wait({waiting}, timeout=0.2)
        assert (await waiting).delta == {"user:n": 2}


async def test_writes_through_a_lost_lease_are_refused(sessions, connect, ids):
    session = await sessions.create_session(**ids)
    other = await sessions.get_session(**ids_of(session))

    async def write() -> None:
        async with sessions.lease(session, ttl=60.0) as leased:
            assert leased.held_lease.token > 0
            await leased.append_event(session, writing(n=1))
            await leased.update_state(session, {"n": 2})
            await leased.rewind(session, before="i1")
            with pytest.raises(LeaseHeld):
                await connect().client.take_lease(name_of(session))
            await take_over(leased.held_lease, connect())
            await leased.append_event(other, writing(n=9))

    with pytest.raises(LeaseLost):
        await write()
    assert "n" not in (await sessions.get_session(**ids_of(session))).state
    assert sessions.held_lease is None
    # Writers without a lease are not held up.
    await sessions.append_event(session, writing(m=1))


async def test_a_lost_lease_cancels_its_body(sessions, connect, ids):
    session = await sessions.create_session(**ids)

    async def wait() -> None:
        async with sessions.lease(session, ttl=0.3) as leased:
            await take_over(leased.held_lease, connect())
            await asyncio.Event().wait()

    with pytest.raises(LeaseLost):
        await wait()


async def test_a_lease_of_a_session_that_is_missing_or_deleted_is_adks_error(sessions, ids):
    with pytest.raises(SessionNotFoundError):
        async with sessions.lease(SessionKey(ids["app_name"], "ana", "none")):
            pass
    session = await sessions.create_session(**ids)

    async def write() -> None:
        async with sessions.lease(session) as leased:
            await sessions.delete_session(**ids_of(session))
            await leased.append_event(session, writing(n=1))

    with pytest.raises(SessionNotFoundError):
        await write()


async def test_a_lease_is_for_its_session_alone(sessions, ids):
    session = await sessions.create_session(**ids)
    other = await sessions.create_session(**ids)
    async with sessions.lease(session) as leased:
        await leased.append_event(other, writing(n=1))
        await leased.delete_session(**ids_of(other))
        await leased.delete_session(**ids_of(session))


async def test_a_failed_condition_is_told_with_its_key(sessions, ids):
    session = await sessions.create_session(**ids, state={"n": 1})
    with pytest.raises(StateConflict) as caught:
        await sessions.update_state(session, {"n": compare_and_set(2, 3)})
    assert caught.value.key == "n"
