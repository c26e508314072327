"""Servers of databases for the contract."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contract_services import Places

SERVERS = Path(__file__).parent / "databases.mjs"


@pytest.fixture(scope="session")
def databases() -> Iterator[dict[str, str]]:
    """The addresses of a Postgres and a Redis server, which end with the tests."""
    process = subprocess.Popen(["node", str(SERVERS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("the servers of databases did not start: node scripts/setup.mjs test installs them")
    yield json.loads(line)
    process.communicate()


@pytest.fixture(scope="session")
def places(
    databases: dict[str, str], start_server: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Places:
    """Room for all services."""
    server = start_server()
    return Places(tmp_path_factory.mktemp("contract"), **databases, statepad=server.uri, token=server.token)
