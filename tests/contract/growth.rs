//! Runs the steps of limits.json and expiry.json over the native service, with a clock that the cases turn.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use statepad::{
    CreateOptions, Error, GetRequest, InMemorySessionService, LimitName, Limits, ListRequest, Operator,
    OrderedCreateRequest, Result, Session, SessionRef, SessionService, StateRef, SweepRequest,
};

use super::scenario::{check_error, event_of, key_of};
use crate::clock::Clock;

use super::{assert_same, block_on, record, text};

/// A service with a clock, and the sessions that steps have named.
struct Growth {
    clock: Clock,
    service: InMemorySessionService,
    handles: HashMap<String, Session>,
}

/// The answer of a step.
enum Answer {
    Nothing,
    Session(Option<Box<Session>>),
    Value(Value),
}

/// The limits of a case; those that it does not name have their defaults.
pub fn limits_of(case: &Value) -> Limits {
    let (mut limits, named) = (Limits::default(), record(case, "limits"));
    for (name, limit) in [
        ("value", &mut limits.value),
        ("delta", &mut limits.delta),
        ("event", &mut limits.event),
        ("state", &mut limits.state),
        ("keys", &mut limits.keys),
        ("events", &mut limits.events),
    ] {
        *limit = named.get(name).map_or(*limit, Value::as_u64);
    }
    limits
}

/// Runs all steps of a case.
pub fn run(case: &Value) {
    let clock = Clock::new();
    let mut service = InMemorySessionService::with_host(clock.clone()).with_limits(limits_of(case));
    if let Some(ttl) = case.get("ttl") {
        service = service.with_ttl(duration(ttl));
    }
    let mut growth = Growth { clock, service, handles: HashMap::new() };
    for (index, step) in case["steps"].as_array().unwrap().iter().enumerate() {
        println!("step {}: {step}", index + 1);
        match (growth.step(step), step.get("error")) {
            (Ok(answer), None) => check(&answer, step),
            (Err(error), Some(expected)) => check_refusal(&error, expected),
            (Ok(_), Some(expected)) => panic!("should be refused with {expected}"),
            (Err(error), None) => panic!("{}: {error}", error.code()),
        }
    }
}

impl Growth {
    fn step(&mut self, step: &Value) -> Result<Answer> {
        let (service, key) = (&self.service, key_of(step));
        let of = || &self.handles[text(step, "of")];
        Ok(match text(step, "do") {
            "clock" => {
                self.clock.turn(step["now"].as_f64().unwrap());
                Answer::Nothing
            }
            "create" => {
                let session_id = Some(key.session_id);
                let state = record(step, "state");
                let request = OrderedCreateRequest { app_name: key.app_name, user_id: key.user_id, session_id, state };
                let session = block_on(service.create_with(request, options_of(step)))?;
                self.named(step, session)
            }
            "fork" => {
                let session_id = step["id"].as_str().map(str::to_owned);
                let session = block_on(service.fork(of(), None, session_id))?;
                self.named(step, session)
            }
            "get" => Answer::Session(self.get(step)?.map(Box::new)),
            "append" => {
                let key = self.handles[text(step, "to")].key().clone();
                let mut event = event_of(&step["event"]);
                for (key, operator) in record(&step["event"], "operate") {
                    let operator: Operator = serde_json::from_value(operator).unwrap();
                    event.actions.operate(key, operator);
                }
                let revision = step["revision"].as_u64();
                block_on(service.append_expecting(SessionRef::Key(&key), event, revision))?;
                let request = json!({"app": key.app_name, "user": key.user_id, "id": key.session_id});
                let session = self.get(&request)?.expect("the session that was appended to");
                Answer::Session(Some(Box::new(session)))
            }
            "update" => {
                let is_app = step.get("user").is_some_and(Value::is_null);
                let target = match step.get("id") {
                    Some(_) => StateRef::Session(&key),
                    None if is_app => StateRef::App(&key.app_name),
                    None => StateRef::User(&key.app_name, &key.user_id),
                };
                let set = record(step, "set");
                let write = |state: &mut statepad::StateDraft| {
                    set.iter().try_for_each(|(key, value)| state.set(key, value.clone()))
                };
                block_on(service.update_state(target, write))?;
                Answer::Nothing
            }
            "delete" => {
                block_on(service.delete(key))?;
                Answer::Nothing
            }
            "list" => {
                let page = block_on(service.list(ListRequest { app_name: key.app_name, ..ListRequest::default() }))?;
                assert_eq!(page.total, page.sessions.len(), "the number of sessions in all");
                Answer::Value(page.sessions.iter().map(Session::id).collect())
            }
            "sweep" => {
                let limit = step["limit"].as_u64().map(|limit| usize::try_from(limit).unwrap());
                let app_name = step["app"].as_str().map(str::to_owned);
                let ask =
                    |dry_run| block_on(service.sweep(SweepRequest { app_name: app_name.clone(), limit, dry_run }));
                let counted = ask(true)?;
                let swept = ask(false)?;
                assert_eq!(counted, swept, "a dry run counts what a sweep removes");
                Answer::Value(json!({"sessions": swept.sessions, "users": 0}))
            }
            "history" => {
                block_on(service.history(of(), text(step, "key")))?;
                Answer::Nothing
            }
            "stateAt" => {
                block_on(service.state_at(of(), step["revision"].as_u64().unwrap()))?;
                Answer::Nothing
            }
            "rewind" => {
                block_on(service.rewind(of(), text(step, "before")))?;
                Answer::Nothing
            }
            "redo" => {
                block_on(service.redo(of()))?;
                Answer::Nothing
            }
            "lease" => {
                drop(block_on(service.lease(of(), Duration::from_secs(1)))?);
                Answer::Nothing
            }
            other => panic!("there is no step {other}"),
        })
    }

