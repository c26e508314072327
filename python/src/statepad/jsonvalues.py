"""JSON on the wire: values that it would lose or change silently are refused before anything is sent.

Numbers are IEEE doubles, as everywhere in statepad. A float without a fraction comes back as an ``int`` (JSON does not
tell 2.0 from 2; they are equal), and whole numbers beyond 2**53 have to be floats.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from .errors import ValueNotJson
from .operators import is_operator

__all__ = ["MAX_DEPTH", "MAX_INTEGER", "check_json", "dump", "parse"]

MAX_DEPTH = 100
"""The deepest nesting of lists and objects in a value; the server has the same limit."""

MAX_INTEGER = 2**53 - 1
"""The largest whole number that a double holds exactly, with all below it."""


def dump(value: Any) -> bytes:
    """A checked value as JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def parse(text: str | bytes) -> Any:
    """The value in JSON. Raises ``ValueError``."""
    return json.loads(text, parse_int=_parse_int)


def _parse_int(text: str) -> int | float:
    """A number without a fraction: beyond 2**53 the text is a rounded one, and stands for a double."""
    number = int(text)
    return number if -MAX_INTEGER <= number <= MAX_INTEGER else float(text)


def check_json(value: object, path: str, *, is_delta: bool = False) -> None:
    """Checks that JSON holds a value unchanged.

    Args:
        value: The value.
        path: Its name in errors.
        is_delta: True for a delta, whose keys are written in brackets and quotes.

    Raises:
        ValueNotJson: It does not; ``path`` is that of the fault.
    """
    try:
        # The value itself is a collection of members, of which the server counts the levels.
        _check(value, 0, set())
    except _Fault as fault:
        where = path
        for index, step in enumerate(reversed(fault.way)):
            where += _spell(step, is_key=is_delta and index == 0, is_first=where == "")
        raise ValueNotJson(f"{where} {fault}: it is not JSON", path=where) from None


class _Fault(Exception):
    """A fault in a value. While it is raised outwards it collects its path, from the inside to the outside."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.way: list[str | int] = []


def _check(value: object, depth: int, above: set[int]) -> None:
    if value is None or value is True or value is False:
        return
    if isinstance(value, str):
        if not _is_well_formed(value):
            raise _Fault("has a lone surrogate")
    elif isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise _Fault("is a whole number beyond 2**53, which doubles do not hold (use a float or a string)")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _Fault(f"is {value}")
    elif isinstance(value, (dict, list)):
        _check_members(value, depth, above)
    else:
        raise _Fault(_foreign(value))


def _check_members(value: dict[Any, Any] | list[Any], depth: int, above: set[int]) -> None:
    if id(value) in above:
        raise _Fault("is part of a cycle")
    if depth > MAX_DEPTH:
        raise _Fault(f"is nested deeper than {MAX_DEPTH} levels")
    above.add(id(value))
    step: Any = None
    try:
        if isinstance(value, dict):
            for step, member in value.items():
                if not isinstance(step, str):
                    raise _Fault(f"has a key that is no string, {step!r}")
                if not _is_well_formed(step):
                    raise _Fault("has a key with a lone surrogate")
                _check_step(member, step, depth, above)
        else:
            for step, member in enumerate(value):
                _check_step(member, step, depth, above)
    finally:
        above.discard(id(value))


def _check_step(member: object, step: str | int, depth: int, above: set[int]) -> None:
    # Most members are texts and numbers, which need no frame of their own for a path.
    try:
        _check(member, depth + 1, above)
    except _Fault as fault:
        fault.way.append(step)
        raise


def _is_well_formed(text: str) -> bool:
    """True when UTF-8 can hold a text."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _foreign(value: object) -> str:
    """The reason why JSON cannot hold a value of another type."""
    if is_operator(value):
        return "is an operator: it can only be the whole value of a key in a delta"
    if isinstance(value, tuple):
        return "is a tuple, which would come back as a list: use a list"
    return f"is of the type {type(value).__name__}"


def _spell(step: str | int, *, is_key: bool, is_first: bool) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if is_key or not re.fullmatch(r"[^\W\d][\w$]*", step):
        return f"[{json.dumps(step)}]"
    return step if is_first else f".{step}"
