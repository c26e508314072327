"""The event loops in which a client is used. Each has its connections, in each process.

A connection belongs to the loop that opened it, and to its process: a forked worker that used its parent's connections
would read the parent's answers. So everything of that kind is in a `LoopState`, which is made at the first call in a
loop, and made anew after a fork.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx

__all__ = ["LoopState", "Loops"]

# A thread may hold it when the process forks: the child, which has no such thread, gets a new one.
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

# The loops of parent processes, and their states. They are kept for the life of a child: their end would tell the
# selector, which the parent's loop shares, to forget the parent's connections.
_of_parents: list[object] = []


class LoopState:
    """The connections of a client in one event loop, and its calls under way."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.turns = Turns()
        self.writes: set[asyncio.Future[None]] = set()
        self.streams: weakref.WeakSet[Any] = weakref.WeakSet()

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[None]:
        """Counts a write as under way."""
        write: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.writes.add(write)
        try:
            yield
        finally:
            self.writes.discard(write)
            write.set_result(None)

    async def flush(self) -> None:
        """Returns when the writes under way are over."""
        if self.writes:
            await asyncio.wait(set(self.writes))

    async def end(self) -> None:
        """Ends its streams, and waits for the writes under way."""
        for stream in list(self.streams):
            stream.end()
        await self.flush()


class Turns:
    """Calls of one name run one after the other, in the order in which they were made."""

    def __init__(self) -> None:
        self._locks: dict[object, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def turn(self, name: object) -> AsyncIterator[None]:
        """Waits for the earlier calls of a name."""
        lock, users = self._locks.get(name, (None, 0))
        lock = lock or asyncio.Lock()
        self._locks[name] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(name)
            if users > 1:
                self._locks[name] = (lock, users - 1)


class Loops:
    """The loops in which one client is used."""

    def __init__(self, make: Callable[[], httpx.AsyncClient]) -> None:
        self._make = make
        self._pid = os.getpid()
        self._states: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopState] = weakref.WeakKeyDictionary()

    def state(self) -> LoopState:
        """The state of the running loop."""
        loop = asyncio.get_running_loop()
        with _lock:
            if self._pid != os.getpid():
                _of_parents.append(list(self._states.items()))
                self._pid = os.getpid()
                self._states = weakref.WeakKeyDictionary()
            state = self._states.get(loop)
            if state is None:
                self._forget_closed()
                state = self._states[loop] = LoopState(self._make())
            return state

    def _forget_closed(self) -> None:
        """Drops the states of loops that are over: nobody can close their connections in an orderly way any more."""
        for loop in list(self._states):
            if loop.is_closed():
                del self._states[loop]

    async def flush(self) -> None:
        """Returns when the writes under way in the running loop are over."""
        state = self._states.get(asyncio.get_running_loop())
        if state is not None:
            await state.flush()

    async def aclose(self) -> None:
        """Closes the states of all loops: that of the running one when this returns, others in their own time."""
        running = asyncio.get_running_loop()
        for loop in self._own():
            if loop is not running:
                run_soon(loop, functools.partial(self._close, loop))
        await self._close(running)

    def abandon(self) -> None:
        """Closes the connections of all loops in their own time: for a client that was collected as garbage."""
        for loop in self._own():
            run_soon(loop, self._states.pop(loop).http.aclose)

    async def _close(self, loop: asyncio.AbstractEventLoop) -> None:
        """Closes the state of the running loop. It stays until the writes under way, which need it, are over."""
        state = self._states.get(loop) if self._pid == os.getpid() else None
        if state is not None:
            await state.end()
            self._states.pop(loop, None)
            await state.http.aclose()

    def _own(self) -> list[asyncio.AbstractEventLoop]:
        """The loops of this process."""
        # No lock: the garbage collector may run this while the same thread holds it.
        return list(self._states) if self._pid == os.getpid() else []


def run_soon(loop: asyncio.AbstractEventLoop, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs something in a loop, of this thread or another one. Does nothing where the loop has ended."""
    if loop.is_closed():
        return
    # The loop may end meanwhile.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(_begin, loop, work)


# A loop holds tasks by weak references.
_running: set[asyncio.Task[None]] = set()


def _begin(loop: asyncio.AbstractEventLoop, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    task = loop.create_task(work())
    _running.add(task)
    task.add_done_callback(_ended)


def _ended(task: asyncio.Task[None]) -> None:
    _running.discard(task)
    if not task.cancelled():
        # A connection that cannot be closed is gone.
        task.exception()
