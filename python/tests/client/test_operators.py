"""Operators: their JSON, and the same results as those of a server."""

import asyncio
import copy
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statepad import DELETED, MISSING, AppKey, Client, InvalidArgument, StateConflict, StatepadError
from statepad.operators import (
    Append,
    CompareAndSet,
    Increment,
    SetOnce,
    append,
    compare_and_set,
    increment,
    operator_from_json,
    operator_to_json,
    resolve,
    set_once,
)


@pytest.mark.parametrize(
    ("operator", "json"),
    [
        (increment(), {"increment": 1}),
        (increment(-0.5), {"increment": -0.5}),
        (append(1, [2]), {"append": [1, [2]]}),
        (append(), {"append": []}),
        (set_once(None), {"setOnce": None}),
        (compare_and_set(1, 2), {"compareAndSet": {"expected": 1, "value": 2}}),
        (compare_and_set(None, 2), {"compareAndSet": {"expected": None, "value": 2}}),
        (compare_and_set(MISSING, 2), {"compareAndSet": {"value": 2}}),
    ],
)
def test_an_operator_has_a_form_in_json_and_is_read_from_it(operator, json):
    assert operator_to_json(operator) == json
    assert operator_from_json(json) == operator


@pytest.mark.parametrize(
    "json",
    [
        {},
        {"increment": True},
        {"increment": "1"},
        {"increment": 1, "append": []},
        {"append": 1},
        {"compareAndSet": {}},
        {"compareAndSet": {"value": 1, "other": 1}},
        {"decrement": 1},
    ],
)
def test_other_json_is_no_operator(json):
    with pytest.raises(InvalidArgument):
        operator_from_json(json)


def test_marks_and_operators_are_values_that_survive_copies():
    for value in (DELETED, MISSING, increment(2), append(1), set_once({"a": 1}), compare_and_set(MISSING, 1)):
        assert copy.deepcopy(value) == value
        assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy({"a": DELETED})["a"] is DELETED
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert (repr(DELETED), repr(increment())) == ("DELETED", "Increment(by=1)")


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, 2.5]) | st.sampled_from(["", "x"])
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(["p", "q"]), SCALARS, max_size=2)
NUMBERS = st.integers(-5, 5) | st.sampled_from([0.1, 0.2, 1e308, 2.0**53])
OPERATORS = (
    NUMBERS.map(Increment)
    | st.lists(VALUES, max_size=2).map(lambda items: Append(tuple(items)))
    | VALUES.map(SetOnce)
    | st.builds(CompareAndSet, VALUES | st.just(MISSING), VALUES)
)
WRITES = st.lists(st.tuples(st.sampled_from(["app:a", "app:b"]), OPERATORS | VALUES | st.just(DELETED)), max_size=12)


def written(state, key, write):
    """The state after a write, by the model; and the code of the error where it has one."""
    try:
        if isinstance(write, (Increment, Append, SetOnce, CompareAndSet)):
            value = resolve(write, state.get(key, MISSING), key=key)
        else:
            value = write
    except StatepadError as error:
        return state, error.code
    kept = {name: each for name, each in state.items() if name != key}
    return (kept if value is DELETED else {**kept, key: value}), None


@given(WRITES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_server_resolves_operators_as_the_model_does(server, app, writes):
    async def check():
        async with Client(server.uri, token=server.token) as client:
            await client.update_state(AppKey(app), {"app:a": DELETED, "app:b": DELETED})
            state = {}
            for key, write in writes:
                state, expected = written(state, key, write)
                refused = None
                try:
                    await client.update_state(AppKey(app), {key: write})
                except (InvalidArgument, StateConflict) as error:
                    refused = (error.code, error.key)
                assert refused == (expected and (expected, key))
            assert await client.get_app_state(app) == {key.removeprefix("app:"): each for key, each in state.items()}

    asyncio.run(check())
