"""Brings the state of a session that a Runner works with up to date, in place.

The state stays the same dictionary, and a value that nobody else wrote stays the same object: google-adk finds writes
into a list or a dictionary by comparing the object that a read handed out. Writes of an agent that are not appended
yet stay as well: they are newer than all that is stored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from .events import plain

_TEMP = "temp:"
_SHARED = ("app:", "user:")


def texts_of(state: Mapping[str, Any]) -> dict[str, str]:
    """Values as JSON texts, under their keys."""
    return {key: json.dumps(value) for key, value in state.items()}


def merge(
    state: dict[str, Any],
    stored: Mapping[str, Any],
    *,
    base: Mapping[str, str] | None,
    own: Mapping[str, Any],
    changed: Collection[str],
) -> dict[str, str]:
    """Merges the stored values into a state.

    Args:
        state: The state of a session of ADK; it is changed.
        stored: The values on the server, under full keys.
        base: The values there when the state was last brought up to date, as JSON texts; None where they are unknown.
        own: The values that the caller's event has just written, as they are stored; the state has them already.
        changed: The keys that the events of others have written since. They count where there is no base.

    Returns:
        The stored values as JSON texts: the next base.
    """
    texts = texts_of(stored)
    for key, text in texts.items():
        if key in own:
            is_newer = json.dumps(own[key]) != text
        elif base is not None:
            is_newer = base.get(key) != text and not _is_written(state, key, base.get(key))
        else:
            is_newer = key not in state or _is_foreign(key, changed)
        if is_newer and not (key in state and _is_same(state[key], text)):
            state[key] = stored[key]
    for key in [key for key in state if key not in texts and key not in own and not key.startswith(_TEMP)]:
        was_deleted = key in changed if base is None else key in base and not _is_written(state, key, base[key])
        if was_deleted:
            del state[key]
    return texts


def _is_written(state: Mapping[str, Any], key: str, text: str | None) -> bool:
    """True where the state has a value that is not stored yet."""
    if key not in state:
        # Nothing in ADK deletes a key from a state.
        return False
    return text is None or not _is_same(state[key], text)


def _is_foreign(key: str, changed: Collection[str]) -> bool:
    """True where the stored value of a key counts although the last one is unknown.

    The log tells who wrote the session's own keys, and not who wrote shared ones.
    """
    return key in changed or key.startswith(_SHARED)


def _is_same(value: Any, text: str) -> bool:
    """True where a value is stored as a JSON text. 2.0 and 2 are one number there."""
    return _are_same(plain(value), json.loads(text))


def _are_same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
