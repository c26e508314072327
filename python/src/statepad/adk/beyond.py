"""Operations of the session service that ADK's interface does not have."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from google.adk.events.event import Event
from google.adk.sessions.session import Session

from ..keys import AppKey, SessionKey, UserKey
from .core import ServiceCore
from .errors import SessionNotFoundError, adk_errors
from .events import from_wire
from .markers import Marker, marker_of
from .past import HistoryStep, Watch, step_of
from .sessions import bring_up_to_date, session_of

if TYPE_CHECKING:
    from ..lease import Lease
    from ..model import Rewound
    from ..updating import UpdateFunction

__all__ = ["BeyondAdk", "SessionName", "Target"]

SessionName: TypeAlias = Session | SessionKey
"""A session in an argument: one of ADK, which is brought up to date, or its name."""

Target: TypeAlias = SessionName | UserKey | AppKey
"""A session, a user in an app, or an app."""

# The number of events that are read at first when a session is brought up to date.
_FIRST_WINDOW = 16


class BeyondAdk(ServiceCore):
    """Operations of the session service that ADK's interface does not have."""

    @property
    def held_lease(self) -> Lease | None:
        """The lease of this service, if it is the one that `lease` gives."""
        return self._lease

    @staticmethod
    def revision(session: Session) -> int | None:
        """The number of events up to which a session shows the log; None for one that has lost its mark."""
        marker = marker_of(session)
        return None if marker is None else marker.revision

    async def get_or_create_session(
        self, *, app_name: str, user_id: str, session_id: str, state: dict[str, Any] | None = None
    ) -> Session:
        """A session, which is created when it is missing: then with this state. Arguments as of `create_session`."""
        data = await self._client.get_or_create_session(
            app_name, user_id, session_id=session_id, state=self._first_values(state)
        )
        return session_of(data)

    async def get_app_state(self, *, app_name: str) -> dict[str, Any]:
        """The values of an app, without the prefix ``app:``; empty when there are none."""
        return await self._client.get_app_state(app_name)

    async def refresh(self, session: Session) -> None:
        """Brings a session up to date in place, as an append does: with the events and the values of others.

        Raises:
            SessionNotFoundError: There is no such session, or it was created anew since it was read.
        """
        async with self._turn(session):
            await self._refresh(session, await self._marker(session))

    async def update_state(
        self,
        target: Target,
        update: UpdateFunction | Mapping[str, Any],
        *,
        attempts: int = 100,
        author: str | None = None,
        invocation_id: str | None = None,
    ) -> dict[str, Any]:
        """Changes values, and loses no concurrent write of others.

        Args:
            target: A session, whose log gets an event with the change; a user, for ``user:`` and ``app:`` keys; or an
                app, for ``app:`` keys.
            update: A delta under full keys, which may have operators and `DELETED`. Or a function of the current
                values, which returns the delta, or ``None`` where there is nothing to write; it may be asynchronous. It
                runs again when others have changed a value that it has read.
            attempts: The number of times that the function may run.
            author: The author of the event of a session; ``system`` by default.
            invocation_id: The invocation of that event.

        Returns:
            The values right after the update, under full keys.

        Raises:
            StateConflict: Others came between in every attempt; or a ``compare_and_set`` found another value.
            SessionNotFoundError: There is no such session.
        """
        with adk_errors():
            state = await self._client.update_state(
                await self._target(target), update, attempts=attempts, author=author, invocation_id=invocation_id
            )
        await self._refresh_if_held(target)
        return state

    async def state_at(self, session: SessionName, revision: int | None = None) -> dict[str, Any]:
        """The values of a session at a revision, from 0, the creation; the current ones without it.

        ``app:`` and ``user:`` keys of the past are known as far as the log of the session, or the store, has them.

        Raises:
            SessionNotFoundError: There is no such session.
            InvalidArgument: It does not have this revision.
        """
        with adk_errors():
            return (await self._client.state_at(await self._name(session), revision)).state

    async def history(
        self, target: Target, key: str, *, until: int | None = None, last: int | None = None
    ) -> list[HistoryStep]:
        """The writes of a key, oldest first: by one session, or of a shared key by all sessions of an app or a user.

        Args:
            target: A session; an app, for an ``app:`` key; or a user, for a ``user:`` or ``app:`` key.
            key: The key, with its prefix.
            until: Only the writes up to this revision of the session, or this position of the app or user.
            last: Only the last writes, at most this many.

        Raises:
            SessionNotFoundError: There is no such session.
        """
        with adk_errors():
            answer = await self._client.history(await self._target(target), key, until=until, last=last)
        return [step_of(told) for told in answer.steps]

    async def rewind(self, session: SessionName, *, before: str) -> Event:
        """Goes back to before the first event of an invocation.

        An event is appended that restores the session's own keys, those of its creation included; ``app:`` and
        ``user:`` keys stay as they are, and so do artifacts: ``Runner.rewind_async`` restores those as well.

        Args:
            session: The session.
            before: The id of the invocation.

        Returns:
            The event, as it is stored.

        Raises:
            SessionNotFoundError: There is no such session.
            InvalidArgument: It has no such invocation.
        """
        with adk_errors():
            rewound = await self._client.rewind(await self._name(session), before=before)
        return await self._rewound(session, rewound)

    async def redo(self, session: SessionName) -> Event:
        """Undoes the last rewind, if no other event was appended since. Raises as `rewind`."""
        with adk_errors():
            rewound = await self._client.redo(await self._name(session))
        return await self._rewound(session, rewound)

    async def fork(self, session: SessionName, *, at: int | None = None, session_id: str | None = None) -> Session:
        """Creates a session of the same user that continues from a moment of this one.

        Args:
            session: The session.
            at: The revision up to which the log is copied; the current one when absent.
            session_id: The id of the new session; generated when absent or blank.

        Raises:
            SessionNotFoundError: There is no such session.
            AlreadyExistsError: The id is taken.
        """
        with adk_errors():
            return session_of(await self._client.fork(await self._name(session), at=at, session_id=session_id))

    def watch(
        self,
        target: Target,
        *,
        whole: bool = False,
        since: int | str | None = None,
        initial: bool | None = None,
        silence: float = 45.0,
    ) -> Watch:
        """The changes of a session, a user or an app by all writers, as an asynchronous iterator.

        A broken connection is renewed, and resumes where it broke: no change is missing or repeated.

        Args:
            target: A session, a user, or an app. The watch of a session of ADK begins after the events that it shows;
                any other one with the state when the iteration begins.
            whole: True for a session with the values of its user and its app: it begins with the current session.
            since: The ``place`` of a change, or a revision of the session, or a position of the app or the user: later
                changes are yielded.
            initial: For an app or a user, true to begin with all current values. For a whole session, false to begin
                with the next change instead of the current session.
            silence: The time without data after which a connection counts as dead, in seconds.
        """
        own = target if not isinstance(target, Session) else SessionKey(target.app_name, target.user_id, target.id)
        if isinstance(target, Session) and since is None and not whole:
            since = self.revision(target)
        return Watch(self._client.watch(own, whole=whole, since=since, initial=initial, silence=silence))

    def lease(self, session: SessionName, *, ttl: float = 30.0, wait: float = 0.0) -> AbstractAsyncContextManager[Self]:
        """Runs a body under the lease of a session: ``async with sessions.lease(session) as leased``.

        ``leased`` is this service, except that its writes to the session carry the lease: the store refuses them once
        another holder has it. The lease is renewed in the background, and released at the end. Once it is known to be
        lost, the body is cancelled, and the ``async with`` raises `LeaseLost`. Writes of others through a service
        without the lease are not held up: all writers have to take it.

        Args:
            session: The session.
            ttl: The duration of the lease unless it is renewed, in seconds by the store's clock. After the end of the
                process it frees the session.
            wait: The time to wait for a lease that another holder has, in seconds.

        Raises:
            LeaseHeld: Another holder has the lease.
            LeaseLost: Another holder has taken it before the body has ended.
            SessionNotFoundError: There is no such session, or it was deleted during the body.
        """
        return self._under_lease(session, ttl, wait)

    @asynccontextmanager
    async def _under_lease(self, session: SessionName, ttl: float, wait: float) -> AsyncIterator[Self]:
        with adk_errors():
            name = await self._name(session)
            async with self._client.lease(name, ttl=ttl, wait=wait, num_recent_events=0) as lease:
                leased = copy.copy(self)
                leased._lease = lease
                yield leased

    # Shared by the operations

    async def _name(self, session: SessionName) -> SessionKey:
        """The name of a session, with its creation and its lease."""
        if isinstance(session, Session):
            return self._key(session, await self._marker(session))
        return session if session.lease is not None else self._with_lease(session)

    async def _target(self, target: Target) -> Any:
        return await self._name(target) if isinstance(target, (Session, SessionKey)) else target

    async def _rewound(self, session: SessionName, rewound: Rewound) -> Event:
        event = from_wire(rewound.event)
        await self._refresh_if_held(session)
        shown = session.events if isinstance(session, Session) else []
        return next((each for each in reversed(shown) if each.id == event.id), event)

    async def _refresh_if_held(self, target: Target) -> None:
        if isinstance(target, Session):
            await self.refresh(target)

    async def _refresh(self, session: Session, marker: Marker) -> None:
        window = _FIRST_WINDOW
        while True:
            data = await self._client.get_session(
                session.app_name, session.user_id, session.id, num_recent_events=window
            )
            if data is None or (marker.etag is not None and data.etag != marker.etag):
                raise SessionNotFoundError(f"Session {session.id} not found.")
            missing = max(0, data.revision - marker.revision)
            if missing <= len(data.events):
                break
            window = missing + _FIRST_WINDOW
        bring_up_to_date(
            session,
            marker,
            told_events=data.events[len(data.events) - missing :],
            state=data.state,
            revision=data.revision,
            last_update_time=data.last_update_time,
        )
