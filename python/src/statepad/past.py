"""Operations on the past: earlier states, histories, rewinds and forks."""

from __future__ import annotations

from .admit import admit_end
from .calls import Parameter, finite
from .core import Core
from .errors import InvalidArgument, SessionExists
from .keys import AppKey, SessionKey, UserKey, check_id, path_to
from .model import History, JsonObject, Rewound, SessionData, SessionRef, StateAt, key_of
from .sessions import session_of
from .transport import Call

__all__ = ["PastOperations"]


class PastOperations(Core):
    """Operations on the past."""

    async def state_at(self, session: SessionRef, revision: int | None = None) -> StateAt:
        """The state of a session at a revision, from 0, the creation; the current one without it.

        Raises:
            SessionNotFound: There is no such session.
            InvalidArgument: It does not have this revision.
        """
        key = key_of(session)
        parameters: dict[str, Parameter] = {"revision": revision}
        call = Call(
            "GET", path_to("session_state", key), "reading", parameters=parameters, headers={"if-match": key.etag}
        )
        json = (await self._call(call)).json
        return StateAt(json["state"], json["revision"], json["exact"])

    async def history(
        self,
        target: SessionRef | AppKey | UserKey,
        key: str,
        *,
        until: int | None = None,
        last: int | None = None,
    ) -> History:
        """The writes of a key: by one session, or of a shared key by all sessions of an app or of a user.

        Args:
            target: A session; an app, for an ``app:`` key; or a user, for a ``user:`` or ``app:`` key.
            key: The key, with its prefix.
            until: Only the writes up to this revision of the session, or this position of the app or user. A session
                that was read shows its own up to its revision.
            last: Only the last writes, at most this many.

        Raises:
            SessionNotFound: There is no such session.
            InvalidArgument: The key does not belong to the target.
        """
        parameters: dict[str, Parameter] = {"key": key, "until": until, "last": last}
        headers: dict[str, str | None] = {}
        if isinstance(target, (SessionKey, SessionData)):
            own = key_of(target)
            path = path_to("session_history", own)
            headers["if-match"] = own.etag
            if until is None and isinstance(target, SessionData):
                parameters["until"] = target.revision
        elif isinstance(target, UserKey) and not key.startswith("app:"):
            path = path_to("user_history", target)
        else:
            path = path_to("app_history", AppKey(target.app_name))
        json = (await self._call(Call("GET", path, "reading", parameters=parameters, headers=headers))).json
        return History(json["steps"], json["exact"])

    async def trim_history(
        self, target: AppKey | UserKey, *, before: float | None = None, up_to: int | None = None
    ) -> int:
        """Deletes the oldest writes to the values of an app, or of a user, from the log. The values stay.

        Args:
            target: The app or the user.
            before: The oldest changes up to the first one that is not older than this, in milliseconds since the epoch.
            up_to: All changes up to this position. Give one of the two.

        Returns:
            The number of deleted changes.
        """
        if (before is None) == (up_to is None):
            raise InvalidArgument("trim_history needs one of before and up_to", path="before")
        body = {"before": finite(before)} if up_to is None else {"upTo": up_to}
        path = path_to("trim_app_history" if isinstance(target, AppKey) else "trim_user_history", target)
        deleted: int = (await self._call(Call("POST", path, "by content", body=body))).json["deleted"]
        return deleted

    async def rewind(self, session: SessionRef, *, before: str) -> Rewound:
        """Goes back in a session to before the first event of an invocation.

        A marker is appended whose delta restores the session's own keys; ``app:`` and ``user:`` keys stay as they are.

        Args:
            session: The session.
            before: The id of the invocation.

        Raises:
            SessionNotFound: There is no such session.
            InvalidArgument: It has no such invocation.
            LeaseLost: The session was named with a lease that another holder has taken since.
        """
        return await self._mark("rewind", session, {"before": before})

    async def redo(self, session: SessionRef) -> Rewound:
        """Undoes the last rewind, if no other event was appended since. Raises as `rewind`."""
        return await self._mark("redo", session, {})

    async def _mark(self, path: str, session: SessionRef, body: JsonObject) -> Rewound:
        async with self._operation():
            json = (await self._write_session(key_of(session), path, body, "by key")).json
        return Rewound(json["event"], json["revision"], json["shared"])

    async def fork(
        self,
        session: SessionRef,
        *,
        at: int | None = None,
        session_id: str | None = None,
        ttl: float | None = None,
        expire_time: float | None = None,
    ) -> SessionData:
        """Creates a session of the same user that continues from a moment of this one.

        Args:
            session: The session.
            at: The revision up to which the log is copied; the current one when absent.
            session_id: The id of the new session; generated (a UUID) when absent or blank.
            ttl: As of `create_session`. Without both, the new session has the default of the server.
            expire_time: As of `create_session`.

        Raises:
            SessionNotFound: There is no such session.
            SessionExists: The id is taken.
        """
        key = key_of(session)
        body: JsonObject = {**({} if at is None else {"at": at}), **admit_end(ttl, expire_time)}
        if session_id is not None:
            check_id(session_id, "session_id")
            body["sessionId"] = session_id
        path, headers = path_to("fork", key), {"if-match": key.etag}
        try:
            return session_of(await self._call(Call("POST", path, "by key", body=body, headers=headers)))
        except SessionExists:
            if session_id is None or not session_id.strip():
                raise
            # It may be the same fork, which an earlier call has given up: a request without a key continues it.
            return session_of(await self._call(Call("POST", path, "never", body=body, headers=headers)))
