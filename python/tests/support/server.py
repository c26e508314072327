"""Servers for the tests: ``statepad serve`` of this checkout, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

PROGRAM = Path(__file__).parents[3] / "pkg" / "dist" / "cli.js"


class Server:
    """A server in a process of its own, which can be killed and started again at the same port.

    Attributes:
        url: Its address as a URL: ``http://127.0.0.1:8377``.
        uri: Its address as ``statepad://127.0.0.1:8377``.
        port: Its port.
        token: Its token.
    """

    def __init__(self, store: str, folder: Path, *options: str, port: int = 0, token: str = "t0ken-of-the-tests"):
        self.store = store
        self.token = token
        self.port = port
        self._options = options
        self._folder = folder
        self._tokens = folder / "tokens"
        self._tokens.write_text(f"{token} id=tests\n")
        self._tokens.chmod(0o600)
        self.start()

    def start(self) -> None:
        """Starts it, and returns when it listens."""
        command = ["node", str(PROGRAM), "serve", self.store, "--port", str(self.port), "--quiet", "--poll", "50"]
        command += ["--token-file", str(self._tokens), *self._options]
        environment = {**os.environ, "NODE_NO_WARNINGS": "1"}
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self._folder, env=environment, stdout=subprocess.PIPE, stderr=log
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server has ended:\n{(self._folder / 'log').read_text()}")
        self.url: str = json.loads(line)["listening"]
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
