"""A service with one fault fails the cases that this fault concerns, and no others."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from broken_services import IN_FILES, IN_MEMORY, Hangs, Sound, in_file
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from table import PAGE

from statepad.testing import Case, Factory, Status, all_cases, run

EXPECTED: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_name("broken_services.json").read_text())[
    "services"
]

UNBROKEN = {
    # A fault that fails one of these fails nearly all cases.
    "sessions: a session without an initial state is empty",
    "sessions: the state of an app or user that nobody wrote to is empty",
    "delta: a key set to what it is already is a change",
}

IN_FILES_ASKED = [case for case in all_cases() if case.group not in ("members", "delta")]
"""The cases that a fault of storing in files may concern."""

BY_CHANCE = {
    "sharing: a counter of the session, read again after a refusal, is exact",
    "sharing: a counter of the app, read right before each write, is exact",
}
"""Cases that google-adk's SqliteSessionService passes or fails by the moment of its reads."""


@pytest.fixture(scope="module")
def sound() -> dict[str, set[str]]:
    return outcomes(Sound)


@pytest.fixture(scope="module")
def sound_in_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    return outcomes(partial(in_file, SqliteSessionService, tmp_path_factory.mktemp("sound")), IN_FILES_ASKED)


@pytest.mark.parametrize("kind", IN_MEMORY, ids=lambda kind: kind.__name__)
def test_a_fault_in_memory_fails_its_cases_alone(kind: type[Sound], sound: dict[str, set[str]]) -> None:
    assert differences(sound, outcomes(kind)) == expected(kind)


@pytest.mark.parametrize("kind", IN_FILES, ids=lambda kind: kind.__name__)
def test_a_fault_in_files_fails_its_cases_alone(
    kind: type[SqliteSessionService], sound_in_file: dict[str, set[str]], tmp_path: Path
) -> None:
    found = without_chance(outcomes(partial(in_file, kind, tmp_path), IN_FILES_ASKED))
    assert differences(without_chance(sound_in_file), found) == expected(kind)


def test_every_fault_is_found_and_expected_faults_exist() -> None:
    assert EXPECTED.keys() == {kind.__name__ for kind in (*IN_MEMORY, *IN_FILES)}
    assert all(EXPECTED.values())


def test_each_case_is_failed_by_some_service() -> None:
    """A case that nothing fails asks for nothing. The services are those here, and google-adk's own."""
    failed = {case for each in EXPECTED.values() for what in each.values() for case in what}
    page = PAGE.read_text()
    never = {case.id for case in all_cases() if case.id not in failed and f"| {case.name} |" not in page}
    assert {case for case in never if not case.startswith("members: ")} == UNBROKEN


def test_a_service_that_hangs_fails_in_time_and_hinders_no_other_case() -> None:
    chosen = [case for case in all_cases() if case.group == "creating"]
    report = run(Hangs, timeout=0.3, cases=chosen)
    assert {result.case.name: result.message for result in report.of(Status.FAILED)} == {
        "a taken id is refused, and the old session stays": "no answer within 0.3 s",
        "a deleted session is gone from reads and lists": "no answer within 0.3 s",
    }


def outcomes(factory: Factory, cases: Iterable[Case] | None = None) -> dict[str, set[str]]:
    report = run(factory, cases=cases)
    return {
        "fails": {result.case.id for result in report.of(Status.FAILED, Status.DIFFERS)},
        "not run": {result.case.id for result in report.of(Status.NOT_RUN)},
    }


def differences(sound: dict[str, set[str]], found: dict[str, set[str]]) -> dict[str, set[str]]:
    told = {
        "fails": found["fails"] - sound["fails"],
        "passes": sound["fails"] - found["fails"],
        "not run": found["not run"] - sound["not run"],
    }
    return {what: cases for what, cases in told.items() if cases}


def without_chance(found: dict[str, set[str]]) -> dict[str, set[str]]:
    return {what: cases - BY_CHANCE for what, cases in found.items()}


def expected(kind: type[Any]) -> dict[str, set[str]]:
    return {what: set(cases) for what, cases in EXPECTED[kind.__name__].items()}
