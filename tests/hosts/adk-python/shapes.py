"""Prints the shapes of adk-python's events, as pkg/src/stores/adk-database/event-shapes.ts has them.

Each model is a line: its name, `+` where it keeps members that it does not know, and its members, each with the name
under which it is stored, `=` and the name in JSON where that is not the same in camelCase, `!` where it must be there,
and what it is.
"""

import enum
import textwrap
import types
import typing

from google.adk.auth.auth_tool import AuthConfig
from google.adk.events.event import Event
from google.genai._common import CaseInSensitiveEnum
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

# The members of OpenAPI's security schemes are not renamed; adk-python stores two of them under names that it reads as
# members of a custom scheme, so that those names are only read.
AUTH_SCHEME = "AuthScheme+: type!:str in:any type_=type:str in_=in:any"
OVERRIDES = {
    ("Event", "timestamp"): "time",
    # Typed as anything at run time, and validated as this.
    ("EventActions", "requested_auth_configs"): "AuthConfig{}",
    ("AuthConfig", "auth_scheme"): "AuthScheme",
}
PRIMITIVES = {str: "str", int: "int", float: "float", bool: "bool", bytes: "bytes", dict: "any{}", list: "any[]"}

models: dict[str, str] = {}


def either(shapes: list[str]) -> str:
  return shapes[0] if len(shapes) == 1 else f"({'|'.join(shapes)})"


def choice(values: typing.Iterable[str]) -> str:
  return either([f"'{value}'" for value in values])


def shape_of(annotation: typing.Any) -> str:
  origin, args = typing.get_origin(annotation), typing.get_args(annotation)
  if origin is typing.Annotated:
    return shape_of(args[0])
  if origin in (typing.Union, types.UnionType):
    return either([shape_of(each) for each in args if each is not type(None)])
  if origin in (list, set, tuple):
    return f"{shape_of(args[0])}[]"
  if origin is dict:
    return f"{shape_of(args[1])}{{}}"
  if origin is typing.Literal:
    return choice(args)
  if annotation is typing.Any:
    return "any"
  if issubclass(annotation, BaseModel):
    add(annotation)
    return annotation.__name__
  if issubclass(annotation, CaseInSensitiveEnum):
    # It takes any text.
    return "str"
  if issubclass(annotation, enum.Enum):
    return choice(each.value for each in annotation)
  return PRIMITIVES[annotation]


def add(model: type[BaseModel]) -> None:
  name = model.__name__
  if name in models:
    return
  models[name] = ""
  fields = []
  for stored, field in model.model_fields.items():
    alias = field.alias or stored
    renamed = "" if alias == to_camel(stored) else f"={alias}"
    if field.alias is not None and alias != stored:
      assert model.model_config.get("populate_by_name"), (name, stored)
    shape = OVERRIDES.get((name, stored)) or shape_of(field.annotation)
    fields.append(f"{stored}{renamed}{'!' if field.is_required() else ''}:{shape}")
  keeps = model.model_config.get("extra") == "allow"
  models[name] = f"{name}{'+' if keeps else ''}: {' '.join(fields)}"


add(Event)
add(AuthConfig)
for line in sorted([*models.values(), AUTH_SCHEME]):
  print("\n".join(textwrap.wrap(line, 119, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)))
