"""Events that were read before, so that a turn in a long session need not read and build all of them again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from google.adk.events.event import Event

from .events import from_wire

if TYPE_CHECKING:
    from ..model import SessionData

__all__ = ["EventCache"]

Key: TypeAlias = tuple[str, str, str]
"""An app, a user and a session."""

# The number of events that are read of a session whose others are known.
_WINDOW = 16


@dataclass(frozen=True, slots=True)
class _Log:
    """The whole log of a session, up to a revision."""

    etag: str | None
    events: tuple[Event, ...]


class EventCache:
    """The logs of the sessions that were read last.

    A cached log counts only where the server's latest events continue it: those that both have are the same, in a
    session of the same creation. Otherwise it is read anew.
    """

    def __init__(self, size: int) -> None:
        """Makes a cache for so many events, of all sessions together."""
        self._size = size
        # The least recently read one is first.
        self._logs: dict[Key, _Log] = {}

    async def read(
        self, key: Key, get: Callable[[int | None], Awaitable[SessionData | None]]
    ) -> tuple[SessionData, list[Event]] | None:
        """Reads a session.

        Args:
            key: The session.
            get: Reads it with so many of its last events; with all of them for None.

        Returns:
            The session, with some of its events, and all its events; None where it is missing.
        """
        known = self._logs.get(key)
        window = _WINDOW
        while known is not None:
            data = await get(window)
            if data is None or data.etag != known.etag:
                break
            before = data.revision - len(data.events)
            if before < len(known.events):
                if _continues(known, data.events, before):
                    shared = len(known.events) - before
                    events = [*known.events, *map(from_wire, data.events[shared:])]
                    self._keep(key, data, events)
                    return data, events
                break
            window = data.revision - len(known.events) + _WINDOW
        self._logs.pop(key, None)
        data = await get(None)
        if data is None:
            return None
        events = [from_wire(told) for told in data.events]
        self._keep(key, data, events)
        return data, events

    def _keep(self, key: Key, data: SessionData, events: list[Event]) -> None:
        """Keeps a log as the latest one, and drops the oldest ones beyond the size."""
        self._logs.pop(key, None)
        if not events or len(events) != data.revision or len(events) > self._size:
            return
        self._logs[key] = _Log(data.etag, tuple(events))
        # Threads share the cache: each step here is one of the interpreter's own, and none relies on the one before.
        logs = list(self._logs.items())
        excess = sum(len(log.events) for _, log in logs) - self._size
        for oldest, log in logs:
            if excess <= 0:
                break
            self._logs.pop(oldest, None)
            excess -= len(log.events)


def _continues(known: _Log, events: list[dict[str, Any]], before: int) -> bool:
    """True where the last events of a session, which come after some others, begin with those that are known."""
    overlap = known.events[before:]
    ids = [told["id"] for told in events[: len(overlap)]]
    return [event.id for event in overlap] == ids
