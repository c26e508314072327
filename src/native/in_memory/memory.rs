//! The sessions of the service in memory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::change::{Guard, Prepared, SessionKey};
use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::expiry::{Expiry, Lifetime};
use crate::ids::{ScopeId, SessionId};
use crate::json::js_number;
use crate::lease::LeaseRequest;
use crate::limits::Limits;
use crate::native::draft::StateRef;
use crate::native::host::Host;
use crate::native::lease::Lease;
use crate::native::ledger::{Conditions, EventLog, Ledger};
use crate::native::refusals::{event_id_conflict, not_found};
use crate::native::requests::SessionRef;
use crate::native::session::Session;
use crate::scope::Scope;
use crate::state::{ScopeState, SessionState};

use super::events::{EventDraft, Events};

/// The sessions of the service, and how they are found by their id alone.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) ledger: Ledger<Events>,
    /// The sessions of each id: of one, unless users or apps share it.
    by_id: HashMap<String, Vec<SessionId>>,
    /// The number of sessions that have been created.
    created: u64,
    /// The time of the operation under way, where sessions expire: what has expired by then is not there.
    now: f64,
}

/// An append that is asked for.
pub(super) struct Append<'a> {
    pub(super) session: SessionRef<'a>,
    pub(super) event: Event,
    pub(super) guard: Guard,
    pub(super) lease: Option<&'a Lease>,
}

impl Memory {
    /// Removes what has expired.
    pub(super) fn begin(&mut self, host: &dyn Host) -> Result<()> {
        if self.ledger.has_expiries() {
            self.now = time_of(host)?;
            self.sweep(self.now, None, usize::MAX);
        }
        Ok(())
    }

    /// Removes what has expired, so many sessions at most, and answers with their number.
    pub(super) fn sweep(&mut self, now: f64, app_name: Option<&str>, most: usize) -> usize {
        let expired = self.ledger.expired(now, app_name, most);
        for key in &expired {
            self.remove(key);
        }
        expired.len()
    }

    /// Creates a session.
    pub(super) fn create(
        &mut self,
        key: SessionKey,
        time: f64,
        state: Delta,
        expiry: Expiry,
        limits: &Limits,
    ) -> Result<Session> {
        let lifetime = Lifetime::of(expiry, time)?;
        limits.check_delta(&state, 0).map_err(|error| error.with_id(&*key.session_id))?;
        let change = self.ledger.prepare_create(&key, time, state, &[], limits)?;
        self.created += 1;
        let id = self.ledger.create(&key, self.created, change, lifetime)?;
        self.by_id.entry(key.session_id).or_default().push(id);
        self.read(id, |_| Vec::new())
    }

    /// Deletes a session, if it is there.
    pub(super) fn remove(&mut self, key: &SessionKey) {
        let Some(id) = self.ledger.find(key) else {
            return;
        };
        let same = self.by_id.get_mut(&key.session_id);
        let same = or_impossible!(same, "each session is among those of its id", return);
        same.retain(|&other| other != id);
        if same.is_empty() {
            self.by_id.remove(&key.session_id);
        }
        self.ledger.remove(key);
    }

    /// The session as it is now, with those of its events that `window` takes.
    pub(super) fn read(&self, id: SessionId, window: impl FnOnce(&[Arc<Event>]) -> Vec<Arc<Event>>) -> Result<Session> {
        let sessions = &self.ledger.sessions;
        let entry = sessions.log(id).zip(sessions.state(id));
        let (log, state) = or_impossible!(entry, "a session that was found is there", return Err(not_found("")));
        let EventLog { created, events, .. } = self.log(id)?;
        Ok(Session::new(log.key().clone())
            .with_serial(*created)
            .with_revision(log.revision())
            .with_last_update_time(log.update_time())
            .with_expire_time(self.ledger.lifetime(id).map(|lifetime| lifetime.expires))
            .with_state(state)
            .with_events(window(&events.list)))
    }

    /// Appends an event, under a lease where there is one.
    pub(super) fn append(&mut self, append: Append<'_>, limits: &Limits, host: &dyn Host) -> Result<Event> {
        let Append { session, mut event, guard, lease } = append;
        if event.id.is_empty() {
            event.id = host.new_id();
        }
        let delta = event.delta()?;
        let time = match event.timestamp {
            Some(time) => finite(time, "timestamp must be a number of milliseconds, not")?,
            None if self.ledger.has_expiries() => self.now,
            None => time_of(host)?,
        };
        let sized = || limits.check_event(|| event.size_at_most(), || size_at(&event, time));
        limits
            .check_delta(&delta, event.size_of_operators())
            .and_then(|()| sized())
            .map_err(|error| named(error, session))?;
        let id = self.resolve(session)?;
        let EventLog { created, events, .. } = self.log(id)?;
        if let Some(lease) = lease.filter(|lease| lease.serial() != *created) {
            return Err(not_found(&lease.key().session_id));
        }
        let check_lease = lease
            .map(|lease| || events.lease.check(lease.fence()).map_err(|fault| fault.error(&lease.key().session_id)));
        let check_lease = check_lease.as_ref().map(|check| check as &dyn Fn() -> Result<()>);
        let mut draft = EventDraft::new(event, time, delta);
        let value_of = |key: &str| self.ledger.value(id, key);
        let conditions = Conditions { guard, check_lease, limits };
        match self.ledger.prepare_append(id, &mut draft, &conditions, &value_of)? {
            Prepared::Duplicate { place } => self.repeated(id, place, draft.event),
            Prepared::Change { change, .. } => {
                draft.event.timestamp = Some(change.time);
                let event = Arc::new(draft.event.as_stored());
                self.ledger.append(id, &change, &event)?;
                if let Some(lifetime) = self.ledger.lifetime(id) {
                    self.ledger.set_lifetime(id, lifetime.after_append(self.now));
                }
                Ok(Event::clone(&event))
            }
        }
    }

