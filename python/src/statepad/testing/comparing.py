"""Comparison of values as JSON sees them, and the error of a case that does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST = 300


class Mismatch(AssertionError):
    """A service answered otherwise than the case asks for."""


def expect(what: str, actual: Any, wanted: Any) -> None:
    """Raises `Mismatch` unless both are the same JSON. `what` names the value in the message."""
    if not same(actual, wanted):
        raise Mismatch(f"{what} is {shown(actual)}, not {shown(wanted)}")


def same(left: Any, right: Any) -> bool:
    """Two values are the same JSON: 1 and 1.0 are, 1 and True are not, and dicts may have any order."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def shown(value: Any) -> str:
    """A value in a message, shortened."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def describe(error: BaseException) -> str:
    """The class and the first line of an error, for a report."""
    first = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {first}"[:LONGEST] if first else type(error).__name__


def is_named(error: BaseException, name: str) -> bool:
    """The error has a class of this name among its bases: versions of google-adk keep them in different places."""
    return any(each.__name__ == name for each in type(error).__mro__)
