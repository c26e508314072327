//! The state as a reader of a session sees it: its committed scopes merged.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::ScopeState;
use crate::delta::{Delta, ScopedDelta};
use crate::error::Result;
use crate::json::Json;
use crate::scope::Scope;
use crate::values::Values;

/// The state of a session at one moment: session, app and user scope merged. It stays the same when the session
/// changes.
#[derive(Debug, Clone)]
pub struct SessionState {
    pub(super) scopes: [ScopeState; 3],
    /// `temp:` keys that were set on this copy: no session has any.
    temp: Values,
}

impl SessionState {
    /// `scopes` in the order of merging: session, app, user.
    pub(crate) fn new(scopes: [ScopeState; 3]) -> Self {
        Self { scopes, temp: Values::default() }
    }

    /// Sets a key in this copy. Neither the session nor its service sees it: what is to be kept goes into an event.
    ///
    /// # Errors
    ///
    /// [`ValueNotJson`](crate::ErrorKind::ValueNotJson) for a value nested too deep.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<()> {
        let json = Json::of_key("state", key, value)?;
        let scope = Scope::split(key).0;
        let values = match self.scopes.iter_mut().find(|state| state.scope == scope) {
            Some(state) => Arc::make_mut(&mut state.values),
            None => &mut self.temp,
        };
        values.set(&Arc::from(key), json);
        Ok(())
    }

    /// Writes a delta under full keys into this copy, as [`SessionState::set`] does: how a service computes the state
    /// that an event leaves.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::{Event, SessionState};
    ///
    /// let mut state = SessionState::default();
    /// state.set("user:theme", &"dark".into())?;
    /// let mut event = Event::new("inv-1");
    /// event.actions.set("topic", "tides");
    /// event.delete("user:theme");
    /// state.apply(&event.delta()?);
    /// assert_eq!(state.to_map(), *serde_json::json!({"topic": "tides"}).as_object().unwrap());
    /// # Ok::<(), statepad::Error>(())
    /// ```
    pub fn apply(&mut self, delta: &Delta) {
        let (ScopedDelta { app, user, session }, temp) = delta.clone().split();
        for (state, delta) in self.scopes.iter_mut().zip([session, app, user]) {
            delta.apply(Arc::make_mut(&mut state.values));
        }
        temp.apply(&mut self.temp);
    }

    /// The value of a key as text.
    pub(crate) fn json(&self, key: &str) -> Option<&Json> {
        self.values(Scope::split(key).0).get(key)
    }

    /// Returns `true` if both show the same values: at one version, and not written to since they were read.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        let is_same = |one: &ScopeState, two: &ScopeState| {
            one.version == two.version && (Arc::ptr_eq(&one.values, &two.values) || one.values == two.values)
        };
        self.scopes.iter().zip(&other.scopes).all(|(one, two)| is_same(one, two))
    }

    fn map(&self) -> Map<String, Value> {
        self.entries().map(|(key, json)| (key.to_owned(), json.to_value())).collect()
    }

    fn values(&self, scope: Scope) -> &Values {
        self.scopes.iter().find(|state| state.scope == scope).map_or(&self.temp, |state| &state.values)
    }

    fn entries(&self) -> impl Iterator<Item = (&str, &Json)> {
        let scopes = self.scopes.iter().map(|state| &*state.values).chain([&self.temp]);
        scopes.flat_map(|values| values.iter().map(|(key, json)| (&**key, json)))
    }
}

impl Default for SessionState {
    fn default() -> Self {
        Self::new([Scope::Session, Scope::App, Scope::User].map(ScopeState::new))
    }
}

super::reading_methods!(SessionState, "session keys, then app keys, then user keys, each in the order of writing.");
// Writes into this copy alone.
super::state_trait!(SessionState, |state, key, value| state.set(key, &value));
