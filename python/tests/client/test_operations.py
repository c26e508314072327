"""Each operation of the client, at a real server."""

import asyncio

import pytest

from statepad import (
    DELETED,
    MISSING,
    AppKey,
    EventIdConflict,
    InvalidArgument,
    SessionExists,
    SessionKey,
    SessionNotFound,
    SessionStale,
    StateConflict,
    UserKey,
    append,
    compare_and_set,
    increment,
    set_once,
)


async def test_a_session_is_created_with_the_values_of_its_app_and_its_user(client, app):
    state = {"a": 1, "user:b": [2], "app:c": {"d": None}, "temp:e": 5}
    session = await client.create_session(app, "ana", session_id="monday", state=state)
    assert (session.app_name, session.user_id, session.id, session.revision) == (app, "ana", "monday", 0)
    assert session.state == {"a": 1, "user:b": [2], "app:c": {"d": None}}
    assert session.events == []
    assert await client.get_session(app, "ana", "monday") == session
    assert await client.get_app_state(app) == {"c": {"d": None}}
    assert await client.get_user_state(app, "ana") == {"b": [2]}
    other = await client.create_session(app, "ana", state={"user:b": DELETED})
    assert other.state == {"app:c": {"d": None}}


async def test_an_id_that_is_taken_is_refused_and_a_blank_one_is_generated(client, app):
    await client.create_session(app, "ana", session_id="monday")
    with pytest.raises(SessionExists):
        await client.create_session(app, "ana", session_id="monday")
    ids = {(await client.create_session(app, "ana", session_id=blank)).id for blank in (None, "", " ")}
    assert len(ids) == 3


async def test_a_session_is_created_only_where_it_is_missing(client, app):
    first = await client.get_or_create_session(app, "ana", session_id="monday", state={"a": 1})
    again = await client.get_or_create_session(app, "ana", session_id="monday", state={"a": 2})
    assert again == first
    assert first.state == {"a": 1}


async def test_a_missing_session_is_none(client, app):
    assert await client.get_session(app, "ana", "nowhere") is None


async def test_an_event_is_appended_with_its_delta_and_shows_what_others_have_written(client, app):
    session = await client.create_session(app, "ana", state={"a": 1, "gone": 1})
    await client.append_event(session, {"id": "e1", "author": "ben", "timestamp": 1000})
    event = {
        "id": "e2",
        "author": "ana",
        "invocationId": "i",
        "timestamp": 2000.5,
        "content": {"role": "user", "parts": [{"text": "hallo"}]},
        "actions": {
            "stateDelta": {"gone": DELETED, "a": 2, "n": increment(2), "user:l": append(1, 2)},
            "escalate": True,
        },
        "customMetadata": {"mine": 1},
    }
    copied = dict(event)
    appended = await client.append_event(session, event, since=session.revision)
    assert event == copied
    assert (appended.revision, appended.last_update_time) == (2, 2000.5)
    assert appended.state == {"a": 2, "n": 2, "user:l": [1, 2]}
    assert [each["id"] for each in appended.events] == ["e1", "e2"]
    assert appended.event["actions"]["stateDelta"] == {"gone": None, "a": 2, "n": 2, "user:l": [1, 2]}
    assert appended.event["customMetadata"] == {
        "mine": 1,
        "statepad": {"deleted": ["gone"], "operators": {"n": {"increment": 2}, "user:l": {"append": [1, 2]}}},
    }
    assert appended.event["content"] == event["content"]
    shown = await client.get_session(app, "ana", session.id)
    assert (shown.state, shown.events) == (appended.state, appended.events)


async def test_an_event_that_is_sent_again_is_stored_once(client, app):
    session = await client.create_session(app, "ana")
    event = {"id": "e1", "author": "ana", "actions": {"stateDelta": {"n": increment()}}}
    first = await client.append_event(session, event)
    assert await client.append_event(session, event) == first
    assert (await client.get_session(app, "ana", session.id)).state == {"n": 1}
    with pytest.raises(EventIdConflict) as caught:
        await client.append_event(session, {**event, "author": "ben"})
    assert caught.value.id == "e1"


async def test_an_append_may_expect_a_revision(client, app):
    session = await client.create_session(app, "ana")
    await client.append_event(session, {}, expected_revision=0)
    with pytest.raises(SessionStale) as caught:
        await client.append_event(session, {}, expected_revision=0)
    assert (caught.value.expected, caught.value.actual) == (0, 1)


