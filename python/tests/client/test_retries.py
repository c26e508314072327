"""Requests that are repeated: when, under which identity, and what is told in the end."""

import asyncio
import email.utils
import ssl
import time

import httpx
import pytest

from statepad import (
    AppKey,
    Client,
    Closed,
    CommitUnknown,
    Forbidden,
    InvalidArgument,
    SessionKey,
    StateConflict,
    StatepadError,
    StoreUnavailable,
    TooLarge,
    TooManyRequests,
)
from statepad.transport import pause_after, pause_in

SESSION = {"id": "s", "appName": "a", "userId": "u", "state": {}, "events": [], "revision": 0, "lastUpdateTime": 1}
KEY = SessionKey("a", "u", "s")


def json(status, body, **headers):
    return httpx.Response(status, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


def refusal(status, code, **headers):
    return json(status, {"error": {"code": code, "message": "no"}}, **headers)


class Script:
    """A server that answers as it is told: one answer, or exception, after the other; then the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    async def __call__(self, request):
        await request.aread()
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            return await answer(request)
        return answer

    def client(self, **options):
        options = {"token": "t", "pause": 0.001, "timeout": 5.0, "attempts": 4, **options}
        make = lambda: httpx.AsyncClient(transport=httpx.MockTransport(self))  # noqa: E731
        return Client("statepad://localhost", http_client=make, **options)


CREATED = json(200, SESSION, etag='"1"')
CUT = httpx.RemoteProtocolError("peer closed connection without sending complete message body")
UNSENT = httpx.ConnectError("All connection attempts failed")


@pytest.mark.parametrize(
    "lost",
    [
        CUT,
        httpx.ReadError(""),
        httpx.WriteError(""),
        UNSENT,
        refusal(503, "STORE_UNAVAILABLE"),
        refusal(503, "CLOSED"),
        refusal(504, "COMMIT_UNKNOWN"),
        refusal(429, "TOO_MANY_REQUESTS"),
        refusal(408, "INVALID_ARGUMENT"),
        refusal(409, "STATE_CONFLICT", retry_after="0"),
        httpx.Response(502, html="<h1>Bad gateway</h1>"),
        httpx.Response(503, text="busy"),
        httpx.Response(429, text="slowly"),
        httpx.Response(200, html="<h1>Log in</h1>"),
        httpx.Response(200, text='{"id": "s", "appNa', headers={"content-type": "application/json"}),
        httpx.Response(200, json=[1]),
    ],
)
async def test_what_may_pass_is_sent_again_under_the_same_identity(lost):
    script = Script(lost, CREATED)
    client = script.client()
    assert (await client.create_session("a", "u")).etag == '"1"'
    first, second = script.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.content == second.content
    other = Script(CREATED)
    await other.client().create_session("a", "u")
    assert other.requests[0].headers["idempotency-key"] != first.headers["idempotency-key"]


async def test_an_event_is_sent_again_under_its_id():
    script = Script(CUT, json(200, {"event": {}, "revision": 1, "lastUpdateTime": 1}))
    await script.client().append_event(KEY, {"author": "ana"})
    first, second = script.requests
    assert first.content == second.content
    assert b'"id":"' in first.content
    assert "idempotency-key" not in first.headers


@pytest.mark.parametrize(
    ("answers", "kind", "count"),
    [
        # Nothing was sent, or the server says that it has done nothing.
        ([UNSENT], StoreUnavailable, 4),
        ([httpx.ConnectTimeout("")], StoreUnavailable, 4),
        ([refusal(503, "STORE_UNAVAILABLE")], StoreUnavailable, 4),
        ([httpx.Response(429, text="slowly")], TooManyRequests, 4),
        ([refusal(409, "STATE_CONFLICT")], StateConflict, 1),
        ([refusal(403, "FORBIDDEN")], Forbidden, 1),
        ([refusal(500, "INTERNAL")], StatepadError, 1),
        ([httpx.Response(404, text="no such page")], StoreUnavailable, 1),
        ([httpx.Response(413, text="too large")], TooLarge, 1),
        # It may have happened.
        ([CUT], CommitUnknown, 4),
        ([refusal(504, "COMMIT_UNKNOWN")], CommitUnknown, 4),
        ([httpx.Response(502, text="bad gateway")], CommitUnknown, 4),
        ([httpx.Response(200, text="hello")], CommitUnknown, 4),
        ([CUT, UNSENT], CommitUnknown, 4),
        ([CUT, refusal(403, "FORBIDDEN")], CommitUnknown, 2),
        ([CUT, refusal(500, "INTERNAL")], CommitUnknown, 2),
        ([CUT, httpx.Response(404, text="no such page")], CommitUnknown, 2),
        # An answer of the server to the same identity is final.
        ([CUT, refusal(409, "STATE_CONFLICT")], StateConflict, 2),
        ([UNSENT, CUT, refusal(409, "STATE_CONFLICT")], StateConflict, 3),
    ],
)
async def test_the_error_of_a_write_says_if_it_may_have_happened(answers, kind, count):
    script = Script(*answers)
    with pytest.raises(StatepadError) as caught:
        await script.client().update_state(AppKey("a"), {"app:a": 1})
    assert type(caught.value) is kind
    assert len(script.requests) == count


async def test_a_certificate_that_is_not_trusted_is_asked_for_once():
    untrusted = httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED]")
    untrusted.__cause__ = ssl.SSLCertVerificationError()
    script = Script(untrusted)
    with pytest.raises(StoreUnavailable, match="CERTIFICATE"):
        await script.client().create_session("a", "u")
    assert len(script.requests) == 1


@pytest.mark.parametrize("answer", [CUT, httpx.Response(502, text="bad gateway"), httpx.Response(200, text="hello")])
async def test_a_read_without_an_answer_is_an_unavailable_server(answer):
    script = Script(answer)
    with pytest.raises(StoreUnavailable):
        await script.client().get_session("a", "u", "s")
    assert len(script.requests) == 4


async def test_an_object_of_another_program_is_an_unavailable_server():
    script = Script(json(200, {"hello": "world"}))
    with pytest.raises(StoreUnavailable, match="has no id: it comes from another program"):
        await script.client().get_session("a", "u", "s")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirected_request_is_refused_and_the_token_goes_nowhere_else(status):
    moved = httpx.Response(status, headers={"location": "https://ana:secret@elsewhere.example/v1?secret=1"})
    for call in (
        lambda client: client.create_session("a", "u"),
        lambda client: client.get_session("a", "u", "s"),
        lambda client: anext(client.watch(KEY)),
    ):
        script = Script(moved)
        with pytest.raises(InvalidArgument, match="redirects to") as caught:
            await call(script.client())
        assert len(script.requests) == 1
        assert "secret" not in str(caught.value)


async def test_a_write_that_is_redirected_after_a_lost_answer_may_have_happened():
    script = Script(CUT, httpx.Response(307, headers={"location": "/elsewhere"}))
    with pytest.raises(CommitUnknown):
        await script.client().create_session("a", "u")


async def test_an_attempt_without_an_answer_is_sent_again_after_a_third_of_the_time():
    async def never(request):
        await asyncio.Event().wait()

    script = Script(never, CREATED)
    began = time.monotonic()
    await script.client(timeout=0.6).create_session("a", "u")
    assert time.monotonic() - began >= 0.2


async def test_a_server_that_never_answers_is_given_up_in_time():
    async def never(request):
        await asyncio.Event().wait()

    for call, kind in (
        (lambda client: client.create_session("a", "u"), CommitUnknown),
        (lambda client: client.get_session("a", "u", "s"), StoreUnavailable),
    ):
        began = time.monotonic()
        with pytest.raises(kind, match="does not answer within"):
            await call(Script(never).client(timeout=0.3))
        assert 0.3 <= time.monotonic() - began < 10


async def test_the_server_may_ask_for_a_longer_pause():
    script = Script(refusal(503, "STORE_UNAVAILABLE", retry_after="1"), CREATED)
    began = time.monotonic()
    await script.client().create_session("a", "u")
    assert time.monotonic() - began >= 1.0
    # One beyond the time of the call is not waited for.
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        await Script(refusal(503, "STORE_UNAVAILABLE", retry_after="60")).client().create_session("a", "u")
    assert time.monotonic() - began < 30


def test_pauses_double_with_jitter_up_to_a_limit():
    for attempt, longest in ((1, 0.1), (2, 0.2), (5, 1.6), (12, 5.0), (2000, 5.0)):
        pauses = {pause_after(attempt, 0.1, 5.0) for _ in range(50)}
        assert len(pauses) > 10
        assert all(longest / 2 <= pause <= longest for pause in pauses)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("3", 3, 3), ("", 0, 0), ("soon", 0, 0), ("-1", 0, 0), ("Fri, 01 Jan 1999 00:00:00 GMT", 0, 0), ("²", 0, 0)],
)
def test_a_pause_of_an_answer_is_seconds_or_a_date(text, least, most):
    headers = httpx.Headers([(b"retry-after", text.encode("latin-1"))])
    assert least <= pause_in(headers) <= most


def test_a_pause_of_an_answer_may_be_a_date():
    later = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert 55 < pause_in(httpx.Headers({"retry-after": later})) <= 60


async def test_headers_are_sent_with_each_request_and_asked_for_before_each():
    names = iter("abc")

    async def headers():
        return {"X-Name": next(names), "Authorization": "Basic no"}

    script = Script(CUT, CREATED)
    await script.client(headers=headers).create_session("a", "u")
    assert [request.headers["x-name"] for request in script.requests] == ["a", "b"]
    assert {request.headers["authorization"] for request in script.requests} == {"Bearer t"}
    for wrong in ({"a b\n": "s3cret"}, {"x": "s3cr\u20act"}, {"x": 3}, 7):
        with pytest.raises(InvalidArgument) as caught:
            await script.client(headers=wrong).create_session("a", "u")
        assert "s3cr" not in str(caught.value)


async def test_an_error_of_the_function_for_headers_is_that_of_the_call():
    def headers():
        raise LookupError("no login")

    script = Script(CREATED)
    with pytest.raises(LookupError, match="no login"):
        await script.client(headers=headers).create_session("a", "u")
    assert script.requests == []


async def test_a_call_that_is_cancelled_ends_at_once():
    async def never(request):
        await asyncio.Event().wait()

    client = Script(never).client()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.create_session("a", "u")
    await asyncio.wait_for(client.aclose(), 1)


async def test_a_closed_client_refuses_calls_and_waits_for_its_writes():
    answer = asyncio.Event()

    async def late(request):
        await answer.wait()
        return CREATED

    client = Script(late).client()
    write = asyncio.create_task(client.create_session("a", "u"))
    await asyncio.sleep(0)
    flushing = asyncio.create_task(client.flush())
    closing = asyncio.create_task(client.aclose())
    await asyncio.sleep(0.02)
    assert not flushing.done()
    assert not closing.done()
    with pytest.raises(Closed):
        await client.get_session("a", "u", "s")
    answer.set()
    assert (await write).id == "s"
    await closing
    await flushing
    await client.close()
    for call in (lambda: client.create_session("a", "u"), lambda: client.append_event(KEY, {})):
        with pytest.raises(Closed):
            await call()
    with pytest.raises(Closed):
        client.watch(KEY)


async def test_the_end_of_a_client_waits_for_writes_that_wait_for_their_turn():
    answer = asyncio.Event()

    async def late(request):
        await answer.wait()
        return json(200, {"event": {}, "revision": 1, "lastUpdateTime": 1})

    made = []
    script = Script(late, CUT, json(200, {"event": {}, "revision": 2, "lastUpdateTime": 1}))

    def make():
        made.append(httpx.AsyncClient(transport=httpx.MockTransport(script)))
        return made[-1]

    client = Client("statepad://localhost", http_client=make, pause=0.001)
    writes = [asyncio.create_task(client.append_event(KEY, {})) for _ in range(2)]
    await asyncio.sleep(0)
    closing = asyncio.create_task(client.aclose())
    await asyncio.sleep(0)
    answer.set()
    assert [(await write).revision for write in writes] == [1, 2]
    await closing
    assert [http.is_closed for http in made] == [True]
