"""The session service of google-adk, by its letter."""

from __future__ import annotations

import asyncio
import copy
import inspect
import math
import pickle
import uuid

import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.session import Session

from statepad import DELETED, CommitUnknown, ValueNotJson
from statepad.adk import AlreadyExistsError, SessionNotFoundError, StaleSessionError, StatepadSessionService
from statepad.adk.times import to_milliseconds


def writing(author="agent", **delta) -> Event:
    return Event(author=author, invocation_id="i1", actions=EventActions(state_delta=delta))


def ids_of(session: Session) -> dict[str, str]:
    return {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}


@pytest.fixture
def ids(app) -> dict[str, str]:
    return {"app_name": app, "user_id": "ana"}


def test_it_has_every_method_of_the_base_class_with_its_parameters():
    for name, method in inspect.getmembers(BaseSessionService, inspect.isfunction):
        if not name.startswith("_"):
            own = inspect.signature(getattr(StatepadSessionService, name)).parameters
            assert own.keys() >= inspect.signature(method).parameters.keys(), name


async def test_a_session_is_created_with_the_values_of_all_scopes(sessions, ids):
    state = {"topic": "tides", "app:theme": "dark", "user:visits": 1, "temp:gone": 1}
    session = await sessions.create_session(**ids, state=state)
    assert session.state == {"topic": "tides", "app:theme": "dark", "user:visits": 1}
    assert uuid.UUID(session.id)
    assert session.events == []
    assert type(session.state) is dict
    other = await sessions.create_session(**ids, session_id=" ")
    assert other.state == {"app:theme": "dark", "user:visits": 1}
    assert uuid.UUID(other.id)
    assert await sessions.get_user_state(**ids) == {"visits": 1}
    assert await sessions.get_user_state(app_name=ids["app_name"], user_id="ben") == {}


async def test_the_state_of_a_creation_may_have_values_of_python(sessions, ids):
    session = await sessions.create_session(**ids, state={"pair": (1, 2), "numbered": {7: "x"}})
    assert session.state == {"pair": [1, 2], "numbered": {"7": "x"}}


async def test_a_taken_id_is_adks_error(sessions, ids):
    await sessions.create_session(**ids, session_id="s1")
    with pytest.raises(AlreadyExistsError, match="s1"):
        await sessions.create_session(**ids, session_id="s1", state={"user:n": 1})
    assert await sessions.get_user_state(**ids) == {}


async def test_a_missing_session_is_none_and_may_be_deleted(sessions, ids):
    assert await sessions.get_session(**ids, session_id="none") is None
    await sessions.delete_session(**ids, session_id="none")


async def test_a_deleted_session_takes_no_events_and_keeps_shared_values(sessions, ids):
    session = await sessions.create_session(**ids, session_id="s1", state={"user:n": 1})
    await sessions.delete_session(**ids_of(session))
    assert await sessions.get_session(**ids_of(session)) is None
    with pytest.raises(SessionNotFoundError):
        await sessions.append_event(session, writing(n=1))
    await sessions.create_session(**ids, session_id="s1")
    with pytest.raises(SessionNotFoundError):
        await sessions.append_event(session, writing(n=1))
    assert session.events == []
    assert (await sessions.get_session(**ids_of(session))).state == {"user:n": 1}


async def test_an_event_reaches_the_session_that_was_passed_and_the_store(sessions, ids):
    session = await sessions.create_session(**ids, state={"n": 1})
    event = writing(**{"n": 2, "user:n": {"a": [1]}, "app:n": None})
    state, events = session.state, session.events
    assert await sessions.append_event(session, event) is event
    assert session.events == [event]
    assert session.events[0] is event
    assert (session.state, session.events) == (state, events)
    assert session.state is state
    assert session.events is events
    assert session.last_update_time == event.timestamp
    read = await sessions.get_session(**ids_of(session))
    assert read == session
    assert read.state == {"n": 2, "user:n": {"a": [1]}, "app:n": None}


async def test_a_partial_event_changes_nothing(sessions, ids):
    session = await sessions.create_session(**ids)
    event = writing(**{"n": 1, "temp:n": 1})
    event.partial = True
    before = event.model_copy(deep=True)
    assert await sessions.append_event(session, event) is event
    assert event == before
    assert (session.state, session.events) == ({}, [])
    assert (await sessions.get_session(**ids_of(session))).events == []


