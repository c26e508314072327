//! The sessions in memory: the core, and the bodies of the events beside it.

use std::collections::HashMap;

use js_sys::Array;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::damage::{Damage, Place};
use super::errors::{Details, error};
use super::host::{Answer, stringify};
use super::requests::EventWindow;
use crate::change::{Change, Guard, SessionKey};
use crate::delta::{Delta, ScopedDelta, Write};
use crate::error::{ErrorKind, Result};
use crate::event::Event;
use crate::history::History;
use crate::ids::SessionId;
use crate::json::Json;
use crate::native::window;
use crate::scope::Scope;
use crate::sessions::Sessions;
use crate::state::ScopeState;

/// All sessions of a service.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) sessions: Sessions,
    logs: HashMap<SessionId, Log>,
    /// How many changes have touched the values of each app, and of each user in it.
    positions: HashMap<Place, u64>,
    /// What of the log cannot be read.
    pub(super) damage: Damage,
}

/// What the core does not have of a session.
#[derive(Debug)]
struct Log {
    /// The id of its creation: another one for a later session of the same key.
    created: String,
    /// Frozen: all readers share them.
    events: Array,
    /// Their times, in milliseconds since the epoch.
    times: Vec<f64>,
    /// What the session began with.
    creation: Change,
    /// What wrote each key, up to the revision before `next`: made when it is asked for.
    history: History,
    next: u32,
}

/// A change that the core has agreed to: to be stored, then applied.
#[derive(Debug)]
pub(super) enum Step {
    /// Creates a session. `created` is the id of the creation, unique everywhere.
    Create { key: SessionKey, created: String, change: Change },
    /// Appends an event. `json` is its text.
    Append { key: SessionKey, created: String, change: Change, event: JsValue, json: String },
    /// Changes app and user state.
    Update { app_name: String, user_id: Option<String>, change: Change },
    /// Deletes whatever session there is.
    Remove { key: SessionKey },
}

impl Memory {
    /// Finds a session by its full key.
    pub(super) fn find(&self, key: &SessionKey) -> Option<SessionId> {
        self.sessions.find(key)
    }

    /// As [`Memory::find`], for the session of this creation and no later one.
    pub(super) fn find_created(&self, key: &SessionKey, created: &str) -> Option<SessionId> {
        self.find(key).filter(|id| self.created(*id) == created)
    }

    /// The id of a session's creation.
    pub(super) fn created(&self, id: SessionId) -> &str {
        self.logs.get(&id).map_or("", |log| &log.created)
    }

