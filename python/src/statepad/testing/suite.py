"""The cases as a class of tests for pytest."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from statepad.testing.cases import Case, all_cases
from statepad.testing.report import Status
from statepad.testing.running import TIMEOUT, run_case
from statepad.testing.subject import Factory, Subject


def conformance(
    factory: Factory,
    *,
    known: Mapping[str, str] | None = None,
    shared: bool | None = None,
    strict: bool = False,
    timeout: float = TIMEOUT,
) -> type:
    """A class of tests, one for each case. Give it a name that pytest collects.

        from statepad.testing import conformance
        from my_package import MySessionService

        TestMySessionService = conformance(MySessionService)

    A case that google-adk's documentation does not decide is an expected failure where it does not hold; one that
    cannot be asked of the service is skipped.

    Args:
        factory: answers a service, a promise of one, or a context manager (also an asynchronous one) over one. It has
            to be importable for the cases with a second process: a class, a function of a module, or a
            `functools.partial` of one.
        known: failures that are known, by the id of the case (`"reading: a list has no events"`), with the reason.
            Such a case is an expected failure, and it fails as soon as it holds, or as there is no such case.
        shared: whether two services of the factory share their sessions; found out by default.
        strict: cases that the documentation does not decide count, too.
        timeout: seconds that a case may take.

    Returns:
        The class.

    Raises:
        ImportError: pytest is not installed.
        ValueError: `known` names a case that there is not.
    """
    import pytest

    reasons = dict(known or {})
    cases = all_cases()
    if unknown := reasons.keys() - {case.id for case in cases}:
        raise ValueError(f"there are no cases named {sorted(unknown)}; python -m statepad.testing --list shows all")

    class Conformance:
        """The contract of session services of google-adk."""

        runner: asyncio.Runner
        subject: Subject

        @classmethod
        def setup_class(cls) -> None:
            """Begins a loop of asyncio for all cases."""
            cls.runner = asyncio.Runner()
            cls.subject = Subject(factory, shared=shared)

        @classmethod
        def teardown_class(cls) -> None:
            """Closes the services and the loop."""
            with cls.runner as runner:
                runner.run(cls.subject.close())

        @pytest.mark.parametrize("case", cases, ids=[slug(case) for case in cases])
        def test_case(self, case: Case) -> None:
            """Runs one case."""
            result = self.runner.run(run_case(self.subject, case, seconds=timeout))
            if result.timed_out:
                self.runner.run(self.subject.close())
            if result.status is Status.NOT_RUN:
                pytest.skip(result.message)
            if case.id in reasons:
                if result.status is Status.PASSED:
                    pytest.fail(f"it holds by now: take {case.id!r} off the known failures", pytrace=False)
                pytest.xfail(reasons[case.id])
            if result.status is Status.FAILED or (strict and result.status is Status.DIFFERS):
                pytest.fail(result.explained(), pytrace=False)
            if result.status is Status.DIFFERS:
                pytest.xfail(f"google-adk does not say it: {result.message}")

    return Conformance


def slug(case: Case) -> Any:
    """The id of a case as pytest takes it on its command line."""
    return re.sub(r"[^a-z0-9_.]+", "-", case.id.lower()).strip("-")
