"""Addresses of servers: ``statepad://host:port/base`` as the URL of HTTP requests.

``statepad://`` is HTTPS, except on this machine, where ``statepad serve`` speaks HTTP. ``statepad+http://`` is HTTP and
``statepad+https://`` HTTPS in any case; URLs of both schemes may be given as they are.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from .errors import InvalidArgument

__all__ = ["TOKEN_VARIABLE", "Address", "parse_address", "token_from"]

TOKEN_VARIABLE = "STATEPAD_TOKEN"
"""The environment variable that has the token where no argument has one."""

# The port on which `statepad serve` listens unless it is told another one.
_SERVE_PORT = 8377

# Parameters that would carry a secret in every address, and so into logs.
_SECRETS = frozenset({"token", "access_token", "api_key", "apikey", "key", "password", "secret"})


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server.

    Attributes:
        base: The beginning of all URLs, without a slash at its end: ``https://example.com/agents``.
        parameters: The parameters of all URLs.
    """

    base: str
    parameters: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def url(self, path: str, own: dict[str, str] | None = None) -> str:
        """The URL of a path, with the parameters of the address and its own."""
        parameters = [*self.parameters, *(own or {}).items()]
        return f"{self.base}{path}?{urlencode(parameters)}" if parameters else f"{self.base}{path}"


def parse_address(uri: str) -> Address:
    """The address in a URI.

    Raises:
        InvalidArgument: The URI has another scheme, no host, or a secret in it. Its text is in no message.
    """
    if not isinstance(uri, str):
        raise _invalid(f"uri must be a string, not {type(uri).__name__}")
    try:
        parts = urlsplit(uri.strip())
        port = parts.port
    except ValueError:
        raise _invalid("uri has a malformed host or port") from None
    if parts.username is not None or parts.password is not None:
        raise _invalid(f"uri must have no user and no password: pass token=, or set {TOKEN_VARIABLE}")
    host = parts.hostname or ""
    if not host:
        raise _invalid("uri must be like statepad://localhost:8377, with a host")
    scheme, default_port = _scheme_of(parts, host)
    shown_port = port if port is not None else default_port
    authority = (f"[{host}]" if ":" in host else host) + ("" if shown_port is None else f":{shown_port}")
    return Address(f"{scheme}://{authority}{parts.path.rstrip('/')}", _parameters_of(parts))


def _scheme_of(parts: SplitResult, host: str) -> tuple[str, int | None]:
    """The scheme of requests, and the port where the URI names none."""
    match parts.scheme:
        case "http" | "https":
            return parts.scheme, None
        case "statepad+https":
            return "https", None
        case "statepad+http":
            return "http", _SERVE_PORT
        case "statepad":
            return ("http", _SERVE_PORT) if _is_loopback(host) else ("https", None)
    raise _invalid("uri must begin with statepad://, statepad+http:// or statepad+https://")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parameters_of(parts: SplitResult) -> tuple[tuple[str, str], ...]:
    parameters = tuple(parse_qsl(parts.query, keep_blank_values=True))
    for name, _ in parameters:
        if name.lower() in _SECRETS:
            advice = f"pass token=, or set {TOKEN_VARIABLE}"
            raise _invalid(f"uri must not have the parameter {name}, which logs would show: {advice}")
    return parameters


def token_from(token: str | None) -> str | None:
    """The token of an argument, or else of ``STATEPAD_TOKEN``.

    Raises:
        InvalidArgument: A header cannot carry it. Its text is in no message.
    """
    name = "token"
    if token is None:
        token, name = os.environ.get(TOKEN_VARIABLE) or None, TOKEN_VARIABLE
    if token is None:
        return None
    if not isinstance(token, str):
        raise InvalidArgument(f"token must be a string, not {type(token).__name__}", path="token")
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise InvalidArgument(f"{name} must have visible ASCII characters only", path="token")
    return token


def _invalid(message: str) -> InvalidArgument:
    return InvalidArgument(message, path="uri")
