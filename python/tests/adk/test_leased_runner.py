"""A runner that holds the lease of its session."""

from __future__ import annotations

import asyncio

import pytest
from google.adk.agents import BaseAgent, LiveRequestQueue, LlmAgent
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from pydantic import ConfigDict

from statepad import LeaseHeld, LeaseLost
from statepad.adk import LeasedRunner, SessionNotFoundError, StatepadSessionService

from .agents import says, scripted, take_over, texts, turn
from .test_sessions import ids_of


class Waiting(BaseAgent):
    """Says where it is, and waits at one point."""

    begun: asyncio.Event
    go_on: asyncio.Event
    over: asyncio.Event
    ended: list[str]
    services: list[object]

    model_config = ConfigDict(arbitrary_types_allowed=True)

    async def _run_async_impl(self, ctx):
        self.services.append(ctx.session_service)
        try:
            for step in ("one", "two"):
                yield Event(
                    author=self.name,
                    invocation_id=ctx.invocation_id,
                    actions=EventActions(state_delta={step: True}),
                )
                self.begun.set()
                if step == "one":
                    await self.go_on.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        finally:
            self.ended.append("over")
            self.over.set()


def waiting() -> Waiting:
    return Waiting(
        name="waiting", begun=asyncio.Event(), go_on=asyncio.Event(), over=asyncio.Event(), ended=[], services=[]
    )


def leased(sessions, app, agent, **options) -> LeasedRunner:
    return LeasedRunner(app_name=app, agent=agent, session_service=sessions, **options)


async def is_free(sessions, session) -> bool:
    try:
        async with sessions.lease(session):
            return True
    except LeaseHeld:
        return False


async def test_a_run_holds_the_lease_from_its_begin_to_its_end(sessions, connect, app):
    session = await sessions.create_session(app_name=app, user_id="ana")
    agent = waiting()
    running = asyncio.ensure_future(turn(leased(sessions, app, agent), session, "Go"))
    await agent.begun.wait()
    assert not await is_free(connect(), session)
    other = leased(connect(), app, waiting())
    with pytest.raises(LeaseHeld):
        await turn(other, session, "Me too")
    agent.go_on.set()
    events = await running
    assert len(events) == 2
    assert await is_free(sessions, session)
    read = await sessions.get_session(**ids_of(session))
    assert read.state == {"one": True, "two": True}
    assert texts(read.events) == ["Go"]


async def test_a_run_waits_for_the_one_before(sessions, connect, app):
    session = await sessions.create_session(app_name=app, user_id="ana")
    first, second = waiting(), waiting()
    running = asyncio.ensure_future(turn(leased(sessions, app, first), session, "One"))
    await first.begun.wait()
    following = asyncio.ensure_future(turn(leased(connect(), app, second, lease_wait=30.0), session, "Two"))
    first.go_on.set()
    second.go_on.set()
    await asyncio.gather(running, following)
    assert texts((await sessions.get_session(**ids_of(session))).events) == ["One", "Two"]


async def test_a_run_that_loses_its_lease_is_cancelled_and_writes_nothing_more(sessions, connect, app):
    session = await sessions.create_session(app_name=app, user_id="ana")
    agent = waiting()
    running = asyncio.ensure_future(turn(leased(sessions, app, agent, lease_ttl=0.3), session, "Go"))
    await agent.begun.wait()
    await take_over(agent.services[0].held_lease, connect())
    with pytest.raises(LeaseLost):
        await asyncio.wait_for(running, 30)
    assert agent.ended == ["cancelled", "over"]
    assert (await sessions.get_session(**ids_of(session))).state == {"one": True}


async def test_a_run_whose_events_nobody_takes_is_cancelled_as_well(sessions, connect, app):
    session = await sessions.create_session(app_name=app, user_id="ana")
    agent = waiting()
    run = leased(sessions, app, agent, lease_ttl=0.3).run_async(
        user_id="ana", session_id=session.id, new_message=says("Go")
    )
    await anext(run)
    await take_over(agent.services[0].held_lease, connect())
    # The renewal that finds it lost comes within a third of its time.
    await agent.over.wait()
    with pytest.raises(LeaseLost):
        await anext(run)
    await run.aclose()


