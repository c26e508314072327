"""The changes that a watch yields, and a session that is kept up to date by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from .jsonvalues import parse
from .model import JsonObject, SessionData, session_from_json
from .operators import DELETED
from .sse import Message

__all__ = [
    "Change",
    "DeletedChange",
    "EventChange",
    "ReloadChange",
    "SessionChange",
    "ValuesChange",
    "apply_change",
    "digest",
    "read_change",
]


@dataclass(frozen=True, slots=True)
class EventChange:
    """The next event of a session.

    Of a whole session only its own keys count in the delta: `ValuesChange` reports those of the app and the user.

    Attributes:
        revision: The revision to which it brought the session.
        event: The stored event.
        place: The reader's place after it: ``since`` continues from there.
        expire_time: The time at which the session expires as it is known now; ``None`` where it does not.
    """

    revision: int
    event: JsonObject
    place: str
    expire_time: float | None = None


@dataclass(frozen=True, slots=True)
class ValuesChange:
    """Writes to the values of an app or a user.

    Attributes:
        position: The position of these values after it: one more for each change.
        from_position: The position before it. Of a whole session, if it is 0, the delta has all values, and other keys
            of the scope no longer exist.
        delta: The new values under their full keys; `DELETED` for deleted keys.
        place: The reader's place after it: ``since`` continues from there.
        scope: Of a whole session: ``"app"`` or ``"user"``.
        by: The session and the event that wrote it, if known: ``userId``, ``sessionId`` and ``eventId``.
    """

    position: int
    from_position: int
    delta: JsonObject
    place: str
    scope: Literal["app", "user"] | None = None
    by: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ReloadChange:
    """Earlier changes are not known one by one: read the target again. The next change comes after this place.

    Attributes:
        at: The revision of the session, or the position of the app or the user.
        place: The reader's place after it.
    """

    at: int
    place: str


@dataclass(frozen=True, slots=True)
class SessionChange:
    """The current session, complete: the beginning of the watch of a whole session, and after a gap.

    Attributes:
        session: The session.
        place: The reader's place after it: ``since`` continues from there.
    """

    session: SessionData
    place: str


@dataclass(frozen=True, slots=True)
class DeletedChange:
    """The session was deleted, and perhaps created anew. This is the last change."""


Change: TypeAlias = EventChange | ValuesChange | ReloadChange | SessionChange | DeletedChange
"""A change of a session, a user or an app."""

# The scopes in the order in which a state shows them.
_PREFIXES = ("", "app:", "user:")


def read_change(message: Message, place: str) -> Change | None:
    """The change in a server-sent event; ``None`` for one of another name."""
    if message.name not in ("event", "values", "reload", "session", "deleted"):
        return None
    json = parse(message.data)
    match message.name:
        case "event":
            return EventChange(json["revision"], json["event"], place, json.get("expireTime"))
        case "values":
            delta = json["delta"] | dict.fromkeys(json.get("deleted", []), DELETED)
            return ValuesChange(json["position"], json["from"], delta, place, json.get("scope"), json.get("by"))
        case "reload":
            return ReloadChange(json["revision"] if "revision" in json else json["position"], place)
        case "session":
            return SessionChange(session_from_json(json["session"], None), place)
    return DeletedChange()


def apply_change(session: SessionData | None, change: Change) -> SessionData | None:
    """The session after a change of the watch of a whole session; ``None`` when it was deleted.

    Its argument is not changed. The answer shares unchanged parts with the session before. After the last change, state
    and events are those that a read would show.

    Args:
        session: The session before; it may be ``None`` where the change has the whole session.
        change: The change.
    """
    match change:
        case SessionChange(whole):
            return whole
        case EventChange(revision, event, _, expire_time) if session is not None and revision > session.revision:
            return replace(
                session,
                state=_with_writes(session.state, _own_writes(event)),
                events=[*session.events, event],
                last_update_time=event["timestamp"],
                revision=revision,
                expire_time=session.expire_time if expire_time is None else expire_time,
            )
        case ValuesChange() if session is not None:
            return replace(session, state=_with_writes(session.state, _shared_writes(session.state, change)))
        case DeletedChange():
            return None
    return session


def _own_writes(event: Mapping[str, Any]) -> JsonObject:
    """The writes of an event to the session's own keys."""
    own = (event.get("customMetadata") or {}).get("statepad") or {}
    deleted = set(own.get("deleted") or ())
    delta: JsonObject = event["actions"]["stateDelta"]
    own_keys = [key for key in delta if not _prefix_of(key)]
    return {key: DELETED if key in deleted else delta[key] for key in own_keys}


def _shared_writes(state: JsonObject, change: ValuesChange) -> JsonObject:
    """The writes of a change, with the deletions that it implies."""
    if change.from_position > 0:
        return change.delta
    prefix = f"{change.scope}:"
    missing = [key for key in state if key.startswith(prefix) and key not in change.delta]
    return change.delta | dict.fromkeys(missing, DELETED)


def _with_writes(before: JsonObject, writes: JsonObject) -> JsonObject:
    """The state after writes to its keys. New keys go to the end of their scope."""
    if not writes:
        return before
    state = {key: value for key, value in {**before, **writes}.items() if value is not DELETED}
    return {key: value for prefix in _PREFIXES for key, value in state.items() if _prefix_of(key) == prefix}


def _prefix_of(key: str) -> str:
    return next((prefix for prefix in _PREFIXES[1:] if key.startswith(prefix)), "")


def digest(text: str) -> str:
    """A text of at most 11 characters that hardly ever collides (cyrb53 over UTF-16, in base 36)."""
    high, low = 0xDEADBEEF, 0x41C6CE57
    units = text.encode("utf-16-le", "surrogatepass")
    for index in range(0, len(units), 2):
        unit = units[index] | units[index + 1] << 8
        high = ((high ^ unit) * 2_654_435_761) & 0xFFFFFFFF
        low = ((low ^ unit) * 1_597_334_677) & 0xFFFFFFFF
    first = (((high ^ (high >> 16)) * 2_246_822_507) ^ ((low ^ (low >> 13)) * 3_266_489_909)) & 0xFFFFFFFF
    second = (((low ^ (low >> 16)) * 2_246_822_507) ^ ((first ^ (first >> 13)) * 3_266_489_909)) & 0xFFFFFFFF
    return _base36(2**32 * (0x1FFFFF & second) + first)


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        if number == 0:
            return digits
