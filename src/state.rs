//! What a reader sees: the committed scopes merged into one state.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::delta::{Delta, Values};
use crate::error::Result;
use crate::json::{Json, size_of_members, write_string};
use crate::scope::Scope;
use crate::text::slice;

/// State that can be read: values under full keys (`user:theme`).
///
/// `get` and `all` are adk-rust's. The rest is provided, and a type that knows better overrides it.
pub trait ReadonlyState: Send + Sync {
    /// The value of a key, if it is there. `null` is a value.
    fn get(&self, key: &str) -> Option<Value>;

    /// All values under their full keys. A `HashMap` has no order: [`ReadonlyState::to_map`] has.
    fn all(&self) -> HashMap<String, Value>;

    /// All values under their full keys, in the order of writing where the state knows it (session keys, then app keys,
    /// then user keys), else in the order of the keys.
    fn to_map(&self) -> Map<String, Value> {
        sorted(self.all())
    }

    /// Whether the key is there.
    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

/// State that can be written, as adk-rust has it: writing answers nothing.
///
/// The types of this crate have a fallible way beside each infallible `set`: [`Context::set`](crate::Context::set),
/// [`SessionState::set`], [`StateDraft::set`](crate::StateDraft::set). What they would refuse makes the infallible one
/// panic: no write is lost without a word.
pub trait State: Send + Sync {
    /// The value of a key, if it is there. `null` is a value.
    fn get(&self, key: &str) -> Option<Value>;

    /// Sets a key to a value, whole.
    fn set(&mut self, key: String, value: Value);

    /// All values under their full keys.
    fn all(&self) -> HashMap<String, Value>;
}

/// What an infallible `set` makes of a refused write.
#[track_caller]
#[expect(clippy::panic, reason = "the signature is adk-rust's: there is no other way to say that a write is refused")]
pub(crate) fn must_be_written(key: &str, written: Result<()>) {
    if let Err(error) = written {
        panic!("\"{key}\" cannot be set: {error}");
    }
}

/// The entries of a map that has no order, in the order of their keys.
pub(crate) fn sorted(values: HashMap<String, Value>) -> Map<String, Value> {
    let mut entries: Vec<_> = values.into_iter().collect();
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    entries.into_iter().collect()
}

impl ReadonlyState for Map<String, Value> {
    fn get(&self, key: &str) -> Option<Value> {
        Map::get(self, key).cloned()
    }

    fn all(&self) -> HashMap<String, Value> {
        self.clone().into_iter().collect()
    }

    fn to_map(&self) -> Map<String, Value> {
        self.clone()
    }

    fn has(&self, key: &str) -> bool {
        self.contains_key(key)
    }
}

impl<S: BuildHasher + Send + Sync> ReadonlyState for HashMap<String, Value, S> {
    fn get(&self, key: &str) -> Option<Value> {
        HashMap::get(self, key).cloned()
    }

