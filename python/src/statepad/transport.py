"""Requests that are sent until their outcome is known, or their time is over."""

from __future__ import annotations

import asyncio
import functools
import inspect
import random
import re
import ssl
import time
import uuid
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypeAlias

import httpx

from .address import Address
from .errors import (
    CommitUnknown,
    InvalidArgument,
    StatepadError,
    StoreUnavailable,
    TooLarge,
    TooManyRequests,
    error_from_json,
)
from .jsonvalues import dump, parse
from .loops import Loops, LoopState

__all__ = ["Answer", "Call", "Headers", "Transport"]

Headers: TypeAlias = Mapping[str, str] | Callable[[], Mapping[str, str] | Awaitable[Mapping[str, str]]]
"""Headers of each request; a function is called before each."""

# The longest pause between attempts, unless the server names a longer one, in seconds.
_MAX_PAUSE = 5.0
# The longest time for a connection, in seconds: nothing was sent yet, and another attempt may find another address.
_MAX_CONNECT = 5.0
# The time for which an idle connection is kept, in seconds. Servers and balancers close theirs after 60 s and more.
_KEEP_ALIVE = 30.0

Repeats: TypeAlias = Literal["reading", "by content", "by key", "never"]
"""The reason why a call may be repeated.

It only reads; its content names what it writes, as the id of an event does; or it carries a key of its own, by which
the server recognizes it. One that may never be repeated ends with its first attempt that may have happened.
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the server."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    repeats: Repeats
    parameters: Mapping[str, str | int | float | None] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call: its JSON, and its headers."""

    json: Any
    headers: httpx.Headers


@dataclass(frozen=True, slots=True)
class _Failure:
    """The failure of one attempt.

    - ``refused``: the answer is final
    - ``unsure``: no further attempt is made, and the answer does not say that nothing has happened before
    - ``passing``: nothing has happened, and another attempt may succeed
    - ``open``: it may have happened: another attempt tells
    """

    kind: Literal["refused", "unsure", "passing", "open"]
    error: Exception
    # The pause that the server wants before the next attempt, in seconds.
    pause: float = 0.0


