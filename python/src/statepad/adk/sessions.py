"""Sessions of ADK, made of answers of the server and brought up to date by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from google.adk.events.event import Event
from google.adk.sessions.session import Session

from .events import deleted_in, delta_of, from_wire
from .markers import Marker, mark
from .merging import merge, texts_of
from .operators import Writes
from .times import to_milliseconds, to_seconds

if TYPE_CHECKING:
    from ..model import SessionData


def session_of(data: SessionData, *, events: list[Event] | None = None, is_row: bool = False) -> Session:
    """The session in an answer.

    Args:
        data: The answer. Its values become those of the session.
        events: The events, where they are not those of the answer.
        is_row: True for the rows of lists, which are many and seldom appended to.
    """
    marker = Marker(data.revision, data.etag, None if is_row else texts_of(data.state))
    shown = [from_wire(told) for told in data.events] if events is None else events
    session = Session(
        id=data.id,
        app_name=data.app_name,
        user_id=data.user_id,
        state={},
        events=[],
        last_update_time=_time_of(data.last_update_time, shown),
    )
    # Not by the constructor, which would copy them.
    session.state = data.state
    session.events = shown
    mark(session, marker)
    return session


def settle(event: Event, stored: Mapping[str, Any], writes: Writes) -> None:
    """Gives an event of the caller what the server has decided: results of operators, and the delta of a rewind."""
    is_rewind = bool(event.actions.rewind_before_invocation_id)
    if not (writes.operators or writes.deleted or is_rewind):
        return
    as_stored = from_wire(stored)
    given = {} if is_rewind else writes.values
    event.actions.state_delta = {**as_stored.actions.state_delta, **given}
    event.actions.artifact_delta = as_stored.actions.artifact_delta
    event.custom_metadata = as_stored.custom_metadata


def bring_up_to_date(
    session: Session,
    marker: Marker,
    *,
    told_events: Iterable[Mapping[str, Any]],
    state: Mapping[str, Any],
    revision: int,
    last_update_time: float,
    own: Event | None = None,
) -> None:
    """Shows on a session of the caller what was stored since its mark, in place.

    Args:
        session: The session.
        marker: Its mark.
        told_events: The stored events after the revision of the mark.
        state: The stored values at the new revision.
        revision: That revision.
        last_update_time: The time of the last event, in milliseconds since the epoch.
        own: The event of the caller among them, which becomes the one of the session. Its delta counts as written by
            the session.
    """
    written: dict[str, Any] = {}
    changed: set[str] = set()
    is_shown = own is None
    for told in told_events:
        if own is not None and told["id"] == own.id:
            written = _commit(session, own, told)
            is_shown = True
        else:
            session.events.append(from_wire(told))
            changed |= delta_of(told).keys()
    if own is not None and not is_shown and all(each.id != own.id for each in session.events):
        # The log is shorter than it was: a backup was restored, for instance.
        session.events.append(own)
    base = merge(session.state, state, base=marker.base, own=written, changed=changed)
    time = _time_of(last_update_time, session.events)
    session.last_update_time = max(session.last_update_time, time)
    mark(session, Marker(revision, marker.etag, base))


def _commit(session: Session, event: Event, told: Mapping[str, Any]) -> dict[str, Any]:
    """Shows an event and its delta on the session through which it was appended. Returns the values as stored."""
    deleted = deleted_in(told)
    session.state.update(event.actions.state_delta)
    for key in deleted:
        session.state.pop(key, None)
    session.events.append(event)
    return {key: value for key, value in delta_of(told).items() if key not in deleted}


def _time_of(milliseconds: float, events: list[Event]) -> float:
    """The time of a session in seconds: exactly that of its last event, where the session shows it."""
    if events and to_milliseconds(events[-1].timestamp)[0] == milliseconds:
        return events[-1].timestamp
    return to_seconds(milliseconds)
