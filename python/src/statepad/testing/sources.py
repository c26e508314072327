"""Sentences of google-adk, in its docstrings and in its documentation."""

from __future__ import annotations

import inspect
import pydoc
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """A sentence of google-adk.

    Attributes:
        quote: the sentence.
        place: the address of its page, or the name of the Python object whose source text has it.
        is_page: it is on a page.
    """

    quote: str
    place: str
    is_page: bool

    def __str__(self) -> str:
        """The sentence with its place."""
        return f'"{self.quote}" ({self.place})'

    def holds(self) -> bool:
        """The google-adk that is installed says so. Pages have no versions: they hold for all of them."""
        if self.is_page:
            return True
        found: Any = pydoc.locate(self.place)
        return found is not None and _plain(self.quote) in _plain(inspect.getsource(found))


def _plain(text: str) -> str:
    """A text without line breaks, comment signs and the quotation marks of texts in several parts."""
    return "".join(text.replace('"', "").replace("#", "").split())