async def test_appends_of_one_loop_are_stored_in_the_order_of_their_calls(client, app):
    session = await client.create_session(app, "ana")
    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(client.append_event(session, {"id": f"e{number}"}))
    shown = await client.list_events(session)
    assert [event["id"] for event in shown.events] == [f"e{number}" for number in range(20)]


async def test_a_session_that_was_read_belongs_to_its_creation(client, app):
    old = await client.create_session(app, "ana", session_id="monday")
    await client.delete_session(old)
    new = await client.create_session(app, "ana", session_id="monday")
    assert old.etag != new.etag
    name = SessionKey(app, "ana", "monday")
    for write in (
        lambda session: client.append_event(session, {"id": "e"}),
        lambda session: client.update_state(session, {"a": 1}),
        lambda session: client.update_state(session, lambda state: {"a": 1}),
        lambda session: client.state_at(session),
        lambda session: client.history(session, "a"),
        lambda session: client.fork(session),
        lambda session: client.take_lease(session),
    ):
        with pytest.raises(SessionNotFound):
            await write(old)
        await write(name)


async def test_events_are_listed_after_a_revision(client, app, monkeypatch):
    session = await client.create_session(app, "ana")
    for number in range(1, 8):
        await client.append_event(session, {"id": f"e{number}", "timestamp": number})
    page = await client.list_events(session, after=2, limit=3)
    assert ([event["id"] for event in page.events], page.revision) == (["e3", "e4", "e5"], 7)
    assert (await client.list_events(session, after=7)).events == []
    monkeypatch.setattr("statepad.calls.MAX_PAGE", 2)
    for after in (0, 3):
        page = await client.list_events(session, after=after)
        assert [event["id"] for event in page.events] == [f"e{number}" for number in range(after + 1, 8)]
    recent = await client.get_session(app, "ana", session.id, num_recent_events=2)
    assert [event["id"] for event in recent.events] == ["e6", "e7"]
    later = await client.get_session(app, "ana", session.id, after_timestamp=6)
    assert [event["id"] for event in later.events] == ["e6", "e7"]
    assert (await client.get_session(app, "ana", session.id, num_recent_events=0)).events == []
    assert (await client.get_session(app, "ana", session.id, after_timestamp=float("inf"))).events == []


async def test_lists_are_by_time_and_have_all_pages(client, app, monkeypatch):
    monkeypatch.setattr("statepad.calls.MAX_PAGE", 2)
    created = [await client.create_session(app, user) for user in ("ana", "ben", "ana", "cleo", "ana")]
    everyone = await client.list_sessions(app)
    assert {session.id for session in everyone.sessions} == {session.id for session in created}
    times = [session.last_update_time for session in everyone.sessions]
    assert times == sorted(times)
    assert (everyone.total, everyone.cursor) == (5, None)
    part = await client.list_sessions(app, "ana", limit=2, order="desc")
    rest = await client.list_sessions(app, "ana", cursor=part.cursor, order="desc")
    listed = [session.id for session in [*part.sessions, *rest.sessions]]
    assert (part.total, len(part.sessions), len(listed)) == (3, 2, 3)
    ascending = (await client.list_sessions(app, "ana")).sessions
    assert sorted(listed) == sorted(session.id for session in ascending)
    assert await client.list_users(app) == ["ana", "ben", "cleo"]
    assert app in await client.list_apps()
    # The rows name their creations.
    await client.append_event(everyone.sessions[0], {})


async def test_a_deleted_session_is_gone_and_may_be_deleted_again(client, app):
    session = await client.create_session(app, "ana", state={"a": 1, "user:b": 2})
    await client.delete_session(SessionKey(app, "ana", session.id))
    assert await client.get_session(app, "ana", session.id) is None
    await client.delete_session(session)
    assert await client.get_user_state(app, "ana") == {"b": 2}
    with pytest.raises(SessionNotFound):
        await client.append_event(session, {})


async def test_operators_are_resolved_by_the_server(client, app):
    key = AppKey(app)
    assert await client.update_state(key, {"app:n": increment(), "app:o": set_once(1)}) == {"app:n": 1, "app:o": 1}
    written = await client.update_state(
        key,
        {
            "app:n": increment(1.5),
            "app:o": set_once(2),
            "app:l": append("x"),
            "app:c": compare_and_set(MISSING, "mine"),
        },
    )
    assert written == {"app:n": 2.5, "app:o": 1, "app:l": ["x"], "app:c": "mine"}
    with pytest.raises(StateConflict) as taken:
        await client.update_state(key, {"app:c": compare_and_set(MISSING, "yours"), "app:n": increment()})
    assert taken.value.key == "app:c"
    with pytest.raises(InvalidArgument) as misfit:
        await client.update_state(key, {"app:l": increment()})
    assert misfit.value.key == "app:l"
    assert (await client.get_app_state(app))["n"] == 2.5


