"""The client of a server: sessions, their events and their state, from any event loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Literal, Self

import httpx

from . import calls
from .address import parse_address, token_from
from .admit import admit_event, admit_state
from .calls import Parameter
from .errors import Closed, InvalidArgument, SessionExists, SessionNotFound
from .keys import AppKey, SessionKey, UserKey, check_id, path_to
from .model import (
    Appended,
    EventPage,
    History,
    JsonObject,
    Rewound,
    SessionData,
    SessionPage,
    SessionRef,
    StateAt,
    key_of,
    session_from_json,
)
from .transport import Answer, Call, Headers, Transport

__all__ = ["Client"]


class Client:
    """The sessions behind a server of ``statepad serve``.

    A write that returns is durable, and is made once: an answer that got lost is asked for again under the same
    identity. An outcome that stays open is `CommitUnknown`; a server that cannot be reached is `StoreUnavailable`.
    Every method also raises the other errors of the server: `Unauthenticated`, `Forbidden`, `TooLarge`,
    `TooManyRequests`, `StoreCorrupt`.

    One client serves all event loops and threads of a process. It may be pickled, and used in forked processes: each
    process and each loop has connections of its own. ``async with Client(uri) as client`` closes it at the end.

    Example:
        >>> async with Client("statepad://localhost:8377", token=token) as client:
        ...     session = await client.create_session("shop", "ana", state={"step": 1})
        ...     await client.append_event(session, {"author": "user", "actions": {"stateDelta": {"step": 2}}})
    """

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
            http_client: Makes the client of HTTP for each event loop, for certificates, proxies and tests of your own.
                To be pickled, it has to be a function of a module.

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

    # Sessions

    async def create_session(
        self,
        app_name: str,
        user_id: str,
        *,
        session_id: str | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> SessionData:
        """Creates a session.

        Args:
            app_name: The app.
            user_id: The user.
            session_id: Its id; generated (a UUID) when absent or blank.
            state: Values under their full keys. ``app:`` and ``user:`` keys are shared with all sessions of the app or
                the user, ``temp:`` keys are dropped, and `DELETED` deletes a shared key.

        Raises:
            SessionExists: The id is taken.
            ValueNotJson: JSON would lose or change a value.
        """
        return await self._create("sessions", app_name, user_id, session_id, state)

    async def get_or_create_session(
        self,
        app_name: str,
        user_id: str,
        *,
        session_id: str | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> SessionData:
        """A session, which is created when it is missing. Arguments and errors are those of `create_session`."""
        return await self._create("get_or_create_session", app_name, user_id, session_id, state)

    async def _create(
        self, path: str, app_name: str, user_id: str, session_id: str | None, state: Mapping[str, Any] | None
    ) -> SessionData:
        if session_id is not None:
            check_id(session_id, "session_id")
        body = {**({} if session_id is None else {"sessionId": session_id}), **admit_state(state)}
        call = Call("POST", path_to(path, UserKey(app_name, user_id)), "by key", body=body)
        return _session_of(await self._send(call))

    async def get_session(
        self,
        app_name: str,
        user_id: str,
        session_id: str,
        *,
        num_recent_events: int | None = None,
        after_timestamp: float | None = None,
    ) -> SessionData | None:
        """The current session; ``None`` when it is missing.

        Args:
            app_name: The app.
            user_id: The user.
            session_id: The session.
            num_recent_events: The last events, at most this many; 0 means none.
            after_timestamp: The events of this time or a later one, in milliseconds since the epoch;
                ``num_recent_events`` counts among these.
        """
        window = {"numRecentEvents": num_recent_events, "afterTimestamp": calls.finite(after_timestamp)}
        answer = await self._read_session(SessionKey(app_name, user_id, session_id), window)
        return None if answer is None else _session_of(answer)

    async def list_sessions(
        self,
        app_name: str,
        user_id: str | None = None,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["asc", "desc"] = "asc",
    ) -> SessionPage:
        """The sessions of a user, or of all users of an app, with their state and without their events.

        Args:
            app_name: The app.
            user_id: The user; all users when absent.
            limit: The largest number of sessions; all when absent.
            cursor: Continues after an earlier part: its ``cursor``.
            order: By ``last_update_time``; ids break ties, ascending either way.
        """
        target, path = (AppKey(app_name), "app_sessions") if user_id is None else (UserKey(app_name, user_id), "sessions")
        pages = await self._pages(path_to(path, target), "sessions", limit, cursor, {"order": order})
        return SessionPage(
            sessions=[session_from_json(row, None) for page in pages for row in page["sessions"]],
            total=pages[0]["totalItems"],
            cursor=pages[-1].get("nextPageToken"),
            corrupt=[
                SessionKey(each["appName"], each["userId"], each["sessionId"])
                for page in pages
                for each in page.get("corrupt", [])
            ],
        )

    async def list_apps(self) -> list[str]:
        """The names of all apps in which the client may see something, in the order of their UTF-8."""
        pages = await self._pages(path_to("apps"), "apps", None, None)
        return [name for page in pages for name in page["apps"]]

    async def list_users(self, app_name: str) -> list[str]:
        """The names of all users in an app of whom the client may see something, in the order of their UTF-8."""
        pages = await self._pages(path_to("users", AppKey(app_name)), "users", None, None)
        return [name for page in pages for name in page["users"]]

    async def delete_session(self, session: SessionRef) -> None:
        """Deletes a session, with its events and its own state. It may be missing.

        It is the session that is there at the call: a repeated request never deletes one that is created meanwhile.

        Raises:
            LeaseLost: The session was named with a lease that another holder has taken since.
        """
        key = key_of(session)
        path = path_to("session", key)
        async with self._turn(key), calls.under_lease(key) as lease:
            answer = await self._read_session(key, {"numRecentEvents": 0})
            if answer is None:
                return
            etag = answer.headers.get("etag")
            try:
                await self._send(Call("DELETE", path, "by content", headers={**lease, "if-match": etag}))
            except InvalidArgument:
                # The store does not tell creations apart.
                await self._send(Call("DELETE", path, "by content", headers=lease))

    # Events

    async def append_event(
        self,
        session: SessionRef,
        event: Mapping[str, Any],
        *,
        expected_revision: int | None = None,
        since: int | None = None,
    ) -> Appended:
        """Appends an event, and writes its delta.

        The id of the event makes the append idempotent: the same event under the same id is stored once, however often
        it is sent. Appends to one session in one event loop are stored in the order of their calls.

        Args:
            session: The session. One that was read belongs to its creation: if the session was deleted and created
                again since, this raises `SessionNotFound`.
            event: The event in ADK's JSON, with its ``timestamp`` in milliseconds. It gets an id, a time and an
                invocation id where it has none. Values of its ``stateDelta`` may be operators and `DELETED`; ``temp:``
                keys are not sent.
            expected_revision: Append only if the session is at this revision.
            since: A revision that the caller has: the answer has the later events, and the state.

        Raises:
            SessionNotFound: There is no such session.
            SessionStale: It is not at ``expected_revision``.
            EventIdConflict: It has another event with this id.
            StateConflict: A ``compare_and_set`` found another value.
            ValueNotJson: JSON would lose or change a value; nothing was sent.
            LeaseLost: The session was named with a lease that another holder has taken since.
        """
        key = key_of(session)
        body: JsonObject = {"event": admit_event(event)}
        if expected_revision is not None:
            body["expectedRevision"] = expected_revision
        if since is not None:
            body["since"] = since
        json = await self._write_session(key, "events", body, "by content")
        return Appended(json["event"], json["revision"], json["lastUpdateTime"], json.get("state"), json.get("events"))

    async def list_events(self, session: SessionRef, *, after: int = 0, limit: int | None = None) -> EventPage:
        """The events of a session, oldest first.

        Args:
            session: The session.
            after: Only the events after this revision.
            limit: At most so many; all when absent.

        Raises:
            SessionNotFound: There is no such session.
        """
        pages = await self._pages(path_to("events", key_of(session)), "events", limit, None, first={"after": after})
        return EventPage([event for page in pages for event in page["events"]], pages[-1]["revision"])

    # Shared by the operations

    def _begin(self) -> None:
        if self._is_closed:
            raise Closed("the client is closed")

    async def _send(self, call: Call) -> Answer:
        self._begin()
        return await self._transport.send(call)

    def _turn(self, key: SessionKey) -> Any:
        """The turn of a write of a session, after the earlier ones of this loop."""
        return self._transport.state().turns.turn((key.app_name, key.user_id, key.session_id))

    async def _write_session(self, key: SessionKey, path: str, body: JsonObject, repeats: Any) -> Any:
        """Writes to a session in its turn, under the etag and the lease of its name."""
        self._begin()
        headers = {"if-match": key.etag}
        async with self._turn(key), calls.under_lease(key) as lease:
            call = Call("POST", path_to(path, key), repeats, body=body, headers={**headers, **lease})
            return (await self._send(call)).json

    async def _read_session(self, key: SessionKey, window: Mapping[str, Parameter]) -> Answer | None:
        try:
            return await self._send(Call("GET", path_to("session", key), "reading", parameters=window))
        except SessionNotFound:
            return None

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
            return (await self._send(Call("GET", path, "reading", parameters=all_parameters))).json

        left = float("inf") if limit is None else limit
        pages = [await read(left, cursor, first or {})]
        while True:
            left -= len(pages[-1][items]) + len(pages[-1].get("corrupt", []))
            token = pages[-1].get("nextPageToken")
            if token is None or left <= 0:
                return pages
            pages.append(await read(left, token, {}))

    async def flush(self) -> None:
        """Returns when every earlier write of this event loop was answered, or has failed with an error to its caller."""
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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _restored(kind: type[Client], arguments: dict[str, Any]) -> Client:
    return kind(**arguments)


def _session_of(answer: Answer) -> SessionData:
    return session_from_json(answer.json, answer.headers.get("etag"))
