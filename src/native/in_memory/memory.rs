//! What the service in memory keeps.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::change::{Guard, Prepared, SessionKey};
use crate::delta::Delta;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::ids::{ScopeId, SessionId};
use crate::json::{Json, js_number};
use crate::lease::LeaseRequest;
use crate::native::draft::StateRef;
use crate::native::event_log::EventLog;
use crate::native::host::Host;
use crate::native::lease::Lease;
use crate::native::requests::SessionRef;
use crate::native::session::Session;
use crate::scope::Scope;
use crate::sessions::Sessions;
use crate::state::{ScopeState, SessionState};

#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) sessions: Sessions,
    pub(super) logs: HashMap<SessionId, EventLog>,
    /// The sessions of each id: of one, unless users or apps share it.
    pub(super) by_id: HashMap<String, Vec<SessionId>>,
    /// How many sessions have been created.
    pub(super) created: u64,
}

impl Memory {
    /// The session as it is now, with those of its events that `window` takes.
    pub(super) fn read(&self, id: SessionId, window: impl FnOnce(&[Arc<Event>]) -> Vec<Arc<Event>>) -> Result<Session> {
        let (Some(log), Some(state)) = (self.sessions.log(id), self.sessions.state(id)) else {
            impossible!(return Err(not_found("")), "a session that was found is there");
        };
        let kept = self.log(id)?;
        Ok(Session::new(log.key().clone())
            .with_serial(kept.serial)
            .with_revision(log.revision())
            .with_last_update_time(log.update_time())
            .with_state(state)
            .with_events(window(&kept.events)))
    }

    pub(super) fn append(
        &mut self,
        session: SessionRef<'_>,
        event: Event,
        guard: Guard,
        host: &dyn Host,
    ) -> Result<Event> {
        self.append_under(session, event, guard, None, host)
    }

    /// Appends an event, under a lease where there is one.
    pub(super) fn append_under(
        &mut self,
        session: SessionRef<'_>,
        mut event: Event,
        guard: Guard,
        lease: Option<&Lease>,
        host: &dyn Host,
    ) -> Result<Event> {
        if event.id.is_empty() {
            event.id = host.new_id();
        }
        let delta = event.delta()?;
        let id = self.resolve(session)?;
        let time = match event.timestamp {
            Some(time) => finite(time, "timestamp must be a number of milliseconds, not")?,
            None => time_of(host)?,
        };
        if let Some(lease) = lease {
            let log = self.log(id)?;
            let name = lease.key().session_id.as_str();
            if log.serial != lease.serial() {
                return Err(not_found(name));
            }
            let found = self.sessions.prepare_append(id, &event.id, time, Delta::new(), Guard::default())?;
            // An event that is there was written under it.
            if matches!(found, Prepared::Change { .. }) {
                log.lease.check(lease.fence()).map_err(|fault| fault.error(name))?;
            }
        }
        let mut prepared = self.sessions.prepare_append(id, &event.id, time, delta, guard)?;
        if matches!(prepared, Prepared::Change { .. }) && !event.actions.operators.is_empty() {
            event.resolve(|key| self.value(id, key))?;
            prepared = self.sessions.prepare_append(id, &event.id, time, event.delta()?, guard)?;
        }
        match prepared {
            Prepared::Duplicate { place } => self.repeated(id, place, event),
            Prepared::Change { change, .. } => {
                event.timestamp = Some(change.time);
                let event = event.as_stored();
                self.sessions.apply_append(id, &change)?;
                self.log_mut(id)?.events.push(Arc::new(event.clone()));
                Ok(event)
            }
        }
    }

    /// The value that a session has under a full key.
    pub(super) fn value(&self, id: SessionId, key: &str) -> Option<&Json> {
        self.sessions.value(id, key)
    }

    /// What becomes of the lease of a session.
    pub(super) fn lease(&mut self, key: &SessionKey, serial: u64, request: LeaseRequest, now: f64) -> Result<Lease> {
        let log = self.sessions.find(key).and_then(|id| self.logs.get_mut(&id)).filter(|log| log.serial == serial);
        let log = log.ok_or_else(|| not_found(&key.session_id))?;
        log.lease = log.lease.decide(&request, now).map_err(|fault| fault.error(&key.session_id))?;
        let until = log.lease.held.as_ref().map_or(now, |(_, until)| *until);
        Ok(Lease::new(key.clone(), request.holder, log.lease.fence, until).with_serial(serial))
    }

    /// What an update reads, with the serial number of the session; 0, when it is not a session.
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
            id.and_then(|id| self.sessions.scope_state(id)).cloned().unwrap_or_else(|| ScopeState::new(scope))
        };
        let app = scope(Scope::App, self.sessions.scope(app_name, None));
        let user = scope(Scope::User, user_id.and_then(|user_id| self.sessions.scope(app_name, Some(user_id))));
        Ok((0, SessionState::new([ScopeState::new(Scope::Session), app, user])))
    }

    /// The events of a session that is there.
    fn log(&self, id: SessionId) -> Result<&EventLog> {
        Ok(or_impossible!(self.logs.get(&id), "each session has a list of events", return Err(not_found(""))))
    }

    fn log_mut(&mut self, id: SessionId) -> Result<&mut EventLog> {
        Ok(or_impossible!(self.logs.get_mut(&id), "each session has a list of events", return Err(not_found(""))))
    }

    /// The log of a session that was read, if it is still that session which has the key.
    pub(super) fn log_of(&mut self, session: &Session) -> Result<&mut EventLog> {
        let log = self.sessions.find(session.key()).and_then(|id| self.logs.get_mut(&id));
        log.filter(|log| log.serial == session.serial()).ok_or_else(|| not_found(session.id()))
    }

    pub(super) fn resolve(&self, session: SessionRef<'_>) -> Result<SessionId> {
        match session {
            SessionRef::Key(key) => self.sessions.find(key).ok_or_else(|| not_found(&key.session_id)),
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
        let found = self.sessions.log(id).zip(self.log(id)?.events.get(place));
        let Some((log, stored)) = found else {
            impossible!(return Err(not_found("")), "a session has the event at the place that its index names");
        };
        event.timestamp = event.timestamp.or(stored.timestamp);
        if event.clone().asks_for(stored) {
            return Ok((**stored).clone());
        }
        let session = &log.key().session_id;
        let message = format!("session \"{session}\" has another event with the id \"{}\"", event.id);
        Err(Error::new(ErrorKind::EventIdConflict, message).with_id(&event.id))
    }
}

/// The time of the host.
pub(super) fn time_of(host: &dyn Host) -> Result<f64> {
    finite(host.now(), "now() must answer with a number of milliseconds, not with")
}

/// A time that is a number; for another one the message ends with what it is.
fn finite(time: f64, message: &str) -> Result<f64> {
    if time.is_finite() { Ok(time) } else { Err(Error::invalid(format!("{message} {}", js_number(time)))) }
}

fn not_found(id: &str) -> Error {
    Error::new(ErrorKind::SessionNotFound, format!("session \"{id}\" not found")).with_id(id)
}

/// Sets all values of a record.
pub(super) fn delta_of(values: &Map<String, Value>) -> Result<Delta> {
    Delta::of_values("state", values.iter().map(|(key, value)| (key.as_str(), value)))
}
