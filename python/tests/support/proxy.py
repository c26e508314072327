"""A proxy of bytes before a server: it cuts connections after so many bytes of a request, or of an answer."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

Direction = Literal["request", "answer"]


@dataclass
class _Cut:
    direction: Direction
    left: int


class FaultProxy:
    """Passes bytes on between clients and a server.

    ``cut`` cuts the connection once, after so many bytes from now on; ``chaos`` cuts each connection by chance.

    Attributes:
        cuts: The number of connections that were cut.
        connections: The number of connections that were opened.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._armed: _Cut | None = None
        self._random: random.Random | None = None
        self._mean = 0
        self._directions: tuple[Direction, ...] = ()
        self._tasks: set[asyncio.Task[None]] = set()
        self._held = asyncio.Event()
        self._held.set()
        self.cuts = 0
        self.connections = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.uri = f"statepad://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self, direction: Direction, after: int) -> None:
        """Cuts the connection once, after so many bytes of the direction from now on."""
        self._armed = _Cut(direction, after)

    @property
    def has_cut(self) -> bool:
        """True when the cut has happened."""
        return self._armed is None

    def chaos(self, seed: int, mean: int, *directions: Direction) -> None:
        """Cuts each later connection after a number of bytes by chance, ``mean`` on average; of any direction."""
        self._random, self._mean, self._directions = random.Random(seed), mean, directions or ("request", "answer")

    def calm(self) -> None:
        """Cuts no more connections."""
        self._random, self._armed = None, None

    def hold(self) -> None:
        """Passes no answers on until ``release``."""
        self._held.clear()

    def release(self) -> None:
        """Passes answers on again."""
        self._held.set()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.get_running_loop().create_task(self._pass_on(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        budgets = self._budgets()
        try:
            upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        pumps = [
            asyncio.ensure_future(self._pump(reader, upstream_writer, budgets["request"], "request")),
            asyncio.ensure_future(self._pump(upstream_reader, writer, budgets["answer"], "answer")),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            for each in (writer, upstream_writer):
                with suppress(RuntimeError):
                    each.transport.abort() if self._is_cut(pumps) else each.close()

    def _is_cut(self, pumps: list[asyncio.Future[bool]]) -> bool:
        return any(
            pump.done() and not pump.cancelled() and pump.exception() is None and pump.result() for pump in pumps
        )

    def _budgets(self) -> dict[str, int | None]:
        if self._random is None:
            return {"request": None, "answer": None}
        direction = self._random.choice(self._directions)
        after = int(self._random.expovariate(1 / self._mean))
        return {"request": None, "answer": None, direction: after}

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: int | None, direction: Direction
    ) -> bool:
        """Passes bytes on until the end, or a cut: then it answers true."""
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                if direction == "answer":
                    await self._held.wait()
                allowed = self._allowed(data, direction)
                budget = None if budget is None else budget - len(data)
                if budget is not None and budget < 0:
                    allowed = min(allowed, len(data) + budget)
                if allowed < len(data):
                    self.cuts += 1
                    writer.write(data[:allowed])
                    await writer.drain()
                    # Not by a reset, which would drop what was just written.
                    if direction == "answer":
                        writer.close()
                    await asyncio.sleep(0.01)
                    return True
                writer.write(data)
                await writer.drain()
        return False

    def _allowed(self, data: bytes, direction: Direction) -> int:
        armed = self._armed
        if armed is None or armed.direction != direction:
            return len(data)
        if armed.left >= len(data):
            armed.left -= len(data)
            return len(data)
        self._armed = None
        return armed.left
