//! The session service in memory.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::change::{Change, Guard, Prepared, SessionKey};
use crate::delta::{Delta, Write};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::history::{History, HistoryStep};
use crate::host;
use crate::json::Json;
use crate::list::{ListQuery, Start};
use crate::service::{
    CreateRequest, DeleteRequest, GetRequest, HistoryEntry, ListRequest, ListResponse, Session, SessionRef,
    SessionService,
};
use crate::sessions::{SessionId, Sessions};
use crate::state::ReadonlyState;

/// Keeps sessions in memory.
///
/// # Examples
///
/// ```
/// use statepad::{CreateRequest, Event, EventActions, InMemorySessionService, ReadonlyState, SessionService};
///
/// # #[tokio::main]
/// # async fn main() -> statepad::Result<()> {
/// let service = InMemorySessionService::new();
/// let request = CreateRequest { app_name: "app".into(), user_id: "ana".into(), ..Default::default() };
/// let session = service.create(request).await?;
/// let mut event = Event::new("inv-1");
/// event.actions.state_delta.insert("user:visits".into(), 1.into());
/// let stored = service.append_event(session.id(), event).await?;
/// assert!(!stored.id.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct InMemorySessionService {
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    sessions: Sessions,
    logs: HashMap<SessionId, Log>,
}

impl InMemorySessionService {
    /// Starts with no sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// A panic in another thread cannot leave a change half applied: nothing between prepare and apply can fail.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionService for InMemorySessionService {
    async fn create(&self, request: CreateRequest) -> Result<Session> {
        let CreateRequest { app_name, user_id, session_id, state } = request;
        let session_id = session_id.filter(|id| !id.trim().is_empty()).unwrap_or_else(host::new_id);
        let key = SessionKey { app_name, user_id, session_id };
        let state = delta_of(&state)?;

        let mut memory = self.memory();
        let change = memory.sessions.prepare_create(&key, host::now(), state)?;
        let id = memory.sessions.apply_create(&key, &change);
        memory.logs.insert(id, Log::new(change));
        memory.read(id, 0..0)
    }

    async fn get(&self, request: GetRequest) -> Result<Option<Session>> {
        let GetRequest { app_name, user_id, session_id, num_recent_events, after_timestamp } = request;
        if after_timestamp.is_some_and(f64::is_nan) {
            return Err(Error::invalid("after_timestamp must be a number of milliseconds"));
        }
        let memory = self.memory();
        let Some(id) = memory.sessions.find(&SessionKey { app_name, user_id, session_id }) else {
            return Ok(None);
        };
        let mut session = memory.read(id, 0..usize::MAX)?;
        if let Some(after) = after_timestamp {
            session.events.retain(|event| event.timestamp.is_some_and(|time| time >= after));
        }
        if let Some(count) = num_recent_events {
            session.events.drain(..session.events.len().saturating_sub(count));
        }
        Ok(Some(session))
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse> {
        let memory = self.memory();
        let page = memory.sessions.list(&ListQuery {
            app_name: &request.app_name,
            user_id: request.user_id.as_deref(),
            descending: request.descending,
            limit: request.limit,
            start: request.cursor.as_deref().map_or(Start::Offset(request.offset), Start::After),
        })?;
        let sessions = page.sessions.iter().map(|&id| memory.read(id, 0..0)).collect::<Result<_>>()?;
        Ok(ListResponse { sessions, total: page.total, cursor: page.cursor })
    }

    async fn delete(&self, request: DeleteRequest) -> Result<()> {
        let mut memory = self.memory();
        if let Some(id) = memory.sessions.find(&request) {
            memory.sessions.remove(id);
            memory.logs.remove(&id);
        }
        Ok(())
    }

    async fn append(&self, session: SessionRef<'_>, mut event: Event) -> Result<Event> {
        if event.partial {
            return Ok(event);
        }
        if event.id.is_empty() {
            event.id = host::new_id();
        }
        let delta = event.delta()?;
        let mut memory = self.memory();
        let id = memory.resolve(session)?;
        let time = event.timestamp.unwrap_or_else(host::now);
        match memory.sessions.prepare_append(id, &event.id, time, delta, Guard::default())? {
            Prepared::Duplicate { place } => memory.repeated(id, place, event),
            Prepared::Change { change, .. } => {
                event.timestamp = Some(change.time);
                let event = event.without_temp();
                memory.sessions.apply_append(id, &change);
                if let Some(log) = memory.logs.get_mut(&id) {
                    log.events.push(Arc::new(event.clone()));
                }
                Ok(event)
            }
        }
    }

    async fn state_at(&self, session: &Session, revision: u64) -> Result<Map<String, Value>> {
        let Session { revision: until, state, .. } = session;
        if revision > *until {
            let id = session.id();
            let message = format!("session \"{id}\" has the revisions 0 to {until} here, and not {revision}");
            return Err(Error::invalid(message).with_id(id));
        }
        let mut memory = self.memory();
        let log = memory.log_of(session)?;
        if revision == *until {
            return Ok(state.all());
        }
        let now = delta_of(&state.all())?;
        log.catch_up()?;
        let values = log.past.state_at(revision, *until, &now).into_iter();
        Ok(values.map(|(key, json)| (key.to_owned(), json.to_value())).collect())
    }

    async fn history(&self, session: &Session, key: &str) -> Result<Vec<HistoryEntry>> {
        let mut memory = self.memory();
        let log = memory.log_of(session)?;
        log.catch_up()?;
        Ok(log.past.of(key, session.revision).iter().map(|step| log.entry(step)).collect())
    }
}

/// What was written in one session.
#[derive(Debug)]
struct Log {
    /// Revision 0.
    creation: Change,
    events: Vec<Arc<Event>>,
    /// What each key was, for those who have asked.
    past: History,
    /// The revision that it has not been told of yet.
    next: usize,
}

impl Log {
    fn new(creation: Change) -> Self {
        Self { creation, events: Vec::new(), past: History::default(), next: 0 }
    }

