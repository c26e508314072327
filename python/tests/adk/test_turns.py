"""Whole turns of a Runner: the same as over ADK's sessions in memory."""

from __future__ import annotations

import asyncio
import inspect
import json
import re

import pytest
from google.adk.agents import Agent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.apps.app import App, EventsCompactionConfig, ResumabilityConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.artifacts import InMemoryArtifactService
from google.adk.events.event import Event
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.state import State
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types

from statepad.adk import StatepadSessionService

from .agents import Meeting, answers, call, scripted, texts, turn

CONFIRMATION = "adk_request_confirmation"


class Talk:
    """A conversation with one service: its runner, its session and its artifacts."""

    def __init__(self, sessions, app_name, *, agent=None, app=None, state=None) -> None:
        self.sessions = sessions
        self.artifacts = InMemoryArtifactService()
        self.ids = {"app_name": app_name, "user_id": "ana", "session_id": "s1"}
        self._state = state
        what = {"app": app, "app_name": app_name} if app is not None else {"app_name": app_name, "agent": agent}
        self.runner = Runner(session_service=sessions, artifact_service=self.artifacts, **what)

    async def begin(self):
        """Creates the session."""
        self.session = await self.sessions.create_session(**self.ids, state=self._state)
        return self

    async def say(self, message, **options) -> list[Event]:
        """A turn."""
        return await turn(self.runner, self.session, message, **options)

    async def read(self):
        """The session as it is stored."""
        return await self.sessions.get_session(**self.ids)


def comparable(events: list[Event]) -> list:
    """Events as JSON without ids and times; ids that ADK makes are numbered in the order in which they appear."""
    plain = []
    for event in events:
        told = event.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"id", "timestamp"})
        told.get("longRunningToolIds", []).sort()
        for name in ("startTimestamp", "endTimestamp"):
            told["actions"].get("compaction", {}).pop(name, None)
        plain.append(told)
    known: dict[str, str] = {}
    made = r"(?:adk-|e-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    return json.loads(re.sub(made, lambda match: known.setdefault(match[0], f"id-{len(known)}"), json.dumps(plain)))


@pytest.fixture
def both(sessions, app):
    """Has a conversation over this service and over ADK's in memory, compares them, and returns this one's session."""

    async def have(conversation, *, in_order=True, **options):
        results = []
        for service in (sessions, InMemorySessionService()):
            talk = await Talk(service, app, **await conversation.prepare(), **options).begin()
            said = await conversation(talk)
            read = await talk.read()
            requests = [
                [content.model_dump(exclude_none=True) for content in request.contents]
                for request in conversation.requests()
            ]
            if not in_order:
                said, read.events = sorted(said, key=order), sorted(read.events, key=order)
            results.append((talk, read, comparable(said), comparable(read.events), comparable_requests(requests)))
        ours, adks = results
        assert ours[2:] == adks[2:]
        assert ours[1].state == adks[1].state
        return ours[:2]

    return have


def order(event: Event) -> str:
    """Sorts the events of parallel agents."""
    return event.author + event.model_dump_json(include={"content", "actions"})


def comparable_requests(requests: list) -> str:
    """The requests to models, without the ids and times in them."""
    made = r"(?:adk-|e-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    return re.sub(made, "ID", repr(requests))


class Conversation:
    """A conversation: an agent that is made anew for each service, and the turns."""

    def __init__(self, make, turns) -> None:
        self._make, self._turns = make, turns
        self._models: list = []

    async def prepare(self):
        """The agent or the app."""
        made = self._make()
        made = await made if inspect.isawaitable(made) else made
        self._models = list(_models_of(made.root_agent if isinstance(made, App) else made))
        return {"app": made} if isinstance(made, App) else {"agent": made}

    async def __call__(self, talk):
        """Has it."""
        return await self._turns(talk)

    def requests(self):
        """The requests to the models."""
        return [request for model in self._models for request in model.requests]


def _models_of(agent):
    model = getattr(agent, "model", None)
    if hasattr(model, "requests"):
        yield model
    for each in getattr(agent, "sub_agents", None) or []:
        yield from _models_of(each)


def looking(port: str, tool_context: ToolContext) -> dict:
    """Tells the tide."""
    state = tool_context.state
    state["asked_for"] = port
    state["user:last"] = {"port": port, "times": [1, 2.5, None]}
    state["app:asked"] = state.get("app:asked", 0) + 1
    state["temp:secret"] = "not kept"
    return {"high_water": 3.5, "not_known": None}


