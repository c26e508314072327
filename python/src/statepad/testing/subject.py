"""The service under test: it is made by a factory, once or twice, in this process and in others."""

from __future__ import annotations

import contextlib
import inspect
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from typing import Any, TypeAlias
from uuid import uuid4

from google.adk.sessions.base_session_service import BaseSessionService

from statepad.testing.child import Child
from statepad.testing.comparing import describe

Made: TypeAlias = (
    BaseSessionService | AbstractAsyncContextManager[BaseSessionService] | AbstractContextManager[BaseSessionService]
)
Factory: TypeAlias = Callable[[], Made | Awaitable[Made]]


class NotRun(Exception):
    """A case cannot be asked of this service; the text says why."""


class Subject:
    """The services that one factory makes. Each `open` service is closed by `close`.

    Args:
        factory: answers a service, a promise of one, or a context manager (also an asynchronous one) over one.
        shared: whether two services that the factory makes share their sessions; None finds it out.
    """

    def __init__(self, factory: Factory, *, shared: bool | None = None) -> None:
        self._factory = factory
        self._shared = shared
        self._open: dict[int, tuple[BaseSessionService, AsyncExitStack]] = {}
        self._child: Child | None = None

    async def service(self, number: int = 1) -> BaseSessionService:
        """The service of this number: 1 and 2 are two of them."""
        if number not in self._open:
            stack = AsyncExitStack()
            self._open[number] = (await stack.enter_async_context(opened(self._factory)), stack)
        return self._open[number][0]

    async def reopen(self) -> None:
        """Closes the first service; the next access makes another one."""
        if 1 in self._open:
            await self._open.pop(1)[1].aclose()

    async def child(self) -> Child:
        """Another process with a service of its own. It is started at the first call and used again."""
        if self._child is None:
            self._child = await Child.start(self._pickled())
        return self._child

    async def kill_child(self) -> None:
        """Ends the other process at once."""
        child, self._child = self._child, None
        if child is not None:
            await child.kill()

    async def check(self, needs: frozenset[str]) -> None:
        """Raises `NotRun` when the factory has not what a case needs."""
        if "second" in needs and not await self._shares():
            raise NotRun("two services of the factory do not share their sessions")
        if "process" in needs:
            self._pickled()

    async def close(self) -> None:
        """Closes all services and ends the other process."""
        await self.kill_child()
        while self._open:
            _, (_, stack) = self._open.popitem()
            await stack.aclose()

    async def _shares(self) -> bool:
        if self._shared is None:
            key: dict[str, Any] = {"app_name": f"probe-{uuid4().hex[:8]}", "user_id": "u", "session_id": "s"}
            first, second = await self.service(1), await self.service(2)
            await first.create_session(**key)
            self._shared = await second.get_session(**key) is not None
        return self._shared

    def _pickled(self) -> bytes:
        if getattr(self._factory, "__module__", None) == "__main__":
            raise NotRun("the factory is in the main program, where another process cannot find it")
        try:
            return pickle.dumps(self._factory)
        except Exception as error:
            raise NotRun(f"another process cannot load the factory: {describe(error)}") from error


@contextlib.asynccontextmanager
async def opened(factory: Factory) -> AsyncIterator[BaseSessionService]:
    """A service of the factory, which is closed at the end by its context manager, or by its own `close`."""
    made: Any = factory()
    if inspect.isawaitable(made):
        made = await made
    async with AsyncExitStack() as stack:
        if isinstance(made, BaseSessionService):
            stack.push_async_callback(_close, made)
            yield made
        elif isinstance(made, AbstractAsyncContextManager):
            yield await stack.enter_async_context(made)
        elif isinstance(made, AbstractContextManager):
            yield stack.enter_context(made)
        else:
            raise TypeError(f"the factory must answer a BaseSessionService or a context manager over one, not {made!r}")


async def _close(service: BaseSessionService) -> None:
    close = getattr(service, "close", None)
    if callable(close):
        answer = close()
        if inspect.isawaitable(answer):
            await answer
