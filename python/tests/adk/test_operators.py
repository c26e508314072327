"""Operators as values of ADK's state: alone, and in tools that run in parallel."""

from __future__ import annotations

import copy

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.runners import Runner
from google.adk.tools import FunctionTool, ToolContext

from statepad import DELETED, MISSING, InvalidArgument, StateConflict, append, compare_and_set, increment, set_once

from .agents import Meeting, call, scripted, turn
from .test_sessions import ids_of, writing


@pytest.fixture
def ids(app) -> dict[str, str]:
    return {"app_name": app, "user_id": "ana"}


async def run_in_parallel(sessions, session, *writes):
    """One turn in which the model calls tools in parallel; each writes to its state when all of them have begun."""
    meeting = Meeting(len(writes))

    async def write(number: int, tool_context: ToolContext) -> str:
        """Writes."""
        await meeting()
        for key, value in writes[number].items():
            tool_context.state[key] = value
        return "written"

    calls = [call("write", f"call-{number}", number=number) for number in range(len(writes))]
    agent = LlmAgent(name="clerk", model=scripted(calls, "Done."), tools=[FunctionTool(write)])
    runner = Runner(app_name=session.app_name, agent=agent, session_service=sessions)
    return await turn(runner, session, "Go")


async def test_the_state_shows_the_result_after_the_append(sessions, ids):
    one = await sessions.create_session(**ids, state={"app:n": 1, "gone": 1})
    two = await sessions.get_session(**ids_of(one))
    await sessions.append_event(two, writing(**{"app:n": increment(10), "l": append(1)}))
    event = writing(**{"n": 1, "app:n": increment(), "l": append(2, (3,)), "gone": DELETED, "once": set_once("x")})
    assert one.state["app:n"] == 1
    await sessions.append_event(one, event)
    assert one.state == {"app:n": 12, "l": [1, 2, [3]], "n": 1, "once": "x"}
    assert event.actions.state_delta == {"app:n": 12, "l": [1, 2, [3]], "gone": None, "n": 1, "once": "x"}
    assert one == await sessions.get_session(**ids_of(one))
    await sessions.append_event(two, writing(o=1))
    assert two == await sessions.get_session(**ids_of(one))


async def test_an_event_with_operators_that_is_appended_again_counts_once(sessions, ids):
    session = await sessions.create_session(**ids)
    event = writing(n=increment())
    fresh = event.model_copy(deep=True)
    await sessions.append_event(session, event)
    for repeated in (event, fresh):
        await sessions.append_event(session, repeated)
    assert session.state == {"n": 1}
    assert len(session.events) == 1


async def test_increments_of_parallel_tools_add_up(sessions, ids):
    session = await sessions.create_session(**ids, state={"n": 5})
    one = increment()
    writes = [{"n": one, "app:n": increment(2), "l": append(number)} for number in range(4)]
    events = await run_in_parallel(sessions, session, *writes)
    read = await sessions.get_session(**ids_of(session))
    assert read.state == {"n": 9, "app:n": 8, "l": [0, 1, 2, 3]}
    deltas = [event.actions.state_delta for event in events if event.actions.state_delta]
    assert deltas == [{"n": 9, "app:n": 8, "l": [0, 1, 2, 3]}]


async def test_an_operator_in_one_of_several_parallel_tools_counts(sessions, ids):
    session = await sessions.create_session(**ids)
    await run_in_parallel(sessions, session, {"n": increment(3)}, {"other": {"a": 1}}, {"once": set_once({"b": 2})})
    read = await sessions.get_session(**ids_of(session))
    assert read.state == {"n": 3, "other": {"a": 1}, "once": {"b": 2}}


async def test_the_first_set_once_of_parallel_tools_counts(sessions, ids):
    session = await sessions.create_session(**ids)
    await run_in_parallel(sessions, session, {"once": set_once("a")}, {"once": set_once("b")})
    assert (await sessions.get_session(**ids_of(session))).state == {"once": "a"}


async def test_a_value_of_a_later_tool_replaces_an_operator(sessions, ids):
    session = await sessions.create_session(**ids)
    await run_in_parallel(sessions, session, {"n": increment()}, {"n": 7})
    assert (await sessions.get_session(**ids_of(session))).state == {"n": 7}


