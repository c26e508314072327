"""Objects that ``async with`` closes."""

from __future__ import annotations

from types import TracebackType
from typing import Self

__all__ = ["AsyncClosing"]


class AsyncClosing:
    """An object whose ``aclose`` is awaited at the end of ``async with``."""

    async def aclose(self) -> None:
        """Closes it. It may be called more than once."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
