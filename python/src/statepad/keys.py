"""Names of apps, users and sessions, and their spelling in the paths of a server."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from .errors import InvalidArgument

if TYPE_CHECKING:
    from .lease import Lease

__all__ = ["PATHS", "AppKey", "SessionKey", "Target", "UserKey", "path_to", "write_id"]


@dataclass(frozen=True, slots=True)
class AppKey:
    """An app: the target of updates, histories and watches of ``app:`` keys."""

    app_name: str


@dataclass(frozen=True, slots=True)
class UserKey:
    """A user in an app: the target of updates, histories and watches of ``user:`` keys."""

    app_name: str
    user_id: str


@dataclass(frozen=True, slots=True)
class SessionKey:
    """A session by its name.

    Attributes:
        app_name: The app.
        user_id: The user.
        session_id: The session, unique for this user in this app.
        etag: Names one creation of the session: a session that was created anew under this id is `SessionNotFound`
            for it. ``None`` stands for the current one, whichever it is.
        lease: The lease under which it is written: see `Client.lease`.
    """

    app_name: str
    user_id: str
    session_id: str
    etag: str | None = field(default=None, compare=False)
    lease: Lease | None = field(default=None, compare=False, repr=False)


Target: TypeAlias = AppKey | UserKey | SessionKey
"""A session, a user in an app, or an app."""

_APP = "/v1/apps/{app_name}"
_USER = f"{_APP}/users/{{user_id}}"
_SESSION = f"{_USER}/sessions/{{session_id}}"

PATHS = {
    "apps": "/v1/apps",
    "sweep": "/v1/apps:sweep",
    "sweep_app": f"{_APP}:sweep",
    "users": f"{_APP}/users",
    "app_state": f"{_APP}/state",
    "user_state": f"{_USER}/state",
    "session_state": f"{_SESSION}/state",
    "update_app_state": f"{_APP}/state:update",
    "update_user_state": f"{_USER}/state:update",
    "update_session_state": f"{_SESSION}/state:update",
    "app_sessions": f"{_APP}/sessions",
    "sessions": f"{_USER}/sessions",
    "get_or_create_session": f"{_USER}/sessions:getOrCreate",
    "session": _SESSION,
    "events": f"{_SESSION}/events",
    "rewind": f"{_SESSION}:rewind",
    "redo": f"{_SESSION}:redo",
    "fork": f"{_SESSION}:fork",
    "session_history": f"{_SESSION}/history",
    "app_history": f"{_APP}/history",
    "user_history": f"{_USER}/history",
    "trim_app_history": f"{_APP}/history:trim",
    "trim_user_history": f"{_USER}/history:trim",
    "lease": f"{_SESSION}/lease",
    "renew_lease": f"{_SESSION}/lease:renew",
    "watch": "/v1/watch",
}
"""The templates of the paths, below the address of the server. A name in braces stands for an id."""


def path_to(name: str, target: Target | None = None) -> str:
    """The path of a route for a target.

    Raises:
        InvalidArgument: An id is not a string, or has a lone surrogate.
    """
    return re.sub(r"\{(\w+)\}", lambda match: write_id(getattr(target, match[1]), match[1]), PATHS[name])


def write_id(id: str, name: str) -> str:
    """An id as the segment of a path.

    Most are written as ``encodeURIComponent`` does. An id that a URL or a proxy would change on the way (``..``, or one
    with a slash) is written as ``~`` and the base64url of its UTF-8.

    Raises:
        InvalidArgument: The id is not a string, or has a lone surrogate; ``name`` is in the message.
    """
    check_id(id, name)
    if id in ("", ".", "..") or id.startswith("~") or "/" in id or "\\" in id:
        return "~" + base64.urlsafe_b64encode(id.encode()).decode().rstrip("=")
    return quote(id, safe="!*'()~")


def check_id(id: object, name: str) -> None:
    """Raises `InvalidArgument` for an id that is not a string, or that UTF-8 cannot hold."""
    if not isinstance(id, str):
        raise InvalidArgument(f"{name} must be a string, not {type(id).__name__}", path=name)
    try:
        id.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} must be a string without lone surrogates", path=name) from None
