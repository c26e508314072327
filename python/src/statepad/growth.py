"""The end of what has expired."""

from __future__ import annotations

from .core import Core
from .errors import InvalidArgument
from .keys import AppKey, path_to
from .model import JsonObject, Swept
from .transport import Call

__all__ = ["GrowthOperations"]

_AT_ONCE = 500
"""The most that one request removes: it is answered well within the time of an attempt."""


class GrowthOperations(Core):
    """Operations on what has expired."""

    async def sweep(self, app_name: str | None = None, *, limit: int | None = None, dry_run: bool = False) -> Swept:
        """Removes the sessions that have expired, and the values of users as long ago as the server is told to.

        What has expired is not there for any operation, swept or not: this gives its space back. It may be called at
        any time, by several clients at once, and again after an error. A request whose answer got lost is sent again;
        what it has removed is not counted then.

        Args:
            app_name: Only what belongs to this app; all apps when absent, for a token of all apps.
            limit: The most sessions and users together that are removed; all when absent.
            dry_run: Removes nothing, and counts what would be removed.

        Raises:
            Forbidden: The token may not sweep: that is a right of its own.
            InvalidArgument: The store of the server keeps no expiry.
        """
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise InvalidArgument(f"limit must be a whole number from 1, not {limit!r}", path="limit")
        path = path_to("sweep") if app_name is None else path_to("sweep_app", AppKey(app_name))
        sessions = users = 0
        async with self._operation():
            while True:
                json = (
                    await self._send(Call("POST", path, "by content", body=_body(limit, sessions + users, dry_run)))
                ).json
                sessions, users = sessions + json["sessions"], users + json["users"]
                if dry_run or not json["more"] or (limit is not None and sessions + users >= limit):
                    return Swept(sessions, users)


def _body(limit: int | None, removed: int, dry_run: bool) -> JsonObject:
    if dry_run:
        return {"dryRun": True, **({} if limit is None else {"limit": limit})}
    return {"limit": _AT_ONCE if limit is None else min(_AT_ONCE, limit - removed)}
