"""Agents of ADK with scripted models, and conversations with them."""

import json
import re

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.events import Event, EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types


class ScriptedModel(BaseLlm):
  """Says what it was given, one thing after the other."""

  model: str = "scripted"
  lines: list[types.Part]

  async def generate_content_async(self, llm_request, stream=False):
    yield LlmResponse(content=types.Content(role="model", parts=[self.lines.pop(0)]))


def text(line):
  return types.Part(text=line)


def call(name, number, **args):
  return types.Part(function_call=types.FunctionCall(id=f"call-{number}", name=name, args=args))


def tide_at(port: str, tool_context: ToolContext) -> dict:
  """Tells the tide."""
  tool_context.state["asked_for"] = port
  tool_context.state["user:last_port"] = {"port": port, "times": [1, 2.5, None]}
  tool_context.state["app:asked"] = tool_context.state.get("app:asked", 0) + 1
  tool_context.state["temp:secret"] = "not kept"
  return {"high_water": 3.5, "not_known": None}


def book(port: str, tool_context: ToolContext) -> dict:
  """Books a berth."""
  tool_context.state["booked"] = port
  return {"booked": True}


def ask_harbour(port: str) -> dict:
  """Asks the harbour master, who takes a while."""
  return {"status": "pending", "ticket": 7}


def tides():
  lines = [call("tide_at", 1, port="Brest"), text("3.5 m"), text("You are welcome."), text("Bye.")]
  return LlmAgent(name="tides", model=ScriptedModel(lines=lines), tools=[FunctionTool(tide_at)], output_key="answer")


def confirmed():
  lines = [call("book", 1, port="Brest"), text("Booked."), text("Bye.")]
  tool = FunctionTool(book, require_confirmation=True)
  return LlmAgent(name="berths", model=ScriptedModel(lines=lines), tools=[tool])


def long_running():
  lines = [call("ask_harbour", 1, port="Brest"), text("I have asked."), text("There is room.")]
  return LlmAgent(name="harbour", model=ScriptedModel(lines=lines), tools=[LongRunningFunctionTool(ask_harbour)])


class Counter(BaseAgent):
  """Counts its turns in keys of every scope."""

  async def _run_async_impl(self, ctx):
    n = ctx.session.state.get("n", 0) + 1
    delta = {"n": n, "user:n": n, "app:n": n, f"turn {n}": True}
    yield Event(
        author=self.name,
        invocation_id=ctx.invocation_id,
        content=types.Content(role="model", parts=[text(f"turn {n}")]),
        actions=EventActions(state_delta=delta),
    )


AGENTS = {
    "tides": tides,
    "confirmed": confirmed,
    "longRunning": long_running,
    "counter": lambda: Counter(name="counter"),
}


def message_of(turn, events):
  """A message of the user: a text, or an answer to a call of a function, which is found by its name."""
  if isinstance(turn, str):
    return types.Content(role="user", parts=[text(turn)])
  calls = [each for event in events for each in event.get_function_calls() if each.name == turn["answers"]]
  response = types.FunctionResponse(id=calls[-1].id, name=turn["answers"], response=turn["with"])
  return types.Content(role="user", parts=[types.Part(function_response=response)])


async def converse(service, ids, turns, agent, state):
  """Has a conversation. A turn is a message, or {"rewind": number of the message before which it rewinds}."""
  runner = Runner(app_name=ids["app_name"], agent=AGENTS[agent](), session_service=service)
  session = await service.create_session(**ids, state=state)
  key = {"user_id": session.user_id, "session_id": session.id}
  events, invocations = [], []
  for turn in turns:
    if isinstance(turn, dict) and "rewind" in turn:
      await runner.rewind_async(**key, rewind_before_invocation_id=invocations[turn["rewind"]])
      continue
    said = [event async for event in runner.run_async(**key, new_message=message_of(turn, events))]
    invocations.append(said[-1].invocation_id)
    events += said
  read = await service.get_session(**ids, session_id=session.id)
  await runner.close()
  return {"state": read.state, "events": comparable(read.events), "ids": [event.id for event in read.events]}


def comparable(events):
  """Events as JSON without ids and times; ids that ADK makes are numbered in the order in which they appear."""
  plain = [event.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"id", "timestamp"}) for event in events]
  known = {}
  numbered = lambda match: known.setdefault(match[0], f"id-{len(known)}")
  made = r"(?:adk-|e-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
  return json.loads(re.sub(made, numbered, json.dumps(plain)))
