"""The data of the contract is complete, and says of google-adk what google-adk says."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest

from statepad.testing import all_cases
from statepad.testing.cases import OWN, judged, named_sources, shared_file

CASES = Path(__file__).parents[3] / "tests" / "cases"
NEWEST = "2.13.0"


@pytest.mark.skipif(version("google-adk") != NEWEST, reason="older versions say less")
@pytest.mark.parametrize("name", named_sources())
def test_google_adk_says_what_a_case_rests_on(name: str) -> None:
    assert named_sources()[name].holds()


def test_every_sentence_is_one_that_a_case_rests_on() -> None:
    used = {case.source for case in all_cases()}
    if version("google-adk") == NEWEST:
        assert used - {None} == {*named_sources().values()}
    assert used - {None} <= {*named_sources().values()}


def test_names_of_cases_are_unique() -> None:
    assert [name for name, times in Counter(case.id for case in all_cases()).items() if times > 1] == []


def test_every_case_says_why_it_matters() -> None:
    assert [case.id for case in all_cases() if len(case.why) < 20] == []


@pytest.mark.parametrize("name", judged()["files"])
def test_every_shared_case_is_judged_once(name: str) -> None:
    judgements = judged()["files"][name]
    found = [case for kind in ("taken", "left") for each in judgements[kind] for case in each["cases"]]
    given = [case["name"] for case in json.loads(shared_file(name).read_text())["cases"]]
    assert sorted(found) == sorted(given)


def test_every_file_of_shared_cases_is_judged_once() -> None:
    left = [name for each in judged()["left"] for name in each["files"]]
    assert sorted([*judged()["files"], *left]) == sorted(path.stem for path in CASES.glob("*.json"))


@pytest.mark.parametrize("group", OWN)
def test_every_own_case_is_in_the_contract(group: str) -> None:
    assert any(case.group == group for case in all_cases())


def test_each_member_of_events_that_is_installed_is_asked_for() -> None:
    from google.adk.events.event import Event
    from google.adk.events.event_actions import EventActions

    asked = {case.data["member"] for case in all_cases() if case.group == "members"}
    elsewhere = {"id", "timestamp", "partial", "actions", "author", "invocation_id", "state_delta"}
    assert asked | elsewhere == {*Event.model_fields, *EventActions.model_fields}


def test_the_wheel_brings_the_shared_cases_along() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert sorted(project["tool"]["hatch"]["build"]["hooks"]["custom"]["cases"]) == sorted(
        [*judged()["files"], "scope"]
    )
