//! The session service for Rust programs.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::error::{ErrorKind, Result};
use crate::event::Event;
use crate::native::draft::{StateDraft, StateRef, UpdateOptions};
use crate::native::lease::Lease;
use crate::native::refusals::{no_expiry, no_leases, not_found};
use crate::native::requests::{
    CreateOptions, CreateRequest, DeleteRequest, GetRequest, HistoryEntry, ListRequest, ListResponse,
    OrderedCreateRequest, SessionRef, SweepRequest, Swept,
};
use crate::native::rewind::{self, Rewound};
use crate::native::session::Session;
use crate::rewind::Rewind;
use crate::state::SessionState;

/// Keeps sessions.
///
/// A program can have a service of its own: it implements the methods that have no body, under the attribute of the
/// crate `async-trait`, and makes its answers with [`Session::new`], [`ListResponse::new`], [`HistoryEntry::new`] and
/// [`Error::new`](crate::Error::new). `Box`, `Arc` and references of a service are services.
#[async_trait]
pub trait SessionService: Send + Sync {
    /// Creates a session.
    ///
    /// # Errors
    ///
    /// [`SessionExists`](crate::ErrorKind::SessionExists) when the id is taken: nothing is applied.
    /// [`ValueNotJson`](crate::ErrorKind::ValueNotJson), [`LimitExceeded`](crate::ErrorKind::LimitExceeded).
    async fn create(&self, request: CreateRequest) -> Result<Session> {
        self.create_ordered(request.into()).await
    }

    /// Creates a session whose initial state has an order.
    ///
    /// # Errors
    ///
    /// As [`SessionService::create`].
    async fn create_ordered(&self, request: OrderedCreateRequest) -> Result<Session>;

    /// Creates a session with an end of its own: see [`CreateOptions`]. From that moment of the service's clock on the
    /// session is not there for any operation, whether it was removed by then or not.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for an end that is over already, or where sessions of the
    /// service do not expire, and as [`SessionService::create`].
    async fn create_with(&self, request: OrderedCreateRequest, options: CreateOptions) -> Result<Session> {
        match options.expiry {
            None => self.create_ordered(request).await,
            Some(_) => Err(no_expiry()),
        }
    }

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

    /// Deletes a session, its events and its own state. App and user state stay. Does nothing when there is no such
    /// session.
    ///
    /// # Errors
    ///
    /// None in memory.
    async fn delete(&self, request: DeleteRequest) -> Result<()>;

    /// Removes sessions that have expired, the first ones first. They are not there for any operation before that: this
    /// gives back what they take up. No service of the crate calls it by itself: a program does so from time to time.
    /// Values of users and apps stay.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) where sessions of the service do not expire.
    async fn sweep(&self, request: SweepRequest) -> Result<Swept> {
        let _ = request;
        Err(no_expiry())
    }

