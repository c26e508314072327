"""Operators: writes that are resolved against the current value when they are committed.

An operator is the whole value of a key in a delta: ``{"user:visits": increment()}``. With several writers of one key
none of them is lost, and none has to read the value before. ``DELETED`` deletes a key.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from .errors import InvalidArgument, StateConflict

__all__ = [
    "DELETED",
    "MISSING",
    "Append",
    "CompareAndSet",
    "Increment",
    "Operator",
    "SetOnce",
    "append",
    "compare_and_set",
    "increment",
    "operator_from_json",
    "operator_to_json",
    "resolve",
    "set_once",
]


class _Mark(enum.Enum):
    """Marks that stay the same object when they are copied and pickled."""

    DELETED = "DELETED"
    MISSING = "MISSING"

    def __repr__(self) -> str:
        return self.name


DELETED: Final = _Mark.DELETED
"""In a delta, deletes the key: ``{"user:theme": DELETED}``."""

MISSING: Final = _Mark.MISSING
"""Stands for a key without a value: ``compare_and_set(MISSING, worker)``."""

Deleted: TypeAlias = Literal[_Mark.DELETED]
"""The type of `DELETED`."""


@dataclass(frozen=True, slots=True)
class Increment:
    """Adds a number, as IEEE doubles do; a missing key counts as 0."""

    by: float = 1


@dataclass(frozen=True, slots=True)
class Append:
    """Adds items to the end of a list; a missing key counts as an empty list."""

    items: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class SetOnce:
    """Sets the key if it is missing; ``None`` is a value."""

    value: Any


@dataclass(frozen=True, slots=True)
class CompareAndSet:
    """Sets the key to ``value`` if it has the value ``expected``, or if both are `MISSING`."""

    expected: Any
    value: Any


Operator: TypeAlias = Increment | Append | SetOnce | CompareAndSet
"""A write that is resolved against the current value when it is committed."""


def increment(by: float = 1) -> Increment:
    """Adds ``by`` to a number; a missing key counts as 0."""
    return Increment(by)


def append(*items: Any) -> Append:
    """Adds items to the end of a list; a missing key counts as an empty list."""
    return Append(items)


def set_once(value: Any) -> SetOnce:
    """Sets the key if it is missing; ``None`` is a value."""
    return SetOnce(value)


def compare_and_set(expected: Any, value: Any) -> CompareAndSet:
    """Sets the key to ``value`` if it has the value ``expected``; `MISSING` expects a key without a value.

    The write raises `StateConflict`, with the ``key``, where it has another one.
    """
    return CompareAndSet(expected, value)


def is_operator(value: object) -> bool:
    """True for an operator."""
    return isinstance(value, (Increment, Append, SetOnce, CompareAndSet))


def operator_to_json(operator: Operator) -> dict[str, Any]:
    """The form of an operator in requests, and in the metadata of events: ``{"increment": 1}``."""
    match operator:
        case Increment(by):
            return {"increment": by}
        case Append(items):
            return {"append": list(items)}
        case SetOnce(value):
            return {"setOnce": value}
        case CompareAndSet(expected, value):
            return {"compareAndSet": {**({} if expected is MISSING else {"expected": expected}), "value": value}}


def operator_from_json(json: Mapping[str, Any]) -> Operator:
    """The operator in its JSON form.

    Raises:
        InvalidArgument: It is none.
    """
    match json:
        case {"increment": int() | float() as by} if len(json) == 1 and not isinstance(by, bool):
            return Increment(by)
        case {"append": list() as items} if len(json) == 1:
            return Append(tuple(items))
        case {"setOnce": value} if len(json) == 1:
            return SetOnce(value)
        case {"compareAndSet": {"value": value, **rest}} if len(json) == 1 and rest.keys() <= {"expected"}:
            return CompareAndSet(rest.get("expected", MISSING), value)
    raise InvalidArgument("an operator must be one of increment, append, setOnce and compareAndSet, with its value")


def resolve(operator: Operator, current: Any, *, key: str = "") -> Any:
    """The value of a key after an operator, as the server computes it. `MISSING` stands for a key without a value.

    Raises:
        InvalidArgument: The value is not a number, or not a list; or a sum is beyond a double.
        StateConflict: A ``compare_and_set`` finds another value.
    """
    match operator:
        case Increment(by):
            before = 0 if current is MISSING else current
            if isinstance(before, bool) or not isinstance(before, (int, float)):
                raise InvalidArgument(f'the key "{key}" has a value that is not a number', key=key)
            return _sum(before, by, key)
        case Append(items):
            if current is not MISSING and not isinstance(current, list):
                raise InvalidArgument(f'the key "{key}" has a value that is not a list', key=key)
            return [*([] if current is MISSING else current), *items]
        case SetOnce(value):
            return value if current is MISSING else current
        case CompareAndSet(expected, value):
            if _text(expected) != _text(current):
                raise StateConflict(f'the key "{key}" does not have the expected value', key=key)
            return value


def _sum(before: float, by: float, key: str) -> float:
    """The sum of two doubles. A whole number is an ``int``, as JSON from a server has it."""
    total = float(before) + float(by)
    if total in (float("inf"), float("-inf")):
        raise InvalidArgument(f'the key "{key}" cannot be incremented beyond the range of a double', key=key)
    return int(total) if total.is_integer() and abs(total) < 2**53 else total


def _text(value: Any) -> str | None:
    """A value as ``JSON.stringify`` writes it, as far as equal values have equal texts."""
    return None if value is MISSING else json.dumps(_plain(value))


def _plain(value: Any) -> Any:
    """A value whose whole numbers are ``int``: JSON does not tell 1.0 from 1."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    return value
