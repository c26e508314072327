"""Members of events: one case for each, with a value made from google-adk's own pydantic models."""

from __future__ import annotations

import datetime
import enum
import types as builtin
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from pydantic import BaseModel

from statepad.testing.cases import Case, sources
from statepad.testing.comparing import expect
from statepad.testing.subject import NotRun, Subject

DEPTH = 4
"""Levels of models within models that a value has; deeper optional members stay unset."""

ASKED_ELSEWHERE = {
    "event": {"id", "timestamp", "partial", "actions", "author", "invocation_id"},
    "actions": {"state_delta"},
}

API_KEY = {
    "auth_scheme": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "raw_auth_credential": {"auth_type": "apiKey", "api_key": "secret"},
    "credential_key": "key",
}

EARLIER = "e-earlier"
"""The invocation of an event that is there before: a rewind names one."""

VALUES: Mapping[str, Any] = {
    "rewind_before_invocation_id": EARLIER,
    # The annotation of this one is Any at run time; its validator makes models of dicts.
    "requested_auth_configs": {"call-1": API_KEY},
    # A part may have one kind of content only.
    "content": {
        "role": "model",
        "parts": [
            {"text": "naïve 👍", "thought": True, "thought_signature": b"\x00\xff"},
            {"function_call": {"id": "call-1", "name": "f", "args": {"x": [1, None, {"y": 0.1}]}}},
            {"function_response": {"id": "call-1", "name": "f", "response": {"result": ["a", {"b": None}]}}},
            {"inline_data": {"mime_type": "image/png", "data": b"\x89PNG\x00\xff", "display_name": "p.png"}},
            {"file_data": {"mime_type": "text/plain", "file_uri": "gs://b/o"}},
            {"executable_code": {"code": "print(1)", "language": "PYTHON"}},
            {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}},
        ],
    },
}


def member_cases() -> Iterator[Case]:
    """A case for each member of `Event` and `EventActions` of the google-adk that is installed."""
    for owner, model in (("event", Event), ("actions", EventActions)):
        for name, field in model.model_fields.items():
            if name not in ASKED_ELSEWHERE[owner] and not field.exclude:
                yield Case(
                    "members",
                    f"{'actions.' if owner == 'actions' else ''}{name} comes back as it was",
                    "A member that a storage has no place for is unset in the next turn, and nothing reports it.",
                    sources().get("recorded"),
                    run="member",
                    data={"owner": owner, "member": name},
                )


async def run_member(subject: Subject, app: str, given: Mapping[str, Any]) -> None:
    """Appends an event with this member, and compares what is read."""
    owner, name = given["owner"], given["member"]
    service = await subject.service()
    session = await service.create_session(app_name=app, user_id="u", session_id="s")
    await service.append_event(session, Event(id="d", author="user", invocation_id=EARLIER))
    event = event_with(owner, name)
    wanted = _member(event, owner, name)
    if wanted is None:
        raise NotRun(f"no value could be made for {name}")
    await service.append_event(session, event)
    stored = await service.get_session(app_name=app, user_id="u", session_id="s")
    read = [_member(each, owner, name) for each in stored.events if each.id == event.id] if stored else []
    expect(f"the member {name}", read, [wanted])


def event_with(owner: str, name: str) -> Event:
    """An event whose member of this name is set, with all that lies within it."""
    model = Event if owner == "event" else EventActions
    try:
        value = VALUES.get(name) or sample(model.model_fields[name].annotation, DEPTH)
        members = {name: value}
        # A long-running call is one that is there.
        more = {} if owner == "actions" else members
        actions = EventActions(**members) if owner == "actions" else EventActions()
        return Event(id="e", author="agent", invocation_id="i", actions=actions, **more)
    except Exception as error:
        raise NotRun(f"no value could be made for {name}: {error}") from error


def sample(annotation: Any, depth: int) -> Any:
    """A value of this type that differs from the default: models with all members, down to `depth` levels."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return sample(arguments[0], depth)
    if origin is typing.Literal:
        return arguments[0]
    if origin in (typing.Union, builtin.UnionType):
        return sample(next(each for each in arguments if each is not type(None)), depth)
    if origin in (list, set, tuple, frozenset):
        return [sample(arguments[0], depth)]
    if origin is dict:
        return {"key": sample(arguments[1], depth)}
    if isinstance(annotation, type):
        return _sample_of_class(annotation, depth)
    return {"any": [1, None, "naïve 👍", {"x": 0.1}]}


def _sample_of_class(kind: type, depth: int) -> Any:
    if issubclass(kind, BaseModel):
        return _sample_of_model(kind, depth)
    if issubclass(kind, enum.Enum):
        return list(kind)[-1]
    plain: Mapping[type, Any] = {
        bool: True,
        int: 7,
        float: 0.1,
        str: "naïve 👍",
        bytes: b"\x00\xff",
        dict: {"key": [1, None]},
        list: [1, None],
        datetime.datetime: datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
    }
    return plain.get(kind, {"any": [1, None, "naïve 👍"]})


def _sample_of_model(kind: type[BaseModel], depth: int) -> dict[str, Any]:
    return {
        name: sample(field.annotation, depth - 1)
        for name, field in kind.model_fields.items()
        if field.is_required() or depth > 1
    }


def _member(event: Event, owner: str, name: str) -> Any:
    holder: BaseModel = event if owner == "event" else event.actions
    # An optional member that is unset and one that is None are the same to readers.
    return holder.model_dump(mode="json", include={name}, exclude_none=True).get(name)
