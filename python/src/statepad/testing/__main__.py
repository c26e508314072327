"""`python -m statepad.testing MODULE:FACTORY`: runs the contract over a session service and prints the report."""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import sys
from typing import Any

from statepad.testing.cases import Case, all_cases
from statepad.testing.running import TIMEOUT, run


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and answers its exit status: 1 when a case failed that the documentation decides."""
    parser = argparse.ArgumentParser(prog="python -m statepad.testing", description=main_description())
    parser.add_argument("factory", nargs="?", help="the class or function that makes the service, as module:name")
    parser.add_argument("args", nargs="*", help="texts that the factory is called with")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--list", action="store_true", help="print the cases, why they matter and what they rest on")
    parser.add_argument("--only", metavar="TEXT", help="run the cases whose id contains TEXT")
    parser.add_argument("--strict", action="store_true", help="cases that google-adk does not decide count, too")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds for a case (default: %(default)s)")
    options = parser.parse_args(arguments)
    cases = [case for case in all_cases() if options.only is None or options.only in case.id]
    if options.list:
        print("\n\n".join(map(told, cases)))
        return 0
    if options.factory is None:
        parser.error("name the factory as module:name")
    report = run(factory_of(options.factory, options.args), timeout=options.timeout, cases=cases)
    print(json.dumps(report.json(), indent=2, ensure_ascii=False) if options.json else report.text())
    counted = [result for result in report.results if result.status.value in COUNTED[options.strict]]
    return 1 if counted else 0


COUNTED = {False: {"failed"}, True: {"failed", "not specified"}}


def main_description() -> str:
    """The text of `--help`."""
    return "Runs the contract of google-adk's session services over a BaseSessionService."


def factory_of(name: str, arguments: list[str]) -> Any:
    """The factory that `module:name` names, found from the current folder, with its arguments."""
    module, _, path = name.partition(":")
    if not path:
        raise SystemExit(f"{name!r} must be module:name, such as my_package:MySessionService")
    sys.path.insert(0, os.getcwd())
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return functools.partial(found, *arguments) if arguments else found


def told(case: Case) -> str:
    """A case for `--list`."""
    source = f"google-adk says: {case.source}" if case.source else "google-adk does not say it; it never counts"
    return f"{case.id}\n  {case.why}\n  {source}"


if __name__ == "__main__":
    sys.exit(main())