    fn named(&mut self, step: &Value, session: Session) -> Answer {
        if let Some(name) = step["as"].as_str() {
            self.handles.insert(name.to_owned(), session.clone());
        }
        Answer::Session(Some(Box::new(session)))
    }

    fn get(&self, step: &Value) -> Result<Option<Session>> {
        let key = key_of(step);
        let (app_name, user_id, session_id) = (key.app_name, key.user_id, key.session_id);
        block_on(self.service.get(GetRequest { app_name, user_id, session_id, ..GetRequest::default() }))
    }
}

fn options_of(step: &Value) -> CreateOptions {
    let options = CreateOptions::default();
    match (step.get("ttl"), step["expireTime"].as_f64()) {
        (_, Some(time)) => options.expiring_at(time),
        (Some(ttl), None) if ttl == "none" => options.never_expiring(),
        (Some(ttl), None) => options.expiring_after(duration(ttl)),
        (None, None) => options,
    }
}

fn duration(ttl: &Value) -> Duration {
    Duration::from_secs_f64(ttl.as_f64().unwrap() / 1_000.0)
}

fn check(answer: &Answer, step: &Value) {
    let Some(expect) = step.get("expect") else { return };
    match answer {
        Answer::Nothing => panic!("there is nothing to expect of this step"),
        Answer::Value(value) => assert_eq!(value, expect),
        Answer::Session(None) => assert_eq!(expect, &Value::Null, "there is no session"),
        Answer::Session(Some(session)) => {
            assert_ne!(expect, &Value::Null, "there is a session: {session:?}");
            if let Some(state) = expect.get("state") {
                assert_same(&Value::Object(session.state().to_map()), state, "the state");
            }
            if let Some(revision) = expect.get("revision") {
                assert_eq!(session.revision(), *revision, "the revision");
            }
            if let Some(time) = expect.get("expireTime") {
                assert_eq!(session.expire_time(), time.as_f64(), "the time at which it expires");
            }
        }
    }
}

/// Compares an error with the code and the details that a case wants. In Rust no error has a path.
pub fn check_refusal(error: &Error, expected: &Value) {
    check_error(error, expected);
    for (name, found) in [("size", error.size()), ("limit", error.limit())] {
        if let Some(wanted) = expected.get(name) {
            assert_eq!(found, wanted.as_u64(), "{name}: {error}");
        }
    }
    if expected.get("exceeded").is_some() {
        assert_eq!(error.exceeded().map(LimitName::name), expected["exceeded"].as_str(), "{error}");
        assert_eq!(error.key(), expected["key"].as_str(), "{error}");
        let id = expected["id"].as_str().or(error.id());
        assert_eq!(error.id(), id, "{error}");
    }
}
