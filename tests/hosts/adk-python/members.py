"""Events with every member that the models of ADK have, as their types say."""

import datetime
import enum
import json
import types
import typing

from google.adk.auth.auth_tool import AuthConfig
from google.adk.events.event import Event
from google.genai.types import Part
from pydantic import BaseModel

# The most models within each other.
DEPTH = 8
ANY = {"snake_key": [1, None, "text", {"camelKey": True}]}
PRIMITIVES = {str: "text", int: 3, float: 2.5, bool: True, bytes: b"\xfb\xff\x00", dict: {"k": 1}, list: [1]}
# What is typed as anything, and validated as something.
TYPES = {("EventActions", "requested_auth_configs"): dict[str, AuthConfig]}
# Of what a part is there is one.
SINGLE = [Part]

# The members of the models that were met, and those that have been filled, as Model.member.
met, used = set(), set()


def values(annotation, depth):
  """Values of a type: one for each of its alternatives."""
  origin, args = typing.get_origin(annotation), typing.get_args(annotation)
  if origin is typing.Annotated:
    return values(args[0], depth)
  if origin in (typing.Union, types.UnionType):
    return [value for each in args if each is not type(None) for value in values(each, depth)]
  if origin is dict:
    return [{f"key {index}": value for index, value in enumerate(values(args[1], depth))}]
  if origin in (list, set, tuple):
    return [origin(values(args[0], depth))]
  if origin is typing.Literal:
    return list(args)
  if annotation in (typing.Any, object):
    return [ANY]
  if annotation in PRIMITIVES:
    return [PRIMITIVES[annotation]]
  if annotation is datetime.datetime:
    return [datetime.datetime(2024, 2, 29, 3, 4, 5, tzinfo=datetime.timezone.utc)]
  if annotation is datetime.date:
    return [datetime.date(2024, 2, 29)]
  if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
    return [list(annotation)[-1]]
  if isinstance(annotation, type) and issubclass(annotation, BaseModel):
    return filled(annotation, depth + 1)
  raise TypeError(f"no value is known for {annotation}")


def filled(model, depth=0):
  """Instances of a model that have all members between them: of each member all alternatives."""
  if depth > DEPTH:
    return []
  made = {}
  for name, field in model.model_fields.items():
    annotation = TYPES.get((model.__name__, name), field.annotation)
    met.add(f"{model.__name__}.{name}")
    found = [] if field.exclude else values(annotation, depth)
    if found:
      used.add(f"{model.__name__}.{name}")
      made[field.alias or name] = found
  if model in SINGLE:
    return [model(**{name: value}) for name, found in made.items() for value in found]
  count = max((len(found) for found in made.values()), default=1)
  rows = [{name: found[index % len(found)] for name, found in made.items()} for index in range(count)]
  return [model(**row) for row in rows]


def events():
  """The events. None is partial, which no service stores, or a rewind, which has to name an invocation."""
  made = filled(Event)
  for index, event in enumerate(made):
    event.id = f"filled-{index}"
    event.timestamp = 1_700_000_000.25 + index
    event.partial = False
    event.actions.rewind_before_invocation_id = None
  return made


def differences(sent, read):
  """The paths at which events differ from those that were sent, as ADK's own JSON would bring them back."""
  back = [Event.model_validate_json(event.model_dump_json(by_alias=True, exclude_none=True)) for event in sent]
  found = []
  compare(plain(back), plain(read), "", found)
  return found


def plain(events):
  told = [json.loads(event.model_dump_json(by_alias=True, exclude_none=True)) for event in events]
  for event in told:
    event.get("longRunningToolIds", []).sort()
  return told


def compare(one, other, path, found):
  if isinstance(one, dict) and isinstance(other, dict):
    for name in sorted({*one, *other}):
      compare(one.get(name), other.get(name), f"{path}.{name}", found)
  elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
    for index, (each, counterpart) in enumerate(zip(one, other)):
      compare(each, counterpart, f"{path}[{index}]", found)
  elif one != other:
    found.append(f"{path}: {json.dumps(one)[:200]} became {json.dumps(other)[:200]}")
