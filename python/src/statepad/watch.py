"""Watching a target: an iterator over its changes that resumes where its connection broke.

No change is lost or repeated: the place of the reader moves with each change that it is given, and a new connection
continues from there. Nothing is read ahead of the reader but what the connection holds, so that a slow reader costs the
server and the client no memory.
"""

from __future__ import annotations

import asyncio
import json
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import httpx

from .changes import Change, DeletedChange, read_change
from .closing import AsyncClosing
from .errors import SessionNotFound, StatepadError, StoreUnavailable, error_from_json
from .jsonvalues import parse
from .keys import PATHS
from .loops import run_soon
from .sse import Message, MessageReader
from .transport import Answer, Transport, foreign_answer, outcome_of, pause_after, shown, unreachable

__all__ = ["Watch", "WatchRequest"]

# The longest pause before reconnecting, and the first one until the server sets another one, in seconds.
_MAX_PAUSE, _FIRST_PAUSE = 30.0, 1.0
# The longest time for a connection, in seconds.
_MAX_CONNECT = 5.0
# The longest URL, in characters: servers and proxies refuse longer ones. A longer target goes into a body.
_MAX_URL = 2_000


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """The target of a watch in the JSON of a request, and the silence after which a connection counts as dead."""

    target: dict[str, Any]
    since: str | None
    silence: float


class _Stream:
    """One connection: its answer, its pieces, and its messages that are not given yet."""

    def __init__(self) -> None:
        self.response: httpx.Response | None = None
        self.pieces: AsyncIterator[bytes] | None = None
        self.reader = MessageReader()
        self.messages: deque[Message] = deque()

    async def aclose(self) -> None:
        response, self.response, self.pieces = self.response, None, None
        self.messages.clear()
        if response is not None:
            with suppress(httpx.HTTPError, httpx.StreamError, RuntimeError):
                await response.aclose()


