"""ADK's Runner, limited to one run at a time for a session."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from google.adk.events.event import Event
from google.adk.runners import Runner
from google.adk.sessions.session import Session

from ..keys import SessionKey
from .service import StatepadSessionService

__all__ = ["LeasedRunner"]


class LeasedRunner(Runner):
    """ADK's `Runner`, which leases the session for each run.

    The lease is taken before the session is read, and released at the end of the run in any case. While another run has
    it, in this process or in another one, a run waits, or raises `LeaseHeld`. A run whose lease was taken over, because
    its process stood still for longer than ``lease_ttl``, writes nothing more: it is cancelled, and `LeaseLost` is
    raised to its caller. ``run``, ``run_debug`` and ``rewind_async`` are leased as well.

    Example:
        >>> runner = LeasedRunner(app_name="shop", agent=agent, session_service=sessions, lease_wait=60.0)
    """

    def __init__(
        self,
        *,
        session_service: StatepadSessionService,
        lease_ttl: float = 30.0,
        lease_wait: float = 0.0,
        **options: Any,
    ) -> None:
        """Makes a runner.

        Args:
            session_service: The sessions. The Runner's ``session_service``.
            lease_ttl: The duration of a lease unless it is renewed, in seconds. After the end of the process it frees
                the session.
            lease_wait: The time that a run waits for the run before it, in seconds.
            **options: As of `Runner`.

        Raises:
            TypeError: ``session_service`` is another one.
        """
        if not isinstance(session_service, StatepadSessionService):
            raise TypeError(
                f"session_service must be a StatepadSessionService, which has leases, "
                f"not {type(session_service).__name__}"
            )
        super().__init__(session_service=session_service, **options)
        self._sessions = session_service
        self._lease_ttl = lease_ttl
        self._lease_wait = lease_wait

    async def run_async(self, *, user_id: str, session_id: str, **options: Any) -> AsyncGenerator[Event, None]:
        """Runs the agent as `Runner.run_async` does, under the lease of the session. Arguments are those of ADK.

        Raises:
            LeaseHeld: Another run has the lease.
            LeaseLost: Another run has taken it before this one has ended.
        """
        options = {**options, "user_id": user_id, "session_id": session_id}
        if self._sessions.held_lease is not None:
            run = Runner.run_async(self, **options)
        else:
            run = self._leased_run("run_async", user_id, session_id, options)
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def run_live(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        session: Session | None = None,
        **options: Any,
    ) -> AsyncGenerator[Event, None]:
        """Runs the agent as `Runner.run_live` does, under the lease of the session. Raises as `run_async`."""
        options = {**options, "user_id": user_id, "session_id": session_id}
        if session is not None:
            options["session"] = session
            user_id, session_id = session.user_id, session.id
        if self._sessions.held_lease is not None or user_id is None or session_id is None:
            run = Runner.run_live(self, **options)
        else:
            run = self._leased_run("run_live", user_id, session_id, options)
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def rewind_async(self, *, user_id: str, session_id: str, **options: Any) -> None:
        """Rewinds the session as `Runner.rewind_async` does, under its lease. Raises as `run_async`."""
        options = {**options, "user_id": user_id, "session_id": session_id}
        name = SessionKey(self.app_name, user_id, session_id)
        async with self._sessions.lease(name, **self._lease_options()) as leased:
            await Runner.rewind_async(self._with(leased), **options)

    def _leased_run(
        self, method: str, user_id: str, session_id: str, options: dict[str, Any]
    ) -> AsyncGenerator[Event, None]:
        """The events of a run under the lease, in a task of its own: that is what a lost lease cancels."""

        async def run(hand_over: Callable[[Event], Awaitable[None]]) -> None:
            name = SessionKey(self.app_name, user_id, session_id)
            if getattr(self, "auto_create_session", False):
                await self._sessions.get_or_create_session(
                    app_name=name.app_name, user_id=user_id, session_id=session_id
                )
            async with self._sessions.lease(name, **self._lease_options()) as leased:
                source: AsyncGenerator[Event, None] = getattr(Runner, method)(self._with(leased), **options)
                async with aclosing(source) as events:
                    async for event in events:
                        await hand_over(event)

        return _in_task_of_its_own(run)

    def _lease_options(self) -> dict[str, float]:
        return {"ttl": self._lease_ttl, "wait": self._lease_wait}

    def _with(self, leased: StatepadSessionService) -> LeasedRunner:
        """This runner for one run: its writes carry the lease."""
        runner = copy.copy(self)
        runner.session_service = runner._sessions = leased
        return runner


async def _in_task_of_its_own(
    work: Callable[[Callable[[Event], Awaitable[None]]], Awaitable[None]],
) -> AsyncGenerator[Event, None]:
    """Yields the events that some work hands over. It runs in a task, and ends with the generator.

    As in a generator, it goes on after an event when the caller asks for the next one.
    """
    wanted = asyncio.Semaphore(0)
    handed_over: asyncio.Queue[Event] = asyncio.Queue()

    async def hand_over(event: Event) -> None:
        handed_over.put_nowait(event)
        await wanted.acquire()

    async def run() -> None:
        await work(hand_over)

    task = asyncio.ensure_future(run())
    try:
        while True:
            getting = asyncio.ensure_future(handed_over.get())
            try:
                await asyncio.wait({getting, task}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                # One that has an event keeps it.
                getting.cancel()
            if not getting.done():
                await task
                return
            yield getting.result()
            wanted.release()
    finally:
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            # It was raised to the caller, or the caller has left.
            task.exception()
