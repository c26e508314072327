"""Servers for the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings
from support.server import Server

# The tests run beside others: the time of an example says nothing.
settings.register_profile("statepad", deadline=None, print_blob=True)
settings.load_profile("statepad")


@pytest.fixture(scope="session")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Starts servers: ``start_server()`` over SQLite, ``start_server("memory:")``. All end with the tests."""
    servers: list[Server] = []

    def start(store: str = "sessions.db", *options: str, **others: str | int) -> Server:
        server = Server(store, tmp_path_factory.mktemp("server"), *options, **others)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def server(start_server: Callable[..., Server]) -> Server:
    """A server over SQLite for all tests: each of them takes users, or apps, of its own."""
    return start_server()
