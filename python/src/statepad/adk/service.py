"""ADK's session service over a statepad server."""

from __future__ import annotations

import logging
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from google.adk.sessions.session import Session

from ..keys import SessionKey
from ..operators import DELETED
from .beyond import BeyondAdk
from .errors import adk_errors
from .events import to_wire
from .markers import Marker
from .operators import Writes, is_pending, split
from .sessions import bring_up_to_date, session_of, settle
from .times import to_milliseconds

__all__ = ["StatepadSessionService"]

logger = logging.getLogger("statepad.adk")


class StatepadSessionService(BeyondAdk, BaseSessionService):
    """Keeps the sessions of ADK's agents on a statepad server.

    It is used as each other session service::

        sessions = StatepadSessionService("statepad://127.0.0.1:8377", token=TOKEN)
        runner = Runner(app_name="shop", agent=agent, session_service=sessions)

    A write that returns is durable, and is made once however often it had to be sent. Several processes may write to
    one session at a time: keys merge. After an append the session that was passed has what others have written since,
    in its state and among its events; it stays the same dictionary, and a value that nobody else wrote stays the same
    object. With ``strict=True`` an append through a session that is behind raises ADK's `StaleSessionError` instead.

    What an agent has written to the state of a session and not appended yet is kept when others' writes arrive, also if
    they wrote the same key. A ``temp:`` key stays on the session in hand until another value replaces it.

    **Operators** of `statepad` are values of a state: ``tool_context.state["app:orders"] = increment()``. Until the
    event of the tool is appended the state shows the operator, then the result. Those of tools that a model calls in
    parallel add up; what does not combine is refused with `InvalidArgument`. As in ADK, a later write to a key replaces
    an earlier one: within one tool, and between parallel tools where one of the two is a value. ``DELETED`` deletes a
    key. A ``state_schema`` of ADK refuses both for keys without a prefix, because it checks them as values.

    **Copies of sessions.** The revision of a session is in its private ``_storage_update_marker``. Deep copies, copies
    by ``model_copy`` and pickles have it. A session that was made of a dump (``Session.model_validate``) or by hand has
    not: its first append finds the place of its last event in the log, or of its ``last_update_time`` where it has no
    events. From there on others' writes are merged, or refused with ``strict``, as for each other session.

    **Servers of ADK.** ``adk web`` and ``adk api_server`` find the service by ``services.yaml`` in the folder of the
    agents::

        services:
          - scheme: statepad
            type: session
            class: statepad.adk.StatepadSessionService

    and are started with ``--session_service_uri=statepad://127.0.0.1:8377``, and the token in the environment variable
    ``STATEPAD_TOKEN``. If ADK cannot import the class, it only logs the warning ``Failed to load services.yaml`` with
    the reason, and takes the address for that of a database: the command then ends with ``Invalid database URL format
    or argument 'statepad://…'``, or with ``No module named 'sqlalchemy'``. Look for that warning above it. With
    ``--log_level=debug`` the line ``Loaded custom services from services.yaml`` shows that all is well.

    One service serves all event loops and threads of a process. It may be pickled, and used in forked processes.
    """

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Creates a session.

        Args:
            app_name: The app.
            user_id: The user.
            state: Its first values. ``app:`` and ``user:`` keys are shared with all sessions of the app or the user;
                ``temp:`` keys are dropped; `DELETED` deletes a shared key.
            session_id: Its id; generated when absent or blank.

        Raises:
            AlreadyExistsError: The id is taken.
        """
        with adk_errors():
            data = await self._client.create_session(
                app_name, user_id, session_id=session_id, state=self._first_values(state)
            )
        return session_of(data)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """The current session, or None when it is missing.

        Args:
            app_name: The app.
            user_id: The user.
            session_id: The session.
            config: Selects its events: those with ``after_timestamp`` (in seconds) or a later time, and of these the
                last ``num_recent_events``. Its state never depends on it.
        """
        recent = None if config is None else config.num_recent_events
        after = None if config is None else config.after_timestamp
        if recent is not None and recent < 0:
            raise ValueError("num_recent_events must be greater than or equal to 0.")
        key = (app_name, user_id, session_id)
        if after is None and recent is None and self._events is not None:
            read = await self._events.read(key, lambda last: self._client.get_session(*key, num_recent_events=last))
            return None if read is None else session_of(read[0], events=read[1])
        if after is None:
            data = await self._client.get_session(*key, num_recent_events=recent)
            return None if data is None else session_of(data)
        # Times on the wire are coarser. An earlier event that is equal to the given time there must not count.
        data = await self._client.get_session(*key, after_timestamp=to_milliseconds(after)[0])
        if data is None:
            return None
        session = session_of(data)
        events = [event for event in session.events if event.timestamp >= after]
        session.events = events if recent is None else events[len(events) - min(recent, len(events)) :]
        return session

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """The sessions of a user, or of all users of an app, oldest first: with their state, without their events."""
        page = await self._client.list_sessions(app_name, user_id)
        if page.corrupt:
            logger.warning("The store cannot read these sessions, and the list leaves them out: %s", page.corrupt)
        sessions = [session_of(row, is_row=True) for row in page.sessions]
        sessions.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Deletes a session, with its events and its own state. It may be missing."""
        await self._client.delete_session(self._with_lease(SessionKey(app_name, user_id, session_id)))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The values of a user in an app, without the prefix ``user:``; empty when there are none."""
        return await self._client.get_user_state(app_name, user_id)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Appends an event to a session, and brings the session up to date.

        A partial event is returned as it is. ``temp:`` keys of its delta go to the session's state, and are taken out
        of the delta. An event of ADK's that rewinds the session becomes a rewind of the server: its delta is replaced
        by one that also restores the values of the session's creation.

        Args:
            session: The session. It is changed in place, as the Runner goes on with it.
            event: The event. It is the one that ``session.events`` has then.

        Returns:
            The event.

        Raises:
            SessionNotFoundError: There is no such session, or it was created anew since it was read.
            StaleSessionError: With ``strict``: others have written to the session since it was read.
            InvalidArgument: Operators cannot be used as they are.
            ValueNotJson: JSON would lose or change a value.
            CommitUnknown: Nobody knows whether the event is stored. Append the same event once more.
        """
        if event.partial:
            return event
        writes = split(event.actions.state_delta)
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        _drop_temp(session, writes)
        async with self._turn(session):
            marker = await self._marker(session)
            # A rewind names the place to which it goes, and compares the revision itself.
            is_strict = self._strict and not event.actions.rewind_before_invocation_id
            try:
                with adk_errors():
                    appended = await self._client.append_event(
                        self._key(session, marker),
                        to_wire(event, writes),
                        expected_revision=marker.revision if is_strict else None,
                        since=marker.revision,
                    )
            except BaseException:
                _take_back(session, marker, writes)
                raise
            settle(event, appended.event, writes)
            bring_up_to_date(
                session,
                marker,
                told_events=appended.events or [],
                state=appended.state or {},
                revision=appended.revision,
                last_update_time=appended.last_update_time,
                own=event,
            )
        return event

    async def flush(self) -> None:
        """Returns when every earlier write of this event loop was answered. An append that returned is durable."""
        await self._client.flush()


def _drop_temp(session: Session, writes: Writes) -> None:
    """Takes ``temp:`` keys out of the writes, and those that are deleted out of the state."""
    for key in [key for key in writes.deleted if key.startswith("temp:")]:
        session.state.pop(key, None)
        writes.deleted.remove(key)
    writes.values = {key: value for key, value in writes.values.items() if not key.startswith("temp:")}


def _take_back(session: Session, marker: Marker, writes: Writes) -> None:
    """After a failure, shows the last known values where the state has operators and marks of deletion."""
    for key in [*writes.operators, *writes.deleted]:
        if not is_pending(session.state.get(key)) and session.state.get(key) is not DELETED:
            continue
        value = marker.value(key)
        if value is DELETED:
            del session.state[key]
        else:
            session.state[key] = value
