"""Events: ADK's models, and their JSON on the wire.

The names are the same on both sides, those of ADK's JSON. Times are seconds in the models and milliseconds on the
wire.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from google.adk.events.event import Event
from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from ..operators import DELETED, operator_from_json, operator_to_json
from .operators import Writes, split
from .times import to_milliseconds, to_seconds

logger = logging.getLogger("statepad.adk")

_METADATA = "customMetadata"
_OWN = "statepad"
_TIME = "time"
# Members of events, under the names of JSON. Others are left out before pydantic sees them, because it takes "state",
# "message" and "route" for arguments of ADK's constructor.
_MEMBERS = frozenset(field.alias or name for name, field in Event.model_fields.items())
# The places at which an event of another program may differ from this version of ADK, before it is given up.
_MOST_FAULTS = 1_000
# The places that were reported: a session is read with each turn.
_reported: set[str] = set()


def plain(value: Any) -> Any:
    """A value as JSON has it. As in ADK, what has no JSON is replaced by its `repr`, with a warning."""
    try:
        return to_jsonable_python(value)
    except Exception:
        logger.warning(
            "A value of the state has no JSON (a function, for instance). Its repr is stored instead.", exc_info=True
        )
        return to_jsonable_python(value, serialize_unknown=True)


def to_wire(event: Event, writes: Writes | None = None) -> dict[str, Any]:
    """Converts an event to JSON.

    Args:
        event: An event of ADK. It is not changed.
        writes: Its delta as `split` has it, where that is known.

    Returns:
        The event as `Client.append_event` takes it: with operators and deletions in its delta.

    Raises:
        InvalidArgument: As `split`.
    """
    if writes is None:
        writes = split(event.actions.state_delta)
    bare = event.model_copy(update={"actions": event.actions.model_copy(update={"state_delta": {}})})
    told: dict[str, Any] = bare.model_dump(mode="json", by_alias=True, exclude_none=True)
    told["actions"]["stateDelta"] = {
        **plain(writes.values),
        **{key: operator_from_json(plain(operator_to_json(each))) for key, each in writes.operators.items()},
        **dict.fromkeys(writes.deleted, DELETED),
    }
    if event.long_running_tool_ids is not None:
        told["longRunningToolIds"] = sorted(event.long_running_tool_ids)
    told["timestamp"], exact = to_milliseconds(event.timestamp)
    if exact is not None:
        metadata = told.get(_METADATA) or {}
        told[_METADATA] = {**metadata, _OWN: {**_own_of(metadata), _TIME: exact}}
    return told


def from_wire(told: Mapping[str, Any]) -> Event:
    """Converts the JSON of an event back.

    What this version of ADK does not know, or has another type for, is left out of the event: other programs may
    write to the session. It stays in the log.
    """
    members = {name: value for name, value in told.items() if name in _MEMBERS}
    own = _own_of(told.get(_METADATA))
    if isinstance(milliseconds := told.get("timestamp"), (int, float)):
        members["timestamp"] = to_seconds(milliseconds, own.get(_TIME))
    if _TIME in own:
        members[_METADATA] = _without_time(told[_METADATA])
    text = json.dumps(members)
    try:
        return Event.model_validate_json(text)
    except ValidationError as error:
        return _as_far_as_known(json.loads(text), error)


def deleted_in(told: Mapping[str, Any]) -> list[str]:
    """The keys that a stored event deletes: each of them is ``None`` in its delta."""
    deleted = _own_of(told.get(_METADATA)).get("deleted")
    return [key for key in deleted if isinstance(key, str)] if isinstance(deleted, list) else []


def delta_of(told: Mapping[str, Any]) -> dict[str, Any]:
    """The delta of a stored event, with the results of its operators."""
    actions = told.get("actions")
    delta = actions.get("stateDelta") if isinstance(actions, dict) else None
    return delta if isinstance(delta, dict) else {}


def _own_of(metadata: object) -> dict[str, Any]:
    own = metadata.get(_OWN) if isinstance(metadata, dict) else None
    return own if isinstance(own, dict) else {}


def _without_time(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """Metadata without the exact time that this client or another one keeps in it."""
    own = {name: value for name, value in metadata[_OWN].items() if name != _TIME}
    others = {name: value for name, value in metadata.items() if name != _OWN}
    return {**others, **({_OWN: own} if own else {})} or None


def _as_far_as_known(members: dict[str, Any], error: ValidationError) -> Event:
    """An event without the members that pydantic refuses."""
    for _ in range(_MOST_FAULTS):
        places = [place for fault in error.errors() if (place := _remove(members, fault["loc"]))]
        if not places:
            break
        _report(members.get("id"), places)
        try:
            return Event.model_validate_json(json.dumps(members))
        except ValidationError as next_error:
            error = next_error
    raise error


def _report(event_id: object, places: list[str]) -> None:
    if new := sorted(set(places) - _reported):
        _reported.update(new)
        logger.warning(
            "Event %s has members that this version of google-adk does not read, and that its sessions do not show: %s",
            event_id,
            ", ".join(new),
        )


def _remove(members: dict[str, Any], place: tuple[int | str, ...]) -> str | None:
    """Removes the member at a place, or the nearest one around it. Returns its path, or None where there is none."""
    parent: Any = None
    last: int | str = ""
    current: Any = members
    path: list[str] = []
    for step in place:
        is_there = (isinstance(current, dict) and step in current) or (
            isinstance(current, list) and isinstance(step, int) and step < len(current)
        )
        # The names of the alternatives of a union are steps of pydantic's, too.
        if is_there:
            parent, last, current = current, step, current[step]
            path.append(str(step))
    if parent is None:
        return None
    del parent[last]
    return ".".join(path)
