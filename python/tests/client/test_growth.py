"""Sessions that expire, limits and sweeps."""

import asyncio
import math
import time

import pytest
from support.server import Server

from statepad import Client, Forbidden, InvalidArgument, LimitExceeded, Swept


@pytest.fixture(scope="module")
def keeper(tmp_path_factory):
    """A server with limits, whose token may sweep."""
    server = Server("memory:", tmp_path_factory.mktemp("growth"), "--limit", "value=100", "--limit", "events=2")
    yield server
    server.stop()


async def _end(client, session):
    for _ in range(2_000):
        if await client.get_session(session.app_name, session.user_id, session.id) is None:
            return
        await asyncio.sleep(0.005)
    pytest.fail("it does not expire")


async def test_a_session_expires_so_many_seconds_after_its_last_write(keeper, app):
    async with Client(keeper.uri, token=keeper.token) as client:
        session = await client.create_session(app, "ana", ttl=3600)
        assert session.expire_time is not None
        assert 3_500_000 < session.expire_time - time.time() * 1000 < 3_700_000
        await asyncio.sleep(0.002)
        appended = await client.append_event(session, {"author": "ana"})
        assert appended.expire_time > session.expire_time
        assert (await client.get_session(app, "ana", session.id)).expire_time == appended.expire_time
        listed = await client.list_sessions(app)
        assert [each.expire_time for each in listed.sessions] == [appended.expire_time]
        forked = await client.fork(session, ttl=7200)
        assert forked.expire_time > appended.expire_time
        assert (await client.fork(session)).expire_time is None
        await _end(client, await client.create_session(app, "ana", ttl=0.01))


async def test_a_session_expires_at_a_time_or_never(keeper, app):
    end = float(round((time.time() + 3600) * 1000))
    async with Client(keeper.uri, token=keeper.token) as client:
        session = await client.get_or_create_session(app, "ana", session_id="one", expire_time=end)
        assert session.expire_time == end
        assert (await client.append_event(session, {"author": "ana"})).expire_time == end
        assert (await client.create_session(app, "ana", ttl=math.inf)).expire_time is None


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"ttl": 0}, "ttl"),
        ({"ttl": math.nan}, "ttl"),
        ({"ttl": "1h"}, "ttl"),
        ({"ttl": True}, "ttl"),
        ({"expire_time": math.inf}, "expire_time"),
        ({"ttl": 1, "expire_time": 2}, "ttl"),
        ({"expire_time": 2}, "expireTime"),
    ],
)
async def test_an_end_that_cannot_be_meant_is_refused(keeper, app, arguments, path):
    async with Client(keeper.uri, token=keeper.token) as client:
        with pytest.raises(InvalidArgument) as refusal:
            await client.create_session(app, "ana", **arguments)
    assert refusal.value.path == path


async def test_a_sweep_counts_and_removes_what_has_expired(keeper, app):
    async with Client(keeper.uri, token=keeper.token) as client:
        for session in [await client.create_session(app, "ana", ttl=0.01) for _ in range(3)]:
            await _end(client, session)
        assert await client.sweep(app, dry_run=True) == Swept(sessions=3, users=0)
        assert await client.sweep(app, limit=1) == Swept(sessions=1, users=0)
        assert await client.sweep(app) == Swept(sessions=2, users=0)
        assert await client.sweep(app) == Swept(sessions=0, users=0)
        assert await client.sweep(dry_run=True) is not None
        with pytest.raises(InvalidArgument):
            await client.sweep(limit=0)


async def test_a_sweep_takes_a_right_of_its_own(tmp_path, app):
    server = Server("memory:", tmp_path, token="t0ken-of-a-reader may=")
    try:
        async with Client(server.uri, token="t0ken-of-a-reader") as client:
            with pytest.raises(Forbidden, match="may not sweep"):
                await client.sweep(app)
    finally:
        server.stop()


async def test_a_limit_of_the_server_is_told_with_its_name(keeper, app):
    async with Client(keeper.uri, token=keeper.token) as client:
        with pytest.raises(LimitExceeded) as refusal:
            await client.create_session(app, "ana", state={"user:text": "x" * 99})
        error = refusal.value
        assert (error.exceeded, error.key, error.size, error.limit) == ("value", "user:text", 101, 100)
        session = await client.create_session(app, "ana")
        for _ in range(2):
            await client.append_event(session, {"author": "ana"})
        with pytest.raises(LimitExceeded) as refusal:
            await client.append_event(session, {"author": "ana"})
        assert (refusal.value.exceeded, refusal.value.size, refusal.value.limit) == ("events", 3, 2)
