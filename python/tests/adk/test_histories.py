"""Random histories against google-adk's own sessions in memory, as far as both claim the same."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions import InMemorySessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from hypothesis import given, settings
from hypothesis import strategies as st

from statepad import DELETED, append, increment
from statepad.adk import StatepadSessionService

USERS = st.sampled_from(["ana", "ben"])
SESSIONS = st.sampled_from(["s1", "s2", "s 3/ü"])
KEYS = st.builds(
    "{}{}".format,
    st.sampled_from(["", "", "user:", "app:", "temp:"]),
    st.sampled_from(["a", "b", "", "__proto__", "user:x"]),
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
DELTAS = st.dictionaries(KEYS, VALUES, max_size=4)


@dataclass(frozen=True)
class Create:
    """Creates a session."""

    user: str
    session: str
    state: dict[str, Any]


@dataclass(frozen=True)
class Append:
    """Appends an event; through the session that was read last, or one that is read for it."""

    user: str
    session: str
    delta: dict[str, Any]
    reads: bool
    partial: bool


@dataclass(frozen=True)
class Delete:
    """Deletes a session."""

    user: str
    session: str


@dataclass(frozen=True)
class Read:
    """Reads a session with a window: the last events, and those from the time of one of them on."""

    user: str
    session: str
    recent: int | None
    after: int | None


@dataclass(frozen=True)
class Copy:
    """Replaces the session in hand by a copy that has lost its mark."""

    user: str
    session: str


CREATE = st.builds(Create, USERS, SESSIONS, DELTAS)
APPEND = st.builds(Append, USERS, SESSIONS, DELTAS, st.booleans(), st.sampled_from([False] * 5 + [True]))
STEPS = st.lists(
    st.one_of(
        CREATE,
        APPEND,
        APPEND,
        APPEND,
        st.builds(Delete, USERS, SESSIONS),
        st.builds(Read, USERS, SESSIONS, st.none() | st.integers(0, 4), st.none() | st.integers(0, 4)),
        st.builds(Copy, USERS, SESSIONS),
    ),
    min_size=1,
    max_size=20,
)


@dataclass
class Both:
    """A service and the model, driven by the same steps."""

    ours: StatepadSessionService
    app: str
    model: InMemorySessionService = field(default_factory=InMemorySessionService)
    held: dict[tuple[str, str], Session] = field(default_factory=dict)
    temp: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def ids(self, step: Any) -> dict[str, str]:
        """The names of a step's session."""
        return {"app_name": self.app, "user_id": step.user, "session_id": step.session}

    async def do(self, step: Any) -> None:
        """Does a step in both, and compares what they answer."""
        match step:
            case Create():
                await self.create(step)
            case Append():
                await self.append(step)
            case Delete():
                for service in (self.ours, self.model):
                    await service.delete_session(**self.ids(step))
                self.held.pop((step.user, step.session), None)
            case Read():
                await self.read(step)
            case Copy() if (held := self.held.get((step.user, step.session))) is not None:
                self.held[step.user, step.session] = Session.model_validate(held.model_dump())

    async def create(self, step: Create) -> None:
        """Creates a session in both."""
        try:
            expected = await self.model.create_session(**self.ids(step), state=step.state)
        except AlreadyExistsError:
            with pytest.raises(AlreadyExistsError):
                await self.ours.create_session(**self.ids(step), state=step.state)
            return
        made = await self.ours.create_session(**self.ids(step), state=step.state)
        assert made.state == expected.state
        self.held[step.user, step.session] = made
        self.temp[step.user, step.session] = {}

    async def append(self, step: Append) -> None:
        """Appends an event in both."""
        name = (step.user, step.session)
        if step.reads or name not in self.held:
            read = await self.ours.get_session(**self.ids(step))
            if read is None:
                return
            self.held[name], self.temp[name] = read, {}
        session = self.held[name]
        event = Event(author="agent", partial=step.partial or None, actions=EventActions(state_delta=dict(step.delta)))
        mirrored = event.model_copy(deep=True)
        stored = await self.model.get_session(**self.ids(step))
        await self.model.append_event(stored, mirrored)
        assert await self.ours.append_event(session, event) is event
        assert event == mirrored
        if not step.partial:
            self.temp[name] |= {key: value for key, value in step.delta.items() if key.startswith("temp:")}
            read = await self.ours.get_session(**self.ids(step))
            assert session.state == {**read.state, **self.temp[name]}
            assert session.events == read.events

    async def read(self, step: Read) -> None:
        """Reads a session from both."""
        whole = await self.model.get_session(**self.ids(step))
        if whole is None:
            assert await self.ours.get_session(**self.ids(step)) is None
            return
        after = None if step.after is None or step.after >= len(whole.events) else whole.events[step.after].timestamp
        config = GetSessionConfig(num_recent_events=step.recent, after_timestamp=after)
        read = await self.ours.get_session(**self.ids(step), config=config)
        expected = await self.model.get_session(**self.ids(step), config=config)
        assert read.events == expected.events

    async def compare(self) -> None:
        """Compares all that is stored."""
        for user in (None, "ana", "ben"):
            expected = (await self.model.list_sessions(app_name=self.app, user_id=user)).sessions
            listed = (await self.ours.list_sessions(app_name=self.app, user_id=user)).sessions
            assert {(each.user_id, each.id): each.state for each in listed} == {
                (each.user_id, each.id): each.state for each in expected
            }
            times = [each.last_update_time for each in listed]
            assert times == sorted(times)
        for row in expected + (await self.model.list_sessions(app_name=self.app)).sessions:
            ids = {"app_name": self.app, "user_id": row.user_id, "session_id": row.id}
            stored = await self.model.get_session(**ids)
            read = await self.ours.get_session(**ids)
            assert read.state == stored.state
            assert read.events == stored.events
        if hasattr(InMemorySessionService, "get_user_state"):
            for user in ("ana", "ben"):
                ids = {"app_name": self.app, "user_id": user}
                assert await self.ours.get_user_state(**ids) == await self.model.get_user_state(**ids)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_a_history_is_that_of_adks_sessions_in_memory(server, steps):
    async def run() -> None:
        async with StatepadSessionService(server.uri, token=server.token) as ours:
            both = Both(ours, str(uuid.uuid4()))
            for step in [Create("ana", "s1", {}), *steps]:
                await both.do(step)
            await both.compare()

    asyncio.run(run())


