"""Operators in the deltas of ADK's events.

ADK merges the deltas of tools that run in parallel into one event: it makes a dictionary of each, and merges
dictionaries within each other member by member. So pydantic writes an operator here as a dictionary with a name that
is new each time::

    {"statepad.operator": {"7f3a…": {"increment": 1}}}

Merged, all of them are still there, in the order of the calls, and `split` makes one operator of them.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from pydantic_core import SchemaSerializer, core_schema

from ..errors import InvalidArgument
from ..operators import (
    DELETED,
    Append,
    CompareAndSet,
    Increment,
    Operator,
    SetOnce,
    operator_from_json,
    operator_to_json,
)

_MARK = "statepad.operator"
_KINDS = (Increment, Append, SetOnce, CompareAndSet)


def _marked(operator: Operator) -> dict[str, Any]:
    return {_MARK: {uuid.uuid4().hex: operator_to_json(operator)}}


def teach_pydantic() -> None:
    """Makes pydantic write operators so that ADK's merging keeps all of them."""
    written = core_schema.plain_serializer_function_ser_schema(_marked)
    serializer = SchemaSerializer(core_schema.any_schema(serialization=written))
    for kind in _KINDS:
        setattr(kind, "__pydantic_serializer__", serializer)  # noqa: B010 - the classes do not declare it


@dataclass
class Writes:
    """The writes of a delta, by their kinds."""

    values: dict[str, Any] = field(default_factory=dict)
    operators: dict[str, Operator] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)


def split(delta: Mapping[str, Any]) -> Writes:
    """Takes operators and deletions out of a delta.

    Raises:
        InvalidArgument: Operators on one key cannot be combined; or an operator is on a ``temp:`` key, whose value
            before it nobody knows.
    """
    writes = Writes()
    for key, value in delta.items():
        if value is DELETED:
            writes.deleted.append(key)
        elif (operators := _operators_in(key, value)) is None:
            writes.values[key] = value
        elif key.startswith("temp:"):
            raise InvalidArgument(f'the key "{key}" cannot have an operator: temp: keys are not stored', key=key)
        else:
            writes.operators[key] = reduce(lambda one, other: _combined(key, one, other), operators)
    return writes


def is_pending(value: object) -> bool:
    """True for an operator, as a session shows it until its event is appended."""
    return isinstance(value, _KINDS) or (isinstance(value, dict) and _MARK in value)


def _operators_in(key: str, value: Any) -> list[Operator] | None:
    """The operators in the place of a value, or None for a value."""
    if isinstance(value, _KINDS):
        return [value]
    if not isinstance(value, dict) or _MARK not in value:
        return None
    marked = value[_MARK]
    if len(value) > 1 or not isinstance(marked, dict) or not marked:
        raise InvalidArgument(
            f'the key "{key}" has a value and an operator from tools that ran in parallel: '
            "write it in one of them, or with operators in all",
            key=key,
        )
    return [operator_from_json(json) for json in marked.values()]


def _combined(key: str, one: Operator, other: Operator) -> Operator:
    """One operator that does what two of them do, one after the other."""
    match one, other:
        case Increment(by), Increment(more):
            return Increment(by + more)
        case Append(items), Append(more_items):
            return Append((*items, *more_items))
        case SetOnce(), SetOnce():
            return one
    raise InvalidArgument(
        f'the key "{key}" has operators of tools that ran in parallel which do not combine: '
        "only increment with increment, append with append, set_once with set_once; "
        "write one of them with update_state of the session service",
        key=key,
    )
