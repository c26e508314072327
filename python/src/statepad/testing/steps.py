"""Carries out the steps of a case over a service. `steps.md` beside the cases describes them."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.session import Session
from google.adk.sessions.state import State
from google.genai import types
from pydantic import BaseModel

from statepad.testing.comparing import Mismatch, describe, expect, is_named, shown
from statepad.testing.subject import Subject

Step = Mapping[str, Any]

MILLISECONDS = 1000
CLOSE = 0.0011
"""Seconds within which two times are the same: storages keep milliseconds, or microseconds."""


class Unsupported(Exception):
    """The service says that it does not support a call, as google-adk allows."""


class Scenario:
    """One run of the steps of a case. Names of apps end in `tag`, so that a storage may be in use."""

    def __init__(self, subject: Subject, tag: str, ignored: frozenset[str] = frozenset()) -> None:
        self._subject = subject
        self._tag = tag
        self._ignored = ignored
        self._named: dict[str, Any] = {}
        self._remembered: dict[str, dict[str, Any]] = {}
        self._moved = False

    async def run(self, steps: list[Step]) -> None:
        """Carries out all steps.

        Raises:
            Mismatch: an answer is not what a step expects; the message names the step.
        """
        for number, step in enumerate(steps, 1):
            try:
                await self._step(step)
            except Mismatch as error:
                raise Mismatch(f"step {number} ({step['do']}): {error}") from None
            except (Unsupported, TimeoutError):
                raise
            except Exception as error:
                raise Mismatch(f"step {number} ({step['do']}): {describe(error)}") from error

    async def _step(self, step: Step) -> None:
        do: Callable[[Step], Awaitable[Any]] = getattr(self, f"_{step['do']}")
        if "error" in step:
            await _refused(do(step), step["error"])
            return
        answer = await do(step)
        if "as" in step:
            self._named[step["as"]] = answer
        if "stored" in step:
            _compare_event(answer, step["stored"])
        if "expect" in step:
            self._compare(step, self._named[step["to"]] if step["do"] == "append" else answer)

    async def _service(self, step: Step) -> BaseSessionService:
        return await self._subject.service(step.get("service", 1))

    def _owner(self, step: Step) -> dict[str, Any]:
        return {"app_name": f"{step.get('app', 'app')}-{self._tag}", "user_id": step.get("user", "u")}

    def _key(self, step: Step) -> dict[str, Any]:
        session = self._named[step["idOf"]].id if "idOf" in step else step["id"]
        return {**self._owner(step), "session_id": session}

    async def _create(self, step: Step) -> Session:
        state = copy.deepcopy(step.get("state"))
        if "keep" in step:
            self._named[step["keep"]] = state
        return await (await self._service(step)).create_session(
            **self._owner(step), session_id=step.get("id"), state=state
        )

    async def _get(self, step: Step) -> Session | None:
        config = None
        if "last" in step or "after" in step:
            after = step.get("after")
            config = GetSessionConfig(
                num_recent_events=step.get("last"),
                after_timestamp=None if after is None else after / MILLISECONDS,
            )
        return await (await self._service(step)).get_session(**self._key(step), config=config)

    async def _append(self, step: Step) -> Event:
        session: Session = self._named[step["to"]]
        event = event_of(step["event"])
        if "keep" in step:
            self._named[step["keep"]] = event
        before = session.last_update_time
        service = await self._service(step)
        try:
            answer = await service.append_event(session, event)
        except Exception as error:
            if step.get("stale") != "again" or not is_named(error, "StaleSessionError"):
                raise
            key: dict[str, Any] = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
            again = await service.get_session(**key)
            if again is None:
                raise Mismatch("the session that was refused as stale is gone") from error
            answer = await service.append_event(again, event_of(step["event"]))
        self._moved = session.last_update_time > before
        return answer

    async def _delete(self, step: Step) -> None:
        await (await self._service(step)).delete_session(**self._key(step))

    async def _list(self, step: Step) -> list[Session]:
        owner = {**self._owner(step), "user_id": step.get("user")}
        return (await (await self._service(step)).list_sessions(**owner)).sessions

    async def _getUserState(self, step: Step) -> dict[str, Any]:
        service = await self._service(step)
        # google-adk has it since 2.2, and allows services to do without.
        get_user_state = getattr(service, "get_user_state", None)
        if get_user_state is None:
            raise Unsupported("get_user_state is not supported")
        try:
            state: dict[str, Any] = await get_user_state(**self._owner(step))
        except NotImplementedError as error:
            raise Unsupported("get_user_state is not supported") from error
        return state

    async def _appState(self, step: Step) -> dict[str, Any]:
        return await self._shared_state({**step, "user": f"reader-{uuid4().hex[:8]}"}, State.APP_PREFIX)

    async def _userState(self, step: Step) -> dict[str, Any]:
        return await self._shared_state(step, State.USER_PREFIX)

    async def _shared_state(self, step: Step, prefix: str) -> dict[str, Any]:
        """The interface has no call for it: a session is created, looked at and deleted."""
        service = await self._service(step)
        owner = self._owner(step)
        session = await service.create_session(**owner)
        await service.delete_session(**owner, session_id=session.id)
        return {key.removeprefix(prefix): value for key, value in session.state.items() if key.startswith(prefix)}

    async def _change(self, step: Step) -> None:
        """Changes an object that the program has."""
        *way, last = step["path"]
        place = self._named[step["of"]]
        for part in way:
            place = getattr(place, part) if isinstance(place, BaseModel) else place[part]
        if isinstance(place, BaseModel):
            setattr(place, last, step["value"])
        else:
            place[last] = step["value"]

    async def _nested(self, step: Step) -> None:
        """A tool reads a value of the state and changes it in place; the event has what State has found."""
        session: Session = self._named[step["of"]]
        delta: dict[str, Any] = {}
        state = State(session.state, delta)
        key, *way, last = step["path"]
        place = state[key]
        service = await self._service(step)
        if "between" in step:
            await service.append_event(session, event_of(step["between"]))
        for part in way:
            place = place[part]
        place[last] = step["value"]
        state.has_delta()
        await service.append_event(session, event_of({**step["event"], "set": delta}))

    async def _remember(self, step: Step) -> None:
        self._remembered[step["of"]] = dict(self._named[step["of"]].state)

    async def _unreplaced(self, step: Step) -> None:
        state = self._named[step["of"]].state
        for key, value in self._remembered[step["of"]].items():
            if state.get(key) is not value:
                raise Mismatch(f"the value of {key!r} is another object now")

    async def _flush(self, step: Step) -> None:
        flush = getattr(await self._service(step), "flush", None)
        if flush is not None:
            await flush()

    async def _reopen(self, step: Step) -> None:
        await self._subject.reopen()

    def _compare(self, step: Step, answer: Any) -> None:
        wanted = step["expect"]
        if step["do"] in ("appState", "userState", "getUserState"):
            expect("the state", answer, wanted)
        elif step["do"] == "list":
            _compare_list(answer, wanted)
        elif wanted is None:
            if answer is not None:
                raise Mismatch(f"there is a session: {shown(answer.id)}")
        elif answer is None:
            raise Mismatch("there is no session")
        else:
            self._compare_session(answer, {key: wanted[key] for key in wanted if key not in self._ignored})

    def _compare_session(self, session: Session, wanted: Mapping[str, Any]) -> None:
        compare: dict[str, Callable[[Any], None]] = {
            "id": lambda value: _compare_id("the id", session.id, value),
            "state": lambda value: expect("the state", session.state, value),
            "events": lambda value: _compare_ids(session.events, value),
            "authors": lambda value: expect("the authors", [each.author for each in session.events], value),
            "deltas": lambda value: expect("the deltas", [each.actions.state_delta for each in session.events], value),
            "times": lambda value: _compare_times(session.events, value),
            "time": lambda value: _compare_time(session.last_update_time, value / MILLISECONDS),
            "timeOf": lambda value: _compare_time(session.last_update_time, self._named[value].last_update_time),
            "moved": lambda value: expect("that last_update_time moved forward", self._moved, value),
            # Python's services have no revision, and read a state by name.
            "revision": lambda value: None,
            "order": lambda value: None,
        }
        for name, value in wanted.items():
            compare[name](value)


def event_of(given: Mapping[str, Any]) -> Event:
    """An event as the cases write it: {id, set, at, by, inv, text, more}; times are milliseconds."""
    if given.get("unset"):
        raise ValueError("a case that deletes keys does not apply to google-adk")
    content = types.Content(role="model", parts=[types.Part(text=given["text"])]) if "text" in given else None
    times = {"timestamp": given["at"] / MILLISECONDS} if "at" in given else {}
    return Event(
        id=given.get("id", ""),
        author=given.get("by", "agent"),
        invocation_id=given.get("inv", "i"),
        content=content,
        actions=EventActions(state_delta=copy.deepcopy(given.get("set", {}))),
        **times,
        **given.get("more", {}),
    )


async def _refused(call: Awaitable[Any], wanted: Mapping[str, Any]) -> None:
    """Fails with the answer when there is one. Codes and texts of other languages are not compared."""
    try:
        answer = await call
    except (TimeoutError, Unsupported):
        raise
    except Exception as error:
        if "type" in wanted and not is_named(error, wanted["type"]):
            raise Mismatch(f"it is refused with {describe(error)}, not with {wanted['type']}") from error
        return
    raise Mismatch(f"it is not refused, but answered with {shown(answer)}")


def _compare_event(event: Event, wanted: Mapping[str, Any]) -> None:
    if "set" in wanted:
        expect("the stored delta", event.actions.state_delta, wanted["set"])
    if "at" in wanted:
        _compare_time(event.timestamp, wanted["at"] / MILLISECONDS)


def _compare_list(sessions: list[Session], wanted: Mapping[str, Any]) -> None:
    # google-adk leaves it open whether rows of a list have state: `states` is not compared.
    if "count" in wanted:
        expect("the number of sessions", len(sessions), wanted["count"])
    if "ids" in wanted:
        expect("the list", [each.id for each in sessions], wanted["ids"])
    if "events" in wanted:
        expect("the events of the list", [event.id for each in sessions for event in each.events], wanted["events"])


def _compare_ids(events: list[Event], wanted: list[str]) -> None:
    found = [each.id for each in events]
    if len(found) != len(wanted):
        raise Mismatch(f"the events are {shown(found)}, not {shown(wanted)}")
    for actual, each in zip(found, wanted, strict=True):
        _compare_id(f"the event among {shown(found)}", actual, each)


def _compare_id(what: str, actual: str, wanted: str) -> None:
    if wanted in ("<generated>", "<uuid>"):
        if not actual or not actual.strip():
            raise Mismatch(f"{what} is blank")
    else:
        expect(what, actual, wanted)


def _compare_times(events: list[Event], wanted: list[float]) -> None:
    for event, time in zip(events, wanted, strict=True):
        _compare_time(event.timestamp, time / MILLISECONDS)


def _compare_time(actual: float, wanted: float) -> None:
    if abs(actual - wanted) > CLOSE:
        raise Mismatch(f"the time is {actual!r}, not {wanted!r}")
