//! The session service in memory.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::change::{Guard, SessionKey};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::expiry::Expiry;
use crate::lease::LeaseRequest;
use crate::limits::Limits;
use crate::list::{ListQuery, Start};
use crate::native::draft::{StateDraft, StateRef, UpdateOptions};
use crate::native::host::Host;
use crate::native::lease::{Lease, millis};
use crate::native::ledger::{state_delta, window};
use crate::native::refusals::{always_changed, no_such_revision};
use crate::native::requests::{
    CreateOptions, DeleteRequest, GetRequest, HistoryEntry, ListRequest, ListResponse, OrderedCreateRequest,
    SessionRef, SweepRequest, Swept,
};
use crate::native::service::SessionService;
use crate::native::session::Session;
use crate::native::target_locks::TargetLocks;
use crate::state::SessionState;

use memory::{Append, Memory, time_of};

mod events;
mod memory;

/// Keeps sessions in memory.
///
/// # Examples
///
/// ```
/// use statepad::{CreateRequest, Event, InMemorySessionService, SessionService};
///
/// # #[tokio::main(flavor = "current_thread")]
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
pub struct InMemorySessionService {
    memory: Mutex<Memory>,
    locks: TargetLocks,
    host: Box<dyn Host>,
    limits: Limits,
    expiry: Expiry,
}

impl fmt::Debug for InMemorySessionService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemorySessionService").field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl InMemorySessionService {
    /// Starts with no sessions, with a clock and ids of the program's own.
    pub fn with_host(host: impl Host + 'static) -> Self {
        let (memory, locks) = (Mutex::default(), TargetLocks::default());
        Self { memory, locks, host: Box::new(host), limits: Limits::default(), expiry: Expiry::Never }
    }

    /// Sets the limits of what is stored.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes sessions that are created without an end of their own expire so long after their last event. A time of 0
    /// is refused when a session is created.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use statepad::{CreateRequest, Event, GetRequest, InMemorySessionService, SessionService};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> statepad::Result<()> {
    /// let service = InMemorySessionService::new().with_ttl(Duration::from_millis(1));
    /// let request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
    /// let session = service.create(request).await?;
    /// std::thread::sleep(Duration::from_millis(5));
    /// assert!(service.append_event(&session, Event::new("inv-1")).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.expiry = Expiry::After(ttl);
        self
    }

    /// The sessions, without what has expired.
    fn memory(&self) -> Result<MutexGuard<'_, Memory>> {
        let mut memory = self.all();
        memory.begin(&*self.host)?;
        Ok(memory)
    }

    /// A panic in another thread cannot leave a change half applied: nothing between prepare and apply can fail.
    fn all(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append_to(&self, append: Append<'_>) -> Result<Event> {
        append.event.check_names()?;
        if append.event.partial {
            return Ok(append.event);
        }
        self.memory()?.append(append, &self.limits, &*self.host)
    }

    /// Reads, computes and writes once. Answers with nothing when the values that were read have changed.
    fn try_update<F: FnMut(&mut StateDraft) -> Result<()> + ?Sized>(
        &self,
        target: StateRef<'_>,
        options: &UpdateOptions,
        function: &mut F,
    ) -> Result<Option<SessionState>> {
        let (serial, state) = self.memory()?.target(target)?;
        let mut draft = StateDraft::new(state);
        function(&mut draft)?;

        let mut memory = self.memory()?;
        let (serial_now, now) = memory.target(target)?;
        if draft.is_empty() {
            return Ok(Some(now));
        }
        if serial_now != serial || !draft.holds_in(&now) {
            return Ok(None);
        }
        let (app_name, user_id) = match target {
            StateRef::Session(key) => {
                let mut event = Event { author: options.author.clone(), ..Event::new(&*options.invocation_id) };
                event.carry(draft.writes());
                let append = Append { session: SessionRef::Key(key), event, guard: Guard::default(), lease: None };
                memory.append(append, &self.limits, &*self.host)?;
                return Ok(Some(memory.target(target)?.1));
            }
            StateRef::User(app_name, user_id) => (app_name, Some(user_id)),
            StateRef::App(app_name) => (app_name, None),
        };
        let (id, time) = (self.host.new_id(), time_of(&*self.host)?);
        let (delta, whose) = (draft.delta(), (app_name, user_id));
        self.limits.check_delta(&delta, 0)?;
        let ledger = &mut memory.ledger;
        let change = ledger.prepare_update(whose, (&id, time), delta, Guard::default(), &[], &self.limits)?;
        ledger.update(app_name, user_id, &change)?;
        Ok(Some(memory.target(target)?.1))
    }
}

#[async_trait]
impl SessionService for InMemorySessionService {
    async fn create_ordered(&self, request: OrderedCreateRequest) -> Result<Session> {
        self.create_with(request, CreateOptions::default()).await
    }

