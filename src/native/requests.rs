//! The requests to a session service, and its answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::change::SessionKey;
use crate::event::Event;
use crate::expiry::Expiry;
use crate::native::session::Session;
use crate::state::sorted;

/// A request for [`SessionService::create`](crate::SessionService::create): adk-rust's, with exactly its fields.
///
/// A `HashMap` has no order: its keys are written sorted. [`OrderedCreateRequest`] has an order.
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// The app.
    pub app_name: String,
    /// The user.
    pub user_id: String,
    /// The id to use; generated when absent or blank.
    pub session_id: Option<String>,
    /// The initial state: `app:` and `user:` keys reach every session they belong to, `temp:` keys are dropped.
    pub state: HashMap<String, Value>,
}

/// A request for [`SessionService::create_ordered`](crate::SessionService::create_ordered).
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use statepad::{InMemorySessionService, OrderedCreateRequest, SessionService};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> statepad::Result<()> {
/// let service = InMemorySessionService::new();
/// let mut request = OrderedCreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
/// request.state.insert("topic".into(), json!("tides"));
/// request.state.insert("level".into(), json!(2));
/// let session = service.create_ordered(request).await?;
/// assert_eq!(session.state().to_map().keys().collect::<Vec<_>>(), ["topic", "level"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct OrderedCreateRequest {
    /// The app.
    pub app_name: String,
    /// The user.
    pub user_id: String,
    /// The id to use; generated when absent or blank.
    pub session_id: Option<String>,
    /// The initial state in the order of writing: `app:` and `user:` keys reach every session they belong to, `temp:`
    /// keys are dropped.
    pub state: Map<String, Value>,
}

impl From<CreateRequest> for OrderedCreateRequest {
    fn from(CreateRequest { app_name, user_id, session_id, state }: CreateRequest) -> Self {
        Self { app_name, user_id, session_id, state: sorted(state) }
    }
}

/// Options of [`SessionService::create_with`](crate::SessionService::create_with).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use statepad::{CreateOptions, CreateRequest, InMemorySessionService, SessionService};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> statepad::Result<()> {
/// let service = InMemorySessionService::new();
/// let request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
/// let options = CreateOptions::default().expiring_after(Duration::from_secs(3_600));
/// let session = service.create_with(request.into(), options).await?;
/// assert_eq!(session.expire_time(), Some(session.last_update_time() + 3_600_000.0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct CreateOptions {
    /// The end of the session; the default of the service, when absent.
    pub expiry: Option<Expiry>,
}

impl CreateOptions {
    /// The session expires so long after its creation, and then after its last event.
    #[must_use]
    pub fn expiring_after(self, ttl: Duration) -> Self {
        Self { expiry: Some(Expiry::After(ttl)) }
    }

    /// The session expires at this time, in milliseconds since the epoch, whatever is appended to it.
    #[must_use]
    pub fn expiring_at(self, time: f64) -> Self {
        Self { expiry: Some(Expiry::At(time)) }
    }

    /// The session does not expire, whatever the default of the service is.
    #[must_use]
    pub fn never_expiring(self) -> Self {
        Self { expiry: Some(Expiry::Never) }
    }
}

/// A request for [`SessionService::get`](crate::SessionService::get).
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

/// A request for [`SessionService::list`](crate::SessionService::list).
///
/// # Examples
///
/// ```
/// use statepad::{CreateRequest, InMemorySessionService, ListRequest, SessionService};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> statepad::Result<()> {
/// let service = InMemorySessionService::new();
/// for _ in 0..3 {
///     service.create(CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() }).await?;
/// }
/// let mut request = ListRequest { app_name: "tutor".into(), limit: Some(2), ..Default::default() };
/// let first = service.list(request.clone()).await?;
/// assert_eq!((first.sessions.len(), first.total), (2, 3));
/// request.cursor = first.cursor;
/// let second = service.list(request).await?;
/// assert_eq!((second.sessions.len(), second.cursor), (1, None));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// The app.
    pub app_name: String,
    /// One user, or all of them.
    pub user_id: Option<String>,
    /// The maximum number of sessions.
    pub limit: Option<usize>,
    /// The number of sessions to skip. Ignored when there is a cursor.
    pub offset: usize,
    /// The cursor of the page before: goes on after it, also when sessions were created or deleted since.
    pub cursor: Option<String>,
    /// Newest first.
    pub descending: bool,
}