    /// Appends an event to a session and gives it back as it is stored. [`SessionService::append_event`] is the
    /// same with less to write.
    ///
    /// # Errors
    ///
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound), [`EventIdConflict`](crate::ErrorKind::EventIdConflict),
    /// [`ValueNotJson`](crate::ErrorKind::ValueNotJson), [`LimitExceeded`](crate::ErrorKind::LimitExceeded) for more
    /// than the service allows, and [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when an id alone names
    /// sessions of several users, or when a member of the event or of its actions is called almost as a known one
    /// (`state_delta` for `stateDelta`): it would write nothing.
    async fn append(&self, session: SessionRef<'_>, event: Event) -> Result<Event> {
        self.append_expecting(session, event, None).await
    }

    /// As [`SessionService::append`], if the session is at the revision that is expected: nothing has come between
    /// since it was read.
    ///
    /// # Errors
    ///
    /// As [`SessionService::append`], and [`SessionStale`](crate::ErrorKind::SessionStale) with both revisions, when
    /// the session is at another one: nothing is applied.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::{CreateRequest, ErrorKind, Event, InMemorySessionService, SessionService};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> statepad::Result<()> {
    /// let service = InMemorySessionService::new();
    /// let request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
    /// let session = service.create(request).await?;
    /// service.append_expecting((&session).into(), Event::new("inv-1"), Some(0)).await?;
    /// let again = service.append_expecting((&session).into(), Event::new("inv-1"), Some(0)).await;
    /// let error = again.unwrap_err();
    /// assert_eq!((error.kind(), error.actual()), (ErrorKind::SessionStale, Some(1)));
    /// # Ok(())
    /// # }
    /// ```
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

    /// Updates the state of an app, of a user or of a session: reads, computes and writes.
    /// [`SessionService::update_state`] is the same with less to write.
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

    /// Updates the state of an app, of a user or of a session safely. `function` gets the current values and writes
    /// into them; that is committed only if all that it has read still holds, else it runs again on the values of
    /// then. So 100 parallel increments end at 100. It may read and write through the service itself.
    ///
    /// Answers with the values right after the update. Nothing is committed when nothing was written.
    ///
    /// # Errors
    ///
    /// The error of `function`. [`StateConflict`](crate::ErrorKind::StateConflict) when other changes came between at
    /// each of the attempts, [`SessionNotFound`](crate::ErrorKind::SessionNotFound),
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded),
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a key that does not belong to the scopes of the
    /// update. Nothing is applied then.
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

    /// The writes to a key, oldest first, up to the revision of `session`. Of an `app:` or `user:` key these are the
    /// writes of this session, and `from` is the value of its write before.
    ///
    /// # Errors
    ///
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound) when the session has been deleted since.
    async fn history(&self, session: &Session, key: &str) -> Result<Vec<HistoryEntry>>;

    /// Goes back to just before an invocation: appends one event, by `system`, that restores the session's own keys to
    /// what they were before the first event of the invocation, creation state included, and that names the invocation
    /// in `actions.rewindBeforeInvocationId`, by which readers of the log leave out the events that do not stand any
    /// more. `app:` and `user:` keys stay as they are. Nothing is destroyed: [`SessionService::redo`] takes it back.
    ///
    /// The body that it has here goes over the other methods.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when no event that stands belongs to the invocation,
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound), and as [`SessionService::append`].
    async fn rewind(&self, session: &Session, before: &str) -> Result<Rewound> {
        go_back(self, session, |now| rewind::plan_rewind(now.id(), now.events(), before)).await
    }

    /// Takes back the last rewind that was not taken back, as long as nothing else was appended since: the session's
    /// own keys are as they were before it, and its readers see again what it had undone.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when there is nothing to redo, and as
    /// [`SessionService::rewind`].
    async fn redo(&self, session: &Session) -> Result<Rewound> {
        go_back(self, session, |now| rewind::plan_redo(now.id(), now.events())).await
    }

    /// Makes a new session of the same user that goes on from a revision of another one, by default the current one:
    /// with its creation state and its events up to there, and one more that says where it comes from
    /// (`customMetadata.statepad.forkedFrom`). Its `app:` and `user:` keys are those of all sessions. Later neither
    /// sees the other's changes.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a revision that the session does not have,
    /// [`SessionExists`](crate::ErrorKind::SessionExists), [`SessionNotFound`](crate::ErrorKind::SessionNotFound), and
    /// as [`SessionService::append`]. There is no new session then.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::{CreateRequest, Event, InMemorySessionService, SessionService};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> statepad::Result<()> {
    /// let service = InMemorySessionService::new();
    /// let request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
    /// let session = service.create(request).await?;
    /// for topic in ["tides", "moon"] {
    ///     let mut event = Event::new("inv-1");
    ///     event.actions.set("topic", topic);
    ///     service.append_event(&session, event).await?;
    /// }
    /// let other = service.fork(&session, Some(1), None).await?;
    /// assert_eq!(other.state().get("topic"), Some("tides".into()));
    /// let last = other.events().last().expect("it says where it comes from");
    /// assert_eq!(last.custom_metadata["statepad"]["forkedFrom"]["revision"], 1);
    /// # Ok(())
    /// # }
    /// ```
    async fn fork(&self, session: &Session, revision: Option<u64>, session_id: Option<String>) -> Result<Session> {
        fork(self, session, revision, session_id).await
    }

    /// Takes the lease of a session: one runner at a time has it, until it is released or its time is over and another
    /// takes it. It keeps no writer without one from writing: what is appended with
    /// [`SessionService::append_leased`] is refused once another has taken it. See the example of [`Lease`].
    ///
    /// # Errors
    ///
    /// [`LeaseHeld`](crate::ErrorKind::LeaseHeld) with the time at which the other one's ends,
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound), and
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) where the service has no leases.
    async fn lease(&self, session: &Session, ttl: Duration) -> Result<Lease> {
        let _ = (session, ttl);
        Err(no_leases())
    }

    /// Makes a lease last so long from now on.
    ///
    /// # Errors
    ///
    /// [`LeaseLost`](crate::ErrorKind::LeaseLost) when another has taken it, or it was released, and as
    /// [`SessionService::lease`].
    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease> {
        let _ = (lease, ttl);
        Err(no_leases())
    }

    /// Gives a lease back: nothing is written with it afterwards. Giving it back once more changes nothing, as long as
    /// nobody has taken it since.
    ///
    /// # Errors
    ///
    /// As [`SessionService::renew`].
    async fn release(&self, lease: &Lease) -> Result<()> {
        let _ = lease;
        Err(no_leases())
    }

    /// As [`SessionService::append_expecting`], under a lease of the session.
    ///
    /// # Errors
    ///
    /// [`LeaseLost`](crate::ErrorKind::LeaseLost) when another has taken the lease, or it was released: nothing is
    /// applied. And as [`SessionService::append_expecting`].
    async fn append_leased(&self, lease: &Lease, event: Event, expected_revision: Option<u64>) -> Result<Event> {
        let _ = (lease, event, expected_revision);
        Err(no_leases())
    }
}