async def test_temp_keys_are_for_the_session_that_was_passed_alone(sessions, ids):
    session = await sessions.create_session(**ids)
    event = writing(**{"n": 1, "temp:secret": 2})
    await sessions.append_event(session, event)
    assert session.state == {"n": 1, "temp:secret": 2}
    assert event.actions.state_delta == {"n": 1}
    await sessions.append_event(session, writing(n=2))
    assert session.state == {"n": 2, "temp:secret": 2}
    assert (await sessions.get_session(**ids_of(session))).state == {"n": 2}


async def test_temp_keys_are_applied_and_trimmed_also_when_the_append_fails(sessions, ids):
    session = await sessions.create_session(**ids)
    event = writing(**{"n": float("nan"), "temp:secret": 2})
    with pytest.raises(ValueNotJson, match=r'stateDelta\["n"\]'):
        await sessions.append_event(session, event)
    assert session.state == {"temp:secret": 2}
    assert event.actions.state_delta.keys() == {"n"}
    assert session.events == []


async def test_what_others_wrote_comes_with_an_append_in_place(sessions, ids):
    first = {"list": [1], "kept": {"a": 1}, "gone": 1, "app:shared": 1}
    one = await sessions.create_session(**ids, state=first)
    two = await sessions.get_session(**ids_of(one))
    third = await sessions.create_session(**ids)
    kept, state = one.state["kept"], one.state
    foreign = writing(**{"list": [1, 2], "new": "x"})
    await sessions.append_event(two, foreign)
    await sessions.append_event(third, writing(**{"app:shared": 2, "user:new": True}))
    await sessions.append_event(one, writing(mine=1))
    assert one.state is state
    assert one.state["kept"] is kept
    assert one.state == {**first, "list": [1, 2], "new": "x", "app:shared": 2, "user:new": True, "mine": 1}
    assert one.events[0].id == foreign.id
    assert len(one.events) == 2
    assert one == await sessions.get_session(**ids_of(one))


async def test_writes_that_are_not_appended_yet_survive_the_writes_of_others(sessions, ids):
    one = await sessions.create_session(**ids, state={"list": [1], "n": 1, "m": 1})
    two = await sessions.get_session(**ids_of(one))
    await sessions.append_event(two, writing(list=[9], n=9, m=9))
    # As ADK's state does while a tool runs: into a value, and by an assignment.
    pending = one.state["list"]
    pending.append(2)
    one.state["n"] = 5
    one.state["added"] = True
    await sessions.append_event(one, writing(other=1))
    assert one.state["list"] is pending
    assert one.state == {"list": [1, 2], "n": 5, "m": 9, "added": True, "other": 1}
    await sessions.append_event(one, writing(list=pending, n=5, added=True))
    assert one.state["list"] is pending
    assert (await sessions.get_session(**ids_of(one))).state == one.state


async def test_what_others_deleted_goes_unless_it_was_written_here(sessions, ids):
    one = await sessions.create_session(**ids, state={"gone": [1], "written": 1, "app:gone": 1})
    two = await sessions.get_session(**ids_of(one))
    await sessions.append_event(two, writing(**{"gone": DELETED, "written": DELETED, "app:gone": DELETED}))
    one.state["written"] = 2
    await sessions.append_event(one, writing(n=1))
    assert one.state == {"written": 2, "n": 1}
    copied = Session.model_validate(one.model_dump())
    await sessions.append_event(two, writing(n=DELETED))
    await sessions.append_event(copied, writing(m=1))
    assert copied.state == {"written": 2, "m": 1}


async def test_values_of_python_count_as_what_is_stored_of_them(sessions, ids):
    one = await sessions.create_session(**ids)
    await sessions.append_event(one, writing(pair=(1, 2), whole=2.0, yes=True))
    pair = one.state["pair"]
    two = await sessions.get_session(**ids_of(one))
    await sessions.append_event(one, writing(n=1))
    assert one.state["pair"] is pair
    await sessions.append_event(two, writing(pair=[3], whole=3, yes=1))
    await sessions.append_event(one, writing(n=2))
    assert one.state == {"pair": [3], "whole": 3, "yes": 1, "n": 2}
    assert one.state["yes"] is not True


