"""Several writers at once: what each of them does, and what has to hold afterwards."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.session import Session

from statepad.testing.comparing import Mismatch, describe, expect, is_named, shown
from statepad.testing.subject import Subject

ATTEMPTS = 200


@dataclass(frozen=True)
class Race:
    """The task of one writer: it appends `times` events, each with one `key`, to the session.

    A key with `{writer}` and `{time}` in it is written once; another one is a counter, which the writer reads before
    it adds one.
    """

    app: str
    user: str
    session: str
    writer: int
    times: int
    key: str

    @property
    def counts(self) -> bool:
        """The key is a counter."""
        return "{time}" not in self.key


Written = dict[str, Any]
"""The answer of a writer: `events`, the ids that were acknowledged, `keys` likewise, and `refused`, by the error."""


async def write(service: BaseSessionService, race: Race, held: Session | None = None) -> Written:
    """Writes, and reads the session again when an append is refused as stale. With `held`, never reads."""
    events: list[str] = []
    keys: list[str] = []
    refused: Counter[str] = Counter()
    session = held or await _read(service, race)
    for time in range(race.times):
        key = race.key.format(writer=race.writer, time=time)
        for attempt in range(ATTEMPTS):
            if race.counts and held is None:
                session = await _read(service, race)
            value = session.state.get(key, 0) + 1 if race.counts else f"{race.writer}-{time}"
            event = Event(
                id=f"w{race.writer}-{time}-{attempt}",
                invocation_id=f"i{race.writer}",
                author="agent",
                actions=EventActions(state_delta={key: value}),
            )
            try:
                await service.append_event(session, event)
            except Exception as error:
                if is_named(error, "StaleSessionError") and held is None:
                    session = await _read(service, race)
                    continue
                refused[describe(error)] += 1
                break
            events.append(event.id)
            keys.append(key)
            break
    return {"events": events, "keys": keys, "refused": dict(refused)}


async def run_writers(subject: Subject, app: str, given: Mapping[str, Any]) -> None:
    """Lets the writers of a case run at once, and checks what they left."""
    spec = given["writers"]
    services = [await subject.service(1)]
    if spec["through"] == "two services":
        services.append(await subject.service(2))
    races = [await _prepare(services[0], app, writer, spec) for writer in range(spec["number"])]
    written = await asyncio.gather(*await _writers(subject, services, races, spec))
    check = {"kept": _kept, "order": _ordered, "counted": _counted, "answered": _answered}[spec["check"]]
    if not any(each["events"] for each in written):
        raise Mismatch(f"no append was acknowledged: {_refusals(written)}")
    check([await _read(services[0], race) for race in races], races, written)


async def run_creators(subject: Subject, app: str, given: Mapping[str, Any]) -> None:
    """Two services create one session at once; one has to win, and it is the winner's state that stays."""
    services = [await subject.service(number) for number in (1, 2)]
    for time in range(given["times"]):
        key: dict[str, Any] = {"app_name": app, "user_id": "u", "session_id": f"s{time}"}
        creations = (service.create_session(**key, state={"by": by}) for by, service in enumerate(services))
        answers = await asyncio.gather(*creations, return_exceptions=True)
        winners = [by for by, answer in enumerate(answers) if isinstance(answer, Session)]
        if len(winners) != 1:
            raise Mismatch(f"{len(winners)} of two creations of one id succeeded: {shown(answers)}")
        stored = await services[0].get_session(**key)
        expect("the state of the session", stored and stored.state, {"by": winners[0]})


async def run_first_sessions(subject: Subject, app: str, given: Mapping[str, Any]) -> None:
    """Sessions of an app that nobody has used before are created at once, with state of the app."""
    service = await subject.service()
    writers = range(given["times"])
    creations = (
        service.create_session(app_name=app, user_id=f"u{writer % 2}", state={f"app:k{writer}": 1})
        for writer in writers
    )
    await asyncio.gather(*creations)
    reader = await service.create_session(app_name=app, user_id="reader")
    expect("the state of the app", reader.state, {f"app:k{writer}": 1 for writer in writers})


async def run_killed(subject: Subject, app: str, given: Mapping[str, Any]) -> None:
    """Another process is killed right after it was told that its appends are stored."""
    service = await subject.service()
    await service.create_session(app_name=app, user_id="u", session_id="s")
    race = Race(app, "u", "s", 0, given["times"], "k{writer}-{time}")
    child = await subject.child()
    written = await child.ask(asdict(race))
    await subject.kill_child()
    if not written["events"]:
        raise Mismatch(f"no append was acknowledged: {written['refused']}")
    _kept([await _read(service, race)], [race], [written])


async def _prepare(service: BaseSessionService, app: str, writer: int, spec: Mapping[str, Any]) -> Race:
    user, session = {
        "one": ("u", "s"),
        "each": (f"u{writer}", "s"),
        "each of one user": ("u", f"s{writer}"),
    }[spec["session"]]
    if writer == 0 or spec["session"] != "one":
        await service.create_session(app_name=app, user_id=user, session_id=session)
    return Race(app, user, session, writer, spec["times"], spec["key"])


async def _writers(
    subject: Subject, services: list[BaseSessionService], races: list[Race], spec: Mapping[str, Any]
) -> list[Awaitable[Written]]:
    if spec["through"] == "two processes":
        child = await subject.child()
        return [write(services[0], races[0]), *(child.ask(asdict(race)) for race in races[1:])]
    held = await _read(services[0], races[0]) if spec["through"] == "one copy" else None
    return [write(services[number % len(services)], race, held) for number, race in enumerate(races)]


async def _read(service: BaseSessionService, race: Race) -> Session:
    session = await service.get_session(app_name=race.app, user_id=race.user, session_id=race.session)
    if session is None:
        raise Mismatch(f"the session {race.session!r} of {race.user!r} is gone")
    return session


def _kept(sessions: list[Session], races: list[Race], written: list[Written]) -> None:
    lost_events: list[str] = []
    lost_keys: list[str] = []
    for session, each in zip(sessions, written, strict=True):
        ids = Counter(event.id for event in session.events)
        if twice := [event for event, times in ids.items() if times > 1]:
            raise Mismatch(f"events are stored twice: {shown(twice)}")
        lost_events += [event for event in each["events"] if event not in ids]
        lost_keys += [key for key in each["keys"] if key not in session.state]
    if lost_events or lost_keys:
        total = sum(len(each["events"]) for each in written)
        raise Mismatch(
            f"of {total} acknowledged appends, {len(lost_events)} lost their event and {len(lost_keys)} their key"
        )


def _ordered(sessions: list[Session], races: list[Race], written: list[Written]) -> None:
    for session, race, each in zip(sessions, races, written, strict=True):
        stored = [event.id for event in session.events if event.id.startswith(f"w{race.writer}-")]
        expect(f"the order of the events of writer {race.writer}", stored, each["events"])


def _counted(sessions: list[Session], races: list[Race], written: list[Written]) -> None:
    expect("the counter", sessions[0].state.get(races[0].key), sum(len(each["events"]) for each in written))


def _answered(sessions: list[Session], races: list[Race], written: list[Written]) -> None:
    if refused := _refusals(written):
        raise Mismatch(f"appends were refused: {refused}")


def _refusals(written: Iterable[Written]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in written:
        total.update(each["refused"])
    return dict(total)
