"""Operations that watch."""

from __future__ import annotations

from .changes import digest
from .core import Core
from .errors import InvalidArgument
from .keys import AppKey, SessionKey, UserKey, check_id
from .model import SessionData, SessionRef, key_of
from .watch import Watch, WatchRequest

__all__ = ["WatchOperations"]


class WatchOperations(Core):
    """Operations that watch."""

    def watch(
        self,
        target: SessionRef | UserKey | AppKey,
        *,
        whole: bool = False,
        since: int | str | None = None,
        initial: bool | None = None,
        silence: float = 45.0,
    ) -> Watch:
        """The changes of a session, a user or an app by all writers, as an asynchronous iterator.

        A session yields `EventChange`, `ReloadChange` and `DeletedChange`; a user and an app yield `ValuesChange` and
        `ReloadChange`. A whole session yields `SessionChange`, `EventChange`, `ValuesChange` and `DeletedChange`:
        `apply_change` keeps a session up to date by them. A broken connection is renewed, with growing pauses while
        that fails, and resumes where it broke.

        Args:
            target: A session, a user, or an app. The watch of a session that was read begins after its revision; any
                other one with the state when the iteration begins.
            whole: True for a session with the values of its user and its app.
            since: The ``place`` of a change, or a revision of the session, or a position of the app or the user: later
                changes are yielded.
            initial: For an app or a user, true to begin with all current values, as one change from position 0. For a
                whole session, false to begin with the next change instead of the current session.
            silence: The time without data after which a connection counts as dead, in seconds; by default three
                heartbeats of the server.

        Raises:
            InvalidArgument: An argument that it cannot use.
        """
        self._begin()
        if whole and not isinstance(target, (SessionKey, SessionData)):
            raise InvalidArgument("whole needs a session", path="whole")
        if isinstance(since, bool) or not isinstance(since, (int, str, type(None))):
            message = f"since must be the place of a change, or a number, not {type(since).__name__}"
            raise InvalidArgument(message, path="since")
        if not isinstance(silence, (int, float)) or not silence > 0:
            raise InvalidArgument(f"silence must be a number of seconds, not {silence!r}", path="silence")
        ids = {"appName": target.app_name}
        if not isinstance(target, AppKey):
            ids["userId"] = target.user_id
        if isinstance(target, (SessionKey, SessionData)):
            ids["sessionId"] = key_of(target).session_id
        for name, id in ids.items():
            check_id(id, name)
        members = {**ids, **({"whole": True} if whole else {}), "initial": whole if initial is None else initial}
        if since is None and isinstance(target, SessionData) and not whole:
            since = _place_of(target)
        return Watch(self._transport, WatchRequest(members, None if since is None else str(since), silence))


def _place_of(session: SessionData) -> str:
    """The place after the last event of a session that was read."""
    last = session.events[-1] if session.events else None
    return str(session.revision) if last is None else f"{session.revision}:{digest(last['id'])}"
