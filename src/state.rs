//! What a reader sees: the committed scopes merged into one state.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::delta::{Delta, Values};
use crate::error::Result;
use crate::json::{Json, write_string};
use crate::scope::Scope;
use crate::text::slice;

/// State that can be read: values under full keys (`user:theme`).
pub trait ReadonlyState {
    /// The value of a key, if it is there. `null` is a value.
    fn get(&self, key: &str) -> Option<Value>;

    /// All values under their full keys: session keys, then app keys, then user keys, each in the order of writing.
    fn all(&self) -> Map<String, Value>;

    /// Whether the key is there.
    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

/// State that can be written.
pub trait State: ReadonlyState {
    /// Sets a key to a value, whole.
    ///
    /// # Errors
    ///
    /// [`ValueNotJson`](crate::ErrorKind::ValueNotJson) for a value nested too deep.
    fn set(&mut self, key: &str, value: Value) -> Result<()>;

    /// Deletes a key. Says whether it was there.
    ///
    /// # Errors
    ///
    /// [`InvocationEnded`](crate::ErrorKind::InvocationEnded) when nothing can be written any more.
    fn delete(&mut self, key: &str) -> Result<bool>;
}

impl ReadonlyState for Map<String, Value> {
    fn get(&self, key: &str) -> Option<Value> {
        Map::get(self, key).cloned()
    }

    fn all(&self) -> Map<String, Value> {
        self.clone()
    }
}

/// The committed values of one scope, with a version that moves whenever they may have changed.
#[derive(Debug, Clone)]
pub struct ScopeState {
    scope: Scope,
    version: u64,
    values: Arc<Values>,
}

impl ScopeState {
    pub(crate) fn new(scope: Scope) -> Self {
        Self { scope, version: 0, values: Arc::default() }
    }

    /// One more for each delta that was applied.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The values under their full keys.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Writes a delta, if there is anything in it. Copies of this scope that readers hold stay as they are.
    pub(crate) fn apply(&mut self, delta: &Delta) {
        if !delta.is_empty() {
            delta.apply(Arc::make_mut(&mut self.values));
            self.version += 1;
        }
    }

    /// Takes over other values. Copies of this scope that readers hold stay as they are.
    pub(crate) fn replace(&mut self, values: &Delta) {
        let mut replaced = Values::default();
        values.apply(&mut replaced);
        self.values = Arc::new(replaced);
        self.version += 1;
    }

    /// The values as one JSON object, under their full keys or, for `getAppState` and its like, their names.
    pub fn to_json(&self, full_keys: bool) -> String {
        let mut out = String::from("{");
        let prefix = if full_keys { 0 } else { self.scope.prefix().len() };
        for (key, json) in self.values.iter() {
            if out.len() > 1 {
                out.push(',');
            }
            write_string(&mut out, slice(key, prefix..key.len()));
            out.push(':');
            out.push_str(json.as_str());
        }
        out.push('}');
        out
    }
}

/// The state of a session at one moment: session, app and user scope merged. It does not move when the session does.
#[derive(Debug, Clone)]
pub struct SessionState {
    scopes: [ScopeState; 3],
}

impl SessionState {
    /// `scopes` in the order of merging: session, app, user.
    pub(crate) fn new(scopes: [ScopeState; 3]) -> Self {
        Self { scopes }
    }
}

impl Default for SessionState {
    fn default() -> Self {
        Self::new([Scope::Session, Scope::App, Scope::User].map(ScopeState::new))
    }
}

impl ReadonlyState for SessionState {
    fn get(&self, key: &str) -> Option<Value> {
        let (scope, _) = Scope::split(key);
        let state = self.scopes.iter().find(|state| state.scope == scope)?;
        state.values.get(key).map(Json::to_value)
    }

    fn all(&self) -> Map<String, Value> {
        let values = self.scopes.iter().flat_map(|state| state.values.iter());
        values.map(|(key, json)| (key.to_string(), json.to_value())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state() -> SessionState {
        let mut state = SessionState::default();
        for (scope, object) in state.scopes.iter_mut().zip([r#"{"x":1}"#, r#"{"app:x":2}"#, r#"{"user:x":3}"#]) {
            scope.apply(&Delta::parse(object, &[]).unwrap());
        }
        state
    }

    #[test]
    fn a_reader_sees_session_keys_then_app_keys_then_user_keys() {
        let all = state().all();
        assert_eq!(Value::Object(all.clone()), json!({"x": 1, "app:x": 2, "user:x": 3}));
        assert_eq!(all.keys().collect::<Vec<_>>(), ["x", "app:x", "user:x"]);
    }

    #[test]
    fn a_copy_of_a_scope_does_not_move() {
        let mut scope = ScopeState::new(Scope::App);
        let before = scope.clone();
        scope.apply(&Delta::parse(r#"{"app:a":1}"#, &[]).unwrap());
        assert_eq!((before.to_json(true), before.version()), ("{}".to_owned(), 0));
        assert_eq!((scope.to_json(true), scope.version()), (r#"{"app:a":1}"#.to_owned(), 1));
        assert_eq!(scope.to_json(false), r#"{"a":1}"#);
    }
}
