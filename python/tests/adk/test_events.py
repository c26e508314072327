"""Events of google-adk and their JSON on the wire: nothing gets lost in either direction."""

from __future__ import annotations

import json
import logging
import math
import random

import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from statepad.adk.events import from_wire, to_wire
from statepad.adk.times import to_milliseconds, to_seconds

from .shapes import Shapes, differences

# Members that ADK itself leaves out of its JSON. None of them is stored by ADK's own services either.
EXCLUDED_BY_ADK: set[str] = set()


def through_json(event: Event) -> Event:
    return from_wire(json.loads(json.dumps(to_wire(event))))


def test_every_member_of_every_model_survives_the_wire():
    shapes = Shapes()
    events = shapes.events()
    assert shapes.met - shapes.filled == set()
    lost = differences(events, [through_json(event) for event in events])
    assert [each for each in lost if each.split(":")[0] not in EXCLUDED_BY_ADK] == []


async def test_every_member_of_every_model_survives_the_server(sessions, app):
    session = await sessions.create_session(app_name=app, user_id="ana")
    events = Shapes().events()
    for event in events:
        await sessions.append_event(session, event)
    read = await sessions.get_session(app_name=app, user_id="ana", session_id=session.id)
    assert differences(events, read.events) == []
    assert differences(session.events, read.events) == []


@given(st.floats(min_value=4e6, max_value=4e9))
def test_a_time_is_the_same_after_the_wire(seconds):
    assert to_seconds(*to_milliseconds(seconds)) == seconds


@given(st.floats(min_value=-1e11, max_value=1e11), st.floats(min_value=-1e11, max_value=1e11))
def test_times_keep_their_order_on_the_wire(one, other):
    assert (to_milliseconds(one)[0] <= to_milliseconds(other)[0]) or one > other


def test_most_times_need_no_text_beside_their_milliseconds():
    numbers = random.Random(1)
    texts = [to_milliseconds(1.8e9 + numbers.random() * 1e8)[1] for _ in range(10_000)]
    assert sum(text is not None for text in texts) < 500


@pytest.mark.parametrize("text", ["", "2024-02-30T00:00:00Z", "2024-02-29", "2024-02-29T00:00:00+00:00", 5, None])
def test_a_text_that_is_no_time_is_ignored(text):
    assert to_seconds(1_700_000_000_000, text) == 1_700_000_000


def test_the_text_of_another_time_is_ignored():
    assert to_seconds(1_700_000_000_000, "2024-02-29T00:00:00Z") == 1_700_000_000


def test_a_time_with_a_text_is_taken_from_it_and_the_metadata_is_clean():
    seconds = next(time for index in range(1_000) if to_milliseconds(time := 1.7e9 + index * 2**-22)[1] is not None)
    event = Event(author="a", timestamp=seconds, custom_metadata={"mine": 1})
    told = to_wire(event)
    assert told["customMetadata"]["statepad"].keys() == {"time"}
    assert math.isclose(told["timestamp"], seconds * 1_000)
    assert from_wire(told) == event
    event.custom_metadata = None
    assert from_wire(to_wire(event)) == event


def test_none_is_a_value_at_any_depth():
    delta = {"none": None, "deep": {"none": None, "list": [None]}}
    assert through_json(Event(author="a", actions=EventActions(state_delta=delta))).actions.state_delta == delta


def test_a_value_without_json_is_stored_as_its_text_with_a_warning(caplog):
    event = Event(author="a", actions=EventActions(state_delta={"f": test_none_is_a_value_at_any_depth, "n": 1}))
    delta = to_wire(event)["actions"]["stateDelta"]
    assert delta["n"] == 1
    assert "test_none_is_a_value" in delta["f"]
    assert "has no JSON" in caplog.text


def test_bytes_of_either_alphabet_are_read():
    event = Event(author="a", content=types.Content(parts=[types.Part(inline_data=types.Blob(data=b"\xfb\xff\x00"))]))
    told = to_wire(event)
    for text in ("-_8A", "+/8A"):
        told["content"]["parts"][0]["inlineData"]["data"] = text
        assert from_wire(told).content.parts[0].inline_data.data == b"\xfb\xff\x00"


def test_what_other_programs_write_is_read_as_far_as_this_version_knows_it(caplog):
    told = {
        "id": "e1",
        "invocationId": "i1",
        "timestamp": 1_700_000_000_250,
        "state": {"not": "an argument"},
        "message": "neither",
        "environmentId": "e",
        "content": {
            "role": "model",
            "parts": [{"text": "kept", "newMember": 1}, {"functionCall": {"name": "f", "x": 1}}],
        },
        "turnComplete": "no boolean",
        "actions": {"stateDelta": {"k": 1}, "deletedArtifactIds": ["a"], "escalate": "perhaps"},
    }
    with caplog.at_level(logging.WARNING):
        event = from_wire(told)
        from_wire(told)
    assert (event.id, event.timestamp, event.author) == ("e1", 1_700_000_000.25, "")
    assert event.content.parts[0].text == "kept"
    assert event.content.parts[1].function_call.name == "f"
    assert event.actions.state_delta == {"k": 1}
    assert (event.actions.escalate, event.turn_complete) == (None, None)
    # Once in a process, although it is read with each turn.
    assert caplog.text.count("actions.deletedArtifactIds") == 1


@given(
    st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3), st.lists, max_leaves=5),
    st.data(),
)
def test_an_event_with_anything_in_the_place_of_a_member_can_be_read(junk, data):
    told = {
        **to_wire(Event(author="a", timestamp=5.0, content=types.Content(role="model", parts=[types.Part(text="x")]))),
        "usageMetadata": {"promptTokenCount": 1},
    }
    name = data.draw(st.sampled_from(sorted(told.keys() - {"id", "timestamp"})))
    inner = told[name]
    if isinstance(inner, dict) and inner and data.draw(st.booleans()):
        inner[data.draw(st.sampled_from(sorted(inner)))] = junk
    else:
        told[name] = junk
    assert from_wire(told).id == told["id"]