async def test_a_caller_that_leaves_frees_the_session(sessions, app):
    session = await sessions.create_session(app_name=app, user_id="ana")
    agent = waiting()
    run = leased(sessions, app, agent).run_async(user_id="ana", session_id=session.id, new_message=says("Go"))
    await anext(run)
    await run.aclose()
    assert agent.ended[-1] == "over"
    assert await is_free(sessions, session)

    agent = waiting()
    running = asyncio.ensure_future(turn(leased(sessions, app, agent), session, "Again"))
    await agent.begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await is_free(sessions, session)


async def test_an_error_of_the_agent_reaches_the_caller_and_frees_the_session(sessions, app):
    class Failing(BaseAgent):
        async def _run_async_impl(self, ctx):
            raise RuntimeError("out of tea")
            yield

    session = await sessions.create_session(app_name=app, user_id="ana")
    with pytest.raises(RuntimeError, match="out of tea"):
        await turn(leased(sessions, app, Failing(name="failing")), session, "Go")
    assert await is_free(sessions, session)


async def test_rewinds_are_leased(sessions, app):
    session = await sessions.create_session(app_name=app, user_id="ana")
    runner = leased(sessions, app, LlmAgent(name="a", model=scripted("Hello"), output_key="said"))
    invocation = (await turn(runner, session, "Hi"))[0].invocation_id
    rewind = {"user_id": "ana", "session_id": session.id, "rewind_before_invocation_id": invocation}
    async with sessions.lease(session):
        with pytest.raises(LeaseHeld):
            await runner.rewind_async(**rewind)
    await runner.rewind_async(**rewind)
    assert (await sessions.get_session(**ids_of(session))).state == {}


async def test_a_live_run_is_leased(sessions, connect, app):
    class Live(BaseAgent):
        async def _run_live_impl(self, ctx):
            taken = await is_free(connect(), ctx.session)
            actions = EventActions(state_delta={"free": taken})
            yield Event(author=self.name, invocation_id=ctx.invocation_id, actions=actions)

    session = await sessions.create_session(app_name=app, user_id="ana")
    runner = leased(sessions, app, Live(name="live"))
    run = runner.run_live(user_id="ana", session_id=session.id, live_request_queue=LiveRequestQueue())
    assert [event.actions.state_delta async for event in run] == [{"free": False}]
    assert await is_free(sessions, session)
    assert (await sessions.get_session(**ids_of(session))).state == {"free": False}


async def test_a_missing_session_is_adks_error_unless_it_is_created(sessions, app):
    agent = LlmAgent(name="a", model=scripted("Hello"))
    options = {"user_id": "ana", "session_id": "s1", "new_message": says("Hi")}
    with pytest.raises(SessionNotFoundError):
        async for _ in leased(sessions, app, agent).run_async(**options):
            pass
    creating = leased(sessions, app, agent, auto_create_session=True)
    assert texts([event async for event in creating.run_async(**options)]) == ["Hello"]


def test_the_synchronous_run_is_leased(server, app):
    sessions = StatepadSessionService(server.uri, token=server.token)
    asyncio.run(sessions.create_session(app_name=app, user_id="ana", session_id="s1"))
    runner = leased(sessions, app, LlmAgent(name="a", model=scripted("Hello")))
    events = list(runner.run(user_id="ana", session_id="s1", new_message=says("Hi")))
    assert texts(events) == ["Hello"]
    asyncio.run(sessions.close())


def test_it_needs_sessions_that_have_leases(app):
    with pytest.raises(TypeError, match="InMemorySessionService"):
        leased(InMemorySessionService(), app, LlmAgent(name="a", model=scripted()))


async def test_a_runner_takes_a_leased_service_as_well(sessions, app):
    session = await sessions.create_session(app_name=app, user_id="ana")
    async with sessions.lease(session) as held:
        for kind in (Runner, LeasedRunner):
            agent = LlmAgent(name="a", model=scripted("Hello"))
            runner = kind(app_name=app, agent=agent, session_service=held)
            assert texts(await turn(runner, session, "Hi")) == ["Hello"]
