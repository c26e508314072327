"""Operations on state: reading it, and writing it without losing the writes of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .admit import Writes, split_delta
from .calls import Hold
from .core import Core
from .errors import CommitUnknown, Forbidden, InvalidArgument
from .keys import AppKey, SessionKey, Target, UserKey, path_to
from .model import JsonObject, SessionData, SessionRef, key_of
from .transport import Call
from .updating import Read, UpdateFunction, Written, run_update, update_turn

__all__ = ["StateOperations"]


class StateOperations(Core):
    """Operations on state."""

    async def get_app_state(self, app_name: str) -> JsonObject:
        """The values of an app, under their names without ``app:``."""
        self._begin()
        return await self._scope("app_state", AppKey(app_name))

    async def get_user_state(self, app_name: str, user_id: str) -> JsonObject:
        """The values of a user in an app, under their names without ``user:``."""
        self._begin()
        return await self._scope("user_state", UserKey(app_name, user_id))

    async def update_state(
        self,
        target: SessionRef | UserKey | AppKey,
        update: UpdateFunction | Mapping[str, Any],
        *,
        attempts: int = 100,
        author: str | None = None,
        invocation_id: str | None = None,
    ) -> JsonObject:
        """Changes values, and loses no concurrent write of others.

        Args:
            target: A session, whose log gets an event with the change; a user, for ``user:`` and ``app:`` keys; or an
                app, for ``app:`` keys.
            update: A delta under full keys, which may have operators and `DELETED`. Or a function of the current
                values, which returns the delta, or ``None`` where there is nothing to write; it may be asynchronous. It
                runs again when others have changed a value that it has read.
            attempts: The number of times that the function may run.
            author: The author of the event of a session; ``system`` by default.
            invocation_id: The invocation of that event.

        Returns:
            The values right after the update, under full keys. After a delta whose answer was lost they may be later
            ones.

        Raises:
            StateConflict: Others came between in every attempt; or, with the ``key``, a ``compare_and_set`` found
                another value.
            SessionNotFound: There is no such session.
            ValueNotJson: JSON would lose or change a value.
            CommitUnknown: With ``committed``, the update is stored, but the results of its operators are unknown.
        """
        own: Target = key_of(target) if isinstance(target, (SessionData, SessionKey)) else target
        details = {
            **({} if author is None else {"author": author}),
            **({} if invocation_id is None else {"invocationId": invocation_id}),
        }
        async with self._operation():
            if callable(update):
                return await self._update_by(own, update, details, attempts)
            writes = split_update(update)
            return await self._write_delta(own, writes, details) if writes else (await self._read_values(own)).values

    async def _update_by(
        self, target: Target, function: UpdateFunction, details: JsonObject, attempts: int
    ) -> JsonObject:
        """Runs a function until its delta is written over the values that it has read."""
        hold = Hold(target) if isinstance(target, SessionKey) else None

        async def read() -> Read:
            return await self._read_values(target)

        async def write(values: Read, writes: Writes, expected: JsonObject) -> JsonObject:
            members = {**details, "expected": expected}
            written = await self._write_state(target, writes, members, etag=values.etag, hold=hold)
            # The values that were read did still hold.
            return written.state if written.is_known else _known_anyway(values.values, writes)

        async with update_turn(self._transport.state().turns, ("update", target)):
            return await run_update(read, write, function, split_update, attempts=attempts)

    async def _write_delta(self, target: Target, writes: Writes, details: JsonObject) -> JsonObject:
        """Writes a delta without conditions."""
        etag = target.etag if isinstance(target, SessionKey) else None
        written = await self._write_state(target, writes, details, etag=etag)
        if written.is_known:
            return written.state
        _refuse_unknown(writes)
        return (await self._read_values(target)).values

    async def _write_state(
        self, target: Target, writes: Writes, members: JsonObject, *, etag: str | None, hold: Hold | None = None
    ) -> Written:
        body = {**writes.to_json(), **members}
        match target:
            case SessionKey():
                key = replace(target, etag=etag)
                answer = await self._write_session(key, "update_session_state", body, "by key", hold)
            case UserKey():
                answer = await self._send(Call("POST", path_to("update_user_state", target), "by key", body=body))
            case AppKey():
                answer = await self._send(Call("POST", path_to("update_app_state", target), "by key", body=body))
        return Written(answer.json["state"], is_known=answer.headers.get("statepad-values") != "unknown")

    async def _read_values(self, target: Target) -> Read:
        """The current values of a target, under full keys, and the etag of a session."""
        match target:
            case SessionKey():
                answer = await self._current(target, {"numRecentEvents": 0})
                return Read(answer.json["state"], answer.headers.get("etag"))
            case UserKey(app_name, _):
                app = await self._readable_scope(AppKey(app_name))
                user = await self._scope("user_state", target)
                return Read({**_under("app:", app), **_under("user:", user)}, None)
            case AppKey():
                return Read(_under("app:", await self._scope("app_state", target)), None)

    async def _scope(self, path: str, target: AppKey | UserKey) -> JsonObject:
        state: JsonObject = (await self._send(Call("GET", path_to(path, target), "reading"))).json["state"]
        return state

    async def _readable_scope(self, target: AppKey) -> JsonObject:
        """The values of an app as sessions show them: a client that may not read them sees none."""
        try:
            return await self._scope("app_state", target)
        except Forbidden:
            return {}


def split_update(delta: object) -> Writes:
    """The parts of the delta of an update. Raises as `split_delta`, and for ``temp:`` keys."""
    if isinstance(delta, Mapping):
        for key in delta:
            if isinstance(key, str) and key.startswith("temp:"):
                raise InvalidArgument(f'the key "{key}" lives for one invocation: it cannot be updated', key=key)
    return split_delta(delta, "delta")


def _under(prefix: str, values: JsonObject) -> JsonObject:
    return {prefix + name: value for name, value in values.items()}


def _known_anyway(values: JsonObject, writes: Writes) -> JsonObject:
    """The values right after a write whose answer was lost, and cannot be repeated."""
    _refuse_unknown(writes)
    state = {**values, **writes.delta}
    for key in writes.deleted:
        state.pop(key, None)
    return state


def _refuse_unknown(writes: Writes) -> None:
    """Raises `CommitUnknown` for operators whose results nobody knows."""
    if writes.operators:
        message = "the update is stored, but the results of its operators are not known any more"
        raise CommitUnknown(message, committed=True)