def tides():
    model = scripted(call("looking", port="Brest"), "3.5 m", "You are welcome.")
    return LlmAgent(name="tides", model=model, tools=[FunctionTool(looking)], output_key="answer")


async def test_a_tool_writes_to_all_scopes(both):
    async def turns(talk):
        return await talk.say("When is high water?") + await talk.say("Thanks")

    _, read = await both(Conversation(tides, turns), state={"made": 1, "app:asked": 4})
    assert read.state == {
        "made": 1,
        "asked_for": "Brest",
        "user:last": {"port": "Brest", "times": [1, 2.5, None]},
        "app:asked": 5,
        "answer": "You are welcome.",
    }


async def test_tools_run_in_parallel(both):
    def make():
        meeting = Meeting(3)

        async def note(word: str, tool_context: ToolContext) -> str:
            """Notes a word."""
            words = tool_context.state.setdefault("words", [])
            await meeting()
            words.append(word)
            tool_context.state[word] = {"length": len(word)}
            return word

        words = ("moon", "sun", "tide")
        calls = [call("note", f"call-{word}", word=word) for word in words]
        return LlmAgent(name="clerk", model=scripted(calls, "Noted."), tools=[FunctionTool(note)])

    async def turns(talk):
        return await talk.say("Note moon, sun and tide")

    _, read = await both(Conversation(make, turns))
    assert {word: read.state[word] for word in ("moon", "sun", "tide")} == {
        "moon": {"length": 4},
        "sun": {"length": 3},
        "tide": {"length": 4},
    }


async def test_a_long_running_tool_is_answered_in_a_later_turn(both):
    def ask_harbour(port: str) -> dict:
        """Asks the harbour master, who takes a while."""
        return {"status": "pending", "ticket": 7}

    def make():
        model = scripted(call("ask_harbour", port="Brest"), "I have asked.", "There is room.")
        return LlmAgent(name="harbour", model=model, tools=[LongRunningFunctionTool(ask_harbour)])

    async def turns(talk):
        first = await talk.say("Is there room?")
        assert any(event.long_running_tool_ids for event in first)
        return first + await talk.say(answers("ask_harbour", "call-ask_harbour", status="done"))

    _, read = await both(Conversation(make, turns))
    assert texts(read.events)[-1] == "There is room."


async def test_a_tool_waits_for_its_confirmation(both):
    def book(port: str, tool_context: ToolContext) -> dict:
        """Books a berth."""
        tool_context.state["booked"] = port
        return {"booked": True}

    def make():
        model = scripted(call("book", port="Brest"), "Booked.")
        return LlmAgent(name="berths", model=model, tools=[FunctionTool(book, require_confirmation=True)])

    async def turns(talk):
        first = await talk.say("Book a berth")
        assert "booked" not in (await talk.read()).state
        asked = next(each for event in first for each in event.get_function_calls() if each.name == CONFIRMATION)
        return first + await talk.say(answers(CONFIRMATION, asked.id, confirmed=True))

    _, read = await both(Conversation(make, turns))
    assert read.state["booked"] == "Brest"


async def test_agents_hand_over_to_their_sub_agents(both):
    def make():
        sailor = LlmAgent(name="sailor", model=scripted("Set sail.", "Ahoy."), output_key="user:sailor")
        model = scripted(call("transfer_to_agent", agent_name="sailor"))
        return LlmAgent(name="captain", model=model, sub_agents=[sailor])

    async def turns(talk):
        return await talk.say("Who sails?") + await talk.say("And now?")

    _, read = await both(Conversation(make, turns))
    assert read.state == {"user:sailor": "Ahoy."}
    assert [event.author for event in read.events if event.author != "user"].count("sailor") == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_agents_run_one_after_the_other_in_parallel_and_in_loops(both):
    def make():
        def leave(tool_context: ToolContext) -> str:
            """Leaves the loop."""
            tool_context.actions.escalate = True
            return "left"

        plan = LlmAgent(name="plan", model=scripted("A plan"), output_key="temp:plan")
        moon = LlmAgent(name="moon", model=scripted("It pulls."), instruction="{temp:plan}", output_key="moon")
        sun = LlmAgent(name="sun", model=scripted("So does it."), instruction="{temp:plan}", output_key="sun")
        again = LlmAgent(
            name="again", model=scripted("Once", [call("leave")], "Left"), tools=[leave], output_key="times"
        )
        parallel = ParallelAgent(name="both", sub_agents=[moon, sun])
        loop = LoopAgent(name="loop", sub_agents=[again], max_iterations=5)
        return SequentialAgent(name="all", sub_agents=[plan, parallel, loop])

    async def turns(talk):
        return await talk.say("Go", state_delta={"polite": True})

    _, read = await both(Conversation(make, turns), in_order=False)
    assert read.state == {"polite": True, "moon": "It pulls.", "sun": "So does it.", "times": "Left"}


