"""Values that JSON holds, and those that it does not."""

import asyncio
import datetime
import decimal
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statepad import DELETED, Client, ValueNotJson, increment
from statepad.jsonvalues import check_json, dump, parse

CYCLE = []
CYCLE.append({"self": CYCLE})
DEEP = []
for _ in range(100):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        (2**53, 'state["k"]', "whole number beyond 2**53"),
        (-(10**400), 'state["k"]', "whole number beyond 2**53"),
        (math.nan, 'state["k"]', "is nan"),
        ({"a": [1, math.inf]}, 'state["k"].a[1]', "is inf"),
        ((1, 2), 'state["k"]', "is a tuple"),
        ({1: 2}, 'state["k"]', "has a key that is no string, 1"),
        ({"a": {None: 2}}, 'state["k"].a', "has a key that is no string, None"),
        (datetime.datetime(2026, 1, 1), 'state["k"]', "of the type datetime"),
        ([decimal.Decimal(1)], 'state["k"][0]', "of the type Decimal"),
        ({"x y": {1, 2}}, 'state["k"]["x y"]', "of the type set"),
        (b"bytes", 'state["k"]', "of the type bytes"),
        ("\ud83d", 'state["k"]', "lone surrogate"),
        ({"a\udc00": 1}, 'state["k"]', "has a key with a lone surrogate"),
        (CYCLE, 'state["k"][0].self', "is part of a cycle"),
        (DEEP, 'state["k"]' + "[0]" * 100, "nested deeper than 100 levels"),
        (increment(), 'state["k"]', "is an operator"),
        ([increment()], 'state["k"][0]', "is an operator"),
    ],
)
async def test_a_value_that_json_would_change_is_refused_before_anything_is_sent(value, path, reason):
    client = Client("statepad://127.0.0.1:1", attempts=1)
    with pytest.raises(ValueNotJson) as caught:
        await client.create_session("app", "ana", state={"k": value})
    assert caught.value.path == path
    assert caught.value.message.startswith(f"{path} ")
    assert reason in caught.value.message


async def test_the_path_of_a_fault_names_the_member_of_an_event(client, app):
    session = await client.create_session(app, "ana")
    for event, path in [
        ({"actions": {"stateDelta": {"cart": {"items": [1, 2, 3, math.nan]}}}}, 'actions.stateDelta["cart"].items[3]'),
        ({"content": {"parts": [{"text": "\udfff"}]}}, "content.parts[0].text"),
        ({"customMetadata": {"a-b": (1,)}}, 'customMetadata["a-b"]'),
        ({"actions": {"artifactDelta": {"f": 2**60}}}, "actions.artifactDelta.f"),
        ({"actions": {"stateDelta": {"n": increment(math.inf)}}}, 'actions.stateDelta["n"].increment'),
    ]:
        with pytest.raises(ValueNotJson) as caught:
            await client.append_event(session, event)
        assert caught.value.path == path
    assert (await client.get_session(app, "ana", session.id)).revision == 0


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_a_value_is_the_same_after_its_json(value):
    check_json(value, "value")
    assert parse(dump(value)) == value


def kinds(value):
    """The types of a value's parts, of which JSON holds all but that of a number."""
    if isinstance(value, dict):
        return {name: kinds(member) for name, member in value.items()}
    if isinstance(value, list):
        return [kinds(item) for item in value]
    return bool if isinstance(value, bool) else float if isinstance(value, (int, float)) else type(value)


@given(st.dictionaries(st.sampled_from(["a", "user:b", "app:c", "__proto__", "ü"]), VALUES, max_size=5))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_state_comes_back_from_a_server_as_it_was_written(server, app, state):
    async def stored():
        async with Client(server.uri, token=server.token) as client:
            session = await client.create_session(app, "ana")
            await client.append_event(session, {"actions": {"stateDelta": state}})
            return (await client.get_session(app, "ana", session.id)).state

    shown = asyncio.run(stored())
    read = {key: shown[key] for key in state}
    assert read == state
    assert kinds(read) == kinds(state)


async def test_numbers_beyond_whole_ones_are_doubles_again(client, app):
    state = {"wide": 2.0**60, "wider": 1e300, "whole": 5.0, "small": 5e-324}
    session = await client.create_session(app, "ana", state=state)
    assert session.state == state
    assert isinstance(session.state["wide"], float)
    assert isinstance(session.state["whole"], int)


async def test_temp_keys_never_leave_the_client(client, app):
    session = await client.create_session(app, "ana", state={"temp:x": object(), "a": 1})
    event = {
        "actions": {"stateDelta": {"temp:y": object(), "temp:z": DELETED, "temp:n": increment(), "a": None, "b": 2}},
        "customMetadata": {"statepad": {"deleted": ["temp:d", "a"], "operators": {"temp:o": {"increment": 1}}}},
    }
    stored = (await client.append_event(session, event)).event
    assert stored["actions"]["stateDelta"] == {"a": None, "b": 2}
    assert "temp" not in str(stored)
    assert (await client.get_session(app, "ana", session.id)).state == {"b": 2}
