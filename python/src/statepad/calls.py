"""Parts of the calls of a client."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from .errors import LeaseLost, SessionNotFound
from .keys import SessionKey

__all__ = ["LEASE_HEADER", "MAX_PAGE", "Parameter", "finite", "under_lease"]

MAX_PAGE = 1000
"""The largest page that a server answers with."""

LEASE_HEADER = "statepad-lease"
"""The header that proves a lease."""

Parameter: TypeAlias = str | int | float | None
"""A parameter of a URL; ``None`` leaves it out."""


def finite(time: float | None) -> float | None:
    """A time that a parameter can have: the infinite ones are later, or earlier, than all events."""
    return None if time is None else max(-sys.float_info.max, min(sys.float_info.max, time))


@asynccontextmanager
async def under_lease(key: SessionKey) -> AsyncIterator[dict[str, str]]:
    """The header of a lease that a session is named with, for a write. A write that finds it lost marks it."""
    lease = key.lease
    if lease is None:
        yield {}
        return
    proof = lease._proof()
    try:
        yield {} if proof is None else {LEASE_HEADER: proof}
    except (LeaseLost, SessionNotFound) as error:
        lease._mark_lost(error)
        raise
