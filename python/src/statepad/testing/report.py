"""The outcomes of the cases, as text and as JSON."""

from __future__ import annotations

import enum
import platform
from collections import Counter
from dataclasses import dataclass
from typing import Any

from statepad.testing.cases import Case


class Status(enum.Enum):
    """The outcome of a case."""

    PASSED = "passed"
    FAILED = "failed"
    """google-adk says so, and the service does otherwise."""
    DIFFERS = "not specified"
    """The service does otherwise, and google-adk is silent. It is no failure."""
    NOT_RUN = "not run"
    """The case cannot be asked of this service."""


@dataclass(frozen=True)
class Result:
    """A case with what came of it; `message` says what was found instead, or why it was not run."""

    case: Case
    status: Status
    message: str = ""
    timed_out: bool = False

    def explained(self) -> str:
        """The message with the reason why the case matters and the sentence that it rests on."""
        source = f"google-adk says: {self.case.source}" if self.case.source else "google-adk does not say it"
        return f"{self.message}\n  why it matters: {self.case.why}\n  {source}"


@dataclass(frozen=True)
class Report:
    """All cases over one service."""

    service: str
    google_adk: str
    results: tuple[Result, ...]

    def of(self, *statuses: Status) -> tuple[Result, ...]:
        """The results with one of these outcomes, in the order of the cases."""
        return tuple(result for result in self.results if result.status in statuses)

    @property
    def failed(self) -> tuple[Result, ...]:
        """The cases that google-adk's documentation decides, and that do not hold."""
        return self.of(Status.FAILED)

    def summary(self) -> str:
        """One line with the number of each outcome."""
        count = Counter(result.status for result in self.results)
        return ", ".join(f"{count[status]} {status.value}" for status in Status)

    def text(self) -> str:
        """The report for people: a line for each case that did not pass, and a summary."""
        lines = [f"{self.service}, google-adk {self.google_adk}, Python {platform.python_version()}"]
        for status in (Status.FAILED, Status.DIFFERS, Status.NOT_RUN):
            found = self.of(status)
            if found:
                lines += ["", f"{HEADINGS[status]}:"]
                lines += [f"- {result.case.id}\n    {_indented(result)}" for result in found]
        return "\n".join([*lines, "", self.summary()])

    def json(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "service": self.service,
            "google_adk": self.google_adk,
            "python": platform.python_version(),
            "cases": [
                {
                    "case": result.case.id,
                    "status": result.status.value,
                    **({"message": result.message} if result.message else {}),
                    "why": result.case.why,
                    "documented": str(result.case.source) if result.case.source else None,
                }
                for result in self.results
            ],
        }


HEADINGS = {
    Status.FAILED: "Failed",
    Status.DIFFERS: "Otherwise than expected, where google-adk's documentation is silent; no failures",
    Status.NOT_RUN: "Not run",
}


def _indented(result: Result) -> str:
    text = result.message if result.status is Status.NOT_RUN else result.explained()
    return text.replace("\n", "\n    ")
