"""The answers of a server, as values.

States, deltas and events are plain dicts and lists of the JSON that the Agent Development Kit (ADK) has, with its names
(``stateDelta``, ``invocationId``). They belong to the caller, who may change them. The times in them are milliseconds
since the epoch, as on the wire; durations in arguments are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from .keys import SessionKey

if TYPE_CHECKING:
    from .lease import Lease

__all__ = [
    "Appended",
    "EventPage",
    "History",
    "Json",
    "JsonObject",
    "Rewound",
    "SessionData",
    "SessionPage",
    "SessionRef",
    "StateAt",
    "Swept",
    "key_of",
]

Json: TypeAlias = Any
"""A JSON value: ``None``, ``bool``, ``int``, ``float``, ``str``, a list of JSON, or a dict of JSON under strings."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""


@dataclass(frozen=True, slots=True)
class SessionData:
    """A session as a server has answered it. It stays as it was read.

    Attributes:
        id: The session's id.
        app_name: The app.
        user_id: The user.
        state: All values under their full keys: the session's, then ``app:``, then ``user:`` keys.
        events: The events, oldest first; those of the window that was asked for. Times are milliseconds.
        revision: The number of events since the creation.
        last_update_time: The time of the last event, or of the creation, in milliseconds since the epoch.
        expire_time: The time at which the session expires, in milliseconds since the epoch; ``None`` where it does not.
        etag: Names this creation of the session.
        lease: The lease of its writes: see `Client.lease`.
    """

    id: str
    app_name: str
    user_id: str
    state: JsonObject
    events: list[JsonObject]
    revision: int
    last_update_time: float
    expire_time: float | None = None
    etag: str | None = None
    lease: Lease | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> SessionKey:
        """The name of the session, with its etag and its lease."""
        return SessionKey(self.app_name, self.user_id, self.id, etag=self.etag, lease=self.lease)


SessionRef: TypeAlias = SessionKey | SessionData
"""A session in an argument: its name, or the session itself."""


def key_of(session: SessionRef) -> SessionKey:
    """The name of a session in an argument."""
    return session.key if isinstance(session, SessionData) else session


def session_from_json(json: Mapping[str, Any], etag: str | None) -> SessionData:
    """The session in an answer."""
    return SessionData(
        id=json["id"],
        app_name=json["appName"],
        user_id=json["userId"],
        state=json["state"],
        events=json["events"],
        revision=json["revision"],
        last_update_time=json["lastUpdateTime"],
        expire_time=json.get("expireTime"),
        etag=json.get("etag", etag),
    )


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer to an append.

    Attributes:
        event: The stored event: with its time, and with the results of operators in its delta.
        revision: The revision of the session after it.
        last_update_time: The time of the session after it, in milliseconds since the epoch.
        state: With ``since``: the state of the session at ``revision``.
        events: With ``since``: the events after ``since`` up to ``revision``, those of others and the new one included.
        expire_time: The time at which the session expires now, in milliseconds since the epoch; ``None`` where it does
            not.
    """

    event: JsonObject
    revision: int
    last_update_time: float
    state: JsonObject | None = None
    events: list[JsonObject] | None = None
    expire_time: float | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events of a session, oldest first, and the revision that the session has now."""

    events: list[JsonObject]
    revision: int


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A part of a list of sessions.

    Attributes:
        sessions: With their state, and without events.
        total: The number of sessions in the whole list.
        cursor: Continues the list after this part; ``None`` at its end.
        corrupt: Sessions of this part that the store cannot read.
    """

    sessions: list[SessionData]
    total: int
    cursor: str | None = None
    corrupt: list[SessionKey] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StateAt:
    """The state of a session at a revision.

    Attributes:
        state: All values under their full keys.
        revision: The revision.
        exact: False where ``app:`` and ``user:`` keys are known from the session's own log alone.
    """

    state: JsonObject
    revision: int
    exact: bool


@dataclass(frozen=True, slots=True)
class History:
    """The writes of a key, oldest first.

    Attributes:
        steps: Each has the ``timestamp`` in milliseconds, the value before as ``from`` and the one after as ``to``
            (absent where there is none). Those of a session also have its ``revision`` and the ``event``; those of an
            app or a user have their ``position``, and with ``by`` the session and the event that wrote it.
        exact: False where some of the writes, or of the values before, are unknown.
    """

    steps: list[JsonObject]
    exact: bool


@dataclass(frozen=True, slots=True)
class Rewound:
    """The answer to a rewind, or to its undoing.

    Attributes:
        event: The marker that was appended: its delta restores the session's own keys.
        revision: The revision of the session after it.
        shared: The ``app:`` and ``user:`` keys that the affected turns wrote; they stay as they are.
    """

    event: JsonObject
    revision: int
    shared: list[str]


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep has removed.

    Attributes:
        sessions: The number of sessions that had expired.
        users: The number of users without sessions whose values were removed.
    """

    sessions: int
    users: int
