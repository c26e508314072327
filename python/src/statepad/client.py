"""The client of a server."""

from __future__ import annotations

from .growth import GrowthOperations
from .leases import LeaseOperations
from .past import PastOperations
from .sessions import SessionOperations
from .states import StateOperations
from .watching import WatchOperations

__all__ = ["Client"]


class Client(SessionOperations, StateOperations, PastOperations, LeaseOperations, GrowthOperations, WatchOperations):
    """The sessions behind a server of ``statepad serve``.

    A write that returns is durable, and is made once: an answer that got lost is asked for again under the same
    identity. An outcome that stays open is `CommitUnknown`; a server that cannot be reached is `StoreUnavailable`.
    Every method also raises the other errors of the server: `Unauthenticated`, `Forbidden`, `TooLarge`,
    `TooManyRequests`, `StoreCorrupt`.

    One client serves all event loops and threads of a process. It may be pickled, and used in forked processes: each
    process and each loop has connections of its own. ``async with Client(uri) as client`` closes it at the end.

    Example:
        >>> async with Client("statepad://localhost:8377", token=token) as client:
        ...     session = await client.create_session("shop", "ana", state={"step": 1})
        ...     await client.append_event(session, {"author": "user", "actions": {"stateDelta": {"step": 2}}})
    """
