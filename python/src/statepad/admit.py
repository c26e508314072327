"""Admission of deltas and events: checked, and split into the parts that JSON has for them.

JSON has no marks for deletions and operators. Requests name them beside the delta, and events in
``customMetadata.statepad``, as stored events do.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from .errors import InvalidArgument
from .jsonvalues import check_json
from .operators import DELETED, Operator, is_operator, operator_to_json

__all__ = ["Writes", "admit_end", "admit_event", "admit_state", "split_delta"]

_OWN = "customMetadata.statepad"


@dataclass(slots=True)
class Writes:
    """The parts of a delta, without ``temp:`` keys, which nobody stores."""

    delta: dict[str, Any] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    operators: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.delta or self.deleted or self.operators)

    def to_json(self) -> dict[str, Any]:
        """The members of a request. Empty ones are left out."""
        return {
            name: part
            for name, part in (("delta", self.delta), ("deleted", self.deleted), ("operators", self.operators))
            if part
        }


def split_delta(delta: object, path: str, *, allow_operators: bool = True) -> Writes:
    """The parts of a delta: values, `DELETED` and operators under full keys.

    Args:
        delta: The delta.
        path: Its name in errors.
        allow_operators: False where a delta may have none, as the initial state of a session.

    Raises:
        InvalidArgument: It is no mapping.
        ValueNotJson: JSON would lose or change a value; nested operators included.
    """
    if not isinstance(delta, Mapping):
        raise InvalidArgument(f"{path} must be a dict of keys and values, not {type(delta).__name__}", path=path)
    writes = Writes()
    for key, value in delta.items():
        if isinstance(key, str) and key.startswith("temp:"):
            continue
        if value is DELETED:
            check_json({key: None}, path, is_delta=True)
            writes.deleted.append(key)
        elif allow_operators and is_operator(value):
            json = operator_to_json(cast("Operator", value))
            check_json({key: json}, path, is_delta=True)
            writes.operators[key] = json
        else:
            writes.delta[key] = value
    check_json(writes.delta, path, is_delta=True)
    return writes


def admit_state(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """The members of a creation for an initial state. Raises as `split_delta`."""
    if state is None:
        return {}
    writes = split_delta(state, "state", allow_operators=False)
    return {"state": writes.delta, **({"deleted": writes.deleted} if writes.deleted else {})}


def admit_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event as it is sent: with an id, without ``temp:`` keys, its deletions and operators in its metadata.

    The caller's event is never changed.

    Raises:
        InvalidArgument: It is no mapping, or a member has the wrong type.
        ValueNotJson: JSON would lose or change a value.
    """
    if not isinstance(event, Mapping):
        raise InvalidArgument(f"event must be a dict, not {type(event).__name__}", path="event")
    sent = dict(event)
    actions = sent.pop("actions", None)
    check_json(sent, "")
    if not sent.get("id"):
        sent["id"] = str(uuid.uuid4())
    if actions is None:
        return _without_temp_metadata(sent)
    if not isinstance(actions, Mapping):
        raise InvalidArgument(f"actions must be a dict, not {type(actions).__name__}", path="actions")
    others = {name: member for name, member in actions.items() if name != "stateDelta"}
    check_json(others, "actions")
    delta = actions.get("stateDelta")
    writes = Writes() if delta is None else split_delta(delta, "actions.stateDelta")
    # The keys keep the order of the caller's delta; that of a deleted one is null.
    marked = dict.fromkeys(writes.deleted) | writes.delta
    order = [key for key in (delta or {}) if key in marked]
    sent["actions"] = {**others, "stateDelta": {key: marked[key] for key in order}}
    return _with_marks(_without_temp_metadata(sent), writes)


def _with_marks(event: dict[str, Any], writes: Writes) -> dict[str, Any]:
    """The event, with deletions and operators in its metadata."""
    if not writes.deleted and not writes.operators:
        return event
    metadata = _object(event.get("customMetadata"), "customMetadata")
    own = dict(_object(metadata.get("statepad"), _OWN))
    if writes.deleted:
        own["deleted"] = [*_list(own.get("deleted")), *writes.deleted]
    if writes.operators:
        own["operators"] = {**_object(own.get("operators"), f"{_OWN}.operators"), **writes.operators}
    return {**event, "customMetadata": {**metadata, "statepad": own}}


def _without_temp_metadata(event: dict[str, Any]) -> dict[str, Any]:
    """The event without deletions and operators of ``temp:`` keys in the metadata that the caller gave."""
    metadata = event.get("customMetadata")
    own = metadata.get("statepad") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(own, dict):
        return event
    kept = dict(own)
    if isinstance(own.get("deleted"), list):
        kept["deleted"] = [key for key in own["deleted"] if not str(key).startswith("temp:")]
    if isinstance(own.get("operators"), dict):
        kept["operators"] = {key: json for key, json in own["operators"].items() if not key.startswith("temp:")}
    return {**event, "customMetadata": {**metadata, "statepad": kept}} if kept != own else event


def _object(value: object, path: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        message = f"{path} must be an object: the keys that the event deletes, and its operators, are kept in it"
        raise InvalidArgument(message, path=path)
    return value


def _list(value: object) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidArgument(f"{_OWN}.deleted must be a list of keys", path=f"{_OWN}.deleted")
    return value


def admit_end(ttl: float | None, expire_time: float | None) -> dict[str, float | None]:
    """The members of a request that say when a new session expires.

    Args:
        ttl: So many seconds after its last write; infinity for a session that does not expire.
        expire_time: A time in milliseconds since the epoch.

    Raises:
        InvalidArgument: Both are given, or one is no number that can be meant.
    """
    if ttl is not None and expire_time is not None:
        raise InvalidArgument("ttl cannot go together with expire_time", path="ttl")
    if ttl is not None and not (_is_number(ttl) and ttl > 0):
        raise InvalidArgument(f"ttl must be a number of seconds greater than 0, not {ttl!r}", path="ttl")
    if expire_time is not None and not (_is_number(expire_time) and math.isfinite(expire_time)):
        message = f"expire_time must be a time in milliseconds since the epoch, not {expire_time!r}"
        raise InvalidArgument(message, path="expire_time")
    if ttl is not None:
        return {"ttl": ttl * 1000 if math.isfinite(ttl) else None}
    return {} if expire_time is None else {"expireTime": expire_time}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
