"""ADK's own errors, in the place of those of the client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError

from ..errors import SessionExists, SessionNotFound, SessionStale

if TYPE_CHECKING:
    from google.adk.errors._stale_session_error import StaleSessionError
else:
    try:
        from google.adk.errors._stale_session_error import StaleSessionError
    except ImportError:

        class StaleSessionError(ValueError):
            """Raised when others have written to a session since it was read. ADK has it since version 2.7."""


__all__ = ["AlreadyExistsError", "SessionNotFoundError", "StaleSessionError", "adk_errors"]


@contextmanager
def adk_errors() -> Iterator[None]:
    """Raises ADK's errors for those of the client that have a counterpart there. Its cause has the details."""
    try:
        yield
    except SessionNotFound as error:
        raise SessionNotFoundError(error.message) from error
    except SessionExists as error:
        raise AlreadyExistsError(error.message) from error
    except SessionStale as error:
        raise StaleSessionError(
            f"The session has been modified in storage since it was loaded. Read it again. ({error.message})"
        ) from error