async def test_with_strict_a_session_that_is_behind_is_stale(connect, ids):
    strict = connect(strict=True)
    one = await strict.create_session(**ids, state={"n": 1})
    two = await strict.get_session(**ids_of(one))
    await strict.append_event(two, writing(n=2))
    with pytest.raises(StaleSessionError, match="modified in storage"):
        await strict.append_event(one, writing(n=3))
    assert one.events == []
    await strict.append_event(two, writing(n=4))
    again = await strict.get_session(**ids_of(one))
    await strict.append_event(again, writing(n=5))
    assert again.state == {"n": 5}
    assert len(again.events) == 3


async def test_parallel_appends_through_one_session_all_count(connect, ids):
    for strict in (False, True):
        sessions = connect(strict=strict)
        session = await sessions.create_session(**ids)
        events = [writing(**{f"k{index}": index}) for index in range(20)]
        await asyncio.gather(*(sessions.append_event(session, event) for event in events))
        assert [event.id for event in session.events] == [event.id for event in events]
        assert session == await sessions.get_session(**ids_of(session))


async def test_an_event_that_is_appended_again_counts_once(sessions, ids):
    session = await sessions.create_session(**ids)
    event = writing(n=1)
    await sessions.append_event(session, event)
    await sessions.append_event(session, event)
    other = await sessions.get_session(**ids_of(session))
    await sessions.append_event(other, event.model_copy(deep=True))
    assert len(session.events) == len(other.events) == 1
    assert len((await sessions.get_session(**ids_of(session))).events) == 1


async def test_an_append_that_was_cancelled_shows_at_the_next_one(sessions, ids):
    session = await sessions.create_session(**ids)
    event = writing(n=1)
    sent = asyncio.ensure_future(sessions.append_event(session, event))
    stored = asyncio.ensure_future(anext(sessions.watch(session)))
    await asyncio.wait({sent, stored}, return_when=asyncio.FIRST_COMPLETED)
    stored.cancel()
    sent.cancel()
    await asyncio.gather(sent, stored, return_exceptions=True)
    await sessions.append_event(session, writing(m=1))
    assert session.events[0].id == event.id
    assert session.state == {"n": 1, "m": 1}
    assert session == await sessions.get_session(**ids_of(session))


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda session: session.model_copy(deep=True),
        lambda session: session.model_copy(update={"events": list(session.events), "state": dict(session.state)}),
        lambda session: pickle.loads(pickle.dumps(session)),
        lambda session: Session.model_validate(session.model_dump()),
        lambda session: Session.model_validate_json(session.model_dump_json(by_alias=True)),
    ],
    ids=["deepcopy", "model_copy", "light copy", "pickle", "dump", "json"],
)
async def test_a_copy_of_a_session_goes_on_where_it_was_made(connect, ids, copied):
    for strict in (False, True):
        sessions = connect(strict=strict)
        session = await sessions.create_session(**ids, state={"n": 1, "user:n": 1, "list": [1]})
        await sessions.append_event(session, writing(n=2))
        behind = copied(session)
        current = copied(session)
        await sessions.append_event(current, writing(m=1))
        assert current == await sessions.get_session(**ids_of(session))
        await sessions.append_event(current, writing(**{"n": 3, "user:n": 3}))
        if strict:
            with pytest.raises(StaleSessionError):
                await sessions.append_event(behind, writing(o=1))
        else:
            await sessions.append_event(behind, writing(o=1))
            assert behind == await sessions.get_session(**ids_of(session))


async def test_a_session_that_was_dumped_before_its_first_event_is_behind(connect, ids):
    strict = connect(strict=True)
    session = await strict.create_session(**ids)
    copied = Session.model_validate(session.model_dump())
    await strict.append_event(session, writing(n=1))
    with pytest.raises(StaleSessionError):
        await strict.append_event(copied, writing(m=1))
    merging = connect()
    await merging.append_event(copied, writing(m=1))
    assert copied == await merging.get_session(**ids_of(session))