async def test_an_agent_is_a_tool_of_another_one(both):
    def make():
        clerk = LlmAgent(name="clerk", description="Counts.", model=scripted("Two."), output_key="counted")
        return LlmAgent(
            name="chief", model=scripted(call("clerk", request="How many?"), "Two, he says."), tools=[AgentTool(clerk)]
        )

    async def turns(talk):
        return await talk.say("How many?")

    _, read = await both(Conversation(make, turns))
    assert read.state == {"counted": "Two."}


async def test_callbacks_write_to_the_state_and_nested_writes_count(both):
    def before(callback_context):
        callback_context.state["turns"] = callback_context.state.get("turns", 0) + 1

    def grow(tool_context: ToolContext) -> str:
        """Grows a list that it has read."""
        cart = tool_context.state["cart"]
        cart["items"].append(len(cart["items"]))
        # Versions of ADK that find no nested writes need the assignment.
        tool_context.state["cart"] = cart
        return "grown"

    def make():
        model = scripted(call("grow"), "One.", call("grow"), "Two.")
        return LlmAgent(name="shop", model=model, tools=[grow], before_agent_callback=before)

    async def turns(talk):
        return await talk.say("More") + await talk.say("More")

    _, read = await both(Conversation(make, turns), state={"cart": {"items": []}})
    assert read.state == {"cart": {"items": [0, 1]}, "turns": 2}


async def test_writes_into_values_are_stored_by_versions_of_adk_that_find_them(sessions, app):
    def grow(tool_context: ToolContext) -> str:
        """Grows a list that it has read."""
        tool_context.state["cart"]["items"].append("tea")
        return "grown"

    agent = LlmAgent(name="shop", model=scripted(call("grow"), call("grow"), "Two."), tools=[grow])
    talk = await Talk(sessions, app, agent=agent, state={"cart": {"items": []}}).begin()
    await talk.say("More")
    read = await talk.read()
    deltas = [event.actions.state_delta for event in read.events if event.actions.state_delta]
    found = [{"cart": {"items": ["tea"]}}, {"cart": {"items": ["tea", "tea"]}}]
    assert deltas == (found if hasattr(State, "_record_nested_writes") else [])


async def test_artifacts_are_saved_and_named_in_events(both):
    async def draw(tool_context: ToolContext) -> str:
        """Draws a chart."""
        await tool_context.save_artifact("chart.png", types.Part.from_bytes(data=b"\xfb\xff", mime_type="image/png"))
        await tool_context.save_artifact("user:log.txt", types.Part(text="drawn"))
        return "drawn"

    def make():
        return LlmAgent(name="painter", model=scripted(call("draw"), call("draw"), "Drawn."), tools=[draw])

    async def turns(talk):
        return await talk.say("Draw")

    _, read = await both(Conversation(make, turns))
    deltas = [event.actions.artifact_delta for event in read.events if event.actions.artifact_delta]
    assert deltas == [{"chart.png": 0, "user:log.txt": 0}, {"chart.png": 1, "user:log.txt": 1}]


async def test_a_long_conversation_is_compacted(both, app):
    def make():
        agent = LlmAgent(name="talker", model=scripted("One", "Two", "Three", "Four"))
        summarizer = LlmEventSummarizer(llm=scripted("A summary", "Another"))
        config = EventsCompactionConfig(compaction_interval=2, overlap_size=0, summarizer=summarizer)
        root = SequentialAgent(name="root", sub_agents=[agent])
        return App(name=app, root_agent=root, events_compaction_config=config)

    async def turns(talk):
        said = []
        for index in range(4):
            said += await talk.say(f"Turn {index}")
        return said

    _, read = await both(Conversation(make, turns))
    compactions = [event.actions.compaction for event in read.events if event.actions.compaction]
    assert [compaction.compacted_content.parts[0].text for compaction in compactions] == ["A summary", "Another"]
    assert all(
        compaction.start_timestamp in [event.timestamp for event in read.events]
        and compaction.end_timestamp in [event.timestamp for event in read.events]
        for compaction in compactions
    )