    /// Tells the past what is new.
    fn catch_up(&mut self) -> Result<()> {
        if self.next == 0 {
            self.past.push(0, &self.creation.delta.clone().join(Delta::default()));
            self.next = 1;
        }
        while let Some(event) = self.events.get(self.next - 1) {
            self.past.push(self.next as u64, &event.delta()?);
            self.next += 1;
        }
        Ok(())
    }

    fn entry(&self, HistoryStep { revision, from, to, .. }: &HistoryStep) -> HistoryEntry {
        let place = usize::try_from(*revision).ok().and_then(|revision| revision.checked_sub(1));
        let event = place.and_then(|place| self.events.get(place));
        HistoryEntry {
            revision: *revision,
            timestamp: event.and_then(|event| event.timestamp).unwrap_or(self.creation.time),
            event: event.cloned(),
            from: from.as_ref().map(Json::to_value),
            to: to.as_ref().map(Json::to_value),
        }
    }
}

impl Memory {
    /// The session as it is now, with a window of its events.
    fn read(&self, id: SessionId, window: Range<usize>) -> Result<Session> {
        let (Some(log), Some(state)) = (self.sessions.log(id), self.sessions.state(id)) else {
            return Err(Error::new(ErrorKind::SessionNotFound, "the session has been deleted"));
        };
        let events = self.events(id);
        Ok(Session {
            number: id,
            key: log.key().clone(),
            revision: log.revision(),
            last_update_time: log.update_time(),
            state,
            events: events[window.start..window.end.min(events.len())].to_vec(),
        })
    }

    fn events(&self, id: SessionId) -> &[Arc<Event>] {
        self.logs.get(&id).map_or(&[], |log| &log.events)
    }

    /// The log of a session that was read, if it is still that session which has the key.
    fn log_of(&mut self, session: &Session) -> Result<&mut Log> {
        let log =
            self.logs.get_mut(&session.number).filter(|_| self.sessions.find(&session.key) == Some(session.number));
        log.ok_or_else(|| not_found(session.id()))
    }

    fn resolve(&self, session: SessionRef<'_>) -> Result<SessionId> {
        match session {
            SessionRef::Key(key) => self.sessions.find(key).ok_or_else(|| not_found(&key.session_id)),
            SessionRef::Id(wanted) => {
                let mut found = self.sessions.all().filter(|(_, log)| log.key().session_id == wanted);
                let (id, _) = found.next().ok_or_else(|| not_found(wanted))?;
                if found.next().is_some() {
                    let message = format!("session id \"{wanted}\" is not unique: name the full key");
                    return Err(Error::invalid(message).with_id(wanted));
                }
                Ok(id)
            }
        }
    }

    /// An event whose id the session has: equal content is a success that changes nothing.
    fn repeated(&self, id: SessionId, place: usize, mut event: Event) -> Result<Event> {
        let stored = self.events(id).get(place);
        event.timestamp = event.timestamp.or(stored.and_then(|stored| stored.timestamp));
        let event = event.without_temp();
        match stored {
            Some(stored) if **stored == event => Ok(event),
            _ => {
                let message = format!("the session has another event with the id \"{}\"", event.id);
                Err(Error::new(ErrorKind::EventIdConflict, message).with_id(&event.id))
            }
        }
    }
}

fn not_found(id: &str) -> Error {
    Error::new(ErrorKind::SessionNotFound, format!("session \"{id}\" not found")).with_id(id)
}

/// Sets all values of a record.
fn delta_of(values: &Map<String, Value>) -> Result<Delta> {
    let writes = values.iter().map(|(key, value)| Ok((key.as_str(), Write::Set(Json::from_value(value)?))));
    Ok(writes.collect::<Result<Vec<_>>>()?.into_iter().collect())
}