    async fn create_with(&self, request: OrderedCreateRequest, options: CreateOptions) -> Result<Session> {
        let OrderedCreateRequest { app_name, user_id, session_id, state } = request;
        let session_id = session_id.filter(|id| !id.trim().is_empty()).unwrap_or_else(|| self.host.new_id());
        let key = SessionKey { app_name, user_id, session_id };
        let (state, expiry) = (state_delta(&state)?, options.expiry.unwrap_or(self.expiry));
        self.memory()?.create(key, time_of(&*self.host)?, state, expiry, &self.limits)
    }

    async fn get(&self, request: GetRequest) -> Result<Option<Session>> {
        let GetRequest { app_name, user_id, session_id, num_recent_events, after_timestamp } = request;
        if after_timestamp.is_some_and(f64::is_nan) {
            return Err(Error::invalid("after_timestamp must be a number of milliseconds, not NaN"));
        }
        let memory = self.memory()?;
        let Some(id) = memory.ledger.sessions.find(&SessionKey { app_name, user_id, session_id }) else {
            return Ok(None);
        };
        let is_after =
            |event: &Event| after_timestamp.is_none_or(|after| event.timestamp.is_some_and(|time| time >= after));
        memory.read(id, |events| window(events, num_recent_events, |event| is_after(event))).map(Some)
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse> {
        let memory = self.memory()?;
        let page = memory.ledger.sessions.list(&ListQuery {
            app_name: &request.app_name,
            user_id: request.user_id.as_deref(),
            descending: request.descending,
            limit: request.limit,
            start: request.cursor.as_deref().map_or(Start::Offset(request.offset), Start::After),
        })?;
        let sessions = page.sessions.iter().map(|&id| memory.read(id, |_| Vec::new())).collect::<Result<_>>()?;
        Ok(ListResponse { sessions, total: page.total, cursor: page.cursor })
    }

    async fn delete(&self, request: DeleteRequest) -> Result<()> {
        self.memory()?.remove(&request);
        Ok(())
    }

    async fn sweep(&self, request: SweepRequest) -> Result<Swept> {
        let SweepRequest { app_name, limit, dry_run } = request;
        let (app_name, most) = (app_name.as_deref(), limit.unwrap_or(usize::MAX));
        let (mut memory, now) = (self.all(), time_of(&*self.host)?);
        Ok(Swept::new(if dry_run {
            memory.ledger.expired(now, app_name, most).len()
        } else {
            memory.sweep(now, app_name, most)
        }))
    }

    async fn append_expecting(
        &self,
        session: SessionRef<'_>,
        event: Event,
        expected_revision: Option<u64>,
    ) -> Result<Event> {
        let guard = Guard { revision: expected_revision, ..Guard::default() };
        self.append_to(Append { session, event, guard, lease: None })
    }

    async fn update(
        &self,
        target: StateRef<'_>,
        options: UpdateOptions,
        function: &mut (dyn for<'s> FnMut(&'s mut StateDraft) -> Result<()> + Send),
    ) -> Result<SessionState> {
        if options.attempts == 0 {
            return Err(Error::invalid("attempts must be a whole number from 1, not 0"));
        }
        let _lock = self.locks.wait(&target);
        for _ in 0..options.attempts {
            if let Some(state) = self.try_update(target, &options, function)? {
                return Ok(state);
            }
        }
        Err(always_changed(&options.attempts.to_string()))
    }

    async fn state_at(&self, session: &Session, revision: u64) -> Result<Map<String, Value>> {
        let until = session.revision();
        if revision > until {
            return Err(no_such_revision(session.id(), until, &revision.to_string()));
        }
        let mut memory = self.memory()?;
        memory.log_of(session.key(), session.serial())?.state_at(revision, until, session.state().to_map())
    }

    async fn history(&self, session: &Session, key: &str) -> Result<Vec<HistoryEntry>> {
        let mut memory = self.memory()?;
        let log = memory.log_of(session.key(), session.serial())?;
        let steps = log.history()?.of(key, session.revision()).to_vec();
        Ok(steps.iter().map(|step| log.entry(step)).collect())
    }

    async fn lease(&self, session: &Session, ttl: Duration) -> Result<Lease> {
        let request = LeaseRequest { holder: self.host.new_id(), ttl: millis(ttl), fence: None };
        self.memory()?.lease(session.key(), session.serial(), request, time_of(&*self.host)?)
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease> {
        let request = LeaseRequest { holder: lease.holder().into(), ttl: millis(ttl), fence: Some(lease.fence()) };
        self.memory()?.lease(lease.key(), lease.serial(), request, time_of(&*self.host)?)
    }

    async fn release(&self, lease: &Lease) -> Result<()> {
        let request = LeaseRequest { holder: lease.holder().into(), ttl: 0.0, fence: Some(lease.fence()) };
        self.memory()?.lease(lease.key(), lease.serial(), request, time_of(&*self.host)?).map(drop)
    }

    async fn append_leased(&self, lease: &Lease, event: Event, expected_revision: Option<u64>) -> Result<Event> {
        let (session, lease) = (SessionRef::Key(lease.key()), Some(lease));
        let guard = Guard { revision: expected_revision, ..Guard::default() };
        self.append_to(Append { session, event, guard, lease })
    }
}

#[cfg(test)]
mod tests;
