"""Operations on sessions and their events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from . import calls
from .admit import admit_end, admit_event, admit_state
from .calls import Hold
from .core import Core
from .errors import InvalidArgument
from .keys import AppKey, SessionKey, UserKey, check_id, path_to
from .model import Appended, EventPage, JsonObject, SessionData, SessionPage, SessionRef, key_of, session_from_json
from .transport import Answer, Call

__all__ = ["SessionOperations", "session_of"]


class SessionOperations(Core):
    """Operations on sessions and their events."""

    async def create_session(
        self,
        app_name: str,
        user_id: str,
        *,
        session_id: str | None = None,
        state: Mapping[str, Any] | None = None,
        ttl: float | None = None,
        expire_time: float | None = None,
    ) -> SessionData:
        """Creates a session.

        Args:
            app_name: The app.
            user_id: The user.
            session_id: Its id; generated (a UUID) when absent or blank.
            state: Values under their full keys. ``app:`` and ``user:`` keys are shared with all sessions of the app or
                the user, ``temp:`` keys are dropped, and `DELETED` deletes a shared key.
            ttl: The session expires so many seconds after its last write: it is not there any more then. Infinity
                (``math.inf``) stands for a session that does not expire, whatever the default of the server is.
            expire_time: In place of ``ttl``: the time at which it expires, in milliseconds since the epoch. Writes do
                not move it.

        Raises:
            SessionExists: The id is taken.
            InvalidArgument: ``ttl`` or ``expire_time`` is no time to come, or the store of the server keeps no expiry.
            ValueNotJson: JSON would lose or change a value.
        """
        body = {**admit_state(state), **admit_end(ttl, expire_time)}
        return await self._create("sessions", app_name, user_id, session_id, body)

    async def get_or_create_session(
        self,
        app_name: str,
        user_id: str,
        *,
        session_id: str | None = None,
        state: Mapping[str, Any] | None = None,
        ttl: float | None = None,
        expire_time: float | None = None,
    ) -> SessionData:
        """A session, which is created when it is missing. Arguments and errors are those of `create_session`."""
        body = {**admit_state(state), **admit_end(ttl, expire_time)}
        return await self._create("get_or_create_session", app_name, user_id, session_id, body)

    async def _create(
        self, path: str, app_name: str, user_id: str, session_id: str | None, creation: JsonObject
    ) -> SessionData:
        if session_id is not None:
            check_id(session_id, "session_id")
        body = {**({} if session_id is None else {"sessionId": session_id}), **creation}
        call = Call("POST", path_to(path, UserKey(app_name, user_id)), "by key", body=body)
        return session_of(await self._call(call))

    async def get_session(
        self,
        app_name: str,
        user_id: str,
        session_id: str,
        *,
        num_recent_events: int | None = None,
        after_timestamp: float | None = None,
    ) -> SessionData | None:
        """The current session; ``None`` when it is missing.

        Args:
            app_name: The app.
            user_id: The user.
            session_id: The session.
            num_recent_events: The last events, at most this many; 0 means none.
            after_timestamp: The events of this time or a later one, in milliseconds since the epoch;
                ``num_recent_events`` counts among these.
        """
        window = {"numRecentEvents": num_recent_events, "afterTimestamp": calls.finite(after_timestamp)}
        self._begin()
        answer = await self._read_session(SessionKey(app_name, user_id, session_id), window)
        return None if answer is None else session_of(answer)

    async def list_sessions(
        self,
        app_name: str,
        user_id: str | None = None,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["asc", "desc"] = "asc",
    ) -> SessionPage:
        """The sessions of a user, or of all users of an app, with their state and without their events.

        Args:
            app_name: The app.
            user_id: The user; all users when absent.
            limit: The largest number of sessions; all when absent.
            cursor: Continues after an earlier part: its ``cursor``.
            order: By ``last_update_time``; ids break ties, ascending either way.
        """
        if user_id is None:
            path = path_to("app_sessions", AppKey(app_name))
        else:
            path = path_to("sessions", UserKey(app_name, user_id))
        pages = await self._pages(path, "sessions", limit, cursor, {"order": order})
        return SessionPage(
            sessions=[session_from_json(row, None) for page in pages for row in page["sessions"]],
            total=pages[0]["totalItems"],
            cursor=pages[-1].get("nextPageToken"),
            corrupt=[
                SessionKey(each["appName"], each["userId"], each["sessionId"])
                for page in pages
                for each in page.get("corrupt", [])
            ],
        )

    async def list_apps(self) -> list[str]:
        """The names of all apps in which the client may see something, in the order of their UTF-8."""
        pages = await self._pages(path_to("apps"), "apps", None, None)
        return [name for page in pages for name in page["apps"]]

    async def list_users(self, app_name: str) -> list[str]:
        """The names of all users in an app of whom the client may see something, in the order of their UTF-8."""
        pages = await self._pages(path_to("users", AppKey(app_name)), "users", None, None)
        return [name for page in pages for name in page["users"]]

    async def delete_session(self, session: SessionRef) -> None:
        """Deletes a session, with its events and its own state. It may be missing.

        It is the session that is there at the call: a repeated request never deletes one that is created meanwhile.

        Raises:
            LeaseLost: The session was named with a lease that another holder has taken since.
        """
        key = key_of(session)
        path, hold = path_to("session", key), Hold(key)
        async with self._operation(), self._turn(key):
            answer = await self._read_session(key, {"numRecentEvents": 0})
            if answer is None:
                return
            with hold.headers() as lease:
                try:
                    headers = {"if-match": answer.headers.get("etag"), **lease}
                    await self._send(Call("DELETE", path, "by content", headers=headers))
                except InvalidArgument:
                    # The store does not tell creations apart.
                    await self._send(Call("DELETE", path, "by content", headers=lease))

    async def append_event(
        self,
        session: SessionRef,
        event: Mapping[str, Any],
        *,
        expected_revision: int | None = None,
        since: int | None = None,
    ) -> Appended:
        """Appends an event, and writes its delta.

        The id of the event makes the append idempotent: the same event under the same id is stored once, however often
        it is sent. Appends to one session in one event loop are stored in the order of their calls.

        Args:
            session: The session. One that was read belongs to its creation: if the session was deleted and created
                again since, this raises `SessionNotFound`.
            event: The event in ADK's JSON, with its ``timestamp`` in milliseconds. It gets an id, a time and an
                invocation id where it has none. Values of its ``stateDelta`` may be operators and `DELETED`; ``temp:``
                keys are not sent.
            expected_revision: Append only if the session is at this revision.
            since: A revision that the caller has: the answer has the later events, and the state.

        Raises:
            SessionNotFound: There is no such session.
            SessionStale: It is not at ``expected_revision``.
            EventIdConflict: It has another event with this id.
            StateConflict: A ``compare_and_set`` found another value.
            ValueNotJson: JSON would lose or change a value; nothing was sent.
            LeaseLost: The session was named with a lease that another holder has taken since.
        """
        key = key_of(session)
        body: JsonObject = {"event": admit_event(event)}
        if expected_revision is not None:
            body["expectedRevision"] = expected_revision
        if since is not None:
            body["since"] = since
        async with self._operation():
            json = (await self._write_session(key, "events", body, "by content")).json
        return Appended(
            event=json["event"],
            revision=json["revision"],
            last_update_time=json["lastUpdateTime"],
            state=json.get("state"),
            events=json.get("events"),
            expire_time=json.get("expireTime"),
        )

    async def list_events(self, session: SessionRef, *, after: int = 0, limit: int | None = None) -> EventPage:
        """The events of a session, oldest first.

        Args:
            session: The session.
            after: Only the events after this revision.
            limit: At most so many; all when absent.

        Raises:
            SessionNotFound: There is no such session.
        """
        pages = await self._pages(path_to("events", key_of(session)), "events", limit, None, first={"after": after})
        return EventPage([event for page in pages for event in page["events"]], pages[-1]["revision"])


def session_of(answer: Answer) -> SessionData:
    """The session in an answer."""
    return session_from_json(answer.json, answer.headers.get("etag"))
