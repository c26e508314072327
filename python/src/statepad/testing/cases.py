"""The cases of the contract: where they come from, why each matters, and the sentence of google-adk it rests on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from statepad.testing.sources import Source

HERE = Path(__file__).parent / "cases"
PAGES = "https://adk.dev/"
OWN = ("creating", "reading", "appending", "sharing")


@dataclass(frozen=True)
class Case:
    """One expectation of a session service.

    Attributes:
        group: the file that it comes from, such as `reading`.
        name: a sentence that says what holds.
        why: the reason why it matters to a program.
        source: where google-adk says so; None where it is silent: then the case never counts as a failure.
        run: the name of the function of `statepad.testing.running` that carries it out.
        data: what that function takes.
        needs: `second` for two services over one storage, `process` for another process.
        since: the first version of google-adk that it applies to, as `2.13`.
    """

    group: str
    name: str
    why: str
    source: Source | None
    run: str = "steps"
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    needs: frozenset[str] = frozenset()
    since: str | None = None

    @property
    def id(self) -> str:
        """The name with its group, as reports and `known` show it."""
        return f"{self.group}: {self.name}"


@cache
def sources() -> Mapping[str, Source]:
    """The sentences of google-adk, by the names that the cases use: those that the installed version has."""
    return {name: source for name, source in named_sources().items() if source.holds()}


def named_sources() -> Mapping[str, Source]:
    """All sentences that the cases rest on, also those of other versions of google-adk."""
    named: dict[str, dict[str, str]] = _read(HERE / "sources.json")["sources"]
    return {
        name: Source(each["quote"], each.get("object") or PAGES + each["page"], is_page="page" in each)
        for name, each in named.items()
    }


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case, in the order of reports: those of this package, those shared with other languages, members."""
    from statepad.testing.members import member_cases

    return (*_own(), *_shared(), *member_cases())


def shared_file(name: str) -> Path:
    """The file of cases that all languages share: a copy in the wheel, the one of the repository in a checkout."""
    packed = HERE / "shared" / f"{name}.json"
    return packed if packed.exists() else Path(__file__).parents[4] / "tests" / "cases" / f"{name}.json"


def judged() -> dict[str, Any]:
    """The file that says of each shared case whether it applies to Python, and why."""
    return _read(HERE / "shared.json")


def _own() -> Iterator[Case]:
    for group in OWN:
        for given in _read(HERE / f"{group}.json")["cases"]:
            yield Case(
                group=group,
                name=given["name"],
                why=given["why"],
                source=_source(given["source"]),
                run=given.get("run", "steps"),
                data=given,
                needs=frozenset(given.get("needs", ())),
                since=given.get("since"),
            )


def _shared() -> Iterator[Case]:
    scopes = _read(shared_file("scope"))["cases"]
    yield Case(
        "scope",
        "each key goes to the scope of its prefix",
        "Prefixes decide where a key lives: upper case, blanks and other words before a colon are no prefix.",
        _source("scopes"),
        run="scopes",
        data={"keys": scopes},
    )
    runs = {"session": "session", "sessions": "steps", "delta": "delta"}
    for group, judgements in judged()["files"].items():
        given = {each["name"]: each for each in _read(shared_file(group))["cases"]}
        reasons = {name: taken for taken in judgements["taken"] for name in taken["cases"]}
        for name, each in given.items():
            if name in reasons:
                taken = reasons[name]
                data = {**each, "except": taken.get("except", [])}
                yield Case(group, name, taken["why"], _source(taken["source"]), run=runs[group], data=data)


def _source(name: str | None) -> Source | None:
    return None if name is None else sources().get(name)


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
