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


def same(actual: Any, wanted: Any) -> bool:
    """Two values are the same JSON: 1 and 1.0 are, 1 and True are not, and dicts may have any order.

    A float may come back as the integer of its digits, such as 1e300; an integer may lose none.
    """
    if isinstance(actual, Mapping) and isinstance(wanted, Mapping):
        return actual.keys() == wanted.keys() and all(same(actual[key], wanted[key]) for key in wanted)
    if isinstance(actual, list | tuple) and isinstance(wanted, list | tuple):
        return len(actual) == len(wanted) and all(map(same, actual, wanted))
    if isinstance(actual, bool) or isinstance(wanted, bool):
        return actual is wanted
    if isinstance(actual, int) and isinstance(wanted, float):
        return float(actual) == wanted
    return bool(actual == wanted)


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
