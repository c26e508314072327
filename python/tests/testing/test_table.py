"""The contract over google-adk's session services and ours: docs/differences.md shows what comes of it.

With STATEPAD_WRITE_TABLE=1 the page is written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("sqlalchemy", reason="google-adk's database service needs it")
pytest.importorskip("redis", reason="google-adk's Redis service needs it")

from contract_services import CONTESTANTS, Places
from table import PAGE, page_with, table_of

from statepad.testing import Report, run

KNOWN = {
    "statepad": {
        # Its numbers are those of JSON in all languages: it refuses such an integer, and says so.
        "appending: an integer beyond 53 bits comes back exact",
    },
}
"""Cases that ours fails, with the reasons why that stays."""


@pytest.fixture(scope="module")
def reports(places: Places) -> Mapping[str, Report]:
    # Most of the time is waiting for disks.
    with ThreadPoolExecutor(3) as threads:
        started = {name: threads.submit(run, each.factory(places), name=name) for name, each in CONTESTANTS.items()}
        return {name: each.result() for name, each in started.items()}


@pytest.mark.timeout(600)
def test_the_page_shows_what_the_services_do(reports: Mapping[str, Report]) -> None:
    page = PAGE.read_text()
    wanted = page_with(table_of(reports), page)
    if os.environ.get("STATEPAD_WRITE_TABLE"):
        PAGE.write_text(wanted)
    assert page == wanted or os.environ.get("STATEPAD_WRITE_TABLE"), told(reports)


def test_statepad_fails_no_case_but_those_it_owns_up_to(reports: Mapping[str, Report]) -> None:
    assert {result.case.id for result in reports["statepad"].failed} == KNOWN["statepad"], told(reports)


def told(reports: Mapping[str, Report]) -> str:
    return "\n\n".join(report.text() for report in reports.values())
