"""A session service for google-adk over a statepad server.

Example:
    >>> from statepad.adk import StatepadSessionService
    >>> sessions = StatepadSessionService("statepad://127.0.0.1:8377", token=TOKEN)
    >>> runner = Runner(app_name="shop", agent=agent, session_service=sessions)
"""

try:
    import google.adk  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("statepad.adk needs google-adk: pip install 'statepad[adk]'", name=error.name) from error

from ..changes import DeletedChange, ReloadChange, ValuesChange
from ..operators import DELETED, MISSING, append, compare_and_set, increment, set_once
from .errors import AlreadyExistsError, SessionNotFoundError, StaleSessionError
from .operators import teach_pydantic
from .past import Change, EventChange, HistoryStep, SessionChange, Watch
from .runner import LeasedRunner
from .service import StatepadSessionService

teach_pydantic()

__all__ = [
    "DELETED",
    "MISSING",
    "AlreadyExistsError",
    "Change",
    "DeletedChange",
    "EventChange",
    "HistoryStep",
    "LeasedRunner",
    "ReloadChange",
    "SessionChange",
    "SessionNotFoundError",
    "StaleSessionError",
    "StatepadSessionService",
    "ValuesChange",
    "Watch",
    "append",
    "compare_and_set",
    "increment",
    "set_once",
]
