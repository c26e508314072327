"""Answers about the past and the changes of sessions, with ADK's events and times in seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from google.adk.events.event import Event
from google.adk.sessions.session import Session

from ..changes import DeletedChange, ReloadChange, ValuesChange
from ..changes import EventChange as ToldEvent
from ..changes import SessionChange as ToldSession
from ..closing import AsyncClosing
from ..operators import MISSING
from .events import from_wire
from .sessions import session_of
from .times import to_seconds

if TYPE_CHECKING:
    from ..changes import Change as ToldChange
    from ..watch import Watch as ToldChanges

__all__ = ["Change", "EventChange", "HistoryStep", "SessionChange", "Watch", "step_of"]


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One write to a key.

    Attributes:
        timestamp: Its time, in seconds since the epoch.
        before: The value before; `MISSING` where there was none, or where it is unknown.
        after: The value after; `MISSING` where the key was deleted.
        revision: Of a session: the revision after it, 0 for its creation.
        event: Of a session: the event that wrote it; None for its creation.
        position: Of an app or a user: the number of changes of its values, this one included.
        by: Of an app or a user: the ``userId``, the ``sessionId`` and the ``eventId`` that wrote it, where the client
            may see them.
    """

    timestamp: float
    before: Any
    after: Any
    revision: int | None = None
    event: Event | None = None
    position: int | None = None
    by: Mapping[str, str] | None = None


def step_of(told: Mapping[str, Any]) -> HistoryStep:
    """A step in an answer."""
    event = from_wire(told["event"]) if "event" in told else None
    return HistoryStep(
        timestamp=to_seconds(told["timestamp"]) if event is None else event.timestamp,
        before=told.get("from", MISSING),
        after=told.get("to", MISSING),
        revision=told.get("revision"),
        event=event,
        position=told.get("position"),
        by=told.get("by"),
    )


@dataclass(frozen=True, slots=True)
class EventChange:
    """The next event of a session.

    Attributes:
        revision: The revision to which it brought the session.
        event: The event.
        place: The reader's place after it: ``since`` continues from there.
    """

    revision: int
    event: Event
    place: str


@dataclass(frozen=True, slots=True)
class SessionChange:
    """The current session, complete: the beginning of the watch of a whole session, and after a gap.

    Attributes:
        session: The session.
        place: The reader's place after it: ``since`` continues from there.
    """

    session: Session
    place: str


Change: TypeAlias = EventChange | ValuesChange | ReloadChange | SessionChange | DeletedChange
"""A change of a session, a user or an app."""


class Watch(AsyncClosing, AsyncIterator[Change]):
    """The changes of a target, in order: ``async for change in sessions.watch(target)``.

    It ends after `DeletedChange`, with `aclose`, and with its service. ``async with`` ends it at once; a loop that is
    left lets the connection go when the watch is collected.
    """

    def __init__(self, changes: ToldChanges) -> None:
        self._changes = changes

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        """The next change. Raises what the watch of a `Client` raises."""
        return _change_of(await anext(self._changes))

    async def aclose(self) -> None:
        """Ends it, and closes its connection."""
        await self._changes.aclose()


def _change_of(change: ToldChange) -> Change:
    match change:
        case ToldEvent(revision, event, place):
            return EventChange(revision, from_wire(event), place)
        case ToldSession(session, place):
            return SessionChange(session_of(session), place)
    return change
