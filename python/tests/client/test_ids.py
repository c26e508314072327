"""Ids in the paths of a server."""

import asyncio
import base64
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from statepad import Client, InvalidArgument
from statepad.keys import AppKey, path_to, write_id

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def read_id(segment):
    """The id in a segment, as a server reads it."""
    if segment.startswith("~"):
        text = segment[1:]
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    return unquote(segment, errors="strict")


@given(TEXTS)
@example("")
@example(".")
@example("..")
@example("~a")
@example("a/b\\c")
@example("50%25")
def test_an_id_is_one_segment_and_is_read_as_it_was(id):
    segment = write_id(id, "id")
    assert read_id(segment) == id
    assert segment.isascii()
    assert not set(segment) & set("/\\?# ")
    assert segment not in ("", ".", "..")


@pytest.mark.parametrize(
    ("id", "segment"),
    [
        ("ana@example.com", "ana%40example.com"),
        ("a b", "a%20b"),
        ("!*'()~-_.", "!*'()~-_."),
        ("a:b", "a%3Ab"),
        ("ü", "%C3%BC"),
        ("", "~"),
        ("..", "~Li4"),
        ("~", "~fg"),
        ("a/b", "~YS9i"),
        ("a\\b", "~YVxi"),
    ],
)
def test_an_id_is_spelled_as_the_other_clients_spell_it(id, segment):
    assert write_id(id, "id") == segment


@pytest.mark.parametrize("id", ["\ud800", None, 7])
def test_an_id_that_is_no_text_is_refused(id):
    with pytest.raises(InvalidArgument) as caught:
        path_to("app_state", AppKey(id))
    assert caught.value.path == "app_name"


@given(st.lists(st.tuples(TEXTS, TEXTS.filter(lambda id: id.strip())), min_size=1, max_size=8))
@example(
    [("..", "."), ("", "/"), ("~", "~~"), ("%2F", "%"), ("a/../b", "a//b"), ("\x00", "\x7f"), ("?", "#"), (";", "+")]
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_server_reads_each_id_as_it_was_written(server, app, names):
    async def read():
        async with Client(server.uri, token=server.token) as client:
            for user, id in names:
                await client.get_or_create_session(app, user, session_id=id)
                session = await client.get_session(app, user, id)
                assert (session.app_name, session.user_id, session.id) == (app, user, id)
                assert (await client.append_event(session, {})).revision == session.revision + 1

    asyncio.run(read())
