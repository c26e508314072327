"""Runs cases over a service: one case, or all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from uuid import uuid4

import google.adk.version

from statepad.testing.cases import Case, all_cases
from statepad.testing.comparing import Mismatch, describe
from statepad.testing.members import run_member
from statepad.testing.races import run_creators, run_first_sessions, run_killed, run_writers
from statepad.testing.report import Report, Result, Status
from statepad.testing.steps import Scenario, Unsupported
from statepad.testing.subject import Factory, NotRun, Subject

TIMEOUT = 30.0
"""Seconds that a case may take."""


def run(
    factory: Factory,
    *,
    name: str | None = None,
    shared: bool | None = None,
    timeout: float = TIMEOUT,
    cases: Iterable[Case] | None = None,
) -> Report:
    """Runs all cases over the services of a factory.

    Args:
        factory: answers a service, a promise of one, or a context manager (also an asynchronous one) over one. It is
            called again for a second service over the same storage, and pickled for another process.
        name: how the report names the service; its class by default.
        shared: whether two services of the factory share their sessions; found out by default.
        timeout: seconds that a case may take.
        cases: the cases to run; all by default.

    Returns:
        The report: each case with what came of it.
    """
    chosen = all_cases() if cases is None else tuple(cases)
    return asyncio.run(run_all(Subject(factory, shared=shared), chosen, name=name, seconds=timeout))


async def run_all(subject: Subject, cases: Iterable[Case], *, name: str | None, seconds: float) -> Report:
    """As `run`, within a loop that runs already. Closes the subject."""
    try:
        title = name or type(await subject.service()).__name__
        results = []
        for case in cases:
            results.append(await run_case(subject, case, seconds=seconds))
            if results[-1].timed_out:
                await subject.close()
        return Report(title, google.adk.version.__version__, tuple(results))
    finally:
        await subject.close()


async def run_case(subject: Subject, case: Case, *, seconds: float = TIMEOUT) -> Result:
    """Runs one case, for so many seconds at most. What goes wrong is in the result; nothing is raised."""
    if case.since is not None and _numbers(google.adk.version.__version__) < _numbers(case.since):
        return Result(case, Status.NOT_RUN, f"google-adk {google.adk.version.__version__} is older than {case.since}")
    try:
        async with asyncio.timeout(seconds):
            await subject.check(case.needs)
            await RUNS[case.run](subject, case)
    except Mismatch as error:
        return Result(case, Status.FAILED if case.source else Status.DIFFERS, str(error))
    except NotRun as error:
        return Result(case, Status.NOT_RUN, str(error))
    except Unsupported as error:
        return Result(case, Status.NOT_RUN, str(error))
    except TimeoutError:
        text = f"no answer within {seconds:g} s"
        return Result(case, Status.FAILED if case.source else Status.DIFFERS, text, timed_out=True)
    except Exception as error:
        return Result(case, Status.FAILED if case.source else Status.DIFFERS, describe(error))
    return Result(case, Status.PASSED)


def _tag() -> str:
    return uuid4().hex[:8]


async def _steps(subject: Subject, case: Case) -> None:
    await Scenario(subject, _tag(), _ignored(case.data)).run(case.data["steps"])


async def _session(subject: Subject, case: Case) -> None:
    """The steps of session.json: its session is created first, and meant where a step names none."""
    meant = {"append": {"to": "a"}, "get": {"id": "s"}}
    steps = [{**meant.get(step["do"], {}), **step} for step in case.data["steps"]]
    first = {"do": "create", "as": "a", "id": "s", "state": case.data.get("state", {})}
    await Scenario(subject, _tag(), _ignored(case.data)).run([first, *steps])


async def _delta(subject: Subject, case: Case) -> None:
    """A case of delta.json: `before` is given at creation, `set` appended, and `after` read."""
    given = case.data
    await Scenario(subject, _tag()).run(
        [
            {"do": "create", "as": "a", "id": "s", "state": given.get("before", {})},
            {
                "do": "append",
                "to": "a",
                "event": {"id": "e", "set": given["set"]},
                "expect": {"state": {**given["after"], **given.get("temp", {})}},
            },
            {"do": "get", "id": "s", "expect": {"state": given["after"]}},
        ]
    )


async def _scopes(subject: Subject, case: Case) -> None:
    """All keys of scope.json are written by one event, and looked for in every place."""
    keys = [each for each in case.data["keys"] if "\x00" not in each["key"]]
    by_scope: dict[str, dict[str, int]] = {"session": {}, "app": {}, "user": {}, "temp": {}}
    for number, each in enumerate(keys):
        by_scope[each["scope"]][each["key"]] = number
    bare = {
        scope: {each["bare"]: number for number, each in enumerate(keys) if each["scope"] == scope}
        for scope in ("app", "user")
    }
    shared = {**by_scope["app"], **by_scope["user"]}
    written = {each["key"]: number for number, each in enumerate(keys)}
    await Scenario(subject, _tag()).run(
        [
            {"do": "create", "as": "a", "id": "s"},
            {"do": "append", "to": "a", "event": {"id": "e", "set": written}, "expect": {"state": written}},
            {"do": "get", "id": "s", "expect": {"state": {**by_scope["session"], **shared}}},
            {"do": "create", "id": "t", "expect": {"state": shared}},
            {"do": "create", "user": "v", "id": "t", "expect": {"state": by_scope["app"]}},
            {"do": "create", "app": "other", "id": "t", "expect": {"state": {}}},
            {"do": "appState", "expect": bare["app"]},
            {"do": "userState", "expect": bare["user"]},
        ]
    )


def _with_app(function: Callable[[Subject, str, Mapping[str, Any]], Awaitable[None]]) -> Run:
    async def with_app(subject: Subject, case: Case) -> None:
        await function(subject, f"app-{_tag()}", case.data)

    return with_app


def _ignored(data: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(data.get("except", ()))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


Run = Callable[[Subject, Case], Awaitable[None]]

RUNS: Mapping[str, Run] = {
    "steps": _steps,
    "session": _session,
    "delta": _delta,
    "scopes": _scopes,
    "member": _with_app(run_member),
    "writers": _with_app(run_writers),
    "creators": _with_app(run_creators),
    "first sessions": _with_app(run_first_sessions),
    "killed": _with_app(run_killed),
}
"""The functions that carry cases out, by `run` of a case."""