async def test_the_past_of_a_session(client, app):
    session = await client.create_session(app, "ana", state={"a": 0})
    for number in (1, 2):
        await client.append_event(
            session, {"id": f"e{number}", "invocationId": f"i{number}", "actions": {"stateDelta": {"a": number}}}
        )
    assert (await client.state_at(session, 1)).state == {"a": 1}
    now = await client.state_at(session)
    assert (now.state, now.revision, now.exact) == ({"a": 2}, 2, True)
    name = SessionKey(app, "ana", session.id)
    steps = (await client.history(name, "a")).steps
    assert [(step["revision"], step.get("from"), step["to"]) for step in steps] == [(0, None, 0), (1, 0, 1), (2, 1, 2)]
    assert [step["revision"] for step in (await client.history(session, "a")).steps] == [0]
    assert [step["revision"] for step in (await client.history(name, "a", until=1, last=1)).steps] == [1]

    rewound = await client.rewind(session, before="i2")
    assert (rewound.revision, rewound.shared) == (3, [])
    assert (await client.get_session(app, "ana", session.id)).state == {"a": 1}
    assert (await client.redo(session)).revision == 4
    assert (await client.get_session(app, "ana", session.id)).state == {"a": 2}
    with pytest.raises(InvalidArgument):
        await client.rewind(session, before="nothing")

    fork = await client.fork(session, at=1, session_id="fork")
    assert (fork.id, fork.state) == ("fork", {"a": 1})
    with pytest.raises(SessionExists):
        await client.fork(session, at=2, session_id="fork")


async def test_the_past_of_an_app_and_a_user(client, app):
    for number in (1, 2, 3):
        await client.update_state(UserKey(app, "ana"), {"user:n": number, "app:n": number})
    of_user = await client.history(UserKey(app, "ana"), "user:n", last=2)
    assert [(step["position"], step["to"]) for step in of_user.steps] == [(2, 2), (3, 3)]
    for target in (AppKey(app), UserKey(app, "ana")):
        of_app = await client.history(target, "app:n", until=2)
        assert [step["to"] for step in of_app.steps] == [1, 2]
        assert of_app.exact
    with pytest.raises(InvalidArgument):
        await client.history(AppKey(app), "user:n")
    assert await client.trim_history(AppKey(app), up_to=2) == 2
    assert await client.trim_history(UserKey(app, "ana"), before=0) == 0
    trimmed = await client.history(AppKey(app), "app:n")
    assert ([step["to"] for step in trimmed.steps], trimmed.exact) == ([3], False)
    for wrong in ({}, {"before": 1, "up_to": 1}):
        with pytest.raises(InvalidArgument):
            await client.trim_history(AppKey(app), **wrong)


async def test_arguments_that_cannot_be_sent_are_refused_by_name(client, app):
    session = await client.create_session(app, "ana")
    for call, path in (
        (lambda: client.list_sessions(app, cursor="nonsense"), "cursor"),
        (lambda: client.list_sessions(app, limit=0), "limit"),
        (lambda: client.create_session(app, "ana", session_id="\ud800"), "session_id"),
        (lambda: client.create_session(app, "ana", state=[1]), "state"),
        (lambda: client.append_event(session, []), "event"),
        (lambda: client.append_event(session, {"actions": []}), "actions"),
        (lambda: client.append_event(session, {"actions": {"stateDelta": []}}), "actions.stateDelta"),
        (lambda: client.append_event(session, {"state_delta": {}}), "state_delta"),
        (lambda: client.append_event(session, {}, expected_revision=float("nan")), None),
        (lambda: client.rewind(session, before="\ud800"), None),
        (lambda: client.history(session, "\ud800"), None),
        (lambda: client.update_state(session, {"a": 1}, author="\ud800"), None),
        (lambda: client.trim_history(AppKey(app), before=float("nan")), None),
        (lambda: client.get_session(app, "ana", session.id, num_recent_events=-1), "numRecentEvents"),
        (lambda: client.get_session(app, 7, session.id), "user_id"),
    ):
        with pytest.raises(InvalidArgument) as caught:
            await call()
        assert caught.value.path == path, caught.value
