"""The ways to run the contract: a file of tests, the command, a function; and the factories that they take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from broken_services import ListsEvents, Sound
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.in_memory_session_service import InMemorySessionService

from statepad.testing import Case, Status, all_cases, conformance, run
from statepad.testing.__main__ import main

HERE = Path(__file__).parent
EVENTS_IN_LISTS = "reading: a list has no events"


def cases_of(*words: str) -> list[Case]:
    return [case for case in all_cases() if any(word in case.id for word in words)]


def pytest_of(folder: Path, text: str) -> tuple[int, str]:
    """Runs pytest over a file with this text, as another package would."""
    (folder / "test_mine.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(HERE)])}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_a_file_of_tests_has_three_lines(tmp_path: Path) -> None:
    text = """
from statepad.testing import conformance
from google.adk.sessions.in_memory_session_service import InMemorySessionService
TestMine = conformance(InMemorySessionService)
"""
    status, output = pytest_of(tmp_path, text)
    assert status == 0, output
    assert " passed" in output


def test_a_failure_says_why_it_matters_and_what_it_rests_on(tmp_path: Path) -> None:
    text = """
from statepad.testing import conformance
from broken_services import ListsEvents
TestMine = conformance(ListsEvents)
"""
    status, output = pytest_of(tmp_path, text)
    assert status == 1
    assert "1 failed" in output
    assert "why it matters: A list of long conversations must stay short." in output
    assert "The events and states are not set within each Session object." in output


def test_a_known_failure_is_expected_until_it_holds(tmp_path: Path) -> None:
    text = f"""
from statepad.testing import conformance
from broken_services import ListsEvents, Sound
TestBroken = conformance(ListsEvents, known={{{EVENTS_IN_LISTS!r}: "issue 1"}})
TestRepaired = conformance(Sound, known={{{EVENTS_IN_LISTS!r}: "issue 1"}})
"""
    status, output = pytest_of(tmp_path, text)
    assert status == 1
    assert "1 failed" in output
    assert f"it holds by now: take {EVENTS_IN_LISTS!r} off the known failures" in output


def test_strict_counts_what_google_adk_does_not_say(tmp_path: Path) -> None:
    text = """
from statepad.testing import conformance
from broken_services import Sound
TestMine = conformance(Sound, strict=True)
"""
    status, output = pytest_of(tmp_path, text)
    assert status == 1
    assert "google-adk does not say it" in output


def test_a_known_failure_of_no_case_is_refused() -> None:
    with pytest.raises(ValueError, match=r"there are no cases named \['reading: nothing'\]"):
        conformance(Sound, known={"reading: nothing": "?"})


def test_the_command_prints_a_report_and_fails_for_failures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broken_services:ListsEvents", "--only", "a list"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("ListsEvents, google-adk ")
    assert f"Failed:\n- {EVENTS_IN_LISTS}\n" in printed
    assert main(["broken_services:Sound", "--only", "reading: a list"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("4 passed, 0 failed, 0 not specified, 0 not run")


def test_the_command_fails_for_differences_only_when_it_is_strict(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["broken_services:ListsEverybodyForTheEmptyUser", "--only", "the empty user"]
    assert main(options) == 0
    assert main([*options, "--strict"]) == 1


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["broken_services:ListsEvents", "--json", "--only", EVENTS_IN_LISTS])
    report = json.loads(capsys.readouterr().out)
    assert report["service"] == "ListsEvents"
    assert report["cases"] == [
        {
            "case": EVENTS_IN_LISTS,
            "status": "failed",
            "message": "step 3 (list): the events of the list is ['e'], not []",
            "why": "A list of long conversations must stay short.",
            "documented": '"The events and states are not set within each Session object." '
            "(google.adk.sessions.base_session_service.ListSessionsResponse)",
        }
    ]


def test_the_command_lists_the_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--only", "the empty user"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("reading: a list for the empty user has no sessions of others\n")
    assert printed.rstrip().endswith("google-adk does not say it; it never counts")


def test_the_command_gives_texts_to_the_factory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    factory = "google.adk.sessions.sqlite_session_service:SqliteSessionService"
    assert main([factory, str(tmp_path / "a.db"), "--only", "a second service"]) == 0
    assert "2 passed" in capsys.readouterr().out
    assert (tmp_path / "a.db").exists()


@pytest.mark.parametrize("name", ["nothing", "no_module"])
def test_the_command_wants_a_factory_with_its_module(name: str) -> None:
    with pytest.raises(SystemExit, match=f"'{name}' must be module:name"):
        main([name])


class Closing(InMemorySessionService):
    closed = 0

    async def close(self) -> None:
        type(self).closed += 1


async def promised() -> BaseSessionService:
    return Closing()


@asynccontextmanager
async def asynchronous() -> AsyncIterator[BaseSessionService]:
    yield InMemorySessionService()
    Closing.closed += 1


@contextmanager
def synchronous() -> Iterator[BaseSessionService]:
    yield InMemorySessionService()
    Closing.closed += 1


@pytest.mark.parametrize("factory", [Closing, promised, asynchronous, synchronous])
def test_a_factory_answers_a_service_a_promise_or_a_context_manager(factory: Any) -> None:
    Closing.closed = 0
    report = run(factory, cases=cases_of("reading: a list"))
    assert len(report.of(Status.PASSED)) == 4
    assert Closing.closed == 1


def test_a_factory_that_answers_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="the factory must answer a BaseSessionService or a context manager over one"):
        run(dict, cases=cases_of("reading: a list"))  # type: ignore[arg-type]


def test_a_factory_that_no_other_process_can_import_skips_its_cases() -> None:
    service = Sound()
    report = run(lambda: service, cases=cases_of("two processes"))
    assert {result.status for result in report.results} == {Status.NOT_RUN}
    assert all("another process cannot load the factory" in result.message for result in report.results)


def test_services_that_do_not_share_are_found_out() -> None:
    report = run(ListsEvents, cases=cases_of("a second service reads"))
    assert [result.message for result in report.results] == ["two services of the factory do not share their sessions"]