class Merged:
    """The model of sessions with several writers: a dictionary, to which each delta is applied."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def write(self, delta: dict[str, Any]) -> None:
        """Applies a delta."""
        for key, value in delta.items():
            if value is DELETED:
                self.state.pop(key, None)
            elif value == increment():
                self.state[key] = self.state.get(key, 0) + 1
            elif value == append("x"):
                self.state[key] = [*self.state.get(key, []), "x"]
            else:
                self.state[key] = value


WRITES = st.one_of(
    st.tuples(st.sampled_from(["n", "user:n", "app:n"]), st.just(increment()) | st.integers(0, 9) | st.just(DELETED)),
    st.tuples(st.sampled_from(["l", "user:l"]), st.just(append("x")) | st.just([]) | st.just(DELETED)),
    st.tuples(st.sampled_from(["v", "app:v"]), VALUES),
)
WRITERS = st.lists(
    st.tuples(st.integers(0, 2), st.lists(WRITES, max_size=3, unique_by=lambda write: write[0]).map(dict)),
    min_size=1,
    max_size=15,
)


@settings(max_examples=60, deadline=None)
@given(WRITERS)
def test_several_writers_with_sessions_in_hand_merge_by_key(server, writes):
    async def run() -> None:
        async with StatepadSessionService(server.uri, token=server.token) as ours:
            ids = {"app_name": str(uuid.uuid4()), "user_id": "ana"}
            first = await ours.create_session(**ids)
            other = await ours.create_session(**ids)
            writers = [first, await ours.get_session(**ids, session_id=first.id), other]
            models = [Merged(), Merged()]
            for number, delta in writes:
                event = Event(author="agent", actions=EventActions(state_delta=dict(delta)))
                own, foreign = (models[1], models[0]) if number == 2 else (models[0], models[1])
                await ours.append_event(writers[number], event)
                own.write(delta)
                foreign.write({key: value for key, value in delta.items() if ":" in key})
                assert writers[number].state == own.state
                read = await ours.get_session(**ids, session_id=writers[number].id)
                assert writers[number] == read
            for session in writers:
                await ours.refresh(session)
                assert session == await ours.get_session(**ids, session_id=session.id)

    asyncio.run(run())
