"""The parts of the session service that its operations share."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from google.adk.sessions.session import Session

from ..client import Client
from ..closing import AsyncClosing
from ..keys import SessionKey
from ..loops import Turns
from ..operators import DELETED
from .cache import EventCache
from .errors import SessionNotFoundError
from .events import plain
from .markers import Marker, marker_of
from .operators import split
from .times import to_milliseconds, to_seconds

if TYPE_CHECKING:
    from ..lease import Lease

__all__ = ["ServiceCore"]

logger = logging.getLogger("statepad.adk")

# The keywords that go to the client.
_OF_CLIENT = ("headers", "timeout", "attempts", "pause", "http_client")
# The number of events among which the last one of a session without a mark is looked for at first.
_FIRST_WINDOW = 50


class ServiceCore(AsyncClosing):
    """The parts of the session service that its operations share."""

    def __init__(
        self,
        uri: str,
        *,
        token: str | None = None,
        strict: bool = False,
        cached_events: int = 0,
        agents_dir: str | None = None,
        **options: Any,
    ) -> None:
        """Makes the service. Nothing is sent before the first call.

        Args:
            uri: The address of the server, ``statepad://host:port``: see `Client`.
            token: The token of the server; by default that in the environment variable ``STATEPAD_TOKEN``.
            strict: True if an append through a session to which others have written since it was read is to raise
                `StaleSessionError`.
            cached_events: The number of events, of all sessions together, that the service keeps between reads: only
                the new ones are read then, which makes turns in long sessions faster. Sessions share the kept events,
                which nobody may change.
            agents_dir: Given by ADK's servers; not used.
            **options: ``headers``, ``timeout`` (in seconds), ``attempts``, ``pause`` (in seconds) and ``http_client``
                of `Client`. Others, which ADK's servers pass on from ``--session_db_kwargs``, are ignored with a
                warning.

        Raises:
            InvalidArgument: The address, the token or an option cannot be used.
        """
        del agents_dir
        ignored = sorted(options.keys() - set(_OF_CLIENT))
        if ignored:
            logger.warning("StatepadSessionService does not know these options, and ignores them: %s", ignored)
        known = {name: options[name] for name in _OF_CLIENT if name in options}
        self._client = Client(uri, token=token, **known)
        self._strict = strict
        self._cached_events = cached_events
        self._events = EventCache(cached_events) if cached_events > 0 else None
        self._lease: Lease | None = None
        self._turns_of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = weakref.WeakKeyDictionary()

    @property
    def client(self) -> Client:
        """The client, which has the operations of the server in plain JSON."""
        return self._client

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r})"

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lease": None, "_events": None, "_turns_of_loops": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._events = EventCache(self._cached_events) if self._cached_events > 0 else None
        self._turns_of_loops = weakref.WeakKeyDictionary()

    async def close(self) -> None:
        """Closes the connections. Later calls raise `Closed`; the sessions stay."""
        await self._client.aclose()

    async def aclose(self) -> None:
        """The same as `close`."""
        await self.close()

    # Shared by the operations

    @staticmethod
    def _first_values(state: Mapping[str, Any] | None) -> dict[str, Any]:
        """The state of a creation, as the client takes it. Nobody stores ``temp:`` keys."""
        writes = split({key: value for key, value in (state or {}).items() if not key.startswith("temp:")})
        # The client refuses operators here, and names them.
        return {**plain(writes.values), **writes.operators, **dict.fromkeys(writes.deleted, DELETED)}

    def _key(self, session: Session, marker: Marker | None = None) -> SessionKey:
        """The name of a session, with its lease; with its creation, where that is known."""
        etag = None if marker is None else marker.etag
        return self._with_lease(SessionKey(session.app_name, session.user_id, session.id, etag=etag))

    def _with_lease(self, key: SessionKey) -> SessionKey:
        """The name of a session, with the lease if it is the one of this service."""
        is_leased = self._lease is not None and self._lease.session.key == key
        return replace(key, lease=self._lease) if is_leased else key

    def _turn(self, session: Session) -> AbstractAsyncContextManager[None]:
        """The turn of a session in this loop: parallel branches of a run share the object, and its mark."""
        loop = asyncio.get_running_loop()
        turns = self._turns_of_loops.get(loop)
        if turns is None:
            turns = self._turns_of_loops[loop] = Turns()
        return turns.turn((session.app_name, session.user_id, session.id))

    async def _marker(self, session: Session) -> Marker:
        """The mark of a session; where it has none, one for the place up to which it shows the log.

        Raises:
            SessionNotFoundError: There is no such session.
        """
        return marker_of(session) or await self._found(session)

    async def _found(self, session: Session) -> Marker:
        last = session.events[-1].id if session.events else None
        key = (session.app_name, session.user_id, session.id)
        window = 0 if last is None else _FIRST_WINDOW
        while True:
            data = await self._client.get_session(*key, num_recent_events=window)
            if data is None:
                raise SessionNotFoundError(f"Session {session.id} not found.")
            ids = [told["id"] for told in reversed(data.events)]
            if last in ids:
                return Marker(data.revision - ids.index(last), data.etag)
            if last is None or len(ids) < window:
                break
            window *= 10
        later = await self._written_after(session, data.last_update_time)
        return Marker(data.revision - later, data.etag)

    async def _written_after(self, session: Session, last_update_time: float) -> int:
        """The number of events after the last time of a session that shows none of the log."""
        time = session.last_update_time
        if time == 0 or to_seconds(last_update_time) <= time:
            return 0
        data = await self._client.get_session(
            session.app_name, session.user_id, session.id, after_timestamp=to_milliseconds(time)[0]
        )
        return 0 if data is None else sum(to_seconds(told["timestamp"]) > time for told in data.events)
