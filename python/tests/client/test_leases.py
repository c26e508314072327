"""Leases: one runner at a time, and what becomes of one that has lost its lease."""

import asyncio
import time

import pytest

from statepad import InvalidArgument, LeaseHeld, LeaseLost, SessionKey, SessionNotFound


async def stolen(client, session, lease):
    """Lets the lease run out, without its renewals, and takes it for another holder."""
    other = await client.take_lease(SessionKey(session.app_name, session.user_id, session.id), wait=5)
    assert other.token > lease.token
    return other


async def for_ever():
    """The work of a body that has to be cancelled: it is over when nobody does."""
    await asyncio.sleep(20)
    raise AssertionError("nobody has cancelled the body")


async def renewed(lease):
    """Waits for the next renewal, of which nothing tells."""
    until = lease.until
    async with asyncio.timeout(20):
        while lease.until == until:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.fixture
def no_renewals(monkeypatch):
    """Leases that nobody renews in the background."""

    async def never(lease):
        await asyncio.Event().wait()

    monkeypatch.setattr("statepad.lease._keep_alive", never)


async def test_one_holder_at_a_time_has_the_lease(client, app):
    session = await client.create_session(app, "ana", state={"a": 1})
    await client.append_event(session, {})
    async with client.lease(session) as lease:
        assert lease.session.revision == 1
        assert lease.until > time.time() * 1000
        assert await client.append_event(lease.session, {}) is not None
        with pytest.raises(LeaseHeld) as held:
            await client.take_lease(session)
        assert held.value.until == lease.until
        # A writer that takes no lease is not stopped.
        await client.append_event(session, {})
    assert lease.is_over
    async with client.lease(session, num_recent_events=0) as later:
        assert later.token > lease.token
        assert later.session.events == []


async def test_a_caller_may_wait_for_the_lease(client, app):
    session = await client.create_session(app, "ana")
    first = await client.take_lease(session)
    waiting = asyncio.create_task(client.take_lease(session, wait=5))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await first.release()
    await first.release()
    second = await waiting
    began = time.monotonic()
    with pytest.raises(LeaseHeld):
        await client.take_lease(session, wait=0.2)
    assert time.monotonic() - began >= 0.2
    await second.release()


async def test_a_lease_is_renewed_while_its_body_runs(client, app):
    session = await client.create_session(app, "ana")
    async with client.lease(session, ttl=1.2) as lease:
        for _ in range(3):
            await renewed(lease)
        with pytest.raises(LeaseHeld):
            await client.take_lease(session)
        await client.append_event(lease.session, {})


async def test_a_lost_lease_cancels_the_body_and_raises(client, app):
    session = await client.create_session(app, "ana")
    ended = []

    async def run():
        async with client.lease(session, ttl=0.3) as lease:
            lease._requests.renew, renew = blocked, lease._requests.renew
            other = await stolen(client, session, lease)
            lease._requests.renew = renew
            try:
                await for_ever()
            except asyncio.CancelledError:
                ended.append("cancelled")
                with pytest.raises(LeaseLost):
                    await client.append_event(lease.session, {})
                raise
            finally:
                await other.release()

    async def blocked(proof, ttl):
        raise LeaseHeld("not now")

    with pytest.raises(LeaseLost) as caught:
        await run()
    assert caught.value.id == session.id
    assert ended == ["cancelled"]
    assert asyncio.current_task().cancelling() == 0
    assert (await client.get_session(app, "ana", session.id)).revision == 0


async def test_a_write_tells_its_body_that_the_lease_is_lost(client, app, no_renewals):
    session = await client.create_session(app, "ana")
    await client.append_event(session, {"invocationId": "i"})
    reached = []

    async def run():
        async with client.lease(session, ttl=0.05) as lease:
            other = await stolen(client, session, lease)
            for write in (
                lambda: client.append_event(lease.session, {}),
                lambda: client.update_state(lease.session, {"a": 1}),
                lambda: client.update_state(lease.session, lambda state: {"a": 1}),
                lambda: client.rewind(lease.session, before="i"),
                lambda: client.delete_session(lease.session),
                lambda: lease.renew(),
            ):
                lease._on_loss = None
                with pytest.raises(LeaseLost):
                    await write()
                reached.append(write)
            assert isinstance(lease.loss, LeaseLost)
            await other.release()

    with pytest.raises(LeaseLost):
        await run()
    assert len(reached) == 6
    assert (await client.get_session(app, "ana", session.id)).revision == 1


