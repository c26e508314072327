"""Updates by a function: others' writes are never lost."""

import asyncio

import pytest

from statepad import (
    DELETED,
    AppKey,
    InvalidArgument,
    SessionNotFound,
    StateConflict,
    UserKey,
    ValueNotJson,
    compare_and_set,
    increment,
)
from statepad.updating import StateView


async def test_concurrent_updates_of_several_clients_all_count(connect, server, app):
    clients = [connect(server.uri) for _ in range(3)]

    async def count(client):
        for _ in range(8):
            await client.update_state(AppKey(app), lambda state: {"app:n": state.get("app:n", 0) + 1})

    await asyncio.gather(*(count(client) for client in clients for _ in range(2)))
    assert await clients[0].get_app_state(app) == {"n": 48}


async def test_the_function_runs_again_only_for_values_that_it_has_read(client, app):
    session = await client.create_session(app, "ana", state={"a": 1, "b": 1})
    runs = []

    async def update(state):
        runs.append(state["a"])
        if len(runs) == 1:
            await client.append_event(session, {"actions": {"stateDelta": {"b": 2}}})
        elif len(runs) == 2:
            raise AssertionError("nothing that was read has changed")
        return {"a": state["a"] + 1}

    assert await client.update_state(session, update) == {"a": 2, "b": 2}
    assert runs == [1]

    async def again(state):
        runs.append(state["b"])
        if len(runs) == 2:
            await client.append_event(session, {"actions": {"stateDelta": {"b": 5}}})
        return {"a": state["b"] + 1}

    assert (await client.update_state(session, again))["a"] == 6
    assert runs == [1, 2, 5]


@pytest.mark.parametrize("look", [lambda state: "c" in state, lambda state: state.get("c"), list, len, dict])
async def test_a_key_that_was_missing_counts_as_read(client, app, look):
    session = await client.create_session(app, "ana")
    runs = []

    async def update(state):
        runs.append(look(state))
        if len(runs) == 1:
            await client.update_state(session, {"c": 1})
        return {"done": True}

    assert await client.update_state(session, update) == {"c": 1, "done": True}
    assert len(runs) == 2


async def test_values_that_a_function_changes_are_its_own(client, app):
    session = await client.create_session(app, "ana", state={"cart": {"items": [1]}})

    def update(state):
        state["cart"]["items"].append(2)
        return {"cart": state["cart"]}

    assert await client.update_state(session, update) == {"cart": {"items": [1, 2]}}


async def test_nothing_is_written_where_there_is_nothing_to_write(client, app):
    session = await client.create_session(app, "ana", state={"a": 1})
    for update in (lambda state: None, lambda state: {}, {}):
        assert await client.update_state(session, update) == {"a": 1}
    assert (await client.get_session(app, "ana", session.id)).revision == 0


async def test_an_update_of_a_session_is_an_event_of_its_author(client, app):
    session = await client.create_session(app, "ana")
    await client.update_state(session, {"a": 1}, author="clerk", invocation_id="i")
    await client.update_state(session, lambda state: {"a": DELETED, "user:n": increment()})
    events = (await client.get_session(app, "ana", session.id)).events
    assert (events[0]["author"], events[0]["invocationId"]) == ("clerk", "i")
    assert events[1]["author"] == "system"
    assert events[1]["actions"]["stateDelta"] == {"a": None, "user:n": 1}


async def test_wrong_answers_of_a_function_are_refused(client, app):
    key = UserKey(app, "ana")
    for answer, kind, path in (
        (1, InvalidArgument, "update"),
        ([], InvalidArgument, "update"),
        ({"temp:a": 1}, InvalidArgument, None),
        ({"user:a": object()}, ValueNotJson, 'delta["user:a"]'),
    ):
        with pytest.raises(kind) as caught:
            await client.update_state(key, lambda state, answer=answer: answer)
        assert caught.value.path == path
    with pytest.raises(InvalidArgument):
        await client.update_state(AppKey(app), {"user:a": 1})
    with pytest.raises(ZeroDivisionError):
        await client.update_state(key, lambda state: 1 / 0)


async def test_an_update_inside_of_an_update_of_the_same_target_does_not_wait_for_it(client, app):
    async def outer(state):
        await client.update_state(AppKey(app), lambda inner: {"app:inner": True})
        return {"app:outer": state.get("app:outer", 0) + 1}

    async with asyncio.timeout(10):
        written = await client.update_state(AppKey(app), outer)
    assert written == {"app:inner": True, "app:outer": 1}


async def test_the_attempts_of_an_update_are_limited(client, app):
    key = AppKey(app)

    async def contended(state):
        await client.update_state(key, {"app:n": increment()})
        return {"app:seen": state.get("app:n")}

    with pytest.raises(StateConflict, match="under each of 3 attempts"):
        await client.update_state(key, contended, attempts=3)
    assert await client.get_app_state(app) == {"n": 3}


async def test_a_comparison_that_fails_does_not_run_the_function_again(client, app):
    runs = []
    await client.update_state(AppKey(app), {"app:owner": "ben"})

    def claim(state):
        runs.append(1)
        return {"app:owner": compare_and_set("cleo", "ana")}

    with pytest.raises(StateConflict) as caught:
        await client.update_state(AppKey(app), claim)
    assert (caught.value.key, len(runs)) == ("app:owner", 1)


async def test_an_update_of_a_session_that_is_deleted_meanwhile_is_refused(client, app):
    session = await client.create_session(app, "ana")

    async def update(state):
        await client.delete_session(session)
        return {"a": 1}

    with pytest.raises(SessionNotFound):
        await client.update_state(session, update)


async def test_a_lost_answer_of_a_counter_is_found_again(connect, proxy, client, app):
    through = connect(proxy.uri)
    for number in range(1, 30):
        proxy.cut("answer", number * 17)
        written = await through.update_state(AppKey(app), {"app:n": increment()})
        assert written["app:n"] == number
    proxy.calm()
    assert await client.get_app_state(app) == {"n": 29}


def test_a_view_records_what_is_read():
    view = StateView({"a": 1, "b": {"c": 2}, "temp:t": 1})
    assert (view["a"], view.get("x"), "y" in view, view.get("temp:t")) == (1, None, False, 1)
    assert view.expected() == {"set": {"a": 1}, "unset": ["x", "y"]}
    assert dict(view) == {"a": 1, "b": {"c": 2}, "temp:t": 1}
    assert view.expected() == {"set": {"a": 1, "b": {"c": 2}}, "unset": ["x", "y"], "whole": True}