/// The number of times that other changes may come between.
const ATTEMPTS: u32 = 100;

/// Appends the marker of what is planned, as the log that is there then has it.
async fn go_back<S: SessionService + ?Sized>(
    service: &S,
    session: &Session,
    plan: impl Fn(&Session) -> Result<Rewind> + Send,
) -> Result<Rewound> {
    let mut attempt = 1;
    loop {
        let now = current(service, session).await?;
        let revision = now.revision();
        let plan = plan(&now)?;
        let history = rewind::history_of(service.state_at(&now, 0).await?, now.events())?;
        let marker = rewind::marker(now.events(), &history, &plan);
        let event = rewind::event_of(&marker, rewind::new_invocation("rewind", &now));
        match service.append_expecting((&now).into(), event, Some(revision)).await {
            Ok(event) => return Ok(Rewound { event, revision: revision + 1, shared: marker.shared }),
            Err(error) if error.kind() == ErrorKind::SessionStale && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// See [`SessionService::fork`].
async fn fork<S: SessionService + ?Sized>(
    service: &S,
    session: &Session,
    revision: Option<u64>,
    session_id: Option<String>,
) -> Result<Session> {
    let source = current(service, session).await?;
    let revision = revision.unwrap_or(source.revision());
    // Refuses a revision that there is not.
    service.state_at(&source, revision).await?;
    let state = rewind::own_values(service.state_at(&source, 0).await?);
    let (app_name, user_id) = (source.app_name().to_owned(), source.user_id().to_owned());
    let made = service.create_ordered(OrderedCreateRequest { app_name, user_id, session_id, state }).await?;
    for event in rewind::events_of_fork(&source, revision) {
        if let Err(error) = service.append((&made).into(), event).await {
            // The caller gets the error of the fork.
            let _ = service.delete(DeleteRequest::clone(made.key())).await;
            return Err(error);
        }
    }
    current(service, &made).await
}

/// The session as it is now, with all its events.
async fn current<S: SessionService + ?Sized>(service: &S, session: &Session) -> Result<Session> {
    let (app_name, user_id) = (session.app_name().to_owned(), session.user_id().to_owned());
    let request = GetRequest { app_name, user_id, session_id: session.id().to_owned(), ..GetRequest::default() };
    let now = service.get(request).await?.filter(|now| now.serial() == session.serial());
    now.ok_or_else(|| not_found(session.id()))
}
