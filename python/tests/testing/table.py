"""The table of session services in docs/differences.md, as a run of the contract gives it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from contract_services import CONTESTANTS

from statepad.testing import Case, Report, Status, all_cases

PAGE = Path(__file__).parents[3] / "docs" / "differences.md"
BEGIN = "<!-- services begin: STATEPAD_WRITE_TABLE=1 pytest python/tests/testing/test_table.py writes this part -->"
END = "<!-- services end -->"

CELLS: Mapping[Status, str] = {
    Status.PASSED: "",
    Status.FAILED: "✗",
    Status.DIFFERS: "✗",
    Status.NOT_RUN: "n/a",
}


def table_of(reports: Mapping[str, Report]) -> str:
    """The two tables: what google-adk's documentation decides, and what it leaves open."""
    decided = [case for case in all_cases() if case.source]
    open_cases = [case for case in all_cases() if not case.source]
    return "\n\n".join(
        [
            BEGIN,
            _versions(reports),
            f"Of {len(decided)} cases that google-adk's documentation decides, these fail (✗). n/a: cannot be asked.",
            _rows(decided, reports),
            f"Of {len(open_cases)} cases on which it is silent, these services do otherwise; no failures:",
            _rows(open_cases, reports),
            END,
        ]
    )


def page_with(table: str, page: str) -> str:
    """The page with this table between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{table}{after}"


def _versions(reports: Mapping[str, Report]) -> str:
    adk = next(iter(reports.values())).google_adk
    on = sorted({part for name in reports for part in CONTESTANTS[name].on().split(", ") if part})
    return f"google-adk {adk}, with {', '.join(on)}."


def _rows(cases: list[Case], reports: Mapping[str, Report]) -> str:
    found = {name: {result.case.id: result.status for result in report.results} for name, report in reports.items()}
    told = [case for case in cases if any(found[name][case.id] in (Status.FAILED, Status.DIFFERS) for name in found)]
    rows = [[case.name, *(CELLS[found[name][case.id]] for name in found)] for case in told]
    failing = [sum(found[name][case.id] in (Status.FAILED, Status.DIFFERS) for case in cases) for name in found]
    rows.append(["**number**", *(f"**{number}**" for number in failing)])
    heading = ["case", *(CONTESTANTS[name].heading for name in found)]
    line = f"|---|{':-:|' * len(found)}"
    first, *others = (f"| {' | '.join(cells)} |".replace("  ", " ") for cells in (heading, *rows))
    return "\n".join([first, line, *others])