async def test_a_body_that_ignores_the_error_of_a_write_is_cancelled(client, app, no_renewals):
    session = await client.create_session(app, "ana")

    async def run():
        async with client.lease(session, ttl=0.05) as lease:
            await stolen(client, session, lease)
            with pytest.raises(LeaseLost):
                await client.append_event(lease.session, {})
            await for_ever()

    with pytest.raises(LeaseLost):
        await run()
    assert asyncio.current_task().cancelling() == 0
    await asyncio.sleep(0)


async def test_a_body_that_ends_before_it_is_cancelled_raises_the_loss(client, app, no_renewals):
    session = await client.create_session(app, "ana")

    async def run():
        async with client.lease(session, ttl=0.05) as lease:
            await stolen(client, session, lease)
            lease._mark_lost(LeaseLost("lost", id=session.id))

    with pytest.raises(LeaseLost):
        await run()
    # No cancellation is left for later.
    await asyncio.sleep(0.01)
    assert asyncio.current_task().cancelling() == 0


async def test_an_error_of_the_body_takes_precedence(client, app, no_renewals):
    session = await client.create_session(app, "ana")

    async def run():
        async with client.lease(session, ttl=0.05) as lease:
            await stolen(client, session, lease)
            lease._mark_lost(LeaseLost("lost", id=session.id))
            1 / 0  # noqa: B018

    with pytest.raises(ZeroDivisionError):
        await run()


async def test_a_body_that_is_cancelled_by_others_stays_cancelled_and_releases(client, app):
    session = await client.create_session(app, "ana")
    entered = asyncio.Event()

    async def run():
        async with client.lease(session):
            entered.set()
            await for_ever()

    task = asyncio.create_task(run())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await (await client.take_lease(session)).release()


async def test_a_wait_that_is_cancelled_leaves_no_lease(client, app):
    session = await client.create_session(app, "ana")
    taking = asyncio.create_task(client.take_lease(session, ttl=60))
    await asyncio.sleep(0.001)
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    await (await client.take_lease(session, wait=5)).release()


async def test_after_the_release_its_session_is_an_ordinary_one(client, app):
    session = await client.create_session(app, "ana")
    lease = await client.take_lease(session)
    await lease.release()
    other = await client.take_lease(session)
    assert (await client.append_event(lease.session, {})).revision == 1
    with pytest.raises(LeaseLost, match="was released"):
        await lease.renew()
    assert lease.loss is None
    await other.release()


async def test_writes_that_were_called_before_the_release_are_made_before_it(client, app):
    session = await client.create_session(app, "ana")
    lease = await client.take_lease(session)
    writes = [asyncio.create_task(client.append_event(lease.session, {})) for _ in range(5)]
    await asyncio.sleep(0)
    releasing = asyncio.create_task(lease.release())
    await asyncio.sleep(0)
    late = asyncio.create_task(client.append_event(lease.session, {}))
    revisions = [(await write).revision for write in writes]
    await releasing
    assert (*revisions, (await late).revision) == (1, 2, 3, 4, 5, 6)


async def test_a_body_may_delete_its_session(client, app):
    session = await client.create_session(app, "ana")
    async with client.lease(session) as lease:
        await client.delete_session(lease.session)
    assert await client.get_session(app, "ana", session.id) is None


async def test_a_session_that_is_deleted_ends_the_body(client, app):
    session = await client.create_session(app, "ana")

    async def run():
        async with client.lease(session, ttl=0.3):
            await client.delete_session(session)
            await for_ever()

    with pytest.raises(SessionNotFound):
        await run()


async def test_a_missing_session_and_a_wrong_time_are_refused(client, app):
    with pytest.raises(SessionNotFound):
        await client.take_lease(SessionKey(app, "ana", "nowhere"))
    session = await client.create_session(app, "ana")
    for ttl in (0, -1, float("nan"), float("inf"), "long", 2**31):
        with pytest.raises(InvalidArgument):
            client.lease(session, ttl=ttl)


async def test_a_lease_outlives_a_server_that_is_started_again(start_server, app, connect):
    server = start_server()
    client = connect(server.uri, attempts=100, pause=0.05)
    session = await client.create_session(app, "ana")
    async with client.lease(session, ttl=2.0) as lease:
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        await renewed(lease)
        await client.append_event(lease.session, {})
        with pytest.raises(LeaseHeld):
            await client.take_lease(session)
