"""One client in several event loops, threads and processes."""

import asyncio
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.sockets import connections_to

import statepad
from statepad import AppKey, Client, Closed, Unauthenticated, increment, loops


async def count(client, app, times):
    for _ in range(times):
        await client.update_state(AppKey(app), {"app:n": increment()})


async def counted(client, app):
    return (await client.get_app_state(app))["n"]


def test_a_client_serves_one_event_loop_after_the_other(server, app):
    client = Client(server.uri, token=server.token)
    for _ in range(3):
        asyncio.run(count(client, app, 2))
    assert asyncio.run(counted(client, app)) == 6
    # The states of loops that are over are gone.
    assert len(client._transport._loops._states) == 1
    asyncio.run(client.aclose())


def test_a_client_serves_the_event_loops_of_several_threads_at_once(server, app):
    client = Client(server.uri, token=server.token)

    async def work():
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(count(client, app, 5))

    with ThreadPoolExecutor(4) as pool:
        for ended in [pool.submit(asyncio.run, work()) for _ in range(8)]:
            ended.result()
    assert asyncio.run(counted(client, app)) == 8 * 15
    asyncio.run(client.aclose())


def test_closing_a_client_closes_its_connections_in_other_event_loops(start_server, app):
    server = start_server("memory:")
    client = Client(server.uri, token=server.token)
    ready, done = threading.Event(), threading.Event()

    async def other():
        await count(client, app, 1)
        ready.set()
        await asyncio.to_thread(done.wait)
        await gone(server.port)
        with pytest.raises(Closed):
            await count(client, app, 1)

    async def close():
        await count(client, app, 1)
        await asyncio.to_thread(ready.wait)
        assert connections_to(server.port) == 2
        await client.aclose()

    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(asyncio.run, other())
        asyncio.run(close())
        done.set()
        ended.result()


async def gone(port):
    """Waits until there is no connection to a port, of which nothing tells."""
    async with asyncio.timeout(10):
        while connections_to(port) > 0:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_the_connections_of_a_client_that_nobody_has_any_more_are_closed(start_server, app):
    server = start_server("memory:")
    client = Client(server.uri, token=server.token)
    watch = client.watch(AppKey(app), initial=True)
    await anext(watch)
    await count(client, app, 1)
    assert connections_to(server.port) == 2
    gc.collect()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del client, watch
        gc.collect()
        await gone(server.port)
        gc.collect()
    # They were closed, and not only forgotten.
    assert [warning.message for warning in told if warning.category is ResourceWarning] == []


def counts(client, app, times):
    """The work of a child process."""
    asyncio.run(count(client, app, times))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_client_is_used_in_processes_of_each_kind(server, app, method):
    client = Client(server.uri, token=server.token)
    asyncio.run(count(client, app, 1))
    context = multiprocessing.get_context(method)
    processes = [context.Process(target=counts, args=(client, app, 5)) for _ in range(2)]
    for process in processes:
        process.start()
    asyncio.run(count(client, app, 5))
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert asyncio.run(counted(client, app)) == 16


# A server of workers that loads its program before it forks, as gunicorn does with --preload: the client has a
# connection, its loop goes on in the parent, and a thread of the parent holds a lock at the fork.
PREFORK = """
import asyncio, os, sys, threading
from statepad import AppKey, Client, increment, loops

uri, token, app = sys.argv[1:]
client = Client(uri, token=token)

async def count(times):
    for _ in range(times):
        await client.update_state(AppKey(app), {"app:n": increment()})

async def watch_and_count(times):
    watch = client.watch(AppKey(app), initial=True)
    change = await anext(watch)
    await count(times)
    seen = change.delta.get("app:n", 0)
    while seen < 1 + times:
        seen = (await anext(watch)).delta["app:n"]
    await watch.aclose()

runner = asyncio.Runner()
runner.run(count(1))
watch = client.watch(AppKey(app), initial=True)
async def first():
    return await anext(watch)
runner.run(first())

def holding():
    with loops._lock:
        held.set()
        forked.wait()
held, forked = threading.Event(), threading.Event()
threading.Thread(target=holding, daemon=True).start()
held.wait()

children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        asyncio.run(watch_and_count(10))
        asyncio.run(client.aclose())
        # The end of the interpreter too must leave the parent's connections alone.
        sys.exit(0)
    children.append(child)
forked.set()
runner.run(watch_and_count(10))
statuses = [os.waitpid(child, 0)[1] for child in children]
runner.run(count(1))

async def rest():
    seen = 0
    while seen < 42:
        seen = (await anext(watch)).delta["app:n"]
    await client.aclose()
runner.run(rest())
runner.close()
print(statuses)
"""


def test_forked_workers_and_their_parent_use_connections_of_their_own(server, app):
    command = [sys.executable, "-X", "dev", "-c", PREFORK, server.uri, server.token, app]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, "[0, 0, 0]\n"), ended.stderr
    client = Client(server.uri, token=server.token)
    assert asyncio.run(counted(client, app)) == 42


async def test_a_child_that_is_forked_inside_of_a_running_loop_has_a_loop_of_its_own(server, app):
    async def use_and_close(client):
        await count(client, app, 5)
        own = client._transport.state().http
        await client.aclose()
        assert own.is_closed

    async with Client(server.uri, token=server.token) as client:
        await count(client, app, 1)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                asyncio._set_running_loop(None)
                asyncio.new_event_loop().run_until_complete(use_and_close(client))
                code = 0
            finally:
                os.write(writing, b"x")
                os._exit(code)
        await asyncio.to_thread(os.read, reading, 1)
        # The end of the client in the child leaves that of the parent open.
        await count(client, app, 5)
        assert not client._transport.state().http.is_closed
        _, status = await asyncio.to_thread(os.waitpid, child, 0)
        assert status == 0
        assert await counted(client, app) == 11


def test_a_pickled_client_has_the_arguments_of_the_first(server, app, monkeypatch):
    client = Client(server.uri, token=server.token, timeout=7.0, attempts=3, headers={"x-name": "1"})
    asyncio.run(client.aclose())
    other = pickle.loads(pickle.dumps(client))
    assert other._arguments == client._arguments
    assert repr(other) == repr(client)
    asyncio.run(count(other, app, 1))
    # A token of the environment stays there.
    monkeypatch.setenv("STATEPAD_TOKEN", server.token)
    pickled = pickle.dumps(Client(server.uri))
    assert server.token.encode() not in pickled
    asyncio.run(count(pickle.loads(pickled), app, 1))
    monkeypatch.setenv("STATEPAD_TOKEN", "another-one")
    with pytest.raises(Unauthenticated):
        asyncio.run(count(pickle.loads(pickled), app, 1))


def test_nothing_of_google_adk_is_imported_by_the_client():
    code = "import statepad, sys; assert not [name for name in sys.modules if name.startswith('google')], sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert all(hasattr(statepad, name) for name in statepad.__all__)


async def test_turns_leave_nothing_behind():
    turns = loops.Turns()
    order = []

    async def work(number):
        async with turns.turn("name"):
            order.append(number)
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(work(number)) for number in range(5)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [0, 1, 3, 4]
    assert turns._locks == {}