async def test_a_session_without_its_older_events_finds_its_place_in_a_long_log(connect, ids):
    sessions = connect()
    session = await sessions.create_session(**ids)
    for index in range(70):
        await sessions.append_event(session, writing(n=index))
    copied = Session.model_validate({**session.model_dump(), "events": session.events[3:5]})
    await sessions.append_event(copied, writing(m=1))
    assert [event.id for event in copied.events][:-1] == [event.id for event in session.events[3:]]
    assert copied.state == {"n": 69, "m": 1}


async def test_a_session_made_by_hand_may_be_appended_to(connect, ids):
    session = await connect().create_session(**ids, state={"n": 1})
    made = Session(id=session.id, **ids)
    await connect(strict=True).append_event(made, writing(m=1))
    assert made.state["m"] == 1
    assert len(made.events) == 1
    with pytest.raises(SessionNotFoundError):
        await connect().append_event(Session(id="none", **ids), writing(m=1))


async def test_models_have_nothing_of_the_services_own(sessions, ids):
    session = await sessions.create_session(**ids)
    event = writing(n=1)
    await sessions.append_event(session, event)
    assert session.model_dump().keys() == Session.model_fields.keys()
    assert session.model_extra is None
    assert event.model_dump().keys() == Event.model_fields.keys()
    assert event.custom_metadata is None
    # The models forbid other members, and still take their own dump.
    Session.model_validate(session.model_dump(by_alias=True))


async def test_windows_select_events_and_never_values(sessions, ids):
    session = await sessions.create_session(**ids)
    for index in range(5):
        event = writing(**{f"k{index}": index})
        event.timestamp = 1_700_000_000 + index / 3
        await sessions.append_event(session, event)
    times = [event.timestamp for event in session.events]

    async def window(**config):
        read = await sessions.get_session(**ids_of(session), config=GetSessionConfig(**config))
        assert read.state == session.state
        assert read.last_update_time == pytest.approx(times[-1], abs=1e-6)
        return [times.index(event.timestamp) for event in read.events]

    assert await window() == [0, 1, 2, 3, 4]
    assert await window(num_recent_events=2) == [3, 4]
    assert await window(num_recent_events=0) == []
    assert await window(num_recent_events=99) == [0, 1, 2, 3, 4]
    for index, time in enumerate(times):
        assert await window(after_timestamp=time) == list(range(index, 5))
        assert await window(after_timestamp=time + 1e-6) == list(range(index + 1, 5))
        assert await window(after_timestamp=time, num_recent_events=1) == [4]
    assert await window(after_timestamp=0.0) == [0, 1, 2, 3, 4]


async def test_a_window_in_time_begins_exactly_then(sessions, ids):
    # Two times that are one in milliseconds.
    later = next(
        t for i in range(1_000) if to_milliseconds(t := 1.7e9 + i * 2**-22)[0] == to_milliseconds(before(t))[0]
    )
    session = await sessions.create_session(**ids)
    for time in (before(later), later):
        event = writing(n=time)
        event.timestamp = time
        await sessions.append_event(session, event)
    for config, count in (({}, 1), ({"num_recent_events": 2}, 1), ({"num_recent_events": 0}, 0)):
        window = GetSessionConfig(after_timestamp=later, **config)
        read = await sessions.get_session(**ids_of(session), config=window)
        assert read.events == session.events[2 - count :]


def before(time: float) -> float:
    return math.nextafter(time, -math.inf)


async def test_a_negative_window_is_refused(sessions, ids):
    session = await sessions.create_session(**ids)
    with pytest.raises(ValueError, match="num_recent_events"):
        await sessions.get_session(
            **ids_of(session), config=GetSessionConfig.model_construct(num_recent_events=-1, after_timestamp=None)
        )


async def test_a_session_with_a_window_goes_on_like_a_whole_one(connect, ids):
    strict = connect(strict=True)
    session = await strict.create_session(**ids)
    for index in range(3):
        await strict.append_event(session, writing(n=index))
    windowed = await strict.get_session(**ids_of(session), config=GetSessionConfig(num_recent_events=0))
    await strict.append_event(windowed, writing(m=1))
    assert len(windowed.events) == 1
    assert windowed.state == {"n": 2, "m": 1}