class Transport:
    """Sends the calls of one client, from any event loop of any process.

    Attributes:
        address: The address of the server.
        timeout: The longest time of a call with all its attempts, in seconds.
        attempts: The number of attempts of a call in all.
        pause: The pause after the first attempt, in seconds.
    """

    def __init__(
        self,
        address: Address,
        *,
        token: str | None,
        headers: Headers | None,
        timeout: float,
        attempts: int,
        pause: float,
        http_client: Callable[[], httpx.AsyncClient] | None,
    ) -> None:
        self.address = address
        self._token = token
        self._headers = headers
        self.timeout = timeout
        self.attempts = attempts
        self.pause = pause
        self._loops = Loops(http_client or default_http_client)
        # Connections of a client that nobody closed end with it, as far as their loops still run.
        weakref.finalize(self, self._loops.abandon).atexit = False

    def state(self) -> LoopState:
        """The connections, and the calls under way, of the running loop."""
        return self._loops.state()

    async def flush(self) -> None:
        """Returns when the writes under way in the running loop are over."""
        await self._loops.flush()

    async def aclose(self) -> None:
        """Waits for the writes under way, and closes the connections."""
        await self._loops.aclose()

    async def headers_of(self, own: Mapping[str, str | None]) -> dict[str, str]:
        """The headers of a request, before anything is sent.

        Raises:
            InvalidArgument: The caller's headers cannot be sent.
            Exception: That of the caller's function.
        """
        given: Any = self._headers() if callable(self._headers) else self._headers
        if inspect.isawaitable(given):
            given = await given
        all_headers = {} if given is None else _checked_headers(given)
        if self._token is not None:
            all_headers["authorization"] = f"Bearer {self._token}"
        all_headers.update({name: value for name, value in own.items() if value is not None})
        return all_headers

    async def send(self, call: Call) -> Answer:
        """Sends a call, again and under the same identity while its outcome is open or the server cannot do it.

        Raises:
            StatepadError: The refusal of the server.
            StoreUnavailable: There is no answer, and nothing can have happened.
            CommitUnknown: A write may have happened.
        """
        if call.repeats == "reading":
            return await self._send(call)
        async with self.state().counted():
            return await self._send(call)

    async def _send(self, call: Call) -> Answer:
        end = time.monotonic() + self.timeout
        url, content = self._written(call)
        own = {
            "accept": "application/json",
            "content-type": None if call.body is None else "application/json",
            "idempotency-key": str(uuid.uuid4()) if call.repeats == "by key" else None,
            **call.headers,
        }
        is_open = False
        attempt = 0
        while True:
            attempt += 1
            limit = min(self.timeout / 3, end - time.monotonic())
            outcome = await self._attempt(call.method, url, own, content, limit)
            if isinstance(outcome, Answer):
                return outcome
            kind, error = outcome.kind, outcome.error
            is_open = kind != "refused" and (is_open or kind == "open") and call.repeats != "reading"
            wait = max(outcome.pause, pause_after(attempt, self.pause, _MAX_PAUSE))
            is_last = (
                attempt >= self.attempts or time.monotonic() + wait >= end or (is_open and call.repeats == "never")
            )
            if kind in ("refused", "unsure") or is_last:
                raise _unknown_outcome(error) if is_open else error
            await asyncio.sleep(wait)

    def _written(self, call: Call) -> tuple[str, bytes | None]:
        """The URL and the body of a call. Raises `InvalidArgument` for values that they cannot hold."""
        try:
            parameters = {name: _text(value) for name, value in call.parameters.items() if value is not None}
            return self.address.url(call.path, parameters), None if call.body is None else dump(call.body)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"an argument cannot be sent: {error}") from error

    async def _attempt(
        self, method: str, url: str, own: Mapping[str, str | None], content: bytes | None, limit: float
    ) -> Answer | _Failure:
        """One attempt of at most so many seconds."""
        where = shown(url)
        is_sent = False
        try:
            async with asyncio.timeout(max(limit, 0.001)):
                headers = await self.headers_of(own)
                http = self.state().http
                connect = min(_MAX_CONNECT, limit * 0.9)
                request = http.build_request(
                    method, url, headers=headers, content=content, timeout=httpx.Timeout(None, connect=connect)
                )
                is_sent = True
                # The target of a redirection may be asked in another way, and would get the caller's headers.
                response = await http.send(request, follow_redirects=False)
        except TimeoutError:
            late = StoreUnavailable(f"{where} does not answer within {limit:.3g} s")
            return _Failure("open" if is_sent else "unsure", late)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
            # Another attempt finds the same certificate.
            return _Failure("unsure" if _is_of_certificate(error) else "passing", unreachable(where, error))
        except (httpx.HTTPError, httpx.StreamError) as error:
            return _Failure("open", unreachable(where, error))
        except Exception as error:
            if is_sent:
                raise
            return _Failure("unsure", error)
        return outcome_of(response, where)


def default_http_client() -> httpx.AsyncClient:
    """The client of one event loop, where the caller has no function of his own for it."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=_KEEP_ALIVE)
    return httpx.AsyncClient(limits=limits, verify=_certificates())


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The certificates that are trusted: reading them takes long, so all event loops of a process share them."""
    return httpx.create_ssl_context()


def pause_after(attempt: int, first: float, most: float) -> float:
    """A pause in seconds, which doubles with every attempt, with jitter: so clients that failed together part."""
    return float(min(most, first * 2 ** min(attempt - 1, 20)) * random.uniform(0.5, 1.0))


def shown(url: str | httpx.URL) -> str:
    """A URL in a message: without its user and its parameters, which may be secrets."""
    return re.sub(r"//[^/@]*@", "//", str(url).split("?", 1)[0])


def unreachable(where: str, error: Exception) -> StoreUnavailable:
    """The error for a request without an answer."""
    failure = StoreUnavailable(f"{where} cannot be reached: {str(error) or type(error).__name__}")
    failure.__cause__ = error
    return failure


