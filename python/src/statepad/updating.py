"""A safe read-modify-write: a function runs over the values that were read until its delta is written over them."""

from __future__ import annotations

import asyncio
import copy
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from .admit import Writes
from .errors import InvalidArgument, SessionNotFound, SessionStale, StateConflict, StatepadError
from .loops import Turns
from .model import JsonObject
from .operators import MISSING, operator_from_json, resolve

__all__ = ["Read", "StateView", "UpdateFunction", "Written", "run_update", "update_turn"]

UpdateFunction: TypeAlias = Callable[
    [Mapping[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any] | None] | None
]
"""Receives the current values, read-only, and returns a delta under full keys, or ``None``."""

# The longest pause after a conflict, in seconds.
_MAX_PAUSE = 0.05

# The targets whose updates are running a function that calls this: an update of the same target must not wait for it.
_running: ContextVar[frozenset[object]] = ContextVar("statepad_updates", default=frozenset())


@dataclass(frozen=True, slots=True)
class Read:
    """The values of a target, under full keys, and the etag of a session."""

    values: JsonObject
    etag: str | None


@dataclass(frozen=True, slots=True)
class Written:
    """The values after a write. ``is_known`` is false where others may have moved them before they were read."""

    state: JsonObject
    is_known: bool


class StateView(Mapping[str, Any]):
    """The current values, for the function of an update. It records which keys are read: only those must not change.

    Values that are read are copies: a function may change them, and return them in its delta.
    """

    def __init__(self, values: JsonObject) -> None:
        self._values = values
        self._copies: JsonObject = {}
        self._keys: set[str] = set()
        self._is_whole = False

    def __getitem__(self, key: str) -> Any:
        self._keys.add(key)
        if key not in self._copies:
            self._copies[key] = copy.deepcopy(self._values[key])
        return self._copies[key]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self._keys.add(key)
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        self._is_whole = True
        return iter(self._values)

    def __len__(self) -> int:
        self._is_whole = True
        return len(self._values)

    def __repr__(self) -> str:
        return f"StateView({dict(self)!r})"

    def expected(self) -> JsonObject:
        """The conditions of the write: what was read still holds."""
        keys = {*self._values, *self._keys} if self._is_whole else self._keys
        stored = sorted(key for key in keys if not key.startswith("temp:"))
        values = self._values
        expected: JsonObject = {
            "set": {key: values[key] for key in stored if key in values},
            "unset": [key for key in stored if key not in values],
        }
        return {**expected, "whole": True} if self._is_whole else expected


@asynccontextmanager
async def update_turn(turns: Turns, name: object) -> AsyncIterator[None]:
    """The turn of an update among those of one name and one loop. One that runs within another shares its turn."""
    if name in _running.get():
        yield
        return
    async with turns.turn(name):
        token = _running.set(_running.get() | {name})
        try:
            yield
        finally:
            _running.reset(token)


async def run_update(
    read: Callable[[], Awaitable[Read]],
    write: Callable[[Read, Writes, JsonObject], Awaitable[JsonObject]],
    function: UpdateFunction,
    split: Callable[[object], Writes],
    *,
    attempts: int,
) -> JsonObject:
    """Runs a function until its delta is written. See `update_state`."""
    conflicts = 0
    while True:
        current = await read()
        view = StateView(current.values)
        answer: Any = function(view)
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is None:
            return current.values
        if not isinstance(answer, Mapping):
            message = f"the update function must return a dict of keys and values, or None, not {type(answer).__name__}"
            raise InvalidArgument(message, path="update")
        writes = split(answer)
        if not writes:
            return current.values
        expected = view.expected()
        try:
            return await write(current, writes, expected)
        except (StateConflict, SessionStale, SessionNotFound) as error:
            # A session that is gone, or was created anew: the next read tells.
            if not _has_changed(error, writes, expected):
                raise
            conflicts += 1
            if conflicts >= attempts:
                raise StateConflict(f"the state changed under each of {attempts} attempts") from error
            await asyncio.sleep(random.random() * min(_MAX_PAUSE, 2 ** min(conflicts, 6) / 1000))


def _has_changed(error: StatepadError, writes: Writes, expected: JsonObject) -> bool:
    """True when a write was refused because of values that the function has read: it runs again.

    An operator that does not fit a value that the function has not read, or that is as the function has read it, is the
    function's own fault.
    """
    key = error.key
    operator = None if key is None else writes.operators.get(key)
    if operator is None:
        return True
    if key not in expected["set"] and key not in expected["unset"]:
        return False
    try:
        resolve(operator_from_json(operator), expected["set"].get(key, MISSING))
    except StatepadError:
        return False
    return True
