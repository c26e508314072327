"""Server-sent events: reading a stream of them from its pieces.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

__all__ = ["Message", "MessageReader"]

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Message:
    """One server-sent event.

    Attributes:
        name: The value of the field ``event``, or ``message``.
        data: Its data; empty for an id alone.
        id: Its id, if it has one.
    """

    name: str
    data: str
    id: str | None


class MessageReader:
    """Parses a stream. Only complete messages count: a partial one is sent again.

    Attributes:
        retry: The time to wait before reconnecting, in seconds, where the stream has set one.
    """

    def __init__(self) -> None:
        self.retry: float | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._line = ""
        # True when the last piece ended with a carriage return: a newline that follows belongs to it.
        self._has_returned = False
        self._name = ""
        self._id: str | None = None
        self._data: list[str] = []

    def push(self, piece: bytes) -> list[Message]:
        """The messages that end in the next piece."""
        text = self._decoder.decode(piece)
        if not text:
            return []
        if self._has_returned and text.startswith("\n"):
            text = text[1:]
        self._has_returned = text.endswith("\r")
        *lines, last = _LINE_END.split(text)
        messages = []
        for line in lines:
            message = self._ended(self._line + line)
            self._line = ""
            if message is not None:
                messages.append(message)
        self._line += last
        return messages

    def _ended(self, line: str) -> Message | None:
        """Takes a complete line. Returns the message that it ends."""
        if line == "":
            return self._dispatched()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self._id = value
        elif field == "retry" and re.fullmatch(r"[0-9]{1,9}", value):
            self.retry = int(value) / 1000
        return None

    def _dispatched(self) -> Message | None:
        name, data, id = self._name or "message", self._data, self._id
        self._name, self._data, self._id = "", [], None
        return Message(name, "\n".join(data), id) if data or id is not None else None
