"""``Runner.rewind_async``, unmodified: what it restores, and what it shows."""

from __future__ import annotations

from google.adk.agents import LlmAgent
from google.adk.artifacts import InMemoryArtifactService
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.runners import Runner
from google.adk.tools import ToolContext
from google.genai import types

from statepad import DELETED

from .agents import call, scripted, texts, turn
from .test_sessions import ids_of


def set_port(port: str, tool_context: ToolContext) -> str:
    """Sets the port."""
    tool_context.state["port"] = port
    tool_context.state[f"been in {port}"] = True
    tool_context.state["user:ports"] = [*tool_context.state.get("user:ports", []), port]
    return "set"


def runner_of(sessions, app, *lines, **options) -> Runner:
    agent = LlmAgent(name="tides", model=scripted(*lines), tools=[set_port])
    return Runner(app_name=app, agent=agent, session_service=sessions, **options)


async def test_a_rewind_restores_the_values_of_the_creation_and_of_earlier_turns(sessions, app):
    runner = runner_of(
        sessions,
        app,
        call("set_port", port="Brest"),
        "Brest it is.",
        call("set_port", port="Cork"),
        "Cork it is.",
        "And now?",
        "Where?",
    )
    session = await sessions.create_session(app_name=app, user_id="ana", state={"port": "Faro", "made": {"n": 1}})
    begin = (await turn(runner, session, "To Brest"))[0].invocation_id
    second = (await turn(runner, session, "To Cork"))[0].invocation_id
    held = await sessions.get_session(**ids_of(session))

    await runner.rewind_async(user_id="ana", session_id=session.id, rewind_before_invocation_id=second)
    read = await sessions.get_session(**ids_of(session))
    shared = {"user:ports": ["Brest", "Cork"]}
    assert read.state == {"port": "Brest", "made": {"n": 1}, "been in Brest": True, **shared}
    assert read.events[-1].actions.rewind_before_invocation_id == second
    assert read.events[-1].actions.state_delta == {"port": "Brest", "been in Cork": None}

    await turn(runner, session, "What was it?")
    assert [content.parts[0].text for content in runner.agent.model.requests[-1].contents if content.parts[0].text] == [
        "To Brest",
        "Brest it is.",
        "What was it?",
    ]

    await runner.rewind_async(user_id="ana", session_id=session.id, rewind_before_invocation_id=begin)
    read = await sessions.get_session(**ids_of(session))
    assert read.state == {"port": "Faro", "made": {"n": 1}, **shared}
    await sessions.refresh(held)
    assert held == read
    await turn(runner, session, "And now?")
    assert len(runner.agent.model.requests[-1].contents) == 1


async def test_the_session_through_which_it_is_rewound_is_right_at_once(connect, app):
    for strict in (False, True):
        sessions = connect(strict=strict)
        session = await sessions.create_session(app_name=app, user_id="ana", state={"n": 0, "made": 1})
        actions = EventActions(state_delta={"n": 1, "new": 1, "user:n": 1})
        await sessions.append_event(session, Event(author="a", invocation_id="i1", actions=actions))
        await sessions.append_event(
            session,
            Event(author="a", invocation_id="i2", actions=EventActions(state_delta={"made": DELETED, "n": 2})),
        )
        # As ADK computes it: it knows nothing of the creation.
        marker = Event(
            author="user",
            invocation_id="e-1",
            actions=EventActions(
                rewind_before_invocation_id="i1",
                state_delta={"n": None, "new": None},
                artifact_delta={"chart.png": 3},
            ),
        )
        assert await sessions.append_event(session, marker) is marker
        assert session.events[-1] is marker
        assert session.state == {"n": 0, "made": 1, "user:n": 1}
        assert marker.actions.artifact_delta == {"chart.png": 3}
        assert marker.actions.state_delta == {"n": 0, "made": 1, "new": None}
        assert session == await sessions.get_session(**ids_of(session))
        await sessions.append_event(session, Event(author="a", invocation_id="i3"))
        assert session == await sessions.get_session(**ids_of(session))


async def test_a_rewind_that_is_sent_again_counts_once(sessions, app):
    session = await sessions.create_session(app_name=app, user_id="ana", state={"n": 0})
    await sessions.append_event(
        session, Event(author="a", invocation_id="i1", actions=EventActions(state_delta={"n": 1}))
    )
    other = await sessions.get_session(**ids_of(session))
    marker = Event(author="user", actions=EventActions(rewind_before_invocation_id="i1", state_delta={"n": None}))
    for one in (session, session, other):
        await sessions.append_event(one, marker.model_copy(deep=True))
    assert session.state == other.state == {"n": 0}
    assert len((await sessions.get_session(**ids_of(session))).events) == 2


async def test_artifacts_are_restored_as_well(sessions, app):
    async def draw(text: str, tool_context: ToolContext) -> str:
        """Draws."""
        await tool_context.save_artifact("chart.txt", types.Part(text=text))
        return "drawn"

    artifacts = InMemoryArtifactService()
    model = scripted(call("draw", text="first"), "One.", call("draw", text="second"), "Two.")
    agent = LlmAgent(name="painter", model=model, tools=[draw])
    runner = Runner(app_name=app, agent=agent, session_service=sessions, artifact_service=artifacts)
    session = await sessions.create_session(app_name=app, user_id="ana")
    await turn(runner, session, "Draw")
    second = (await turn(runner, session, "Again"))[0].invocation_id
    await runner.rewind_async(user_id="ana", session_id=session.id, rewind_before_invocation_id=second)
    read = await sessions.get_session(**ids_of(session))
    assert read.events[-1].actions.artifact_delta == {"chart.txt": 2}
    loaded = await artifacts.load_artifact(**ids_of(session), filename="chart.txt")
    assert loaded.text == "first"


async def test_a_redo_makes_the_events_count_again_for_the_agent(sessions, app):
    runner = runner_of(sessions, app, "One.", "Two.", "Three.")
    session = await sessions.create_session(app_name=app, user_id="ana")
    await turn(runner, session, "First")
    second = (await turn(runner, session, "Second"))[0].invocation_id
    await runner.rewind_async(user_id="ana", session_id=session.id, rewind_before_invocation_id=second)
    await sessions.redo(session)
    await turn(runner, session, "Third")
    asked = runner.agent.model.requests[-1].contents
    assert [content.parts[0].text for content in asked] == ["First", "One.", "Second", "Two.", "Third"]
    assert texts((await sessions.get_session(**ids_of(session))).events)[-1] == "Three."
