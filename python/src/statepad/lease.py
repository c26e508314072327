"""Leases: one runner at a time for a session.

A lease is fenced: each write under it carries its token, and the store refuses the write once another holder has taken
the lease, however long the writer was held up. Time alone loses no lease: after ``ttl`` its holder may write until
another one takes it.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Protocol

from .errors import LeaseHeld, LeaseLost, SessionNotFound, StatepadError
from .loops import run_soon
from .model import SessionData

__all__ = ["Lease", "LeaseContext", "Requests"]

# The pauses between requests for a held lease, growing, in seconds.
_FIRST_PAUSE, _MAX_PAUSE = 0.025, 0.5


@dataclass(frozen=True, slots=True)
class Granted:
    """The answer to a request for a lease: the proof for its header, its token, and its end in milliseconds."""

    proof: str
    token: int
    until: float


class Requests(Protocol):
    """The requests for leases of one session."""

    async def take(self, holder: str, ttl: float) -> Granted:
        """Takes the lease for so many seconds."""

    async def renew(self, proof: str, ttl: float) -> Granted:
        """Makes it last for so many seconds from now."""

    async def release(self, proof: str) -> None:
        """Releases it, after the earlier writes of the session."""

    async def read(self) -> SessionData:
        """The session as it is now."""


class Lease:
    """The right to run a session.

    Every write through ``lease.session`` carries it: once another holder has taken it, such a write raises `LeaseLost`
    and stores nothing. Writes by other names of the session need no lease.

    Attributes:
        session: The session as it was when the lease was taken, or later. Name it in the writes under the lease.
        token: The fencing token: greater than that of every earlier lease of the session.
        ttl: The duration of the lease unless it is renewed, in seconds by the store's clock.
        until: The time when it ends unless it is renewed, in milliseconds since the epoch, by the store's clock.
        loss: The reason that it is known to be lost: `LeaseLost`, or `SessionNotFound` where the session was deleted.
    """

    def __init__(self, requests: Requests, session: SessionData, granted: Granted, ttl: float) -> None:
        self.session = replace(session, lease=self)
        self.token = granted.token
        self.ttl = ttl
        self.until = granted.until
        self.loss: StatepadError | None = None
        self._requests = requests
        self._granted = granted
        self._releasing = False
        self._is_released = False
        self._on_loss: Callable[[], None] | None = None

    def __repr__(self) -> str:
        status = "lost" if self.loss is not None else "released" if self._is_released else "held"
        return f"<Lease {self.token} of session {self.session.id!r}, {status}>"

    @property
    def is_over(self) -> bool:
        """True when it is released, or known to be lost."""
        return self._is_released or self.loss is not None

    async def renew(self, ttl: float | None = None) -> None:
        """Extends it by so many seconds from now; by its ``ttl`` by default.

        Raises:
            LeaseLost: It is lost, or released.
        """
        if self.loss is not None:
            raise self.loss
        if self._is_released or self._releasing:
            raise self._released_error()
        try:
            granted = await self._requests.renew(self._granted.proof, self.ttl if ttl is None else ttl)
        except (LeaseLost, SessionNotFound) as error:
            self._mark_lost(error)
            raise
        self.until = granted.until

    async def release(self) -> None:
        """Releases it, after the writes that were called under it. Does nothing when it is lost or released.

        If it raises, the lease is still held: call it again.
        """
        if self.is_over:
            return
        self._releasing = True
        try:
            await self._requests.release(self._granted.proof)
            self._is_released = True
        except (LeaseLost, SessionNotFound) as error:
            self._releasing = False
            self._mark_lost(error)
        finally:
            self._releasing = False

    def _proof_at_call(self) -> Callable[[], str | None]:
        """The proof for a write that is called now, at the moment when it is sent.

        A write carries the lease that it had at its call: one that was called before the release and comes after it is
        refused. One that is called during the release is made after it, and needs no lease where that has succeeded.
        """
        if self._is_released:
            return lambda: None
        if self._releasing:
            return lambda: None if self._is_released else self._granted.proof
        return lambda: self._granted.proof

    def _mark_lost(self, error: StatepadError) -> None:
        """Marks it as lost, except during the release and after it, by which the token may have moved on."""
        if self.is_over or self._releasing:
            return
        self.loss = error
        if self._on_loss is not None:
            self._on_loss()

    def _released_error(self) -> LeaseLost:
        return LeaseLost(f'the lease of session "{self.session.id}" was released', id=self.session.id)


async def take_lease(requests: Requests, ttl: float, wait: float) -> Lease:
    """Takes a lease; while another holder has it, asks again for ``wait`` seconds. Raises `LeaseHeld`."""
    end = time.monotonic() + wait
    pause = _FIRST_PAUSE
    while True:
        try:
            return await _try_lease(requests, ttl)
        except LeaseHeld:
            left = end - time.monotonic()
            if left <= 0:
                raise
            # The waiting callers drift apart.
            await asyncio.sleep(min(left, pause * random.uniform(0.5, 1.0)))
            pause = min(_MAX_PAUSE, pause * 2)


async def _try_lease(requests: Requests, ttl: float) -> Lease:
    holder = str(uuid.uuid4())
    try:
        granted = await requests.take(holder, ttl)
    except asyncio.CancelledError:
        # It may have been taken meanwhile: it is shortened to end at once.
        run_soon(asyncio.get_running_loop(), lambda: _shorten(requests, holder))
        raise
    try:
        return Lease(requests, await requests.read(), granted, ttl)
    except BaseException:
        run_soon(asyncio.get_running_loop(), lambda: _give_up(requests, granted.proof))
        raise


async def _shorten(requests: Requests, holder: str) -> None:
    with suppress(StatepadError):
        await requests.take(holder, 0.001)


async def _give_up(requests: Requests, proof: str) -> None:
    with suppress(StatepadError):
        await requests.release(proof)


class LeaseContext(AbstractAsyncContextManager[Lease]):
    """Takes a lease, renews it while the body runs, and releases it at the end: see `Client.lease`."""

    def __init__(self, requests: Requests, ttl: float, wait: float) -> None:
        self._requests = requests
        self._ttl = ttl
        self._wait = wait

    async def __aenter__(self) -> Lease:
        lease = await take_lease(self._requests, self._ttl, self._wait)
        task = asyncio.current_task()
        assert task is not None
        self._lease, self._body, self._cancelling = lease, task, task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._is_exiting = self._has_cancelled = False
        lease._on_loss = self._on_loss
        self._renewals = self._loop.create_task(_keep_alive(lease))
        return lease

    def _on_loss(self) -> None:
        # Later: a write of the body that finds the lease lost raises that to the body first. It may be one of a thread.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._cancel_body)

    def _cancel_body(self) -> None:
        if not self._is_exiting:
            self._has_cancelled = True
            self._body.cancel(f"the lease of session {self._lease.session.id!r} was lost")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_exiting = True
        lease = self._lease
        self._renewals.cancel()
        is_own = self._has_cancelled and await self._is_own_cancellation(error)
        # A second cancellation does not keep the lease from being released.
        await asyncio.shield(asyncio.ensure_future(_release(lease)))
        if lease.loss is not None and (is_own or (error is None and isinstance(lease.loss, LeaseLost))):
            raise lease.loss from error

    async def _is_own_cancellation(self, error: BaseException | None) -> bool:
        """True when the body was ended by the loss of the lease, and by nobody else."""
        if error is None:
            # The body has ended before it noticed.
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        others = self._body.uncancel() > self._cancelling
        return not others and (error is None or isinstance(error, asyncio.CancelledError))


async def _keep_alive(lease: Lease) -> None:
    """Renews a lease each third of its time."""
    while not lease.is_over:
        await asyncio.sleep(lease.ttl / 3)
        # A server that does not answer is asked again the next time: until another takes the lease, it is not lost.
        with suppress(StatepadError):
            await lease.renew()


async def _release(lease: Lease) -> None:
    """Releases a lease. One that cannot be released expires."""
    with suppress(StatepadError, TimeoutError):
        async with asyncio.timeout(lease.ttl):
            await lease.release()


def granted_from(json: Any) -> Granted:
    """The lease in an answer."""
    return Granted(json["lease"], json["token"], json["until"])
