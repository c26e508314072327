"""Errors: a stable code, a message that names the key, id or path, and the details as attributes.

The codes are those of the package for TypeScript and of the server; ``docs/errors.md`` lists them. Most programs catch
one of the classes below, or compare ``error.code``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

__all__ = [
    "Closed",
    "CommitUnknown",
    "EventIdConflict",
    "Forbidden",
    "InvalidArgument",
    "KeyReused",
    "LeaseHeld",
    "LeaseLost",
    "LimitExceeded",
    "SessionExists",
    "SessionNotFound",
    "SessionStale",
    "StateConflict",
    "StatepadError",
    "StoreCorrupt",
    "StoreUnavailable",
    "TooLarge",
    "TooManyRequests",
    "Unauthenticated",
    "ValueNotJson",
]


class StatepadError(Exception):
    """Any error of statepad: of an argument, of the server, or of the way to it.

    After every error but `CommitUnknown`, and those with ``committed``, nothing has changed.

    Attributes:
        code: The kind of the error, such as ``"SESSION_NOT_FOUND"``. Programs can rely on it across versions.
        message: A sentence that names the key, id or path.
        status: The HTTP status of the answer; ``None`` without an answer.
        number: The number under which the server has logged details that it withholds.
        key: The state key concerned.
        path: The path of the fault in an argument: ``actions.stateDelta["cart"].items[3]``.
        id: The id of the session or event concerned.
        expected: `SessionStale`: the revision that the caller expected.
        actual: `SessionStale`: the revision that the session has.
        until: `LeaseHeld`: the time when the lease ends, in milliseconds since the epoch, by the store's clock.
        exceeded: `LimitExceeded`: the name of the limit of the server: ``"value"``, ``"delta"``, ``"event"``,
            ``"state"``, ``"keys"`` or ``"events"``; ``None`` for what the store cannot hold.
        size: `LimitExceeded`: the size, in bytes; of ``keys`` and ``events``, their number.
        limit: `LimitExceeded`: the limit, in the same unit.
        reason: Of a failure of the server's core: ``"memory"``, ``"trap"`` or ``"host"``.
        committed: True when the change is stored although its answer is an error: a repeated call would make it twice.
    """

    _default: ClassVar[str] = "INTERNAL"

    code: str
    message: str
    status: int | None
    number: str | None
    key: str | None
    path: str | None
    id: str | None
    expected: int | None
    actual: int | None
    until: int | None
    exceeded: str | None
    size: int | None
    limit: int | None
    reason: str | None
    committed: bool

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        number: str | None = None,
        key: str | None = None,
        path: str | None = None,
        id: str | None = None,
        expected: int | None = None,
        actual: int | None = None,
        until: int | None = None,
        exceeded: str | None = None,
        size: int | None = None,
        limit: int | None = None,
        reason: str | None = None,
        committed: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code or self._default
        self.message = message
        self.status = status
        self.number = number
        self.key = key
        self.path = path
        self.id = id
        self.expected = expected
        self.actual = actual
        self.until = until
        self.exceeded = exceeded
        self.size = size
        self.limit = limit
        self.reason = reason
        self.committed = committed

    @property
    def details(self) -> dict[str, Any]:
        """The details that this error has, by their names."""
        return {name: value for name in _DETAILS if (value := getattr(self, name)) not in (None, False)}

    def __repr__(self) -> str:
        details = "".join(f", {name}={value!r}" for name, value in self.details.items())
        return f"{type(self).__name__}({self.code}: {self.message!r}{details})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.message, self.code, self.details)


class InvalidArgument(StatepadError, ValueError):
    """An argument, or a request, that statepad cannot accept; ``path`` or ``key`` names the fault."""

    _default = "INVALID_ARGUMENT"


class ValueNotJson(StatepadError, ValueError):
    """A value that JSON would lose or change silently; ``path`` names it. Nothing was sent."""

    _default = "VALUE_NOT_JSON"


class SessionNotFound(StatepadError):
    """The session does not exist, or was deleted and created anew since it was read."""

    _default = "SESSION_NOT_FOUND"


class SessionExists(StatepadError):
    """The id of a new session is taken."""

    _default = "SESSION_EXISTS"


class SessionStale(StatepadError):
    """The session is not at the ``expected_revision`` of an append; see ``expected`` and ``actual``."""

    _default = "SESSION_STALE"


class StateConflict(StatepadError):
    """Other writers came between in every attempt, or a ``compare_and_set`` found another value of ``key``."""

    _default = "STATE_CONFLICT"


class EventIdConflict(StatepadError):
    """The session has another event with this id."""

    _default = "EVENT_ID_CONFLICT"


class LimitExceeded(StatepadError):
    """More would be stored than the server, or its store, allows; see ``exceeded``, ``size`` and ``limit``."""

    _default = "LIMIT_EXCEEDED"


class TooLarge(StatepadError):
    """The body of the request is too large for the server, or it has too many targets."""

    _default = "TOO_LARGE"


class TooManyRequests(StatepadError):
    """The client has reached its limit of streams."""

    _default = "TOO_MANY_REQUESTS"


class StoreUnavailable(StatepadError):
    """The server, or its store, cannot be reached. Nothing was written."""

    _default = "STORE_UNAVAILABLE"


class StoreCorrupt(StatepadError):
    """The store cannot read the session, or has lost the result of an operator (then ``committed`` is true)."""

    _default = "STORE_CORRUPT"


class CommitUnknown(StatepadError):
    """A write that may have happened: no answer tells. Send the same event again, under the same id."""

    _default = "COMMIT_UNKNOWN"


class LeaseHeld(StatepadError):
    """Another holder has the lease of the session, ``until`` then."""

    _default = "LEASE_HELD"


class LeaseLost(StatepadError):
    """Another holder has taken the lease, or it was released before the write. Nothing was written."""

    _default = "LEASE_LOST"


class Unauthenticated(StatepadError):
    """The server does not know the token, or its time is over."""

    _default = "UNAUTHENTICATED"


class Forbidden(StatepadError):
    """The token gives no right to this, whether the target exists or not."""

    _default = "FORBIDDEN"


class KeyReused(StatepadError):
    """The key of the request belongs to another one. Nothing was written."""

    _default = "KEY_REUSED"


class Closed(StatepadError):
    """The client, or the server, was used after its end."""

    _default = "CLOSED"


_CLASSES: Mapping[str, type[StatepadError]] = {
    each._default: each
    for each in (
        InvalidArgument,
        ValueNotJson,
        SessionNotFound,
        SessionExists,
        SessionStale,
        StateConflict,
        EventIdConflict,
        LimitExceeded,
        TooLarge,
        TooManyRequests,
        StoreUnavailable,
        StoreCorrupt,
        CommitUnknown,
        LeaseHeld,
        LeaseLost,
        Unauthenticated,
        Forbidden,
        KeyReused,
        Closed,
    )
}

# The details of an error, by their types in the JSON of a server.
_DETAILS: Mapping[str, type | tuple[type, ...]] = {
    "status": int,
    "number": str,
    "key": str,
    "path": str,
    "id": str,
    "expected": int,
    "actual": int,
    "until": (int, float),
    "exceeded": str,
    "size": int,
    "limit": int,
    "reason": str,
    "committed": bool,
}


def error_from_json(json: object, status: int | None = None) -> StatepadError | None:
    """The error in a server's JSON, of the class of its code; ``None`` for other values."""
    if not isinstance(json, dict):
        return None
    code, message = json.get("code"), json.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    details = {name: json[name] for name, types in _DETAILS.items() if isinstance(json.get(name), types)}
    details.setdefault("status", 500)
    if status is not None:
        details["status"] = status
    return _CLASSES.get(code, StatepadError)(message, code=code, **details)


def _restored(kind: type[StatepadError], message: str, code: str, details: dict[str, Any]) -> StatepadError:
    return kind(message, code=code, **details)
