"""Operations of leases."""

from __future__ import annotations

from .calls import LEASE_HEADER
from .core import Core
from .errors import InvalidArgument
from .keys import SessionKey, path_to
from .lease import Granted, Lease, LeaseContext, granted_from, take_lease
from .model import SessionData, SessionRef, key_of
from .sessions import session_of
from .transport import Call

__all__ = ["LeaseOperations"]

# The longest duration of a lease, in milliseconds.
_MAX_TTL_MS = 2**31 - 1


class LeaseOperations(Core):
    """Operations of leases."""

    def lease(
        self, session: SessionRef, *, ttl: float = 30.0, wait: float = 0.0, num_recent_events: int | None = None
    ) -> LeaseContext:
        """Runs a body under the lease of a session: ``async with client.lease(session) as lease``.

        The lease is taken at the beginning, renewed in the background every third of ``ttl``, and released at the end.
        Once it is known to be lost, the body is cancelled, and the ``async with`` raises `LeaseLost`.

        Args:
            session: The session.
            ttl: The duration of the lease unless it is renewed, in seconds by the store's clock. After the end of the
                process it frees the session.
            wait: The time to wait for a lease that another holder has, in seconds.
            num_recent_events: The last events that ``lease.session`` shows, at most this many; all when absent.

        Raises:
            LeaseHeld: Another holder has the lease.
            LeaseLost: Another holder has taken it before the body has ended.
            SessionNotFound: There is no such session, or it was deleted during the body.
        """
        return LeaseContext(self._requests(session, num_recent_events), _checked_ttl(ttl), _checked_wait(wait))

    async def take_lease(
        self, session: SessionRef, *, ttl: float = 30.0, wait: float = 0.0, num_recent_events: int | None = None
    ) -> Lease:
        """Takes the lease of a session, which the caller renews and releases. Arguments and errors as of `lease`."""
        return await take_lease(self._requests(session, num_recent_events), _checked_ttl(ttl), _checked_wait(wait))

    def _requests(self, session: SessionRef, num_recent_events: int | None) -> LeaseRequests:
        return LeaseRequests(self, key_of(session), num_recent_events)


class LeaseRequests:
    """The requests for leases of one session."""

    def __init__(self, core: Core, key: SessionKey, num_recent_events: int | None) -> None:
        self._core = core
        self._key = key
        self._num_recent_events = num_recent_events

    async def take(self, holder: str, ttl: float) -> Granted:
        """Takes the lease for so many seconds."""
        body = {"holder": holder, "ttl": _milliseconds(ttl)}
        headers = {"if-match": self._key.etag}
        call = Call("POST", path_to("lease", self._key), "by content", body=body, headers=headers)
        return granted_from((await self._core._call(call)).json)

    async def renew(self, proof: str, ttl: float) -> Granted:
        """Makes it last for so many seconds from now."""
        body, headers = {"ttl": _milliseconds(_checked_ttl(ttl))}, {LEASE_HEADER: proof}
        call = Call("POST", path_to("renew_lease", self._key), "by content", body=body, headers=headers)
        return granted_from((await self._core._call(call)).json)

    async def release(self, proof: str) -> None:
        """Releases it, after the earlier writes of the session."""
        call = Call("DELETE", path_to("lease", self._key), "by content", headers={LEASE_HEADER: proof})
        async with self._core._turn(self._key):
            await self._core._call(call)

    async def read(self) -> SessionData:
        """The session as it is now."""
        return session_of(await self._core._current(self._key, {"numRecentEvents": self._num_recent_events}))


def _checked_ttl(ttl: float) -> float:
    if not isinstance(ttl, (int, float)) or not 1 <= ttl * 1000 <= _MAX_TTL_MS:
        raise InvalidArgument(f"ttl must be from 0.001 to {_MAX_TTL_MS / 1000} seconds, not {ttl!r}", path="ttl")
    return ttl


def _checked_wait(wait: float) -> float:
    if not isinstance(wait, (int, float)) or not wait >= 0:
        raise InvalidArgument(f"wait must be a number of seconds from 0, not {wait!r}", path="wait")
    return wait


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
