"""The contract of google-adk's session services, as tests for any `BaseSessionService`.

In a file of tests:

    from statepad.testing import conformance
    from my_package import MySessionService

    TestMySessionService = conformance(MySessionService)

From the command line: `python -m statepad.testing my_package:MySessionService`. In a program: `run(MySessionService)`.

Each case says why it matters, and names the sentence of google-adk's documentation that it rests on. Where the
documentation is silent, the case is listed and does not count.
"""

from statepad.testing.cases import Case, all_cases
from statepad.testing.report import Report, Result, Status
from statepad.testing.running import run
from statepad.testing.sources import Source
from statepad.testing.subject import Factory
from statepad.testing.suite import conformance

__all__ = ["Case", "Factory", "Report", "Result", "Source", "Status", "all_cases", "conformance", "run"]