    fn all(&self) -> HashMap<String, Value> {
        self.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn has(&self, key: &str) -> bool {
        self.contains_key(key)
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

    /// Another number whenever the values may have changed, also when the scope was gone in between; 0 as long as nothing
    /// was written.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The values under their full keys.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Writes a delta, if there is anything in it. Copies of this scope that readers hold stay as they are. `clock` has
    /// given the last version of any scope, and goes on with it.
    pub(crate) fn apply(&mut self, delta: &Delta, clock: &mut u64) {
        if !delta.is_empty() {
            delta.apply(Arc::make_mut(&mut self.values));
            self.advance(clock);
        }
    }

    /// Takes over other values. Copies of this scope that readers hold stay as they are.
    pub(crate) fn replace(&mut self, values: &Delta, clock: &mut u64) {
        let mut replaced = Values::default();
        values.apply(&mut replaced);
        self.values = Arc::new(replaced);
        self.advance(clock);
    }

    fn advance(&mut self, clock: &mut u64) {
        *clock += 1;
        self.version = *clock;
    }

    /// The values as one JSON object, under their full keys or, for `getAppState` and its like, their names.
    pub fn to_json(&self, full_keys: bool) -> String {
        let mut out = String::with_capacity(size_of_members(self.values.iter().map(|(key, json)| (&**key, json))));
        out.push('{');
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
    /// `temp:` keys that were set on this copy: no session has any.
    temp: Values,
}

impl SessionState {
    /// `scopes` in the order of merging: session, app, user.
    pub(crate) fn new(scopes: [ScopeState; 3]) -> Self {
        Self { scopes, temp: Values::default() }
    }

    /// The value of a key, if it is there. `null` is a value.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.json(key).map(Json::to_value)
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.json(key).is_some()
    }

    /// All values under their full keys. A `HashMap` has no order: [`SessionState::to_map`] has.
    pub fn all(&self) -> HashMap<String, Value> {
        self.entries().map(|(key, json)| (key.to_owned(), json.to_value())).collect()
    }

    /// All values under their full keys: session keys, then app keys, then user keys, each in the order of writing.
    pub fn to_map(&self) -> Map<String, Value> {
        self.entries().map(|(key, json)| (key.to_owned(), json.to_value())).collect()
    }

    /// Sets a key in this copy. Neither the session nor its service sees it: what is to be kept goes into an event.
    ///
    /// # Errors
    ///
    /// [`ValueNotJson`](crate::ErrorKind::ValueNotJson) for a value nested too deep.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<()> {
        let json = Json::from_value(value)?;
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

impl ReadonlyState for SessionState {
    fn get(&self, key: &str) -> Option<Value> {
        Self::get(self, key)
    }

    fn all(&self) -> HashMap<String, Value> {
        Self::all(self)
    }

    fn to_map(&self) -> Map<String, Value> {
        Self::to_map(self)
    }

    fn has(&self, key: &str) -> bool {
        Self::has(self, key)
    }
}

/// Writes into this copy alone, as [`SessionState::set`] does.
impl State for SessionState {
    fn get(&self, key: &str) -> Option<Value> {
        Self::get(self, key)
    }

    /// # Panics
    ///
    /// For a value nested too deep.
    fn set(&mut self, key: String, value: Value) {
        must_be_written(&key, Self::set(self, &key, &value));
    }

    fn all(&self) -> HashMap<String, Value> {
        Self::all(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn delta(object: &str) -> Delta {
        Delta::trusted(object, &[]).unwrap()
    }

    fn state() -> SessionState {
        let mut state = SessionState::default();
        for (scope, object) in state.scopes.iter_mut().zip([r#"{"x":1}"#, r#"{"app:x":2}"#, r#"{"user:x":3}"#]) {
            scope.apply(&delta(object), &mut 0);
        }
        state
    }

    #[test]
    fn a_reader_sees_session_keys_then_app_keys_then_user_keys() {
        let all = state().to_map();
        assert_eq!(Value::Object(all.clone()), json!({"x": 1, "app:x": 2, "user:x": 3}));
        assert_eq!(all.keys().collect::<Vec<_>>(), ["x", "app:x", "user:x"]);
        assert_eq!(state().all(), all.into_iter().collect());
    }

    #[test]
    fn a_copy_of_a_scope_does_not_move() {
        let mut scope = ScopeState::new(Scope::App);
        let before = scope.clone();
        scope.apply(&delta(r#"{"app:a":1}"#), &mut 0);
        assert_eq!((before.to_json(true), before.version()), ("{}".to_owned(), 0));
        assert_eq!((scope.to_json(true), scope.version()), (r#"{"app:a":1}"#.to_owned(), 1));
        assert_eq!(scope.to_json(false), r#"{"a":1}"#);
        scope.apply(&delta(r#"{"app:b":[2],"app:c":null}"#), &mut 1);
        assert_eq!(scope.to_json(true), r#"{"app:a":1,"app:b":[2],"app:c":null}"#);
        assert_eq!(scope.to_json(false), r#"{"a":1,"b":[2],"c":null}"#);
    }

    #[test]
    fn a_version_moves_with_each_delta_that_writes_and_with_each_replacement() {
        let (mut scope, mut clock) = (ScopeState::new(Scope::Session), 7);
        scope.apply(&Delta::default(), &mut clock);
        assert_eq!((scope.version(), clock), (0, 7), "an empty delta writes nothing");
        scope.apply(&delta(r#"{"a":1}"#), &mut clock);
        assert_eq!((scope.version(), clock), (8, 8));
        scope.replace(&delta(r#"{"a":1}"#), &mut clock);
        assert_eq!((scope.version(), clock), (9, 9), "what is replaced may be another value");
        scope.replace(&Delta::default(), &mut clock);
        assert_eq!((scope.version(), clock, scope.to_json(true).as_str()), (10, 10, "{}"));
    }

    #[test]
    fn whether_a_key_is_there_is_told_without_reading_its_value() {
        let state = state();
        let read = crate::json::reads();
        assert!(
            state.has("app:x") && ReadonlyState::has(&state, "user:x") && !state.has("app:y") && !state.has("temp:x")
        );
        assert_eq!(crate::json::reads(), read);
        assert_eq!(state.get("app:x"), Some(json!(2)));
        assert_eq!(crate::json::reads(), read + 1);
    }

    /// A state that has what must be written for one, and nothing else.
    struct Least(HashMap<String, Value>);

    impl ReadonlyState for Least {
        fn get(&self, key: &str) -> Option<Value> {
            self.0.get(key).cloned()
        }

        fn all(&self) -> HashMap<String, Value> {
            self.0.clone()
        }
    }

    #[test]
    fn every_state_reads_alike() {
        let values: HashMap<String, Value> = HashMap::from([
            ("x".to_owned(), json!(1)),
            ("app:x".to_owned(), json!(2)),
            ("user:x".to_owned(), json!(3)),
        ]);
        let map: Map<String, Value> = state().to_map();
        let states: [&dyn ReadonlyState; 4] = [&state(), &map, &values, &Least(values.clone())];
        for state in states {
            assert_eq!((state.get("app:x"), state.get("app:y")), (Some(json!(2)), None));
            assert_eq!((state.has("user:x"), state.has("user:y")), (true, false));
            assert_eq!(state.all(), values);
            assert_eq!(Value::Object(state.to_map()), json!({"x": 1, "app:x": 2, "user:x": 3}));
        }
        let mut written = state();
        let written: &mut dyn State = &mut written;
        written.set("x".to_owned(), json!("new"));
        assert_eq!((written.get("x"), written.get("y")), (Some(json!("new")), None));
        assert_eq!((written.all().len(), &written.all()["x"]), (3, &json!("new")));
    }

    #[test]
    fn what_is_set_on_a_copy_stays_there() {
        let state = state();
        let mut copy = state.clone();
        for (key, value) in [("x", json!([1])), ("app:x", json!(null)), ("user:new", json!("é")), ("temp:t", json!(4))]
        {
            copy.set(key, &value).unwrap();
            assert_eq!((copy.get(key), copy.has(key)), (Some(value), true));
        }
        let keys: Vec<_> = copy.to_map().keys().cloned().collect();
        assert_eq!(keys, ["x", "app:x", "user:x", "user:new", "temp:t"]);
        assert_eq!(state.all(), self::state().all());
    }

    #[test]
    #[should_panic(expected = "\"x\" cannot be set: a value is nested deeper than 100 levels")]
    fn a_write_that_is_refused_is_not_lost_without_a_word() {
        let deep = (0..200).fold(json!(1), |value, _| json!([value]));
        State::set(&mut state(), "x".to_owned(), deep);
    }

    #[test]
    fn a_map_without_order_is_read_in_the_order_of_its_keys() {
        let values: HashMap<String, Value> = ('a'..='z').rev().map(|c| (c.to_string(), json!(1))).collect();
        let keys: Vec<_> = ReadonlyState::to_map(&values).keys().cloned().collect();
        assert_eq!(keys, ('a'..='z').map(String::from).collect::<Vec<_>>());
    }
}