    /// Takes over a change.
    pub(super) fn apply(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Create { key, created, change } => {
                let id = self.sessions.apply_create(key, change)?;
                let (created, creation) = (created.clone(), change.clone());
                let (events, times, history) = (Array::new(), Vec::new(), History::default());
                let log = Log { created, events, times, creation, history, next: 0 };
                self.logs.insert(id, log);
            }
            Step::Append { key, created, change, event, .. } => {
                if let Some(id) = self.find_created(key, created) {
                    self.sessions.apply_append(id, change)?;
                    if let Some(log) = self.logs.get_mut(&id) {
                        log.events.push(event);
                        log.times.push(change.time);
                    }
                }
            }
            Step::Update { app_name, user_id, change } => {
                self.sessions.apply_update(app_name, user_id.as_deref(), change)?;
            }
            Step::Remove { key } => {
                self.damage.remove_session(key);
                if let Some(id) = self.find(key) {
                    self.sessions.remove_for_good(id);
                    self.logs.remove(&id);
                }
                return Ok(());
            }
        }
        self.count_moves(step);
        Ok(())
    }

    /// Counts the scopes that a change has touched.
    fn count_moves(&mut self, step: &Step) {
        let (app_name, user_id, change) = match step {
            Step::Create { key, change, .. } | Step::Append { key, change, .. } => {
                (&key.app_name, Some(key.user_id.as_str()), change)
            }
            Step::Update { app_name, user_id, change } => (app_name, user_id.as_deref(), change),
            Step::Remove { .. } => return,
        };
        if !change.delta.app.is_empty() {
            self.move_on(app_name, None);
        }
        if !change.delta.user.is_empty() && user_id.is_some() {
            self.move_on(app_name, user_id);
        }
    }

    /// Counts a change of a scope.
    pub(super) fn move_on(&mut self, app_name: &str, user_id: Option<&str>) {
        *self.positions.entry(Place::of_scope(app_name, user_id)).or_default() += 1;
    }

    /// Says how many changes have touched a scope, where records of them are missing.
    pub(super) fn set_position(&mut self, app_name: &str, user_id: Option<&str>, position: u64) {
        self.positions.insert(Place::of_scope(app_name, user_id), position);
    }

    /// How many changes have touched a scope.
    pub(super) fn position(&self, app_name: &str, user_id: Option<&str>) -> u64 {
        self.positions.get(&Place::of_scope(app_name, user_id)).copied().unwrap_or_default()
    }

    /// The value that a session has under a full key.
    pub(super) fn value(&self, id: SessionId, key: &str) -> Option<Json> {
        self.sessions.value(id, key).cloned()
    }

    /// The value that an app, or a user in it, has under a full key.
    pub(super) fn shared_value(&self, app_name: &str, user_id: Option<&str>, key: &str) -> Option<Json> {
        let user_id = match Scope::split(key).0 {
            Scope::App => None,
            Scope::User => Some(user_id?),
            Scope::Session | Scope::Temp => return None,
        };
        let scope = self.sessions.scope(app_name, user_id)?;
        self.sessions.scope_state(scope)?.values().get(key).cloned()
    }

    /// What wrote each key of a session, with all that its log has.
    pub(super) fn history(&mut self, id: SessionId) -> Answer<&History> {
        let Some(log) = self.logs.get_mut(&id) else { return Err(JsValue::UNDEFINED) };
        if log.next == 0 {
            log.history.push(0, &log.creation.delta.clone().join(Delta::default()));
            log.next = 1;
        }
        while log.next <= log.events.length() {
            log.history.push(u64::from(log.next), &read_event(&log.events.get(log.next - 1))?.delta()?);
            log.next += 1;
        }
        Ok(&log.history)
    }

    /// The time of a session's creation, in milliseconds since the epoch.
    pub(super) fn creation_time(&self, id: SessionId) -> f64 {
        self.logs.get(&id).map_or(0.0, |log| log.creation.time)
    }

    /// What a session began with, of its own keys.
    pub(super) fn creation(&self, id: SessionId) -> Delta {
        let none = ScopedDelta::default();
        self.logs.get(&id).map_or(none.session, |log| log.creation.delta.session.clone())
    }

    /// The event at a place in the log, from 0.
    pub(super) fn event(&self, id: SessionId, place: usize) -> JsValue {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        self.logs.get(&id).map_or(JsValue::UNDEFINED, |log| log.events.get(place))
    }

    /// How many events a session has.
    pub(super) fn length(&self, id: SessionId) -> u32 {
        self.logs.get(&id).map_or(0, |log| log.events.length())
    }

    /// The events from a place on.
    pub(super) fn events_from(&self, id: SessionId, start: u32) -> Array {
        self.logs.get(&id).map_or_else(Array::new, |log| log.events.slice(start, log.events.length()))
    }

    /// The events that a window shows.
    pub(super) fn events_in(&self, id: SessionId, EventWindow { since, last }: EventWindow) -> Array {
        let Some(log) = self.logs.get(&id) else {
            return Array::new();
        };
        let places: Vec<usize> = (0..log.times.len()).collect();
        let is_wanted = |place: &usize| since.is_none_or(|since| log.times[*place] >= since);
        window(&places, last, is_wanted).into_iter().map(|place| self.event(id, place)).collect()
    }

    /// The merged state of a session as JSON text: session keys, then app keys, then user keys.
    pub(super) fn state_json(&self, id: SessionId) -> String {
        let scopes = self.sessions.scopes(id);
        let scopes = scopes.into_iter().flat_map(|scopes| [scopes.session, scopes.app, scopes.user]);
        merged(scopes.filter_map(|scope| self.sessions.scope_state(scope)))
    }

    /// The values of an app and of a user in it, or the app's alone, under full keys.
    pub(super) fn shared_json(&self, app_name: &str, user_id: Option<&str>) -> String {
        merged([None, user_id].into_iter().take(1 + usize::from(user_id.is_some())).filter_map(|user_id| {
            self.sessions.scope(app_name, user_id).and_then(|scope| self.sessions.scope_state(scope))
        }))
    }

    /// The values of an app, or of a user in it, under their names.
    pub(super) fn names_json(&self, app_name: &str, user_id: Option<&str>) -> String {
        let scope = self.sessions.scope(app_name, user_id).and_then(|scope| self.sessions.scope_state(scope));
        scope.map_or_else(|| "{}".into(), |scope| scope.to_json(false))
    }

    /// A guard that holds as long as neither the app's values nor the user's change.
    pub(super) fn guard(&self, app_name: &str, user_id: Option<&str>) -> Guard {
        let version = |user_id| {
            let scope = self.sessions.scope(app_name, user_id).and_then(|scope| self.sessions.scope_state(scope));
            scope.map_or(0, ScopeState::version)
        };
        Guard { revision: None, app: Some(version(None)), user: user_id.map(|user_id| version(Some(user_id))) }
    }
}

/// A stored event as the core reads it.
pub(super) fn read_event(event: &JsValue) -> Answer<Event> {
    let text = stringify(event)?.as_string().unwrap_or_default();
    let message =
        |reason| error(ErrorKind::StoreCorrupt, &format!("an event cannot be read: {reason}"), Details::default());
    serde_json::from_str(&text).map_err(message)
}

/// The values of scopes in one JSON object, under full keys.
fn merged<'a>(scopes: impl Iterator<Item = &'a ScopeState>) -> String {
    let objects: Vec<String> = scopes.map(|scope| scope.to_json(true)).collect();
    let members = objects.iter().filter_map(|object| object.strip_prefix('{')?.strip_suffix('}'));
    let members: Vec<&str> = members.filter(|members| !members.is_empty()).collect();
    format!("{{{}}}", members.join(","))
}

/// The values that a delta sets, as one JSON object.
pub(super) fn values_set_by(delta: &Delta) -> Value {
    let set = delta.iter().filter_map(|(key, write)| match write {
        Write::Set(json) => Some((key.to_owned(), json.to_value())),
        Write::Unset => None,
    });
    set.collect()
}
