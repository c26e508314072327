//! The in-memory session service for Rust programs.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::change::{Guard, Prepared, SessionKey};
use crate::delta::{Delta, Write};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::host;
use crate::json::Json;
use crate::list::{ListQuery, Start};
use crate::sessions::{SessionId, Sessions};
use crate::state::SessionState;

/// A request for [`SessionService::create`].
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// The app.
    pub app_name: String,
    /// The user.
    pub user_id: String,
    /// The id to use; generated when absent or blank.
    pub session_id: Option<String>,
    /// The initial state: `app:` and `user:` keys reach every session they belong to, `temp:` keys are dropped.
    pub state: Map<String, Value>,
}

/// A request for [`SessionService::get`].
#[derive(Debug, Clone, Default)]
pub struct GetRequest {
    /// The app.
    pub app_name: String,
    /// The user.
    pub user_id: String,
    /// The session.
    pub session_id: String,
    /// Only so many of the latest events; 0 means none.
    pub num_recent_events: Option<usize>,
    /// Only events with this time or a later one, in milliseconds since the epoch.
    pub after_timestamp: Option<f64>,
}

/// A request for [`SessionService::list`].
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// The app.
    pub app_name: String,
    /// One user, or all of them.
    pub user_id: Option<String>,
    /// How many at most.
    pub limit: Option<usize>,
    /// How many to pass over. Not looked at when there is a cursor.
    pub offset: usize,
    /// Goes on after an earlier page, even if sessions came and went since.
    pub cursor: Option<String>,
    /// Newest first.
    pub descending: bool,
}

/// A request for [`SessionService::delete`]: the full key.
pub type DeleteRequest = SessionKey;

/// The answer of [`SessionService::list`].
#[derive(Debug, Clone)]
pub struct ListResponse {
    /// The sessions in order, with their state and without events.
    pub sessions: Vec<Session>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page begins, when there is one.
    pub cursor: Option<String>,
}

/// Names a session for [`SessionService::append_event`]: by its full key, or by its id where that is unique.
#[derive(Debug, Clone, Copy)]
pub enum SessionRef<'a> {
    /// The id alone. An error when several users or apps have a session of that id.
    Id(&'a str),
    /// The full key.
    Key(&'a SessionKey),
}

impl<'a> From<&'a str> for SessionRef<'a> {
    fn from(id: &'a str) -> Self {
        Self::Id(id)
    }
}

impl<'a> From<&'a String> for SessionRef<'a> {
    fn from(id: &'a String) -> Self {
        Self::Id(id)
    }
}

impl<'a> From<&'a SessionKey> for SessionRef<'a> {
    fn from(key: &'a SessionKey) -> Self {
        Self::Key(key)
    }
}

impl<'a> From<&'a Session> for SessionRef<'a> {
    fn from(session: &'a Session) -> Self {
        Self::Key(session.key())
    }
}

/// A session as it was when it was read. It does not move when the session does.
#[derive(Debug, Clone)]
pub struct Session {
    key: SessionKey,
    revision: u64,
    last_update_time: f64,
    state: SessionState,
    events: Vec<Arc<Event>>,
}

impl Session {
    /// The session's id.
    pub fn id(&self) -> &str {
        &self.key.session_id
    }

    /// The app.
    pub fn app_name(&self) -> &str {
        &self.key.app_name
    }

    /// The user.
    pub fn user_id(&self) -> &str {
        &self.key.user_id
    }

    /// The full key.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// One more for each event, 0 at creation.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The time of the last event, or of creation, in milliseconds since the epoch.
    pub fn last_update_time(&self) -> f64 {
        self.last_update_time
    }

    /// The merged state.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// The events, oldest first.
    pub fn events(&self) -> &[Arc<Event>] {
        &self.events
    }
}

/// Keeps sessions.
#[async_trait]
pub trait SessionService: Send + Sync {
    /// Creates a session.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SessionExists`] when the id is taken: nothing is applied. [`ErrorKind::ValueNotJson`].
    async fn create(&self, request: CreateRequest) -> Result<Session>;

    /// Gets a session, or nothing when there is none.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when `after_timestamp` is no number.
    async fn get(&self, request: GetRequest) -> Result<Option<Session>>;

    /// Lists sessions by the time of their last event, then by id.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a cursor that no page has given.
    async fn list(&self, request: ListRequest) -> Result<ListResponse>;

    /// Deletes a session, its events and its own state. App and user state stay. It need not be there.
    ///
    /// # Errors
    ///
    /// None in memory.
    async fn delete(&self, request: DeleteRequest) -> Result<()>;

    /// Appends an event to a session and gives it back as it is stored. [`SessionService::append_event`] is the
    /// same with less to write.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SessionNotFound`], [`ErrorKind::EventIdConflict`], [`ErrorKind::ValueNotJson`], and
    /// [`ErrorKind::InvalidArgument`] when an id alone names sessions of several users.
    async fn append(&self, session: SessionRef<'_>, event: Event) -> Result<Event>;

    /// Appends an event to a session: `append_event(session.id(), event)`, or the session or its key for the id.
    ///
    /// # Errors
    ///
    /// As [`SessionService::append`].
    async fn append_event<'a, S>(&self, session: S, event: Event) -> Result<Event>
    where
        S: Into<SessionRef<'a>> + Send,
        Self: Sized,
    {
        self.append(session.into(), event).await
    }
}

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
    events: HashMap<SessionId, Vec<Arc<Event>>>,
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
        let writes = state.iter().map(|(name, value)| Ok((name.as_str(), Write::Set(Json::from_value(value)?))));
        let state: Delta = writes.collect::<Result<Vec<_>>>()?.into_iter().collect();

        let mut memory = self.memory();
        let change = memory.sessions.prepare_create(&key, host::now(), state)?;
        let id = memory.sessions.apply_create(&key, &change);
        memory.events.insert(id, Vec::new());
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
            memory.events.remove(&id);
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
                memory.events.entry(id).or_default().push(Arc::new(event.clone()));
                Ok(event)
            }
        }
    }
}

impl Memory {
    /// The session as it is now, with a window of its events.
    fn read(&self, id: SessionId, window: Range<usize>) -> Result<Session> {
        let (Some(log), Some(state)) = (self.sessions.log(id), self.sessions.state(id)) else {
            return Err(Error::new(ErrorKind::SessionNotFound, "the session has been deleted"));
        };
        let events = self.events.get(&id).map_or(&[][..], Vec::as_slice);
        Ok(Session {
            key: log.key().clone(),
            revision: log.revision(),
            last_update_time: log.update_time(),
            state,
            events: events[window.start..window.end.min(events.len())].to_vec(),
        })
    }

    fn resolve(&self, session: SessionRef<'_>) -> Result<SessionId> {
        let not_found =
            |id: &str| Error::new(ErrorKind::SessionNotFound, format!("session \"{id}\" not found")).with_id(id);
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
        let stored = self.events.get(&id).and_then(|events| events.get(place));
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
