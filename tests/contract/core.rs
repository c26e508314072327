//! Runs the steps of session.json that ask for a revision over the core, which is where strictness lives.

use serde_json::{Value, json};
use statepad::SessionKey;
use statepad::engine::{Guard, Prepared, SessionId, Sessions};

use super::scenario::{check_error, event_of, key_of, steps_of_one_session};
use super::{assert_same, record, text, texts};

/// Returns `true` if a case asks for a revision.
pub fn asks_for_a_revision(case: &Value) -> bool {
    case["steps"].as_array().unwrap().iter().any(|step| step.get("revision").is_some())
}

/// Runs a case.
pub fn run(case: &Value) {
    let mut sessions = Sessions::default();
    let mut handles: Vec<(String, SessionId, Vec<String>)> = Vec::new();
    for step in steps_of_one_session(case) {
        println!("{step}");
        match text(&step, "do") {
            "create" => {
                let key = key_of(&step);
                let event = event_of(&json!({"set": record(&step, "state")}));
                let change = sessions.prepare_create(&key, 1.0, event.delta().unwrap()).unwrap();
                let id = sessions.apply_create(&key, &change).unwrap();
                handles.push((text(&step, "as").to_owned(), id, Vec::new()));
            }
            "append" => {
                let (_, id, events) = handles.iter_mut().find(|(name, ..)| name == text(&step, "to")).unwrap();
                append(&mut sessions, *id, events, &step);
                if let Some(expect) = step.get("expect") {
                    check(&sessions, *id, events, expect);
                }
            }
            "get" => {
                let id = sessions.find(&SessionKey::new("app", "u", "s")).unwrap();
                let (.., events) = handles.iter().find(|(_, other, _)| *other == id).unwrap();
                check(&sessions, id, events, &step["expect"]);
            }
            other => panic!("the core has no step {other}"),
        }
    }
}

fn append(sessions: &mut Sessions, id: SessionId, events: &mut Vec<String>, step: &Value) {
    let event = event_of(&step["event"]);
    let guard = Guard { revision: step["revision"].as_u64(), ..Guard::default() };
    let time = event.timestamp.unwrap_or(1.0);
    match (sessions.prepare_append(id, &event.id, time, event.delta().unwrap(), guard), step.get("error")) {
        (Err(error), Some(expected)) => check_error(&error, expected),
        (Ok(Prepared::Change { change, .. }), None) => {
            sessions.apply_append(id, &change).unwrap();
            events.push(event.id);
        }
        (Ok(Prepared::Duplicate { place }), None) => assert_eq!(events[place], event.id),
        (answer, expected) => panic!("{answer:?} should be {expected:?}"),
    }
}

fn check(sessions: &Sessions, id: SessionId, events: &[String], expect: &Value) {
    let log = sessions.log(id).unwrap();
    if let Some(state) = expect.get("state") {
        assert_same(&Value::Object(sessions.state(id).unwrap().to_map()), state, "the state");
    }
    if expect.get("events").is_some() {
        assert_eq!(events, texts(expect, "events"));
    }
    if let Some(revision) = expect["revision"].as_u64() {
        assert_eq!(log.revision(), revision);
    }
    if let Some(time) = expect["time"].as_f64() {
        assert_eq!(log.update_time().to_bits(), time.to_bits());
    }
}
