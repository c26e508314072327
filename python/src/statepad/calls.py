"""Parts of the calls of a client."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from .errors import InvalidArgument, LeaseLost, SessionNotFound
from .keys import SessionKey

__all__ = ["LEASE_HEADER", "MAX_PAGE", "Hold", "Parameter", "finite"]

MAX_PAGE = 1000
"""The largest page that a server answers with."""

LEASE_HEADER = "statepad-lease"
"""The header that proves a lease."""

Parameter: TypeAlias = str | int | float | None
"""A parameter of a URL; ``None`` leaves it out."""


def finite(time: float | None) -> float | None:
    """A time that a parameter can have: the infinite ones are later, or earlier, than all events.

    Raises:
        InvalidArgument: It is no number.
    """
    if time is not None and math.isnan(time):
        raise InvalidArgument("a time must be a number of milliseconds, not nan")
    return None if time is None else max(-sys.float_info.max, min(sys.float_info.max, time))


class Hold:
    """The lease that a session is named with at the call of a write, whatever happens to the lease until it is sent."""

    def __init__(self, key: SessionKey) -> None:
        self._lease = key.lease
        self._proof = None if key.lease is None else key.lease._proof_at_call()

    @contextmanager
    def headers(self) -> Iterator[dict[str, str]]:
        """The header of the lease, for a write. A write that finds it lost marks it."""
        proof = None if self._proof is None else self._proof()
        if self._lease is None or proof is None:
            yield {}
            return
        try:
            yield {LEASE_HEADER: proof}
        except (LeaseLost, SessionNotFound) as error:
            self._lease._mark_lost(error)
            raise
