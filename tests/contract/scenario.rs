//! Runs the steps of sessions.json, session.json, error.json and history.json over the native service.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use statepad::{
    Error, Event, GetRequest, HistoryEntry, InMemorySessionService, ListRequest, OrderedCreateRequest, Result, Session,
    SessionKey, SessionRef, SessionService, StateRef,
};

use super::{assert_same, block_on, check_message, list, record, text, texts};

/// The service, with the sessions that steps have named, as they were when they were read or last appended to.
#[derive(Default)]
pub struct Scenario {
    service: InMemorySessionService,
    handles: HashMap<String, Session>,
}

/// The answer of a step.
enum Answer {
    Nothing,
    Session(Option<Box<Session>>),
    Event(Box<Event>, Box<Session>),
    List(Vec<Session>),
    Values(Map<String, Value>),
    History(Vec<HistoryEntry>),
}

impl Scenario {
    /// Runs all steps of a case.
    pub fn run(steps: &[Value]) {
        let mut scenario = Self::default();
        for (index, step) in steps.iter().enumerate() {
            println!("step {}: {step}", index + 1);
            match (scenario.step(step), step.get("error")) {
                (Ok(answer), None) => check(&answer, step),
                (Err(error), Some(expected)) => check_error(&error, expected),
                (Ok(_), Some(expected)) => panic!("should be refused with {expected}"),
                (Err(error), None) => panic!("{}: {error}", error.code()),
            }
        }
    }

    fn step(&mut self, step: &Value) -> Result<Answer> {
        let key = key_of(step);
        Ok(match text(step, "do") {
            "create" => {
                let SessionKey { app_name, user_id, .. } = key;
                let session_id = step["id"].as_str().map(str::to_owned);
                let request = OrderedCreateRequest { app_name, user_id, session_id, state: record(step, "state") };
                let session = block_on(self.service.create_ordered(request))?;
                self.handles.insert(text(step, "as").to_owned(), session.clone());
                Answer::Session(Some(Box::new(session)))
            }
            "get" => {
                let session = self.get(key, step)?;
                if let (Some(session), Some(name)) = (&session, step["as"].as_str()) {
                    self.handles.insert(name.to_owned(), session.clone());
                }
                Answer::Session(session.map(Box::new))
            }
            "append" => {
                let key = self.handles[text(step, "to")].key().clone();
                let (session, revision) = (SessionRef::Key(&key), step["revision"].as_u64());
                let event = block_on(self.service.append_expecting(session, event_of(&step["event"]), revision))?;
                let session = self.get(key, &json!({}))?.expect("the session that was appended to");
                self.handles.insert(text(step, "to").to_owned(), session.clone());
                Answer::Event(Box::new(event), Box::new(session))
            }
            "delete" => {
                block_on(self.service.delete(key))?;
                Answer::Nothing
            }
            "list" => {
                let user_id = step["user"].as_str().map(str::to_owned);
                let request = ListRequest { app_name: key.app_name, user_id, ..ListRequest::default() };
                Answer::List(block_on(self.service.list(request))?.sessions)
            }
            "stateAt" => {
                let revision = step["revision"].as_u64().expect("a revision");
                Answer::Values(block_on(self.service.state_at(&self.handles[text(step, "of")], revision))?)
            }
            "history" => Answer::History(self.history(step)?),
            "appState" => Answer::Values(self.shared(&key, "app:")?),
            "userState" => Answer::Values(self.shared(&key, "user:")?),
            other => panic!("there is no step {other}"),
        })
    }

    fn get(&self, key: SessionKey, step: &Value) -> Result<Option<Session>> {
        let SessionKey { app_name, user_id, session_id } = key;
        let num_recent_events = step["last"].as_u64().map(|count| usize::try_from(count).unwrap());
        let after_timestamp = step["after"].as_f64();
        block_on(self.service.get(GetRequest { app_name, user_id, session_id, num_recent_events, after_timestamp }))
    }

    /// The native service answers with all writes of a key: whoever wants fewer takes those.
    fn history(&self, step: &Value) -> Result<Vec<HistoryEntry>> {
        let mut entries = block_on(self.service.history(&self.handles[text(step, "of")], text(step, "key")))?;
        let until = step["until"].as_u64().unwrap_or(u64::MAX);
        let last = step["last"].as_u64().map_or(usize::MAX, |count| usize::try_from(count).unwrap());
        entries.retain(|entry| entry.revision <= until);
        Ok(entries.split_off(entries.len().saturating_sub(last)))
    }

    /// An update that writes nothing reads app and user state.
    fn shared(&self, key: &SessionKey, prefix: &str) -> Result<Map<String, Value>> {
        let target = StateRef::User(&key.app_name, &key.user_id);
        let state = block_on(self.service.update_state(target, |_| Ok(())))?;
        let named = |(key, value): (String, Value)| Some((key.strip_prefix(prefix)?.to_owned(), value));
        Ok(state.to_map().into_iter().filter_map(named).collect())
    }
}

/// The session that a step names.
pub fn key_of(step: &Value) -> SessionKey {
    let part = |name: &str, otherwise: &str| step[name].as_str().unwrap_or(otherwise).to_owned();
    SessionKey::new(part("app", "app"), part("user", "u"), part("id", ""))
}

/// The steps of session.json: its session is created first, and named where a step names none.
pub fn steps_of_one_session(case: &Value) -> Vec<Value> {
    let mut steps = vec![json!({"do": "create", "as": "a", "id": "s", "state": record(case, "state")})];
    for step in list(case, "steps") {
        let mut step = step.clone();
        let (name, value) = if step["do"] == "append" { ("to", "a") } else { ("id", "s") };
        step.as_object_mut().unwrap().entry(name).or_insert(value.into());
        steps.push(step);
    }
    steps
}