/// A request for [`SessionService::delete`](crate::SessionService::delete): the full key.
pub type DeleteRequest = SessionKey;

/// A request for [`SessionService::sweep`](crate::SessionService::sweep).
#[derive(Debug, Clone, Default)]
pub struct SweepRequest {
    /// One app, or all of them.
    pub app_name: Option<String>,
    /// The maximum number of sessions.
    pub limit: Option<usize>,
    /// Removes nothing, and counts what would be removed.
    pub dry_run: bool,
}

/// The answer of [`SessionService::sweep`](crate::SessionService::sweep).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// The number of sessions that were removed, or would be.
    pub sessions: usize,
}

impl Swept {
    /// Answers with a number of sessions.
    pub fn new(sessions: usize) -> Self {
        Self { sessions }
    }
}

/// The answer of [`SessionService::list`](crate::SessionService::list).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListResponse {
    /// The sessions in order, with their state and without events.
    pub sessions: Vec<Session>,
    /// The number of sessions in all.
    pub total: usize,
    /// The cursor at which the next page begins, when there is one.
    pub cursor: Option<String>,
}

impl ListResponse {
    /// Answers with a page and the number of all sessions. A service sets the cursor besides, where there is a next
    /// page.
    pub fn new(sessions: Vec<Session>, total: usize) -> Self {
        Self { sessions, total, cursor: None }
    }
}

/// Names a session for [`SessionService::append_event`](crate::SessionService::append_event): by its full key, or by
/// its id where that is unique.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
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

/// One write of a key, in the answer of [`SessionService::history`](crate::SessionService::history).
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use statepad::{CreateRequest, Event, GetRequest, InMemorySessionService, SessionService};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> statepad::Result<()> {
/// let service = InMemorySessionService::new();
/// let mut request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
/// request.state.insert("topic".into(), json!("tides"));
/// let created = service.create(request).await?;
/// let mut event = Event { author: "planner".into(), ..Event::new("inv-1") };
/// event.actions.state_delta.insert("topic".into(), json!("moon"));
/// service.append_event(&created, event).await?;
///
/// let (app_name, user_id, session_id) = ("tutor".into(), "ana".into(), created.id().into());
/// let request = GetRequest { app_name, user_id, session_id, ..Default::default() };
/// let session = service.get(request).await?.expect("it is there");
/// let history = service.history(&session, "topic").await?;
/// let change = &history[1];
/// assert_eq!(change.event.as_ref().map(|event| &*event.author), Some("planner"));
/// assert_eq!((&change.from, &change.to), (&Some(json!("tides")), &Some(json!("moon"))));
/// assert_eq!(service.state_at(&session, 0).await?["topic"], "tides");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The revision that the session came to with it; 0 is its creation.
    pub revision: u64,
    /// The time of the event, or of the creation, in milliseconds since the epoch.
    pub timestamp: f64,
    /// The event that wrote it, with its author. Absent at the creation.
    pub event: Option<Arc<Event>>,
    /// The value before, where the session's log has one.
    pub from: Option<Value>,
    /// The value after. Absent when the key was deleted.
    pub to: Option<Value>,
}

impl HistoryEntry {
    /// Begins a write at a revision, at a time in milliseconds since the epoch. A service sets the rest.
    pub fn new(revision: u64, timestamp: f64) -> Self {
        Self { revision, timestamp, event: None, from: None, to: None }
    }
}
