"""Addresses and tokens."""

import logging
import traceback

import pytest

from statepad import Client, InvalidArgument, StoreUnavailable, Unauthenticated
from statepad.address import parse_address


@pytest.mark.parametrize(
    ("uri", "base"),
    [
        ("statepad://example.com", "https://example.com"),
        ("statepad://example.com:8377/agents/", "https://example.com:8377/agents"),
        ("statepad://localhost", "http://localhost:8377"),
        ("statepad://localhost:1", "http://localhost:1"),
        ("statepad://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("statepad://127.9.9.9", "http://127.9.9.9:8377"),
        ("statepad://[::1]:9000/a", "http://[::1]:9000/a"),
        ("statepad://[2001:db8::1]", "https://[2001:db8::1]"),
        ("statepad://localhost.example.com", "https://localhost.example.com"),
        ("statepad://127.0.0.1.example.com", "https://127.0.0.1.example.com"),
        ("statepad+http://example.com", "http://example.com:8377"),
        ("statepad+https://localhost:1", "https://localhost:1"),
        ("http://example.com/agents", "http://example.com/agents"),
        ("https://example.com", "https://example.com"),
    ],
)
def test_an_address_is_https_except_on_this_machine(uri, base):
    assert parse_address(uri).base == base


def test_the_parameters_of_an_address_are_sent_with_each_request_and_not_shown():
    address = parse_address("statepad://example.com/base?tenant=a%20b&x=")
    assert address.url("/v1/apps", {"pageSize": "5"}) == "https://example.com/base/v1/apps?tenant=a+b&x=&pageSize=5"
    assert "tenant" not in repr(address)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "example.com",
        "statepad:",
        "statepad://",
        "ftp://example.com",
        "statepad://example.com:port",
        "statepad://s3cret@example.com",
        "statepad://ana:s3cret@example.com",
        "statepad://example.com?token=s3cret",
        "statepad://example.com?API_KEY=s3cret",
        "postgresql://ana:s3cret@example.com/db",
        7,
    ],
)
def test_another_address_is_refused_and_its_secrets_are_in_no_message(uri):
    with pytest.raises(InvalidArgument) as caught:
        Client(uri)
    assert caught.value.path == "uri"
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("token", ["s3cret\n", "s3cret s3cret", "s3crét", "", 7])
def test_a_token_that_no_header_carries_is_refused_without_its_text(token):
    with pytest.raises(InvalidArgument) as caught:
        Client("statepad://localhost", token=token)
    assert "s3cr" not in "".join(traceback.format_exception(caught.value))


def test_a_token_of_the_environment_is_checked_too(monkeypatch):
    monkeypatch.setenv("STATEPAD_TOKEN", "s3cret\x00".replace("\x00", "é"))
    with pytest.raises(InvalidArgument, match="STATEPAD_TOKEN") as caught:
        Client("statepad://localhost")
    assert "s3cr" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"timeout": "long"}, {"attempts": 0}, {"pause": -1}, {"timeout": float("nan")}]
)
def test_other_numbers_are_refused(options):
    with pytest.raises(InvalidArgument) as caught:
        Client("statepad://localhost", **options)
    assert caught.value.path in options


async def test_the_token_comes_from_the_argument_or_from_the_environment(server, app, monkeypatch):
    monkeypatch.setenv("STATEPAD_TOKEN", server.token)
    async with Client(server.uri) as client:
        assert await client.list_users(app) == []
    monkeypatch.setenv("STATEPAD_TOKEN", "an-older-token")
    async with Client(server.uri, token=server.token) as client:
        assert await client.list_users(app) == []


async def test_the_token_is_in_no_log_no_representation_and_no_error(server, app, caplog, connect):
    caplog.set_level(logging.DEBUG)
    client = connect(server.uri, token="s3cret-of-ana", attempts=1)
    with pytest.raises(Unauthenticated) as refused:
        await client.create_session(app, "ana")
    nobody = connect("statepad://127.0.0.1:1", token="s3cret-of-ana", attempts=1)
    with pytest.raises(StoreUnavailable) as unreachable:
        await nobody.create_session(app, "ana")
    texts = [caplog.text, repr(client), str(client), repr(client._transport.address)]
    for caught in (refused, unreachable):
        texts += [repr(caught.value), "".join(traceback.format_exception(caught.value))]
    assert "s3cret" not in "".join(texts)
