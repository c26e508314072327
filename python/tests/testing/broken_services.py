"""Session services with one fault each. The contract must find it, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import typing
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, ClassVar

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService


class Sound(InMemorySessionService):
    """The service that most of the others break."""

    def stored(self, session: Session) -> Session:
        return self.sessions[session.app_name][session.user_id][session.id]


class ForgetsUserStateOfCreation(Sound):
    async def create_session(self, *, state: dict[str, Any] | None = None, **owner: Any) -> Session:
        kept = {key: value for key, value in (state or {}).items() if not key.startswith("user:")}
        return await super().create_session(state=kept, **owner)


class ForgetsUserStateOfAppends(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        before = copy.deepcopy(self.user_state)
        answer = await super().append_event(session, event)
        self.user_state = before
        return answer


class StoresTheStateOfItsCopy(Sound):
    """A stale copy undoes what others wrote to the app."""

    async def append_event(self, session: Session, event: Event) -> Event:
        answer = await super().append_event(session, event)
        if not event.partial:
            held = {key.removeprefix("app:"): value for key, value in session.state.items() if key.startswith("app:")}
            self.app_state.setdefault(session.app_name, {}).update(held)
        return answer


class LosesTheSecondWriter(Sound):
    """The log becomes what the writer has seen of it."""

    async def append_event(self, session: Session, event: Event) -> Event:
        answer = await super().append_event(session, event)
        self.stored(session).events = [*session.events]
        return answer


class ReadsAndWritesInTwoSteps(Sound):
    """Between reading and writing the state of the app, another writer gets its turn."""

    async def append_event(self, session: Session, event: Event) -> Event:
        before = dict(self.app_state.get(session.app_name, {}))
        answer = await super().append_event(session, event)
        if not event.partial:
            await asyncio.sleep(0)
            delta = event.actions.state_delta
            written = {key.removeprefix("app:"): value for key, value in delta.items() if key.startswith("app:")}
            self.app_state[session.app_name] = {**before, **written}
        return answer


class StoresTempKeys(Sound):
    def _trim_temp_delta_state(self, event: Event) -> Event:
        return event


class HidesTempKeys(Sound):
    def _apply_temp_state(self, session: Session, event: Event) -> None:
        pass


class StoresPartialEvents(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial:
            event.partial = None
        return await super().append_event(session, event)


class TakesZeroForNoLimit(Sound):
    async def get_session(self, *, config: GetSessionConfig | None = None, **key: Any) -> Session | None:
        if config and config.num_recent_events == 0:
            config = GetSessionConfig(after_timestamp=config.after_timestamp)
        return await super().get_session(config=config, **key)


class ExcludesTheTimestampItself(Sound):
    async def get_session(self, *, config: GetSessionConfig | None = None, **key: Any) -> Session | None:
        session = await super().get_session(config=config, **key)
        if session and config and config.after_timestamp is not None:
            session.events = [event for event in session.events if event.timestamp > config.after_timestamp]
        return session


class LimitsTheStateToTheWindow(Sound):
    async def get_session(self, *, config: GetSessionConfig | None = None, **key: Any) -> Session | None:
        session = await super().get_session(config=config, **key)
        if session and config:
            session.state = {key: value for event in session.events for key, value in event.actions.state_delta.items()}
        return session


class ListsNewestFirst(Sound):
    async def list_sessions(self, **owner: Any) -> ListSessionsResponse:
        return ListSessionsResponse(sessions=(await super().list_sessions(**owner)).sessions[::-1])


class ListsEverybody(Sound):
    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        return await super().list_sessions(app_name=app_name)


class ListsEverybodyForTheEmptyUser(Sound):
    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        return await super().list_sessions(app_name=app_name, user_id=user_id or None)


class ListsEvents(Sound):
    async def list_sessions(self, **owner: Any) -> ListSessionsResponse:
        answer = await super().list_sessions(**owner)
        for session in answer.sessions:
            session.events = copy.deepcopy(self.stored(session).events)
        return answer


class PrefixesUserState(Sound):
    async def get_user_state(self, **owner: Any) -> dict[str, Any]:
        return {f"user:{key}": value for key, value in (await super().get_user_state(**owner)).items()}


class HasNoUserState(Sound):
    async def get_user_state(self, **owner: Any) -> dict[str, Any]:
        return await BaseSessionService.get_user_state(self, **owner)


class HandsOutWhatIsStored(Sound):
    async def get_session(self, **key: Any) -> Session | None:
        session = await super().get_session(**key)
        if session and key.get("config") is None:
            session.events = self.stored(session).events[:]
        return session


class ReplacesTakenIds(Sound):
    async def create_session(self, *, session_id: str | None = None, **owner: Any) -> Session:
        if session_id:
            key = {"app_name": owner["app_name"], "user_id": owner["user_id"], "session_id": session_id}
            await self.delete_session(**key)
        return await super().create_session(session_id=session_id, **owner)


class RefusesTakenIdsInOtherWords(Sound):
    async def create_session(self, **owner: Any) -> Session:
        try:
            return await super().create_session(**owner)
        except AlreadyExistsError as error:
            raise RuntimeError("no") from error


class ForgetsAppendsToDeletedSessions(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        if await self.get_session(app_name=session.app_name, user_id=session.user_id, session_id=session.id) is None:
            return event
        return await super().append_event(session, event)


class DeletesByIdAlone(Sound):
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        for user in self.sessions.get(app_name, {}):
            await super().delete_session(app_name=app_name, user_id=user, session_id=session_id)


class FindsByIdAlone(Sound):
    async def get_session(self, *, app_name: str, user_id: str, session_id: str, **more: Any) -> Session | None:
        owners = [user for user, sessions in self.sessions.get(app_name, {}).items() if session_id in sessions]
        owner = user_id if user_id in owners or not owners else owners[0]
        return await super().get_session(app_name=app_name, user_id=owner, session_id=session_id, **more)


class KeepsEventsOfDeletedSessions(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.deleted: dict[tuple[str, str, str], list[Event]] = {}

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        session = self.sessions.get(app_name, {}).get(user_id, {}).get(session_id)
        if session:
            self.deleted[app_name, user_id, session_id] = session.events
        await super().delete_session(app_name=app_name, user_id=user_id, session_id=session_id)

    async def create_session(self, **owner: Any) -> Session:
        session = await super().create_session(**owner)
        self.stored(session).events = [*self.deleted.get((session.app_name, session.user_id, session.id), [])]
        return session


class DropsTheBranch(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        event.branch = None
        return await super().append_event(session, event)


class DropsTheTransfer(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        event.actions.transfer_to_agent = None
        return await super().append_event(session, event)


class AssignsIdsToEvents(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        if not event.partial:
            event.id = f"evt-{len(self.stored(session).events)}"
        return await super().append_event(session, event)


class StampsEventsItself(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        event.timestamp = Event(author="x").timestamp
        return await super().append_event(session, event)


class NumbersAreFloats(Sound):
    async def get_session(self, **key: Any) -> Session | None:
        session = await super().get_session(**key)
        if session:
            session.state = {name: _as_float(value) for name, value in session.state.items()}
        return session


class MergesValues(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        for key, value in event.actions.state_delta.items():
            old = session.state.get(key)
            if isinstance(old, dict) and isinstance(value, dict) and not event.partial:
                event.actions.state_delta[key] = {**old, **value}
        return await super().append_event(session, event)


class TakesNoneForADeletion(Sound):
    async def get_session(self, **key: Any) -> Session | None:
        session = await super().get_session(**key)
        if session:
            session.state = {name: value for name, value in session.state.items() if value is not None}
        return session


class ReplacesTheValuesOfTheGivenSession(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        answer = await super().append_event(session, event)
        session.state.update(copy.deepcopy(session.state))
        return answer


class LeavesTheGivenSession(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        return await super().append_event(session.model_copy(deep=True), event)


class NeverMovesTheTime(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        time = session.last_update_time
        answer = await super().append_event(session, event)
        session.last_update_time = self.stored(session).last_update_time = time
        return answer


class TakesPrefixesInAnyCase(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        delta = event.actions.state_delta
        event.actions.state_delta = {
            f"app:{key[4:]}" if key[:4].lower() == "app:" else key: value for key, value in delta.items()
        }
        return await super().append_event(session, event)


class StripsEveryPrefix(Sound):
    async def get_user_state(self, **owner: Any) -> dict[str, Any]:
        return {key.split(":")[-1]: value for key, value in (await super().get_user_state(**owner)).items()}

    async def create_session(self, *, state: dict[str, Any] | None = None, **owner: Any) -> Session:
        stripped = {_inner(key): value for key, value in (state or {}).items()}
        return await super().create_session(state=stripped, **owner)


class OrdersEventsByTheirIds(Sound):
    async def get_session(self, **key: Any) -> Session | None:
        session = await super().get_session(**key)
        if session:
            session.events.sort(key=lambda event: event.id)
        return session


class GeneratesOneId(Sound):
    async def create_session(self, *, session_id: str | None = None, **owner: Any) -> Session:
        return await super().create_session(session_id=session_id or "session", **owner)


class AnswersWithAnotherId(Sound):
    async def create_session(self, **owner: Any) -> Session:
        session = await super().create_session(**owner)
        session.id = f"{session.id} 2"
        return session

    async def append_event(self, session: Session, event: Event) -> Event:
        session.id = session.id.removesuffix(" 2")
        return await super().append_event(session, event)


class TakesBlankIds(Sound):
    async def create_session(self, *, session_id: str | None = None, **owner: Any) -> Session:
        session = await super().create_session(session_id=session_id, **owner)
        if session_id is not None and not session_id.strip():
            session.id = session_id
        return session


class RefusesLongIds(Sound):
    """It keeps ids in a column for ten characters without NUL."""

    async def create_session(self, *, session_id: str | None = None, **owner: Any) -> Session:
        if session_id and (len(session_id) > 10 or "\x00" in session_id or "\ufeff" in session_id):
            raise ValueError("too long")
        return await super().create_session(session_id=session_id, **owner)


class JoinsNames(Sound):
    """A session is found by one text of user and id, with a stroke between them."""

    def __init__(self) -> None:
        super().__init__()
        self.joined: dict[tuple[str, str], str] = {}

    async def create_session(self, *, session_id: str | None = None, **owner: Any) -> Session:
        session = await super().create_session(session_id=session_id, **owner)
        self.joined[session.app_name, f"{session.user_id}/{session.id}"] = session.user_id
        return session

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, **more: Any) -> Session | None:
        name = f"{user_id}/{session_id}"
        owner = self.joined.get((app_name, name), user_id)
        found = name.removeprefix(f"{owner}/")
        return await super().get_session(app_name=app_name, user_id=owner, session_id=found, **more)


class StoresTempStateOfCreation(Sound):
    async def create_session(self, *, state: dict[str, Any] | None = None, **owner: Any) -> Session:
        session = await super().create_session(state=state, **owner)
        temp = {key: value for key, value in (state or {}).items() if key.startswith("temp:")}
        self.stored(session).state.update(temp)
        return session


class StoresTempKeysOfTheGivenSession(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        before = {key: value for key, value in session.state.items() if key.startswith("temp:")}
        answer = await super().append_event(session, event)
        self.stored(session).state.update(before)
        return answer


class DropsInitialState(Sound):
    async def create_session(self, *, state: dict[str, Any] | None = None, **owner: Any) -> Session:
        shared = {key: value for key, value in (state or {}).items() if key.startswith(("app:", "user:"))}
        return await super().create_session(state=shared, **owner)


class SharesTheInitialState(Sound):
    """A dict as a default argument."""

    async def create_session(self, *, state: dict[str, Any] | None = None, **owner: Any) -> Session:
        session = await super().create_session(state=state, **owner)
        if not state:
            self.defaults: dict[str, dict[str, Any]] = getattr(self, "defaults", {})
            self.stored(session).state = self.defaults.setdefault(session.app_name, {})
            session.state.update(self.stored(session).state)
        return session


class MixesAppsUp(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        answer = await super().append_event(session, event)
        written = self.app_state.get(session.app_name, {})
        for app in self.sessions:
            if app.partition("-")[2] == session.app_name.partition("-")[2] and written:
                self.app_state[app] = written
        return answer


class KeepsAppStateOfCreation(Sound):
    """Set at creation, it stays in that session."""

    async def create_session(self, *, state: dict[str, Any] | None = None, **owner: Any) -> Session:
        own = {key: value for key, value in (state or {}).items() if key.startswith("app:")}
        rest = {key: value for key, value in (state or {}).items() if key not in own}
        session = await super().create_session(state=rest, **owner)
        self.stored(session).state.update(own)
        session.state.update(own)
        return session


class ListsDeletedSessions(Sound):
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        deleted = await self.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
        await super().delete_session(app_name=app_name, user_id=user_id, session_id=session_id)
        if deleted is not None and not user_id.startswith("reader"):
            self.deleted = [*getattr(self, "deleted", []), deleted]

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        answer = await super().list_sessions(app_name=app_name, user_id=user_id)
        deleted: list[Session] = getattr(self, "deleted", [])
        found = [each for each in deleted if each.app_name == app_name and user_id in (None, each.user_id)]
        return ListSessionsResponse(
            sessions=[*answer.sessions, *(each.model_copy(update={"events": []}) for each in found)]
        )


class MissesDeletedSessions(Sound):
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        if session_id not in self.sessions.get(app_name, {}).get(user_id, {}):
            raise KeyError(session_id)
        await super().delete_session(app_name=app_name, user_id=user_id, session_id=session_id)


class HandsOutWhatItCreated(Sound):
    async def create_session(self, **owner: Any) -> Session:
        session = await super().create_session(**owner)
        session.state.update(self.stored(session).state)
        return session


class RoundsTheStoredTime(Sound):
    async def append_event(self, session: Session, event: Event) -> Event:
        answer = await super().append_event(session, event)
        if not event.partial:
            self.stored(session).last_update_time += 0.5
        return answer


class SkipsUnchangedKeys(Sound):
    """It compares the delta with a state that the tool has written to already."""

    async def append_event(self, session: Session, event: Event) -> Event:
        delta = event.actions.state_delta
        event.actions.state_delta = {
            key: value
            for key, value in delta.items()
            if key.startswith("temp:") or session.state.get(key, ...) != value
        }
        return await super().append_event(session, event)


class MeasuresTheCreationTwice(Sound):
    async def create_session(self, **owner: Any) -> Session:
        session = await super().create_session(**owner)
        session.last_update_time -= 0.5
        return session


class ReadsOnePage(Sound):
    async def get_session(self, **key: Any) -> Session | None:
        session = await super().get_session(**key)
        if session:
            session.events = session.events[:100]
        return session


class WindowsOfNothingFail(Sound):
    async def get_session(self, *, config: GetSessionConfig | None = None, **key: Any) -> Session | None:
        session = await super().get_session(config=config, **key)
        if session and config and config.num_recent_events:
            assert session.events[-1]
        return session


class WritesTheLogInTwoSteps(Sound):
    """Between reading and writing the log, another writer gets its turn."""

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial:
            return event
        before = (
            list(self.stored(session).events)
            if self.sessions[session.app_name][session.user_id].get(session.id)
            else []
        )
        answer = await super().append_event(session, event)
        await asyncio.sleep(0)
        self.stored(session).events = [*before, event]
        return answer


class CountsByWhatItHasSeen(Sound):
    """It yields before it writes, and does not look whether the session is the one that was read."""

    async def append_event(self, session: Session, event: Event) -> Event:
        await asyncio.sleep(0)
        return await super().append_event(session, event)


class WritesWhenFlushed(SqliteSessionService):
    """It acknowledges what it has not stored yet: the next call stores it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._waiting: list[tuple[dict[str, str], Event]] = []
        self._storing = asyncio.Lock()

    async def append_event(self, session: Session, event: Event) -> Event:
        key = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
        if event.partial or await self.get_session(**key) is None:
            return await super().append_event(session, event)
        answer = await BaseSessionService.append_event(self, session, event)
        session.last_update_time = event.timestamp
        self._waiting.append((key, event.model_copy(deep=True)))
        return answer

    async def flush(self) -> None:
        async with self._storing:
            while self._waiting:
                key, event = self._waiting.pop(0)
                session = await super().get_session(**key)
                # Nobody is left to hear that it failed.
                with contextlib.suppress(Exception):
                    await super().append_event(session, event)

    async def delete_session(self, **key: Any) -> None:
        await self.flush()
        await super().delete_session(**key)

    async def get_session(self, **key: Any) -> Session | None:
        await self.flush()
        return await super().get_session(**key)

    async def create_session(self, **owner: Any) -> Session:
        await self.flush()
        return await super().create_session(**owner)

    async def list_sessions(self, **owner: Any) -> ListSessionsResponse:
        await self.flush()
        return await super().list_sessions(**owner)

    async def get_user_state(self, **owner: Any) -> dict[str, Any]:
        await self.flush()
        return await super().get_user_state(**owner)


