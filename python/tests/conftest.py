"""Servers for the tests: ``statepad serve`` of this checkout, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "pkg" / "dist" / "cli.js"


class Server:
    """A server in a process of its own, which can be killed and started again at the same port.

    Attributes:
        url: Its address as a URL: ``http://127.0.0.1:8377``.
        uri: Its address as ``statepad://127.0.0.1:8377``.
        port: Its port.
        token: Its token.
    """

    def __init__(
        self, store: str, folder: Path, *options: str, port: int = 0, token: str = "t0ken-of-the-tests"
    ) -> None:
        self.store = store
        self.token = token
        self.options = options
        self._tokens = folder / "tokens"
        self._tokens.write_text(f"{token} id=tests\n")
        self._tokens.chmod(0o600)
        self._folder = folder
        self.port = port
        self.start()

    def start(self) -> None:
        """Starts it, and returns when it listens."""
        command = ["node", str(PROGRAM), "serve", self.store, "--port", str(self.port), "--quiet"]
        command += ["--token-file", str(self._tokens), *self.options]
        log = (self._folder / "log").open("ab")
        environment = {**os.environ, "NODE_NO_WARNINGS": "1"}
        self._process = subprocess.Popen(command, cwd=self._folder, env=environment, stdout=subprocess.PIPE, stderr=log)
        log.close()
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server has ended:\n{(self._folder / 'log').read_text()}")
        self.url = json.loads(line)["listening"]
        self.port = int(self.url.rsplit(":", 1)[1])
        self.uri = f"statepad://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """Kills it: nothing is finished."""
        self._process.kill()
        self._end()

    def stop(self) -> None:
        """Ends it by a signal: what has begun is finished."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._end()

    def _end(self) -> None:
        self._process.wait(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()


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
