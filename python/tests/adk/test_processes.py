"""One service in forked processes, threads and loops."""

from __future__ import annotations

import asyncio
import os
import threading

from google.adk.sessions.session import Session

from statepad import increment
from statepad.adk import StatepadSessionService

from .test_sessions import ids_of, writing


def in_fork(work) -> None:
    """Runs something in a forked process, as gunicorn's workers do after they have loaded a program."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(work())
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_a_service_that_was_used_before_a_fork_works_on_both_sides(server, app):
    sessions = StatepadSessionService(server.uri, token=server.token)
    ids = {"app_name": app, "user_id": "ana"}

    async def count(session: Session, number: int) -> None:
        for _ in range(number):
            await sessions.append_event(session, writing(n=increment()))

    async def main() -> Session:
        session = await sessions.create_session(**ids)
        await count(session, 1)
        # The parent has a connection here, and its loop is running.
        in_fork_of_thread(lambda: count(session, 5))
        await count(session, 1)
        return session

    def in_fork_of_thread(work) -> None:
        # A fork within a running loop needs a thread without one.
        thread = threading.Thread(target=in_fork, args=(work,))
        thread.start()
        thread.join()

    session = asyncio.run(main())
    for _ in range(2):
        in_fork(lambda: count(session, 5))
    asyncio.run(count(session, 1))
    assert session.state == {"n": 18}
    assert len(session.events) == 18
    asyncio.run(sessions.close())


def test_threads_with_their_loops_share_a_service(server, app):
    sessions = StatepadSessionService(server.uri, token=server.token)
    session = asyncio.run(sessions.create_session(app_name=app, user_id="ana"))

    def count() -> None:
        async def run() -> None:
            own = await sessions.get_session(**ids_of(session))
            for _ in range(10):
                await sessions.append_event(own, writing(n=increment()))

        asyncio.run(run())

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = asyncio.run(sessions.get_session(**ids_of(session)))
    assert read.state == {"n": 40}
    assert [event.actions.state_delta["n"] for event in read.events] == list(range(1, 41))
    asyncio.run(sessions.close())
