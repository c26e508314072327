//! The sessions in memory: those of the crate, with the bodies of the events as JavaScript has them.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use js_sys::Array;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::damage::{Damage, Place};
use super::errors::not_found;
use super::host::{Answer, stringify};
use super::requests::EventWindow;
use super::unfinished::is_unfinished;
use crate::change::{Change, Guard, SessionKey};
use crate::delta::{Delta, Write};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::expiry::Lifetime;
use crate::ids::SessionId;
use crate::json::Json;
use crate::native::{Bodies, EventLog, Ledger, window};
use crate::scope::Scope;
use crate::state::ScopeState;

/// All sessions of a service.
#[derive(Debug, Default)]
pub(super) struct Memory {
    ledger: Ledger<Events>,
    /// The number of changes that have touched the values of each app, and of each user in it.
    positions: HashMap<Place, u64>,
    /// The parts of the log that cannot be read.
    pub(super) damage: Damage,
}

/// The events of a session.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Frozen: all readers share them.
    list: Array,
    /// Their times, in milliseconds since the epoch.
    times: Vec<f64>,
}

/// A change that the core has agreed to: to be stored, then applied.
#[derive(Debug)]
pub(super) enum Step {
    /// Creates a session. `created` is the id of the creation, unique everywhere.
    Create { key: SessionKey, created: String, change: Change, lifetime: Option<Lifetime> },
    /// Appends an event. `json` is its text, `lifetime` the end of the session after it.
    Append {
        key: SessionKey,
        created: String,
        change: Change,
        event: JsValue,
        json: String,
        lifetime: Option<Lifetime>,
    },
    /// Changes app and user state.
    Update { app_name: String, user_id: Option<String>, change: Change },
    /// Deletes whatever session there is.
    Remove { key: SessionKey },
}

impl Bodies for Events {
    type Event = JsValue;
    /// The id of the creation.
    type Created = String;

    fn push(&mut self, event: &JsValue, change: &Change) {
        self.list.push(event);
        self.times.push(change.time);
    }

    fn delta(&self, place: usize) -> Option<Result<Delta>> {
        let place = u32::try_from(place).ok().filter(|place| *place < self.list.length())?;
        Some(read_event(&self.list.get(place)).and_then(|event| event.delta()))
    }
}

/// Reads of the sessions alone.
impl Deref for Memory {
    type Target = Ledger<Events>;

    fn deref(&self) -> &Self::Target {
        &self.ledger
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.ledger
    }
}

impl Memory {
    /// The log of a session that is there.
    pub(super) fn log_of(&mut self, id: SessionId) -> Answer<&mut EventLog<Events>> {
        Ok(or_impossible!(self.ledger.log_mut(id), "each session has a log", return Err(not_found(""))))
    }

    /// The id of a session's creation.
    pub(super) fn created(&self, id: SessionId) -> &str {
        self.log(id).map_or("", |log| &log.created)
    }

    /// Finds a session that is whole by its full key.
    pub(super) fn find_whole(&self, key: &SessionKey) -> Option<SessionId> {
        self.find(key).filter(|id| !self.is_unfinished(*id))
    }

    /// Returns `true` if a session is not whole yet.
    pub(super) fn is_unfinished(&self, id: SessionId) -> bool {
        self.sessions.log(id).is_some_and(|log| is_unfinished(self.created(id), log.revision()))
    }

    /// Takes over a change.
    pub(super) fn apply(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Create { key, created, change, lifetime } => {
                self.create(key, created.clone(), change.clone(), *lifetime)?;
            }
            Step::Append { key, created, change, event, lifetime, .. } => {
                if let Some(id) = self.find_created(key, created) {
                    self.append(id, change, event)?;
                    if let Some(lifetime) = lifetime {
                        self.set_lifetime(id, *lifetime);
                    }
                }
            }
            Step::Update { app_name, user_id, change } => {
                self.update(app_name, user_id.as_deref(), change)?;
            }
            Step::Remove { key } => {
                self.damage.remove_session(key);
                self.remove(key);
            }
        }
        self.count_moves(step);
        Ok(())
    }

    /// Makes a session that is appended to last as it will then. Answers with its end before.
    pub(super) fn extend(&mut self, step: &Step) -> Option<(SessionId, Lifetime)> {
        let Step::Append { key, created, lifetime: Some(lifetime), .. } = step else { return None };
        let id = self.find_created(key, created)?;
        let before = self.lifetime(id)?;
        self.set_lifetime(id, *lifetime);
        Some((id, before))
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

    /// The number of changes that have touched a scope.
    pub(super) fn position(&self, app_name: &str, user_id: Option<&str>) -> u64 {
        self.positions.get(&Place::of_scope(app_name, user_id)).copied().unwrap_or_default()
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

    /// The event at a place in the log, from 0.
    pub(super) fn event(&self, id: SessionId, place: usize) -> JsValue {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        self.log(id).map_or(JsValue::UNDEFINED, |log| log.events.list.get(place))
    }

    /// The number of events of a session.
    pub(super) fn length(&self, id: SessionId) -> u32 {
        self.log(id).map_or(0, |log| log.events.list.length())
    }

    /// The events from a place on.
    pub(super) fn events_from(&self, id: SessionId, start: u32) -> Array {
        self.log(id).map_or_else(Array::new, |log| log.events.list.slice(start, log.events.list.length()))
    }

    /// The events that a window shows.
    pub(super) fn events_in(&self, id: SessionId, EventWindow { since, last }: EventWindow) -> Array {
        let times = self.log(id).map_or(&[][..], |log| &log.events.times);
        let places: Vec<usize> = (0..times.len()).collect();
        let is_wanted = |place: &usize| since.is_none_or(|since| times[*place] >= since);
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
pub(super) fn read_event(event: &JsValue) -> Result<Event> {
    // It is plain and frozen: nothing in it throws.
    let text = stringify(event).ok().and_then(|text| text.as_string()).unwrap_or_default();
    serde_json::from_str(&text).map_err(|reason| {
        Error::new(ErrorKind::StoreCorrupt, format!("an event cannot be read: {reason}")).with_source(reason)
    })
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