class CachesSessions(SqliteSessionService):
    """It never reads again a session that it has read once."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._cache: dict[tuple[str, str, str], Session] = {}

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, **more: Any) -> Session | None:
        key = (app_name, user_id, session_id)
        if more.get("config") is None and key in self._cache:
            return self._cache[key].model_copy(deep=True)
        session = await super().get_session(app_name=app_name, user_id=user_id, session_id=session_id, **more)
        if session is not None and more.get("config") is None:
            self._cache[key] = session.model_copy(deep=True)
        return session

    async def append_event(self, session: Session, event: Event) -> Event:
        self._cache.pop((session.app_name, session.user_id, session.id), None)
        return await super().append_event(session, event)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        self._cache.pop((app_name, user_id, session_id), None)
        await super().delete_session(app_name=app_name, user_id=user_id, session_id=session_id)

    async def create_session(self, **owner: Any) -> Session:
        self._cache.clear()
        return await super().create_session(**owner)


class IsBusy(SqliteSessionService):
    """It has no patience with others that write."""

    writing: typing.ClassVar[set[str]] = set()

    async def append_event(self, session: Session, event: Event) -> Event:
        if self._db_path in self.writing:
            raise TimeoutError("database is locked")
        self.writing.add(self._db_path)
        try:
            return await super().append_event(session, event)
        finally:
            self.writing.discard(self._db_path)


class CreatesInTwoSteps(SqliteSessionService):
    """Whoever creates last has the session: all who create an id at once look for it before one of them writes."""

    # By loop and id: those that have begun and not looked yet, their end, and the turn of those that write.
    _looking: ClassVar[Counter[object]] = Counter()
    _all_looked: ClassVar[defaultdict[object, asyncio.Event]] = defaultdict(asyncio.Event)
    _writing: ClassVar[defaultdict[object, asyncio.Lock]] = defaultdict(asyncio.Lock)

    async def create_session(self, *, session_id: str | None = None, **owner: Any) -> Session:
        key = {"app_name": owner["app_name"], "user_id": owner["user_id"], "session_id": session_id or ""}
        place = (asyncio.get_running_loop(), session_id)
        self._looking[place] += 1
        self._all_looked[place].clear()
        is_missing = bool(session_id) and await self.get_session(**key) is None
        self._looking[place] -= 1
        if self._looking[place] == 0:
            self._all_looked[place].set()
        await self._all_looked[place].wait()
        async with self._writing[place]:
            if is_missing:
                await self.delete_session(**key)
            return await super().create_session(session_id=session_id, **owner)


def in_file(kind: type[SqliteSessionService], folder: Path) -> SqliteSessionService:
    return kind(str(folder / f"{kind.__name__}.db"))


def _as_float(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, dict):
        return {key: _as_float(each) for key, each in value.items()}
    return [_as_float(each) for each in value] if isinstance(value, list) else value


def _inner(key: str) -> str:
    scope, colon, name = key.partition(":")
    return f"{scope}:{name.split(':')[-1]}" if colon and scope in ("app", "user") else key


class Hangs(InMemorySessionService):
    async def append_event(self, session: Session, event: Event) -> Event:
        await asyncio.Event().wait()
        return event


IN_MEMORY = Sound.__subclasses__()
IN_FILES: list[type[SqliteSessionService]] = [WritesWhenFlushed, CachesSessions, IsBusy, CreatesInTwoSteps]
