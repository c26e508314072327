//! What a reader of a session sees: its committed scopes merged.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::ScopeState;
use crate::delta::Values;
use crate::error::Result;
use crate::json::Json;
use crate::scope::Scope;

/// The state of a session at one moment: session, app and user scope merged. It does not move when the session does.
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
        values.insert(Arc::from(key), json);
        Ok(())
    }

    /// The value of a key as text.
    pub(crate) fn json(&self, key: &str) -> Option<&Json> {
        self.values(Scope::split(key).0).get(key)
    }

    /// Whether both show the same values of all scopes, as far as their versions tell.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        self.scopes.iter().zip(&other.scopes).all(|(one, two)| one.version == two.version)
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