def _is_of_certificate(error: BaseException | None) -> bool:
    """True when an error was caused by the certificate of a server."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


# The answers of other programs that say more than that the server cannot be reached.
_FOREIGN: Mapping[int, type[StatepadError]] = {413: TooLarge, 429: TooManyRequests}


def foreign_answer(where: str, status: int) -> StatepadError:
    """The error for an answer of another program, such as a proxy: for instance its own limit of bodies."""
    return _FOREIGN.get(status, StoreUnavailable)(f"{where} answers with status {status}", status=status)


class _Members(dict[str, Any]):
    """The members of an answer. That of another program has not all of them."""

    where = ""

    def __missing__(self, name: str) -> Any:
        raise StoreUnavailable(f"the answer of {self.where} has no {name}: it comes from another program")


def outcome_of(response: httpx.Response, where: str) -> Answer | _Failure:
    """The outcome that a complete answer tells."""
    status, headers = response.status_code, response.headers
    if response.is_redirect:
        target = shown(headers.get("location", "elsewhere"))
        message = f"{where} redirects to {target}, which is not followed: connect to that URL"
        return _Failure("unsure", InvalidArgument(message, path="uri", status=status))
    if status == 204:
        return Answer(None, headers)
    is_json = headers.get("content-type", "").startswith("application/json")
    try:
        json = parse(response.content) if is_json else None
    except ValueError as error:
        cut = StoreUnavailable(f"the answer of {where} is not complete", status=status)
        cut.__cause__ = error
        return _Failure("open", cut)
    if response.is_success:
        return _answer(json, headers, where) or _Failure("open", foreign_answer(where, status))
    refusal = error_from_json(json.get("error") if isinstance(json, dict) else None, status)
    if refusal is None:
        return _Failure(_kind_of_foreign(status), foreign_answer(where, status), pause_in(headers))
    return _Failure(_kind_of(refusal, headers), refusal, pause_in(headers))


def _answer(json: object, headers: httpx.Headers, where: str) -> Answer | None:
    """The answer with an object of JSON; ``None`` for any other value, which is that of another program."""
    if not isinstance(json, dict):
        return None
    members = _Members(json)
    members.where = where
    return Answer(members, headers)


def _kind_of(refusal: StatepadError, headers: httpx.Headers) -> Literal["refused", "unsure", "passing", "open"]:
    """The meaning of the server's refusal."""
    code, status = refusal.code, refusal.status or 500
    # A conflict that passes: an earlier attempt of this call is still being carried out.
    if code == "COMMIT_UNKNOWN" or (code == "STATE_CONFLICT" and "retry-after" in headers):
        return "open"
    if status in (408, 429) or (status == 503 and code != "STORE_UNSUITABLE"):
        return "passing"
    return "unsure" if status >= 500 or status in (401, 403) else "refused"


def _kind_of_foreign(status: int) -> Literal["unsure", "passing", "open"]:
    """The meaning of an answer of another program: nobody knows if the server has got the request."""
    return "open" if status >= 500 else "passing" if status in (408, 429) else "unsure"


def pause_in(headers: httpx.Headers) -> float:
    """The pause that an answer asks for, in seconds."""
    text = headers.get("retry-after", "")
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


def _unknown_outcome(cause: Exception) -> CommitUnknown:
    """The error of a write that may have happened."""
    error = CommitUnknown(f"it is unknown if the server has carried out the request: {cause}")
    error.__cause__ = cause
    return error


def _checked_headers(given: object) -> dict[str, str]:
    """The caller's headers, in lower case. Raises `InvalidArgument`, without their values."""
    if isinstance(given, Mapping) and all(
        isinstance(name, str)
        and isinstance(value, str)
        and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name)
        and re.fullmatch(r"[\t\x20-\x7e]*", value)
        for name, value in given.items()
    ):
        return {name.lower(): value for name, value in given.items()}
    raise InvalidArgument("headers cannot be sent: they have an invalid name or value", path="headers")


def _text(value: str | int | float) -> str:
    """The text of a parameter. A whole number has no fraction in it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
