//! The session service for Rust programs: what is asked of it, and what it answers.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::change::SessionKey;
use crate::error::Result;
use crate::event::Event;
use crate::native::draft::{StateDraft, StateRef, UpdateOptions};
use crate::native::session::Session;
use crate::state::{SessionState, sorted};

/// A request for [`SessionService::create`]: adk-rust's, with exactly its fields.
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

/// A request for [`SessionService::create_ordered`].
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
    /// The initial state in the order of writing: `app:` and `user:` keys reach every session they belong to, `temp:` keys
    /// are dropped.
    pub state: Map<String, Value>,
}

impl From<CreateRequest> for OrderedCreateRequest {
    fn from(CreateRequest { app_name, user_id, session_id, state }: CreateRequest) -> Self {
        Self { app_name, user_id, session_id, state: sorted(state) }
    }
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
#[non_exhaustive]
pub struct ListResponse {
    /// The sessions in order, with their state and without events.
    pub sessions: Vec<Session>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page begins, when there is one.
    pub cursor: Option<String>,
}

impl ListResponse {
    /// Answers with a page and the number of all sessions. A service sets the cursor besides, where there is a next page.
    pub fn new(sessions: Vec<Session>, total: usize) -> Self {
        Self { sessions, total, cursor: None }
    }
}

/// Names a session for [`SessionService::append_event`]: by its full key, or by its id where that is unique.
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

/// One write of a key, in the answer of [`SessionService::history`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The revision that the session came to with it; 0 is its creation.
    pub revision: u64,
    /// The event's, or that of creation, in milliseconds since the epoch.
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

/// Keeps sessions.
#[async_trait]
pub trait SessionService: Send + Sync {
    /// Creates a session.
    ///
    /// # Errors
    ///
    /// [`SessionExists`](crate::ErrorKind::SessionExists) when the id is taken: nothing is applied.
    /// [`ValueNotJson`](crate::ErrorKind::ValueNotJson).
    async fn create(&self, request: CreateRequest) -> Result<Session> {
        self.create_ordered(request.into()).await
    }

    /// Creates a session whose initial state has an order.
    ///
    /// # Errors
    ///
    /// As [`SessionService::create`].
    async fn create_ordered(&self, request: OrderedCreateRequest) -> Result<Session>;

    /// Gets a session, or nothing when there is none.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when `after_timestamp` is no number.
    async fn get(&self, request: GetRequest) -> Result<Option<Session>>;

    /// Lists sessions by the time of their last event, then by id.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a cursor that no page has given.
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
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound), [`EventIdConflict`](crate::ErrorKind::EventIdConflict),
    /// [`ValueNotJson`](crate::ErrorKind::ValueNotJson), and
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when an id alone names sessions of several users, or when a
    /// member of the event or of its actions is called almost as a known one (`state_delta` for `stateDelta`): it would
    /// write nothing.
    async fn append(&self, session: SessionRef<'_>, event: Event) -> Result<Event> {
        self.append_expecting(session, event, None).await
    }

    /// As [`SessionService::append`], if the session is at the revision that is expected: nothing has come between since it
    /// was read.
    ///
    /// # Errors
    ///
    /// As [`SessionService::append`], and [`SessionStale`](crate::ErrorKind::SessionStale) with both revisions, when the
    /// session is at another one: nothing is applied.
    async fn append_expecting(
        &self,
        session: SessionRef<'_>,
        event: Event,
        expected_revision: Option<u64>,
    ) -> Result<Event>;

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

    /// Updates the state of an app, of a user or of a session: reads, computes and writes. [`SessionService::update_state`] is
    /// the same with less to write.
    ///
    /// # Errors
    ///
    /// As [`SessionService::update_state`].
    async fn update(
        &self,
        target: StateRef<'_>,
        options: UpdateOptions,
        function: &mut (dyn for<'s> FnMut(&'s mut StateDraft) -> Result<()> + Send),
    ) -> Result<SessionState>;

    /// Updates the state of an app, of a user or of a session safely. `function` gets the current values and writes into
    /// them; that is committed only if all that it has read still holds, else it runs again on the values of then. So 100
    /// parallel increments end at 100. It may read and write through the service itself.
    ///
    /// Answers with the values right after the update. Nothing is committed when nothing was written.
    ///
    /// # Errors
    ///
    /// That of `function`. [`StateConflict`](crate::ErrorKind::StateConflict) when others came between at each of the
    /// attempts, [`SessionNotFound`](crate::ErrorKind::SessionNotFound), [`InvalidArgument`](crate::ErrorKind::InvalidArgument)
    /// for a key that does not belong to what is updated. Nothing is applied then.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::{InMemorySessionService, SessionService, StateRef};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> statepad::Result<()> {
    /// let service = InMemorySessionService::new();
    /// let state = service
    ///     .update_state(StateRef::User("tutor", "ana"), |state| {
    ///         let visits = state.get("user:visits").and_then(|visits| visits.as_u64()).unwrap_or(0);
    ///         state.set("user:visits", visits + 1)
    ///     })
    ///     .await?;
    /// assert_eq!(state.get("user:visits"), Some(1.into()));
    /// # Ok(())
    /// # }
    /// ```
    async fn update_state<F>(&self, target: StateRef<'_>, mut function: F) -> Result<SessionState>
    where
        F: FnMut(&mut StateDraft) -> Result<()> + Send,
        Self: Sized,
    {
        self.update(target, UpdateOptions::default(), &mut function).await
    }

    /// The state of a session as it was at a revision: from 0, the creation, to that of `session`. Under full keys,
    /// without `temp:` keys.
    ///
    /// The session's own keys are exactly as they were. `app:` and `user:` keys are as this session's own log had left
    /// them by then; those that it never wrote are as `session` shows them, because what others wrote is not in this
    /// log. At the revision of `session` itself all of them are.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a revision that `session` does not have,
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound) when the session has been deleted since.
    async fn state_at(&self, session: &Session, revision: u64) -> Result<Map<String, Value>>;

    /// What wrote a key, oldest first, up to the revision of `session`. Of an `app:` or `user:` key these are the
    /// writes of this session, and `from` is what it wrote before.
    ///
    /// # Errors
    ///
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound) when the session has been deleted since.
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
    async fn history(&self, session: &Session, key: &str) -> Result<Vec<HistoryEntry>>;
}
