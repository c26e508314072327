"""Brings the cases that all languages share into the wheel, and into the source distribution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "statepad/testing/cases/shared"


class SharedCases(BuildHookInterface[Any]):
    """Copies the cases that ``cases`` of the configuration names: the repository has them once, in tests/cases."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the files to what is built. A source distribution has them already."""
        folder = Path(self.root).parent / "tests" / "cases"
        place = f"src/{PLACE}" if self.target_name == "sdist" else PLACE
        if folder.is_dir():
            for name in self.config["cases"]:
                build_data["force_include"][str(folder / f"{name}.json")] = f"{place}/{name}.json"
