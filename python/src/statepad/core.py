"""The core of a client: its arguments, its calls, and its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx

from . import calls
from .address import parse_address, token_from
from .calls import Hold, Parameter
from .closing import AsyncClosing
from .errors import Closed, InvalidArgument, SessionNotFound
from .keys import SessionKey, path_to
from .model import JsonObject
from .transport import Answer, Call, Headers, Repeats, Transport

__all__ = ["Core"]


class Core(AsyncClosing):
    """The core of a client: its arguments, its calls, and its end."""

    def __init__(
        self,
        uri: str,
        *,
        token: str | None = None,
        headers: Headers | None = None,
        timeout: float = 30.0,
        attempts: int = 10,
        pause: float = 0.1,
        http_client: Callable[[], httpx.AsyncClient] | None = None,
    ) -> None:
        """Makes a client. Nothing is sent before the first call.

        Args:
            uri: The address of the server: ``statepad://host:port`` with its base path, if it has one. It is HTTPS,
                except on this machine; ``statepad+http://`` is HTTP anywhere.
            token: The token of the server; by default that in the environment variable ``STATEPAD_TOKEN``.
            headers: Sent with each request; a function is called before each, and may be asynchronous.
            timeout: The longest time of a call with all its attempts, in seconds. An attempt without an answer after a
                third of it is sent again.
            attempts: The number of attempts of a call in all, within ``timeout``.
            pause: The pause after the first attempt, in seconds, which doubles after each further one up to 5 s. A
                longer one that the server names counts.
            http_client: Makes a new client of HTTP for each event loop, for certificates, proxies and tests of your
                own. To be pickled, it has to be a function of a module.

        Raises:
            InvalidArgument: An argument that it cannot use.
        """
        address = parse_address(uri)
        for name, value, least in (("timeout", timeout, 0.001), ("attempts", attempts, 1), ("pause", pause, 0)):
            if not isinstance(value, (int, float)) or not least <= value < 2**31:
                raise InvalidArgument(f"{name} must be a number from {least}, not {value!r}", path=name)
        self._arguments: dict[str, Any] = {
            "uri": uri,
            "token": token,
            "headers": headers,
            "timeout": timeout,
            "attempts": attempts,
            "pause": pause,
            "http_client": http_client,
        }
        self._transport = Transport(
            address,
            token=token_from(token),
            headers=headers,
            timeout=timeout,
            attempts=attempts,
            pause=pause,
            http_client=http_client,
        )
        self._is_closed = False

    def __repr__(self) -> str:
        return f"Client({self._transport.address.base!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._arguments)

    def _begin(self) -> None:
        if self._is_closed:
            raise Closed("the client is closed")

    @asynccontextmanager
    async def _operation(self) -> AsyncIterator[None]:
        """A write of several steps: the end of the client waits for all of them."""
        self._begin()
        async with self._transport.state().counted():
            yield

    async def _call(self, call: Call) -> Answer:
        """Sends the only call of an operation."""
        self._begin()
        return await self._transport.send(call)

    async def _send(self, call: Call) -> Answer:
        """Sends a call of an operation that has begun."""
        return await self._transport.send(call)

    def _turn(self, key: SessionKey) -> AbstractAsyncContextManager[None]:
        """The turn of a write of a session, after the earlier ones of this loop."""
        return self._transport.state().turns.turn((key.app_name, key.user_id, key.session_id))

    async def _write_session(
        self, key: SessionKey, path: str, body: JsonObject, repeats: Repeats, hold: Hold | None = None
    ) -> Answer:
        """Writes to a session in its turn, under the etag and the lease of its name."""
        hold = hold or Hold(key)
        async with self._turn(key):
            with hold.headers() as lease:
                headers = {"if-match": key.etag, **lease}
                return await self._send(Call("POST", path_to(path, key), repeats, body=body, headers=headers))

    async def _read_session(self, key: SessionKey, window: Mapping[str, Parameter]) -> Answer | None:
        try:
            return await self._send(Call("GET", path_to("session", key), "reading", parameters=window))
        except SessionNotFound:
            return None

    async def _current(self, key: SessionKey, window: Mapping[str, Parameter]) -> Answer:
        """The session as it is now. Raises `SessionNotFound`, also where it is another one than the etag names."""
        answer = await self._read_session(key, window)
        if answer is None or (key.etag is not None and answer.headers.get("etag") != key.etag):
            raise SessionNotFound(f'session "{key.session_id}" not found', id=key.session_id)
        return answer

    async def _pages(
        self,
        path: str,
        items: str,
        limit: int | None,
        cursor: str | None,
        parameters: Mapping[str, Parameter] | None = None,
        first: Mapping[str, Parameter] | None = None,
    ) -> list[Any]:
        """The pages of the server that have the items of a list up to its limit."""

        async def read(left: float, token: str | None, more: Mapping[str, Parameter]) -> Any:
            size = int(min(left, calls.MAX_PAGE))
            all_parameters = {**(parameters or {}), **more, "pageSize": size, "pageToken": token}
            try:
                return (await self._call(Call("GET", path, "reading", parameters=all_parameters))).json
            except InvalidArgument as error:
                if error.path != "pageToken":
                    raise
                raise InvalidArgument("cursor must come from a part of the same list", path="cursor") from error

        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise InvalidArgument(f"limit must be a whole number from 1, not {limit!r}", path="limit")
        left = float("inf") if limit is None else limit
        pages = [await read(left, cursor, first or {})]
        while True:
            left -= len(pages[-1][items]) + len(pages[-1].get("corrupt", []))
            token = pages[-1].get("nextPageToken")
            if token is None or left <= 0:
                return pages
            pages.append(await read(left, token, {}))

    async def flush(self) -> None:
        """Returns when every earlier write of this event loop was answered, or has failed."""
        await self._transport.flush()

    async def aclose(self) -> None:
        """Closes the client: its watches end, later calls raise `Closed`, and writes under way are waited for.

        The server and its sessions stay. It may be called more than once.
        """
        self._is_closed = True
        await self._transport.aclose()

    async def close(self) -> None:
        """The same as `aclose`."""
        await self.aclose()


def _restored(kind: type[Core], arguments: dict[str, Any]) -> Core:
    return kind(**arguments)
