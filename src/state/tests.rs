use serde_json::json;

use super::*;
use crate::delta::Delta;
use crate::fixtures::delta;
use crate::scope::Scope;

fn state() -> SessionState {
    let mut state = SessionState::default();
    for (scope, object) in state.scopes.iter_mut().zip([r#"{"x":1}"#, r#"{"app:x":2}"#, r#"{"user:x":3}"#]) {
        scope.apply(&delta(object), &mut 0, &mut ());
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
    scope.apply(&delta(r#"{"app:a":1}"#), &mut 0, &mut ());
    assert_eq!((before.to_json(true), before.version()), ("{}".to_owned(), 0));
    assert_eq!((scope.to_json(true), scope.version()), (r#"{"app:a":1}"#.to_owned(), 1));
    assert_eq!(scope.to_json(false), r#"{"a":1}"#);
    scope.apply(&delta(r#"{"app:b":[2],"app:c":null}"#), &mut 1, &mut ());
    assert_eq!(scope.to_json(true), r#"{"app:a":1,"app:b":[2],"app:c":null}"#);
    assert_eq!(scope.to_json(false), r#"{"a":1,"b":[2],"c":null}"#);
}

#[test]
fn a_version_moves_with_each_delta_that_writes_and_with_each_replacement() {
    let (mut scope, mut clock) = (ScopeState::new(Scope::Session), 7);
    scope.apply(&Delta::default(), &mut clock, &mut ());
    assert_eq!((scope.version(), clock), (0, 7), "an empty delta writes nothing");
    scope.apply(&delta(r#"{"a":1}"#), &mut clock, &mut ());
    assert_eq!((scope.version(), clock), (8, 8));
    scope.replace(&delta(r#"{"a":1}"#), &mut clock);
    assert_eq!((scope.version(), clock), (9, 9), "what is replaced may be another value");
    scope.replace(&Delta::default(), &mut clock);
    assert_eq!((scope.version(), clock, scope.to_json(true).as_str()), (10, 10, "{}"));
}

#[test]
fn a_key_is_found_without_reading_its_value() {
    let state = state();
    let read = crate::json::reads();
    assert!(state.has("app:x") && ReadonlyState::has(&state, "user:x") && !state.has("app:y") && !state.has("temp:x"));
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
    let values: HashMap<String, Value> =
        HashMap::from([("x".to_owned(), json!(1)), ("app:x".to_owned(), json!(2)), ("user:x".to_owned(), json!(3))]);
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
    for (key, value) in [("x", json!([1])), ("app:x", json!(null)), ("user:new", json!("é")), ("temp:t", json!(4))] {
        copy.set(key, &value).unwrap();
        assert_eq!((copy.get(key), copy.has(key)), (Some(value), true));
    }
    let keys: Vec<_> = copy.to_map().keys().cloned().collect();
    assert_eq!(keys, ["x", "app:x", "user:x", "user:new", "temp:t"]);
    assert_eq!(state.all(), self::state().all());
}

#[test]
#[should_panic(expected = "\"x\" cannot be set: state[\"x\"][0]")]
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
