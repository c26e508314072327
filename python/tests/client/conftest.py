"""Clients for the tests, and names that no other test has."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio
from support.proxy import FaultProxy
from support.server import Server

from statepad import Client

_numbers = itertools.count(1)


@pytest.fixture
def app() -> str:
    """The name of an app that no other test has."""
    return f"app-{next(_numbers)}"


@pytest_asyncio.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    """A client of the server."""
    async with Client(server.uri, token=server.token) as client:
        yield client


@pytest_asyncio.fixture
async def proxy(server: Server) -> AsyncIterator[FaultProxy]:
    """A proxy before the server that cuts connections."""
    async with FaultProxy(server.port) as proxy:
        yield proxy


@pytest_asyncio.fixture
async def connect(server: Server) -> AsyncIterator[Callable[..., Client]]:
    """Makes clients, with short pauses, which are closed after the test."""
    clients: list[Client] = []

    def make(uri: str, **options: object) -> Client:
        client = Client(uri, **{"token": server.token, "pause": 0.005, "timeout": 10.0, **options})
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.aclose()