class Watch(AsyncClosing, AsyncIterator[Change]):
    """The changes of a target, in order: ``async for change in client.watch(target)``.

    It ends after `DeletedChange`, with `aclose`, and with its client. A loop that is left lets the connection go when
    the watch is collected; ``async with`` ends it at once. A call of ``__anext__`` may be cancelled: the change is
    given to the next one. It belongs to the event loop of its first call.
    """

    def __init__(self, transport: Transport, request: WatchRequest) -> None:
        self._transport = transport
        self._request = request
        self._since = request.since
        self._stream = _Stream()
        self._is_over = False
        self._is_reading = False
        self._was_connected = False
        # True for a connection that is to be made anew, after a pause.
        self._is_broken = False
        self._failures = 0
        self._pause = _FIRST_PAUSE
        self._ended: asyncio.Future[None] | None = None
        # The connecting or reading under way. A call that is cancelled leaves it to the next one.
        self._work: asyncio.Task[None] | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        """The next change.

        Raises:
            StopAsyncIteration: It has ended.
            StoreUnavailable: Before the first answer for its target, the server cannot be reached.
            StatepadError: The server refuses the target.
            RuntimeError: Another task waits for the next change.
        """
        if self._is_reading:
            raise RuntimeError("another task waits for the next change of this watch")
        self._begin()
        self._is_reading = True
        try:
            while not self._is_over:
                change = self._next_waiting()
                if change is not None:
                    return change
                await self._advanced()
            await self._stop()
        except Exception:
            self.end()
            await self._stop()
            raise
        finally:
            self._is_reading = False
        raise StopAsyncIteration

    def end(self) -> None:
        """Ends it: a call that waits gets the end."""
        self._is_over = True
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    async def aclose(self) -> None:
        """Ends it, and closes its connection."""
        self.end()
        if not self._is_reading:
            await self._stop()

    def _begin(self) -> None:
        if self._ended is None:
            loop = asyncio.get_running_loop()
            self._ended = loop.create_future()
            self._deadline = time.monotonic() + self._transport.timeout
            self._transport.state().streams.add(self)
            weakref.finalize(self, run_soon, loop, self._stream.aclose).atexit = False

    async def _advanced(self) -> None:
        """Waits for the work under way, which it begins where there is none, or for the end of the watch."""
        assert self._ended is not None
        if self._work is None:
            self._work = asyncio.get_running_loop().create_task(self._advance())
        waited: set[asyncio.Future[None]] = {self._work, self._ended}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if self._work.done():
            work, self._work = self._work, None
            work.result()

    async def _stop(self) -> None:
        """Ends the work under way, and closes the connection."""
        work, self._work = self._work, None
        if work is not None:
            work.cancel()
            await asyncio.wait({work})
            # Nobody is told any more.
            _ = work.cancelled() or work.exception()
        await self._stream.aclose()

    def _next_waiting(self) -> Change | None:
        """The next change that has arrived. Raises the refusal of the target."""
        messages = self._stream.messages
        while messages and not self._is_broken:
            message = messages.popleft()
            # The id begins with the number of the target in the request: there is one.
            number, _, place = (message.id or "").partition("/")
            if number != "0":
                continue
            self._failures = 0
            if message.name == "error":
                return self._refused(error_from_json(parse(message.data)))
            change = read_change(message, place) if message.data else None
            self._was_connected = True
            self._since = place or self._since
            if change is not None:
                self._is_over = isinstance(change, DeletedChange)
                return change
        return None

    def _refused(self, error: StatepadError | None) -> Change | None:
        """Handles a refusal of the target."""
        refusal = error or StatepadError("the server has sent an error without a code")
        if self._was_connected and isinstance(refusal, SessionNotFound):
            self._is_over = True
            return DeletedChange()
        if not self._was_connected or not is_passing(refusal):
            raise refusal
        self._is_broken = True
        return None

    async def _advance(self) -> None:
        """Reads the next piece of the connection, or makes a new one."""
        stream = self._stream
        if self._is_broken:
            await stream.aclose()
            self._is_broken = False
            await self._pause_before_reconnecting()
        elif stream.pieces is None:
            try:
                await self._connect()
            except StatepadError as error:
                if not is_passing(error) or not self._may_repeat():
                    raise
                self._is_broken = True
        elif piece := await self._piece(stream.pieces):
            stream.messages.extend(stream.reader.push(piece))
            self._pause = self._pause if stream.reader.retry is None else stream.reader.retry
        else:
            self._is_broken = True

    def _may_repeat(self) -> bool:
        """True when a failed connection is followed by another one: before the first answer, as of any call."""
        if self._was_connected:
            return True
        return self._failures + 1 < self._transport.attempts and time.monotonic() < self._deadline

    async def _pause_before_reconnecting(self) -> None:
        """Waits the longer the more connections have failed, with jitter, so that clients that broke together part."""
        self._failures += 1
        first = self._pause if self._was_connected else self._transport.pause
        await asyncio.sleep(pause_after(self._failures, first, _MAX_PAUSE))

    async def _connect(self) -> None:
        """Asks for the changes after the place. Raises the server's refusal, and `StoreUnavailable`."""
        await self._stream.aclose()
        self._stream.reader = MessageReader()
        method, url, headers, content = self._http_request()
        http = self._transport.state().http
        sent = await self._transport.headers_of(headers)
        timeout = httpx.Timeout(None, connect=_MAX_CONNECT)
        request = http.build_request(method, url, headers=sent, content=content, timeout=timeout)
        where = shown(url)
        try:
            async with asyncio.timeout(self._request.silence):
                response = await http.send(request, stream=True, follow_redirects=False)
        except TimeoutError:
            raise StoreUnavailable(f"{where} does not answer within {self._request.silence:.3g} s") from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise unreachable(where, error) from error
        self._stream.response = response
        if not response.is_success or not response.headers.get("content-type", "").startswith("text/event-stream"):
            raise await self._refusal(response, where)
        self._stream.pieces = response.aiter_bytes()

    def _http_request(self) -> tuple[str, str, dict[str, str | None], bytes | None]:
        target = {**self._request.target, **({} if self._since is None else {"since": self._since})}
        targets = json.dumps([target], ensure_ascii=False, separators=(",", ":"))
        url = self._transport.address.url(PATHS["watch"], {"targets": targets})
        headers: dict[str, str | None] = {"accept": "text/event-stream", "cache-control": "no-store"}
        if len(url) <= _MAX_URL:
            return "GET", url, headers, None
        headers["content-type"] = "text/plain;charset=UTF-8"
        return "POST", self._transport.address.url(PATHS["watch"]), headers, targets.encode()

    async def _refusal(self, response: httpx.Response, where: str) -> Exception:
        """The error in an answer that is no stream."""
        status = response.status_code
        try:
            async with asyncio.timeout(self._request.silence):
                await response.aread()
        except TimeoutError:
            return StoreUnavailable(f"the answer of {where} is not complete", status=status)
        except (httpx.HTTPError, httpx.StreamError) as error:
            return unreachable(where, error)
        outcome = outcome_of(response, where)
        return foreign_answer(where, status) if isinstance(outcome, Answer) else outcome.error

    async def _piece(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        """The next piece; ``None`` when the connection has ended, is broken, or was silent for too long."""
        try:
            async with asyncio.timeout(self._request.silence):
                return await anext(pieces, None)
        except (TimeoutError, httpx.HTTPError, httpx.StreamError):
            return None


def is_passing(error: StatepadError) -> bool:
    """True when another attempt may help: the server was unreachable, or cannot do it now."""
    if error.status is None:
        return error.code == "STORE_UNAVAILABLE"
    return error.status >= 500 or error.status in (408, 429)
