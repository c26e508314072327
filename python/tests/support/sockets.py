"""Connections of this machine."""

from __future__ import annotations

from pathlib import Path


def connections_to(port: int) -> int:
    """The number of connections of this machine to a port that are established."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(fields[2].endswith(f":{port:04X}") and fields[3] == "01" for fields in lines)