async def test_lists_are_oldest_first_with_states_and_without_events(sessions, ids, app):
    made = [await sessions.create_session(**ids, session_id=f"s{index}", state={"n": index}) for index in range(3)]
    other = await sessions.create_session(app_name=app, user_id="ben", session_id="s0", state={"user:name": "Ben"})
    await sessions.append_event(made[0], writing(n=9))
    listed = (await sessions.list_sessions(**ids)).sessions
    assert [session.id for session in listed] == ["s1", "s2", "s0"]
    assert [session.state for session in listed] == [{"n": 1}, {"n": 2}, {"n": 9}]
    assert all(session.events == [] for session in listed)
    everyone = (await sessions.list_sessions(app_name=app)).sessions
    assert [(session.user_id, session.id) for session in everyone] == [
        ("ana", "s1"),
        ("ana", "s2"),
        (other.user_id, "s0"),
        ("ana", "s0"),
    ]
    assert everyone[2].state == {"user:name": "Ben"}
    assert (await sessions.list_sessions(app_name="none")).sessions == []
    # A row can be appended to like each other session.
    await sessions.append_event(listed[0], writing(m=1))
    assert listed[0].state == {"n": 1, "m": 1}


async def test_more_sessions_than_a_page_are_listed(sessions, ids):
    made = [await sessions.create_session(**ids) for _ in range(120)]
    listed = (await sessions.list_sessions(**ids)).sessions
    assert {session.id for session in listed} == {session.id for session in made}
    assert [session.last_update_time for session in listed] == sorted(session.last_update_time for session in listed)


async def test_the_time_of_a_session_never_goes_back(sessions, ids):
    session = await sessions.create_session(**ids)
    created = session.last_update_time
    event = writing(n=1)
    event.timestamp = 5.0
    await sessions.append_event(session, event)
    assert session.last_update_time == created
    later = writing(n=2)
    await sessions.append_event(session, later)
    assert session.last_update_time == later.timestamp
    assert (await sessions.get_session(**ids_of(session))).last_update_time == later.timestamp


async def test_ids_may_be_any_text(sessions, app):
    odd = "a/b \"c'; 😀 \\ %s ü .."
    session = await sessions.create_session(app_name=app, user_id=odd, session_id=odd, state={odd: 1, "__proto__": 2})
    await sessions.append_event(session, writing(n=1))
    read = await sessions.get_session(app_name=app, user_id=odd, session_id=odd)
    assert read.state == {odd: 1, "__proto__": 2, "n": 1}


async def test_a_service_that_is_pickled_or_copied_speaks_to_the_same_server(sessions, ids):
    session = await sessions.create_session(**ids, state={"n": 1})
    for copied in (pickle.loads(pickle.dumps(sessions)), copy.deepcopy(sessions)):
        async with copied:
            assert (await copied.get_session(**ids_of(session))).state == {"n": 1}


def test_one_service_serves_several_event_loops(server, app):
    sessions = StatepadSessionService(server.uri, token=server.token)
    ids = {"app_name": app, "user_id": "ana"}
    session = asyncio.run(sessions.create_session(**ids))
    for index in range(3):
        asyncio.run(sessions.append_event(session, writing(n=index)))
    assert len(asyncio.run(sessions.get_session(**ids_of(session))).events) == 3
    asyncio.run(sessions.close())


async def test_an_outcome_that_stays_open_is_an_error_and_the_event_may_be_sent_again(start_server, app):
    server = start_server()
    async with StatepadSessionService(server.uri, token=server.token, timeout=1.0) as sessions:
        session = await sessions.create_session(app_name=app, user_id="ana")
        event = writing(n=1)
        server.kill()
        with pytest.raises(Exception) as caught:  # noqa: PT011 - one of two, as the connection was
            await sessions.append_event(session, event)
        assert isinstance(caught.value, CommitUnknown) or getattr(caught.value, "code", "") == "STORE_UNAVAILABLE"
        assert session.events == []
        server.start()
        await sessions.append_event(session, event)
        assert session.state == {"n": 1}
        assert session == await sessions.get_session(**ids_of(session))


async def test_options_that_it_does_not_know_are_ignored_with_a_warning(server, caplog):
    options = {"agents_dir": "agents", "timeout": 5.0, "pool_size": 5}
    async with StatepadSessionService(uri=server.uri, token=server.token, **options) as sessions:
        assert "['pool_size']" in caplog.text
        assert (await sessions.list_sessions(app_name="none")).sessions == []
