"""Agents with scripted models, for whole turns of a Runner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.genai import types

from statepad import SessionKey
from statepad.adk import StatepadSessionService
from statepad.lease import Lease

Line = str | types.Part | list[types.Part]


class ScriptedModel(BaseLlm):
    """Says what it was given, one line after the other, and keeps what it was asked.

    A line is a text, a part, or a list of parts, which are one answer.
    """

    model: str = "scripted"
    lines: list[Any]
    requests: list[LlmRequest]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """The next line."""
        self.requests.append(llm_request)
        line = self.lines.pop(0)
        parts = line if isinstance(line, list) else [types.Part(text=line) if isinstance(line, str) else line]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def scripted(*lines: Line) -> ScriptedModel:
    """A model that says these lines."""
    return ScriptedModel(lines=list(lines), requests=[])


def call(name: str, id: str | None = None, **args: Any) -> types.Part:
    """A call of a tool, in a line."""
    return types.Part(function_call=types.FunctionCall(id=id or f"call-{name}", name=name, args=args))


def says(text: str) -> types.Content:
    """A message of the user."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def answers(name: str, id: str, **response: Any) -> types.Content:
    """A message of the user that answers a call."""
    answer = types.FunctionResponse(id=id, name=name, response=response)
    return types.Content(role="user", parts=[types.Part(function_response=answer)])


async def turn(runner: Runner, session: Any, message: types.Content | str | None, **options: Any) -> list[Any]:
    """A turn of a runner: its events."""
    message = says(message) if isinstance(message, str) else message
    return [
        event
        async for event in runner.run_async(
            user_id=session.user_id, session_id=session.id, new_message=message, **options
        )
    ]


def texts(events: list[Any]) -> list[str]:
    """The texts that were said."""
    return [
        part.text
        for event in events
        for part in (event.content.parts if event.content and event.content.parts else [])
        if part.text
    ]


async def take_over(held: Lease, thief: StatepadSessionService) -> Lease:
    """Takes the lease of a session, as another process does when its holder stood still for longer than its time."""
    await held._requests.release(held._granted.proof)
    key = held.session.key
    return await thief.client.take_lease(SessionKey(key.app_name, key.user_id, key.session_id), ttl=60.0)


class Meeting:
    """Lets tools that run in parallel wait for each other: ``await meeting()`` returns when all have come."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._all = asyncio.Event()

    async def __call__(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._all.set()
        await self._all.wait()
