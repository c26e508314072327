"""Another process with a service of its own. It writes on request."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from typing import Any, cast

from statepad.testing.comparing import describe

LONGEST_LINE = 1 << 22


class Child:
    """The other process, as its parent sees it: each request is a line of JSON, and so is its answer."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, factory: bytes) -> Child:
        """Starts the process and makes its service from the pickled factory.

        Raises:
            ChildError: the process could not make it.
        """
        path = os.pathsep.join(each or "." for each in sys.path)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from statepad.testing.child import main; main()",
            stdin=PIPE,
            stdout=PIPE,
            limit=LONGEST_LINE,
            env={**os.environ, "PYTHONPATH": path},
        )
        child = cls(process)
        await child.ask({"factory": base64.b64encode(factory).decode()})
        return child

    async def ask(self, request: dict[str, Any]) -> Any:
        """Sends a request and waits for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise ChildError(f"the other process ended with {await self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ChildError(f"in the other process: {answer['error']}")
        return answer["answer"]

    async def kill(self) -> None:
        """Ends the process as a crash would."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        # The transport closes with the last pipe; left open, the loop would complain when it closes.
        cast(Any, self._process)._transport.close()


class ChildError(Exception):
    """The other process failed, in words of its own."""


async def serve() -> None:
    """Answers line by line: the first one makes the service, each further one asks it to write."""
    from statepad.testing.races import Race, write
    from statepad.testing.subject import opened

    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    # A service that prints must not print into the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        factory = pickle.loads(base64.b64decode(json.loads(await lines.readline())["factory"]))
        async with opened(factory) as service:
            print(json.dumps({"answer": "ready"}), file=answers, flush=True)
            while line := await lines.readline():
                written = await write(service, Race(**json.loads(line)))
                print(json.dumps({"answer": written}), file=answers, flush=True)
    except Exception as error:
        print(json.dumps({"error": describe(error)}), file=answers, flush=True)


def main() -> None:
    """Runs the process until its parent closes its input."""
    asyncio.run(serve())
