"""Times: seconds in ADK's models, milliseconds on the wire.

A double holds a present time to about 0.24 microseconds in either unit, but one in forty times in seconds lies between
two doubles in milliseconds. Such a time travels as a text beside its milliseconds, in ``customMetadata.statepad.time``,
where the server's Agent Engine API keeps times with nanoseconds as well.
"""

from __future__ import annotations

import datetime
import math
import re
from fractions import Fraction

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_FORM = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")
_NANOS = 1_000_000_000


def to_milliseconds(seconds: float) -> tuple[float, str | None]:
    """Converts a time.

    Args:
        seconds: Seconds since the epoch.

    Returns:
        Milliseconds since the epoch, from which `to_seconds` makes the same time again; or the nearest ones, with the
        time as an RFC 3339 text that does.
    """
    nearest = seconds * 1_000
    for milliseconds in (nearest, math.nextafter(nearest, math.inf), math.nextafter(nearest, -math.inf)):
        if milliseconds / 1_000 == seconds:
            return milliseconds, None
    return nearest, _text_of(seconds) if math.isfinite(seconds) else None


def to_seconds(milliseconds: float, exact: object = None) -> float:
    """Converts a time back.

    Args:
        milliseconds: Milliseconds since the epoch.
        exact: The text beside them, if there is one. It is ignored unless it is the same time.

    Returns:
        Seconds since the epoch.
    """
    seconds = milliseconds / 1_000
    told = _time_of(exact) if isinstance(exact, str) else None
    return told if told is not None and abs(told - seconds) < 0.001 else seconds


def _text_of(seconds: float) -> str | None:
    """The RFC 3339 text of a time, unless it has none or its nanoseconds are not enough."""
    whole, nanos = divmod(round(Fraction(seconds) * _NANOS), _NANOS)
    try:
        moment = _EPOCH + datetime.timedelta(seconds=whole)
    except OverflowError:
        return None
    text = f"{moment:%Y-%m-%dT%H:%M:%S}.{nanos:09d}Z"
    return text if _time_of(text) == seconds else None


def _time_of(text: str) -> float | None:
    """The seconds of an RFC 3339 text in UTC."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(match[1]).replace(tzinfo=datetime.UTC)
    except ValueError:
        return None
    whole = (moment - _EPOCH) // datetime.timedelta(seconds=1)
    return (whole * _NANOS + int((match[2] or "").ljust(9, "0"))) / _NANOS