async def test_an_operator_of_a_later_tool_replaces_a_value(sessions, ids):
    # As in ADK, of two writes to a key the later one counts: over the stored value.
    session = await sessions.create_session(**ids, state={"n": 5})
    await run_in_parallel(sessions, session, {"n": 7}, {"n": increment()})
    assert (await sessions.get_session(**ids_of(session))).state == {"n": 6}


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (increment(), append(1), "do not combine"),
        (set_once(1), increment(), "do not combine"),
        (compare_and_set(MISSING, 1), compare_and_set(MISSING, 2), "do not combine"),
        ({"a": 1}, increment(), "a value and an operator"),
        (increment(), {"a": 1}, "a value and an operator"),
    ],
)
async def test_writes_of_parallel_tools_that_do_not_combine_are_refused(sessions, ids, one, other, message):
    session = await sessions.create_session(**ids)
    with pytest.raises(InvalidArgument, match=message):
        await run_in_parallel(sessions, session, {"k": one}, {"k": other})
    assert (await sessions.get_session(**ids_of(session))).state == {}


async def test_operators_of_tools_one_after_the_other_all_count(sessions, ids):
    session = await sessions.create_session(**ids)

    def count(tool_context: ToolContext) -> str:
        """Counts."""
        tool_context.state["user:n"] = increment()
        return "counted"

    agent = LlmAgent(name="clerk", model=scripted(call("count"), call("count"), "Done."), tools=[FunctionTool(count)])
    runner = Runner(app_name=session.app_name, agent=agent, session_service=sessions)
    for _ in range(2):
        agent.model.lines[:] = [call("count"), call("count"), "Done."]
        await turn(runner, session, "Go")
    assert (await sessions.get_session(**ids_of(session))).state == {"user:n": 4}


async def test_a_tool_that_reads_a_pending_operator_gets_the_operator(sessions, ids):
    session = await sessions.create_session(**ids)
    seen = []

    def count(tool_context: ToolContext) -> str:
        """Counts."""
        tool_context.state["n"] = increment()
        seen.append(tool_context.state["n"])
        return "counted"

    def look(tool_context: ToolContext) -> str:
        """Looks."""
        seen.append(tool_context.state["n"])
        return "seen"

    agent = LlmAgent(
        name="clerk",
        model=scripted(call("count"), call("look"), "Done."),
        tools=[FunctionTool(count), FunctionTool(look)],
    )
    await turn(Runner(app_name=session.app_name, agent=agent, session_service=sessions), session, "Go")
    assert seen == [increment(), 1]


async def test_an_operator_that_does_not_fit_is_refused_and_leaves_the_last_value(sessions, ids):
    session = await sessions.create_session(**ids, state={"text": "x", "list": [1]})
    values = session.state["list"]
    for operator, error in ((increment(), InvalidArgument), (compare_and_set("y", "z"), StateConflict)):
        # As ADK's state does before the event.
        session.state["text"] = operator
        session.state["new"] = DELETED
        with pytest.raises(error, match="text"):
            await sessions.append_event(session, writing(text=operator, new=DELETED, list=values))
        assert session.state == {"text": "x", "list": [1]}
        assert session.events == []
    assert session.state["list"] is values


@pytest.mark.parametrize("value", [increment(), append(1)])
async def test_operators_on_temp_keys_are_refused(sessions, ids, value):
    session = await sessions.create_session(**ids)
    with pytest.raises(InvalidArgument, match="temp: keys"):
        await sessions.append_event(session, writing(**{"temp:n": value}))
    assert session.state == {}


async def test_temp_keys_can_be_deleted(sessions, ids):
    session = await sessions.create_session(**ids)
    await sessions.append_event(session, writing(**{"temp:n": 1}))
    await sessions.append_event(session, writing(**{"temp:n": DELETED}))
    assert session.state == {}


async def test_an_operator_within_a_value_is_refused(sessions, ids):
    session = await sessions.create_session(**ids)
    with pytest.raises(ValueError, match="operator"):
        await sessions.append_event(session, writing(list=[increment()]))
    with pytest.raises(ValueError, match="operator"):
        await sessions.create_session(**ids, state={"n": increment()})
    assert session.events == []


def test_operators_survive_the_copies_that_adk_makes():
    actions = EventActions(state_delta={"n": increment(2), "gone": DELETED})
    for copied in (copy.deepcopy(actions), actions.model_copy(deep=True), Event(author="a", actions=actions).actions):
        assert copied.state_delta["n"] == increment(2)
        assert copied.state_delta["gone"] is DELETED
