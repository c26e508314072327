"""The mark of a session: the part of it that the server has told, kept in ADK's private ``_storage_update_marker``.

The models of ADK take no further members. This one, a text, is made for session services. It is kept in deep copies,
copies by `model_copy` and pickles, and lost where a session is made of a dump: see `StatepadSessionService`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from google.adk.sessions.session import Session

from ..operators import DELETED

_NAME = "_storage_update_marker"
_PREFIX = "statepad:"


class Marker(str):
    """The revision that a session shows, its creation, and the values that the server had then.

    As a text it is ``statepad:REVISION:ETAG``. It never changes; copies of a session share it.

    Attributes:
        revision: The number of events up to which the session shows the log.
        etag: The creation of the session, where it is known.
        base: The stored values at that revision, as JSON texts under their full keys; None where they are not known.
    """

    __slots__ = ("base", "etag", "revision")

    revision: int
    etag: str | None
    base: Mapping[str, str] | None

    def __new__(cls, revision: int, etag: str | None, base: Mapping[str, str] | None = None) -> Marker:
        """Makes a mark."""
        made = super().__new__(cls, f"{_PREFIX}{revision}:{etag or ''}")
        made.revision = revision
        made.etag = etag
        made.base = None if base is None else MappingProxyType(dict(base))
        return made

    def value(self, key: str) -> Any:
        """The value that a key had, or `DELETED` where it had none or nobody knows."""
        text = None if self.base is None else self.base.get(key)
        return DELETED if text is None else json.loads(text)

    def __deepcopy__(self, memo: dict[int, Any]) -> Marker:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Marker, (self.revision, self.etag, None if self.base is None else dict(self.base))


def marker_of(session: Session) -> Marker | None:
    """The mark of a session, or None where a copy has lost it, or another service has made the session."""
    found = getattr(session, _NAME, None)
    if isinstance(found, Marker) or found is None:
        return found
    return _read(str(found))


def mark(session: Session, marker: Marker) -> None:
    """Sets the mark of a session."""
    setattr(session, _NAME, marker)


def _read(text: str) -> Marker | None:
    """The mark that a copy has kept as a mere text."""
    if not text.startswith(_PREFIX):
        return None
    revision, _, etag = text.removeprefix(_PREFIX).partition(":")
    return Marker(int(revision), etag or None) if revision.isdecimal() else None
