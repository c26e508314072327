"""Events with every member that the models of google-adk have, as their types say: also of versions to come."""

from __future__ import annotations

import datetime
import enum
import types
import typing
from collections.abc import Iterable
from typing import Any

from google.adk.auth.auth_tool import AuthConfig
from google.adk.events.event import Event
from google.genai.types import Part
from pydantic import BaseModel

# The most models within each other.
_DEPTH = 8
_ANY = {"snake_key": [1, None, "text", {"camelKey": True}]}
_PRIMITIVES: dict[Any, Any] = {
    str: "text",
    int: 3,
    float: 2.5,
    bool: True,
    bytes: b"\xfb\xff\x00",
    dict: {"k": 1},
    list: [1],
}
# Typed as anything, and validated as something.
_TYPES = {("EventActions", "requested_auth_configs"): dict[str, AuthConfig]}
# A part is one thing.
_SINGLE = (Part,)


class Shapes:
    """Makes values of types.

    Attributes:
        met: The members of the models that were met, as ``Model.member``.
        filled: Those of them that have a value in what was made.
    """

    def __init__(self) -> None:
        self.met: set[str] = set()
        self.filled: set[str] = set()

    def events(self) -> list[Event]:
        """The events. None is partial, which no service stores, or a rewind, which has to name an invocation."""
        made = [self._with_own_id(event, index) for index, event in enumerate(self._models(Event, 0))]
        for event in made:
            event.partial = False
            event.actions.rewind_before_invocation_id = None
        return made

    @staticmethod
    def _with_own_id(event: Event, index: int) -> Event:
        event.id = f"filled-{index}"
        event.timestamp = 1_700_000_000.123456 + index
        return event

    def _values(self, annotation: Any, depth: int) -> list[Any]:
        """Values of a type: one for each of its alternatives."""
        origin, args = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            return self._values(args[0], depth)
        if origin in (typing.Union, types.UnionType):
            return [value for each in args if each is not type(None) for value in self._values(each, depth)]
        if origin is dict:
            return [{f"key {index}": value for index, value in enumerate(self._values(args[1], depth))}]
        if origin in (list, set, tuple):
            return [origin(self._values(args[0], depth))]
        if origin is typing.Literal:
            return list(args)
        if annotation in (Any, object):
            return [_ANY]
        if annotation in _PRIMITIVES:
            return [_PRIMITIVES[annotation]]
        if annotation is datetime.datetime:
            return [datetime.datetime(2024, 2, 29, 3, 4, 5, tzinfo=datetime.UTC)]
        if annotation is datetime.date:
            return [datetime.date(2024, 2, 29)]
        if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
            return [list(annotation)[-1]]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return self._models(annotation, depth + 1)
        raise TypeError(f"no value is known for {annotation}: add one to shapes.py")

    def _models(self, model: type[BaseModel], depth: int) -> list[Any]:
        """Instances of a model that have all members between them: of each member all alternatives."""
        if depth > _DEPTH:
            return []
        made: dict[str, list[Any]] = {}
        for name, field in model.model_fields.items():
            path = f"{model.__name__}.{name}"
            self.met.add(path)
            if found := self._values(_TYPES.get((model.__name__, name), field.annotation), depth):
                self.filled.add(path)
                made[field.alias or name] = found
        if model in _SINGLE:
            return [model(**{name: value}) for name, found in made.items() for value in found]
        count = max((len(found) for found in made.values()), default=1)
        return [model(**{name: found[row % len(found)] for name, found in made.items()}) for row in range(count)]


def differences(sent: Iterable[BaseModel], read: Iterable[BaseModel]) -> list[str]:
    """The members at which models differ, as paths: also those that no JSON of theirs shows."""
    found: list[str] = []
    for index, (one, other) in enumerate(zip(sent, read, strict=True)):
        _compare(one, other, f"[{index}]", found)
    return found


def _compare(one: Any, other: Any, path: str, found: list[str]) -> None:
    if isinstance(one, BaseModel) and type(one) is type(other):
        _compare(
            {**one.__dict__, **(one.model_extra or {})}, {**other.__dict__, **(other.model_extra or {})}, path, found
        )
    elif isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            _compare(one.get(name), other.get(name), f"{path}.{name}", found)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (each, counterpart) in enumerate(zip(one, other, strict=True)):
            _compare(each, counterpart, f"{path}[{index}]", found)
    elif one != other:
        found.append(f"{path}: {one!r:.200} became {other!r:.200}")