    /// Takes, renews or gives back the lease of a session.
    pub(super) fn lease(&mut self, key: &SessionKey, serial: u64, request: LeaseRequest, now: f64) -> Result<Lease> {
        let lease = &mut self.log_of(key, serial)?.events.lease;
        *lease = lease.decide(&request, now).map_err(|fault| fault.error(&key.session_id))?;
        let until = lease.holder.as_ref().map_or(now, |(_, until)| *until);
        Ok(Lease::new(key.clone(), request.holder, lease.fence, until).with_serial(serial))
    }

    /// The state that an update reads, with the serial number of the session; 0, when it is not a session.
    pub(super) fn target(&self, target: StateRef<'_>) -> Result<(u64, SessionState)> {
        let (app_name, user_id) = match target {
            StateRef::Session(key) => {
                let session = self.read(self.resolve(SessionRef::Key(key))?, |_| Vec::new())?;
                return Ok((session.serial(), session.state().clone()));
            }
            StateRef::User(app_name, user_id) => (app_name, Some(user_id)),
            StateRef::App(app_name) => (app_name, None),
        };
        let scope = |scope: Scope, id: Option<ScopeId>| {
            id.and_then(|id| self.ledger.sessions.scope_state(id)).cloned().unwrap_or_else(|| ScopeState::new(scope))
        };
        let app = scope(Scope::App, self.ledger.sessions.scope(app_name, None));
        let user = scope(Scope::User, user_id.and_then(|user_id| self.ledger.sessions.scope(app_name, Some(user_id))));
        Ok((0, SessionState::new([ScopeState::new(Scope::Session), app, user])))
    }

    fn log(&self, id: SessionId) -> Result<&EventLog<Events>> {
        Ok(or_impossible!(self.ledger.log(id), "each session has a log", return Err(not_found(""))))
    }

    /// The log of a session that was read, if it is still that session which has the key.
    pub(super) fn log_of(&mut self, key: &SessionKey, serial: u64) -> Result<&mut EventLog<Events>> {
        let log = self.ledger.find_created(key, &serial).and_then(|id| self.ledger.log_mut(id));
        log.ok_or_else(|| not_found(&key.session_id))
    }

    pub(super) fn resolve(&self, session: SessionRef<'_>) -> Result<SessionId> {
        match session {
            SessionRef::Key(key) => self.ledger.find(key).ok_or_else(|| not_found(&key.session_id)),
            SessionRef::Id(id) => match self.by_id.get(id).map(Vec::as_slice) {
                Some(&[session]) => Ok(session),
                None | Some([]) => Err(not_found(id)),
                Some(_) => {
                    let message = format!("session id \"{id}\" is not unique: name the full key");
                    Err(Error::invalid(message).with_id(id))
                }
            },
        }
    }

    /// An event whose id the session has: equal content is a success that changes nothing.
    pub(super) fn repeated(&self, id: SessionId, place: usize, mut event: Event) -> Result<Event> {
        let stored = self.log(id)?.events.list.get(place);
        let stored = or_impossible!(stored, "the core knows the place of the event", return Err(not_found("")));
        event.timestamp = event.timestamp.or(stored.timestamp);
        if event.clone().asks_for(stored) {
            return Ok((**stored).clone());
        }
        let session = self.ledger.sessions.log(id).map(|log| log.key().session_id.as_str());
        let session = or_impossible!(session, "the session has the event");
        Err(event_id_conflict(session, &event.id))
    }
}

/// The bytes of an event that is stored with a time.
fn size_at(event: &Event, time: f64) -> u64 {
    Event { timestamp: Some(time), ..event.clone() }.size()
}

/// An error that names a session.
fn named(error: Error, session: SessionRef<'_>) -> Error {
    error.with_id(match session {
        SessionRef::Id(id) => id,
        SessionRef::Key(key) => &key.session_id,
    })
}

/// The time of the host.
pub(super) fn time_of(host: &dyn Host) -> Result<f64> {
    finite(host.now(), "now() must return a number of milliseconds, not")
}

/// A time that is a number; for another one the message ends with what it is.
fn finite(time: f64, message: &str) -> Result<f64> {
    if time.is_finite() { Ok(time) } else { Err(Error::invalid(format!("{message} {}", js_number(time)))) }
}
