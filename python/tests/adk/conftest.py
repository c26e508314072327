"""A session service of google-adk over the server of the tests."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable

import pytest

from statepad.adk import StatepadSessionService

_numbers = itertools.count(1)


@pytest.fixture
def app() -> str:
    """The name of an app that no other test uses."""
    return f"adk_{next(_numbers)}"


@pytest.fixture
async def connect(server) -> AsyncIterator[Callable[..., StatepadSessionService]]:
    """Makes services over the server: ``connect(strict=True)``."""
    services: list[StatepadSessionService] = []

    def make(**options) -> StatepadSessionService:
        service = StatepadSessionService(server.uri, token=server.token, **options)
        services.append(service)
        return service

    yield make
    for service in services:
        await service.close()


@pytest.fixture
def sessions(connect) -> StatepadSessionService:
    """A service over the server."""
    return connect()
