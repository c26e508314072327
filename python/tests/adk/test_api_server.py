"""``adk api_server``, as it is, with its sessions on a server of statepad."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

TESTS = Path(__file__).parents[1]
SOURCES = TESTS.parent / "src"
SERVICES = """\
services:
  - scheme: statepad
    type: session
    class: {module}.StatepadSessionService
"""
AGENT = """\
from adk.agents import call, scripted
from google.adk.agents import LlmAgent
from statepad.adk import increment


def count(tool_context) -> str:
    tool_context.state["app:runs"] = increment()
    return "counted"


root_agent = LlmAgent(name="shop", model=scripted(call("count"), "We have sencha."), tools=[count], output_key="said")
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ApiServer:
    """A process of ``adk api_server``."""

    def __init__(self, folder: Path, uri: str, token: str, module: str = "statepad.adk") -> None:
        agents = folder / "agents"
        (agents / "shop").mkdir(parents=True)
        (agents / "services.yaml").write_text(SERVICES.format(module=module))
        (agents / "shop" / "__init__.py").write_text("from . import agent\n")
        (agents / "shop" / "agent.py").write_text(AGENT)
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self.log = folder / "log"
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "google.adk.cli", "api_server", "--port", str(port), "--log_level", "debug"),
                *(f"--session_service_uri={uri}", str(agents)),
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": f"{SOURCES}{os.pathsep}{TESTS}", "STATEPAD_TOKEN": token},
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
        )

    def wait_until_ready(self) -> None:
        """Returns when it answers."""
        while self._process.poll() is None:
            try:
                httpx.get(f"{self.url}/list-apps")
                return
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError(f"adk api_server has ended:\n{self.log.read_text()}")

    def wait(self) -> int:
        """The exit code, when it has ended."""
        return self._process.wait(timeout=60)

    def stop(self) -> None:
        """Ends it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=30)


@pytest.fixture
def start(tmp_path, server) -> Iterator[Callable[..., ApiServer]]:
    servers: list[ApiServer] = []

    def start_one(**options) -> ApiServer:
        servers.append(ApiServer(tmp_path / str(len(servers)), server.uri, server.token, **options))
        return servers[-1]

    yield start_one
    for each in servers:
        each.stop()


async def test_an_agent_runs_and_its_session_is_on_the_server(start, sessions):
    api = start()
    api.wait_until_ready()
    async with httpx.AsyncClient(base_url=api.url, timeout=30) as http:
        path = "/apps/shop/users/ana/sessions"
        assert (await http.post(f"{path}/monday", json={"user:name": "Ana"})).json()["state"] == {"user:name": "Ana"}
        message = {"role": "user", "parts": [{"text": "Tea?"}]}
        run = {"appName": "shop", "userId": "ana", "sessionId": "monday", "newMessage": message}
        answer = await http.post("/run", json=run)
        assert answer.is_success, api.log.read_text()[-3_000:]
        events = answer.json()
        assert events[-1]["content"]["parts"][0]["text"] == "We have sencha."
        told = (await http.get(f"{path}/monday")).json()
        assert [session["id"] for session in (await http.get(path)).json()] == ["monday"]
        read = await sessions.get_session(app_name="shop", user_id="ana", session_id="monday")
        assert told["state"] == read.state == {"user:name": "Ana", "app:runs": 1, "said": "We have sencha."}
        assert [event["id"] for event in told["events"]] == [event.id for event in read.events]
        # A change by another process is there at once.
        await sessions.update_state(read, {"said": None})
        assert (await http.get(f"{path}/monday")).json()["state"]["said"] is None
        assert (await http.delete(f"{path}/monday")).is_success
    assert await sessions.get_session(app_name="shop", user_id="ana", session_id="monday") is None
    assert "Loaded custom services from services.yaml" in api.log.read_text()


def test_a_class_that_cannot_be_imported_is_told_in_the_log(start):
    api = start(module="statepad.missing")
    assert api.wait() != 0
    log = api.log.read_text()
    assert "Failed to load services.yaml" in log
    assert "statepad.missing" in log
    # As the documentation of the class says.
    assert "Invalid database URL format" in log or "No module named 'sqlalchemy'" in log
