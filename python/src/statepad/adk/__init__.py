"""A session service for google-adk over a statepad server.

Example:
    >>> from statepad.adk import StatepadSessionService
    >>> sessions = StatepadSessionService("statepad://127.0.0.1:8377", token=TOKEN)
    >>> runner = Runner(app_name="shop", agent=agent, session_service=sessions)
"""

from .operators import teach_pydantic
from .service import StatepadSessionService

teach_pydantic()

__all__ = ["StatepadSessionService"]
