"""The session services that the contract runs over: each by a function that other processes can import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService


@dataclass(frozen=True)
class Places:
    """Room for the services: an empty folder, and the addresses of servers."""

    folder: Path
    postgres: str
    redis: str
    statepad: str
    token: str


@dataclass(frozen=True)
class Contestant:
    """A service, as the table names it, with the versions of what it runs on."""

    name: str
    heading: str
    factory: Callable[[Places], Callable[[], BaseSessionService]]
    on: Callable[[], str] = lambda: ""


def in_memory() -> BaseSessionService:
    return InMemorySessionService()


def sqlite(path: str) -> BaseSessionService:
    return SqliteSessionService(path)


def database(url: str) -> BaseSessionService:
    from google.adk.sessions.database_session_service import DatabaseSessionService

    return DatabaseSessionService(url)


def per_agent(folder: str) -> BaseSessionService:
    from google.adk.cli.utils.local_storage import PerAgentDatabaseSessionService

    return PerAgentDatabaseSessionService(agents_root=folder)


def redis(url: str, prefix: str) -> BaseSessionService:
    from google.adk.integrations.redis import RedisSessionService, RedisSessionServiceConfig

    return RedisSessionService(RedisSessionServiceConfig(uri=url, key_prefix=prefix))


def statepad(uri: str, token: str) -> BaseSessionService:
    from statepad.adk import StatepadSessionService

    return StatepadSessionService(uri, token=token)


def _of(*packages: str) -> Callable[[], str]:
    return lambda: ", ".join(f"{package} {version(package)}" for package in packages)


def _postgres(places: Places) -> Callable[[], BaseSessionService]:
    return partial(database, places.postgres.replace("postgres://", "postgresql+asyncpg://", 1))


CONTESTANTS: Mapping[str, Contestant] = {
    each.name: each
    for each in (
        Contestant("in memory", "InMemory", lambda places: in_memory),
        Contestant(
            "sqlite",
            "Sqlite",
            lambda places: partial(sqlite, str(places.folder / "sqlite.db")),
            _of("aiosqlite"),
        ),
        Contestant(
            "per agent",
            "PerAgent",
            lambda places: partial(per_agent, str(places.folder)),
            _of("aiosqlite"),
        ),
        Contestant(
            "database on SQLite",
            "Database, SQLite",
            lambda places: partial(database, f"sqlite+aiosqlite:///{places.folder / 'database.db'}"),
            _of("sqlalchemy", "aiosqlite"),
        ),
        Contestant("database on Postgres", "Database, Postgres", _postgres, _of("sqlalchemy", "asyncpg")),
        Contestant(
            "redis",
            "Redis",
            lambda places: partial(redis, places.redis, f"contract-{uuid4().hex[:8]}:"),
            _of("redis"),
        ),
        Contestant("statepad", "statepad", lambda places: partial(statepad, places.statepad, places.token)),
    )
}