async def test_a_resumable_run_goes_on_where_it_paused(both, app):
    def ask(question: str) -> None:
        """Asks somebody."""

    def make():
        asker = LlmAgent(
            name="asker",
            model=scripted(call("ask", question="room?"), "There is."),
            tools=[LongRunningFunctionTool(ask)],
        )
        last = LlmAgent(name="last", model=scripted("Done."), output_key="last")
        agent = SequentialAgent(name="all", sub_agents=[asker, last])
        return App(name=app, root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True))

    async def turns(talk):
        first = await talk.say("Go")
        assert "last" not in (await talk.read()).state
        invocation = first[0].invocation_id
        return first + await talk.say(answers("ask", "call-ask", result="yes"), invocation_id=invocation)

    _, read = await both(Conversation(make, turns))
    assert read.state["last"] == "Done."
    assert len({event.invocation_id for event in read.events}) == 1
    assert any(event.actions.agent_state or event.actions.end_of_agent for event in read.events)


async def test_a_workflow_runs_its_nodes_and_keeps_their_state(both):
    from google.adk.workflow import JoinNode, Workflow, node

    def make():
        @node
        async def moon(ctx, node_input: str):
            """Writes about the moon."""
            ctx.state["moon"] = "It pulls."
            return "moon"

        @node
        async def sun(ctx, node_input: str):
            """Writes about the sun."""
            ctx.state["sun"] = "So does it."
            ctx.state["user:seen"] = ["sun"]
            return "sun"

        @node
        async def last(ctx, node_input):
            """Puts them together."""
            ctx.state["both"] = sorted(node_input.values())
            ctx.state["temp:x"] = 1
            return "done"

        join = JoinNode(name="join")
        return Workflow(name="page", edges=[("START", (moon, sun), join, last)])

    async def turns(talk):
        return await talk.say("Go")

    _, read = await both(Conversation(make, turns), in_order=False)
    assert read.state["both"] == ["moon", "sun"]
    assert read.state["moon"] == "It pulls."
    assert "temp:x" not in read.state


async def test_a_workflow_that_waits_goes_on_with_another_runner(sessions, app):
    from google.adk.events.request_input import RequestInput
    from google.adk.workflow import Workflow, node

    seen = []

    def make():
        @node
        async def price(ctx, node_input):
            """Looks up the price."""
            seen.append("price")
            ctx.state["price"] = 5
            return "looked up"

        @node
        async def ask(ctx, node_input):
            """Asks the user."""
            yield RequestInput(interrupt_id="how-many", message="How many?")

        @node
        async def total(ctx, node_input):
            """Adds up."""
            ctx.state["total"] = ctx.state["price"] * int(node_input["count"])
            return "added up"

        return Workflow(name="order", edges=[("START", price, ask, total)])

    talk = await Talk(sessions, app, agent=make()).begin()
    first = await talk.say("Tea, please")
    asked = next(each for event in first for each in event.get_function_calls())
    other = Talk(sessions, app, agent=make())
    other.session = talk.session
    await other.say(answers(asked.name, asked.id, count="3"))
    assert (await talk.read()).state == {"price": 5, "total": 15}
    assert seen == ["price"]


def test_the_synchronous_runner_works(server, app):
    sessions = StatepadSessionService(server.uri, token=server.token)
    runner = Runner(app_name=app, agent=Agent(name="a", model=scripted("Hello", "Again")), session_service=sessions)
    asyncio.run(sessions.create_session(app_name=app, user_id="ana", session_id="s1"))
    message = types.Content(role="user", parts=[types.Part(text="Hi")])
    for expected in ("Hello", "Again"):
        events = list(runner.run(user_id="ana", session_id="s1", new_message=message))
        assert texts(events) == [expected]
    read = asyncio.run(sessions.get_session(app_name=app, user_id="ana", session_id="s1"))
    assert texts(read.events) == ["Hi", "Hello", "Hi", "Again"]
    asyncio.run(sessions.close())


async def test_closing_a_runner_flushes_and_leaves_the_service_open(sessions, app):
    agent = Agent(name="a", model=scripted("Hello"))
    async with Runner(app_name=app, agent=agent, session_service=sessions) as runner:
        session = await sessions.create_session(app_name=app, user_id="ana")
        await turn(runner, session, "Hi")
    assert len((await sessions.get_session(app_name=app, user_id="ana", session_id=session.id)).events) == 2