/// An event as the cases write it: {id, set, unset, at, by, inv, text, more}.
pub fn event_of(case: &Value) -> Event {
    let mut event = record(case, "more");
    let known = [("id", "id"), ("at", "timestamp"), ("by", "author"), ("inv", "invocationId")];
    event.extend(known.iter().filter_map(|(short, name)| Some(((*name).to_owned(), case.get(*short)?.clone()))));
    event.entry("author").or_insert("agent".into());
    event.entry("invocationId").or_insert("i".into());
    if let Some(text) = case.get("text") {
        event.insert("content".into(), json!({"role": "model", "parts": [{"text": text}]}));
    }
    event.insert("actions".into(), json!({"stateDelta": record(case, "set")}));
    let mut event: Event = serde_json::from_value(Value::Object(event)).unwrap();
    for key in texts(case, "unset") {
        event.delete(&key);
    }
    event
}

/// The delta of an event, in its order.
pub fn delta_of(event: &Event) -> Value {
    event.actions.in_order().map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

/// Compares an error with the code, the revisions and the message that a case wants.
pub fn check_error(error: &Error, expected: &Value) {
    assert_eq!(error.code(), expected["code"], "{error}");
    for (name, revision) in [("expected", error.expected()), ("actual", error.actual())] {
        if let Some(expected) = expected[name].as_u64() {
            assert_eq!(revision, Some(expected), "{name}");
        }
    }
    check_message(error, expected);
    assert!(error.to_string().contains(text(expected, "says")), "the message must name {expected}: {error}");
}

fn check(answer: &Answer, step: &Value) {
    let expect = step.get("expect");
    match answer {
        Answer::Nothing => {}
        Answer::Session(session) => match (session, expect) {
            (Some(session), Some(Value::Null)) => panic!("there is a session: {session:?}"),
            (Some(session), Some(expect)) => check_session(session, expect),
            (None, Some(Value::Null)) | (_, None) => {}
            (None, Some(_)) => panic!("there is no session"),
        },
        Answer::Event(event, session) => {
            check_stored(event, &step["stored"]);
            if let Some(expect) = expect {
                check_session(session, expect);
            }
        }
        Answer::List(sessions) => {
            let expect = expect.expect("what the list shows");
            assert_eq!(sessions.len() as u64, expect["count"]);
            assert!(sessions.iter().all(|session| session.events().is_empty()), "a list shows no events");
            for (session, state) in sessions.iter().zip(list(expect, "states")) {
                assert_same(&Value::Object(session.state().to_map()), state, "the state in the list");
            }
        }
        Answer::Values(values) => {
            assert_same(&Value::Object(values.clone()), expect.expect("values"), "the values");
            if step.get("order").is_some() {
                assert_eq!(values.keys().cloned().collect::<Vec<_>>(), texts(step, "order"));
            }
        }
        Answer::History(entries) => {
            let expected = list(step, "expect");
            let history = entries.iter().enumerate().map(|(place, entry)| entry_json(entry, expected.get(place)));
            assert_same(&history.collect(), &step["expect"], "the history");
        }
    }
}

/// A write of a key as the cases write it, with author and time where they are wanted.
fn entry_json(entry: &HistoryEntry, expected: Option<&Value>) -> Value {
    let HistoryEntry { revision, timestamp, event, from, to, .. } = entry;
    let wants = |name: &str| expected.is_some_and(|expected| expected.get(name).is_some());
    let members = [
        ("revision", Some(json!(revision))),
        ("event", event.as_ref().map(|event| json!(event.id))),
        ("by", event.as_ref().filter(|_| wants("by")).map(|event| json!(event.author))),
        ("time", wants("time").then(|| json!(timestamp))),
        ("from", from.clone()),
        ("to", to.clone()),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn check_stored(event: &Event, stored: &Value) {
    if let Some(set) = stored.get("set") {
        assert_same(&delta_of(event), set, "the stored delta");
    }
    if let Some(unset) = stored.get("unset") {
        assert_same(&event.custom_metadata["statepad"]["deleted"], unset, "the stored deletions");
    }
    if let Some(at) = stored["at"].as_f64() {
        assert_eq!(event.timestamp, Some(at), "the stored timestamp");
    }
}

fn check_session(session: &Session, expect: &Value) {
    if let Some(id) = expect["id"].as_str() {
        check_id(session.id(), id);
    }
    if let Some(state) = expect.get("state") {
        assert_same(&Value::Object(session.state().to_map()), state, "the state");
    }
    if expect.get("order").is_some() {
        assert_eq!(session.state().to_map().keys().cloned().collect::<Vec<_>>(), texts(expect, "order"));
    }
    if expect.get("events").is_some() {
        let expected = texts(expect, "events");
        assert_eq!(session.events().len(), expected.len(), "the number of events");
        session.events().iter().zip(&expected).for_each(|(event, expected)| check_id(&event.id, expected));
    }
    if let Some(revision) = expect["revision"].as_u64() {
        assert_eq!(session.revision(), revision, "the revision");
    }
    if let Some(time) = expect["time"].as_f64() {
        assert_eq!(session.last_update_time().to_bits(), time.to_bits(), "the time");
    }
}

fn check_id(id: &str, expected: &str) {
    if expected == "<uuid>" {
        assert_eq!(id.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{id} is no UUID");
    } else {
        assert_eq!(id, expected);
    }
}
