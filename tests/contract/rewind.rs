//! Runs the cases of `rewind.json` against the core.

use serde_json::{Value, json};
use statepad::Delta;
use statepad::engine::{History, Json, Rewind, Timeline, Write};

use super::{assert_same, list, record, text, texts};

/// Checks the events that stand, and the effects of rewinds and a redo.
pub fn run_walk(case: &Value) {
    let log = list(case, "log");
    let timeline = Timeline::of(log.iter().map(|event| (name(&event[0]), name(&event[1]))));
    assert_same(&json!(timeline.effective()), &case["effective"], "the events that stand");
    for (before, expected) in &record(case, "rewind") {
        let first = log.iter().position(|event| event[0] == **before);
        let rewind = first.and_then(|first| timeline.rewind(first));
        assert_same(&json_of(rewind), expected, before);
    }
    assert_same(&json_of(timeline.redo()), &case["redo"], "the redo");
}

/// A name that is not there, or is nothing, names no invocation.
fn name(value: &Value) -> Option<&str> {
    value.as_str().filter(|name| !name.is_empty())
}

fn json_of(rewind: Option<Rewind>) -> Value {
    rewind.map_or(Value::Null, |rewind| json!({"to": rewind.to, "concerned": rewind.concerned}))
}

/// Checks the writes that bring a session's own keys back.
pub fn run_delta(case: &Value) {
    let mut history = History::default();
    let writes = list(case, "writes");
    for (revision, write) in (0..).zip(writes) {
        let mut object = record(write, "set");
        let unset = texts(write, "unset");
        object.extend(unset.iter().map(|key| (key.clone(), Value::Null)));
        history.push(revision, &Delta::parse(&Value::Object(object).to_string(), &unset).unwrap());
    }
    let until = case["until"].as_u64().unwrap_or(writes.len() as u64 - 1);
    let delta = history.restoring(case["to"].as_u64().unwrap(), until);
    let set = delta.iter().filter_map(|(key, write)| match write {
        Write::Set(value) => Some((key.to_owned(), value.to_value())),
        Write::Unset => None,
    });
    assert_same(
        &Value::Object(set.collect()),
        &Value::Object(record(&case["restores"], "set")),
        "the keys that are set",
    );
    let unset = delta.iter().filter(|(_, write)| **write == Write::<Json>::Unset).map(|(key, _)| key);
    assert_eq!(unset.collect::<Vec<_>>(), texts(&case["restores"], "unset"), "the keys that are deleted");
    if case.get("order").is_some() {
        assert_eq!(delta.iter().map(|(key, _)| key).collect::<Vec<_>>(), texts(case, "order"));
    }
    for shared in list(case, "shared") {
        let concerned = list(shared, "of");
        let keys = history.shared_of(|revision| concerned.iter().any(|it| *it == revision));
        assert_eq!(keys.map(|key| &**key).collect::<Vec<_>>(), texts(shared, "keys"), "{}", text(case, "name"));
    }
}
