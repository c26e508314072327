//! Rewinding, forking, operators and leases of the service for Rust programs.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use statepad::{
    CreateRequest, ErrorKind, Event, GetRequest, Host, InMemorySessionService, Invocation, Operator, Session,
    SessionService,
};

#[path = "support/block_on.rs"]
mod block_on;
use block_on::block_on;

fn created(service: &InMemorySessionService, id: &str, state: &Value) -> Session {
    let state = state.as_object().unwrap().clone().into_iter().collect();
    let (app_name, user_id) = ("app".into(), "u".into());
    block_on(service.create(CreateRequest { app_name, user_id, session_id: Some(id.into()), state })).unwrap()
}

fn append(service: &impl SessionService, session: &Session, invocation: &str, set: &Value, unset: &[&str]) -> Event {
    let mut event = Event::new(invocation);
    for (key, value) in set.as_object().unwrap() {
        event.actions.set(key, value.clone());
    }
    for key in unset {
        event.delete(key);
    }
    block_on(service.append_event(session, event)).unwrap()
}

fn read(service: &impl SessionService, session: &Session) -> Session {
    let (app_name, user_id) = (session.app_name().to_owned(), session.user_id().to_owned());
    let request = GetRequest { app_name, user_id, session_id: session.id().to_owned(), ..GetRequest::default() };
    block_on(service.get(request)).unwrap().unwrap()
}

fn state(service: &impl SessionService, session: &Session) -> Value {
    Value::Object(read(service, session).state().to_map())
}

#[test]
fn a_rewind_restores_the_own_keys_and_a_redo_brings_back_what_was_undone() {
    let service = InMemorySessionService::new();
    let session = created(&service, "s", &json!({"k": 1, "tenant": null, "user:u": 1}));
    append(&service, &session, "a", &json!({"k": 2, "app:n": 1}), &[]);
    append(&service, &session, "b", &json!({"k": 3, "x": [1], "user:u": 2}), &["tenant"]);
    append(&service, &session, "b", &json!({"app:n": 2}), &[]);
    let undone = json!({"k": 3, "x": [1], "app:n": 2, "user:u": 2});
    assert_eq!(state(&service, &session), undone);

    let back = block_on(service.rewind(&session, "b")).unwrap();
    assert_eq!((back.revision, back.shared), (4, vec!["app:n".to_owned(), "user:u".to_owned()]));
    assert_eq!((back.event.author.as_str(), back.event.rewinds_before()), ("system", Some("b")));
    assert_eq!(serde_json::to_value(&back.event).unwrap()["actions"]["rewindBeforeInvocationId"], "b");
    assert_eq!(state(&service, &session), json!({"k": 2, "tenant": null, "app:n": 2, "user:u": 2}));

    let pointer: Arc<dyn SessionService> = Arc::new(service);
    let again = block_on(pointer.redo(&session)).unwrap();
    assert_eq!((again.revision, again.event.rewinds_before()), (5, Some(&*back.event.invocation_id)));
    assert_eq!(state(&pointer, &session), undone);
    let none = block_on(pointer.redo(&session)).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::InvalidArgument);
    assert!(none.to_string().contains("nothing to redo"), "{none}");
    // The log tells the past exactly, rewinds and all.
    let now = read(&pointer, &session);
    for (revision, k) in [(0, 1), (1, 2), (2, 3), (3, 3), (4, 2), (5, 3)] {
        assert_eq!(block_on(pointer.state_at(&now, revision)).unwrap()["k"], k, "revision {revision}");
    }

    let all = block_on(pointer.rewind(&session, "a")).unwrap();
    assert_eq!(all.event.actions.in_order().map(|(key, _)| key).collect::<Vec<_>>(), ["k", "tenant", "x"]);
    assert_eq!(state(&pointer, &session), json!({"k": 1, "tenant": null, "app:n": 2, "user:u": 2}));
}

#[test]
fn what_does_not_stand_cannot_be_rewound() {
    let service = InMemorySessionService::new();
    let session = created(&service, "s", &json!({}));
    append(&service, &session, "a", &json!({}), &[]);
    append(&service, &session, "", &json!({}), &[]);
    for (before, why) in [("b", "the session has no event of it"), ("", "the session has no event of it")] {
        let error = block_on(service.rewind(&session, before)).unwrap_err();
        let message = format!("session \"s\" cannot go back before the invocation \"{before}\": {why}");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidArgument, message));
    }
    let marker = block_on(service.rewind(&session, "a")).unwrap().event.invocation_id;
    for before in ["a", &marker] {
        let error = block_on(service.rewind(&session, before)).unwrap_err();
        assert!(error.to_string().ends_with("all its events are undone already"), "{error}");
    }
    assert_eq!(read(&service, &session).revision(), 3);
}

#[test]
fn a_session_that_took_the_place_of_another_is_not_rewound() {
    let service = InMemorySessionService::new();
    let session = created(&service, "s", &json!({}));
    append(&service, &session, "a", &json!({}), &[]);
    block_on(service.delete(session.key().clone())).unwrap();
    assert_eq!(block_on(service.rewind(&session, "a")).unwrap_err().kind(), ErrorKind::SessionNotFound);
    let other = created(&service, "s", &json!({}));
    append(&service, &other, "a", &json!({}), &[]);
    assert_eq!(block_on(service.rewind(&session, "a")).unwrap_err().kind(), ErrorKind::SessionNotFound);
    assert_eq!(block_on(service.fork(&session, None, None)).unwrap_err().kind(), ErrorKind::SessionNotFound);
}

#[test]
fn a_fork_goes_its_own_way() {
    let service = InMemorySessionService::new();
    let session = created(&service, "s", &json!({"k": 1, "app:n": 1}));
    let first = append(&service, &session, "a", &json!({"k": 2, "user:u": 1, "app:n": 2}), &["user:gone"]);
    append(&service, &session, "b", &json!({"k": 3}), &[]);
    append(&service, &session, "b", &json!({"user:u": 7}), &[]);
    let fork = block_on(service.fork(&session, Some(1), Some("t".into()))).unwrap();
    assert_eq!((fork.id(), fork.revision()), ("t", 2));
    let own = json!({"k": 2, "app:n": 2, "user:u": 7});
    assert_eq!(Value::Object(fork.state().to_map()), own, "what is shared is as it is now");
    assert_eq!(Value::Object(block_on(service.state_at(&fork, 0)).unwrap()), json!({"k": 1, "app:n": 2, "user:u": 7}));
    let [event, last] = fork.events() else { panic!("two events") };
    assert_eq!((&event.id, event.timestamp), (&first.id, first.timestamp));
    assert_eq!(event.actions.in_order().map(|(key, _)| key).collect::<Vec<_>>(), ["k"]);
    assert_eq!(last.custom_metadata["statepad"]["forkedFrom"], json!({"sessionId": "s", "revision": 1}));
    assert_eq!(last.author, "system");

    append(&service, &fork, "c", &json!({"k": 9}), &[]);
    assert_eq!(state(&service, &session)["k"], 3);
    block_on(service.rewind(&fork, "a")).unwrap();
    assert_eq!(state(&service, &fork)["k"], 1);
    let error = block_on(service.fork(&session, Some(9), Some("v".into()))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(block_on(service.fork(&session, None, Some("t".into()))).unwrap_err().kind(), ErrorKind::SessionExists);
    assert_eq!(
        block_on(service.list(statepad::ListRequest { app_name: "app".into(), ..Default::default() })).unwrap().total,
        2
    );
}

fn operating(operators: &[(&str, Operator)]) -> Event {
    let mut event = Event { id: "e".into(), ..Event::new("i") };
    for (key, operator) in operators {
        event.actions.operate(*key, operator.clone());
    }
    event
}

#[test]
fn operators_are_resolved_when_the_event_is_appended() {
    let service = InMemorySessionService::new();
    let session = created(&service, "s", &json!({"n": 0.1, "app:list": [1]}));
    let mut event = operating(&[
        ("n", Operator::Increment(0.2)),
        ("app:list", Operator::append([json!({"b": 1, "a": 2})])),
        ("user:once", Operator::set_once("first")),
        ("temp:n", Operator::Increment(1.0)),
        ("cas", Operator::compare_and_set(None, Value::Null)),
    ]);
    event.actions.set("last", "plain");
    let request = event.clone();
    let stored = block_on(service.append_event(&session, event)).unwrap();
    let keys: Vec<_> = stored.actions.in_order().map(|(key, _)| key).collect();
    assert_eq!(keys, ["last", "n", "app:list", "user:once", "cas"], "operators come after the plain writes");
    let text = r#"{"n":{"increment":0.2},"app:list":{"append":[{"b":1,"a":2}]},"user:once":{"setOnce":"first"},"cas":{"compareAndSet":{"value":null}}}"#;
    assert_eq!(stored.custom_metadata["statepad"]["operators"].to_string(), text);
    assert_eq!(
        state(&service, &session),
        json!({"n": 0.1 + 0.2, "last": "plain", "cas": null, "app:list": [1, {"b": 1, "a": 2}], "user:once": "first"})
    );
    // The same request again is a success, also after the values have moved on.
    append(&service, &session, "j", &json!({"n": 7}), &[]);
    assert_eq!(block_on(service.append_event(&session, request.clone())).unwrap(), stored);
    assert_eq!(block_on(service.append_event(&session, stored.clone())).unwrap(), stored);
    for other in [
        operating(&[("n", Operator::Increment(0.2))]),
        {
            let mut other = request.clone();
            other.actions.operate("n", Operator::Increment(0.3));
            other
        },
        {
            let mut other = request;
            other.actions.set("last", "other");
            other
        },
    ] {
        assert_eq!(block_on(service.append_event(&session, other)).unwrap_err().kind(), ErrorKind::EventIdConflict);
    }
    assert_eq!(state(&service, &session)["n"], 7);
    let now = read(&service, &session);
    assert_eq!(block_on(service.state_at(&now, 1)).unwrap()["n"], 0.1 + 0.2);
    assert_eq!(block_on(service.history(&now, "n")).unwrap()[1].to, Some(json!(0.1 + 0.2)));
}

#[test]
fn an_operator_that_does_not_fit_applies_nothing() {
    let service = InMemorySessionService::new();
    let session = created(&service, "s", &json!({"text": "1", "n": 1e308}));
    let deep = (0..101).fold(json!(1), |value, _| json!([value]));
    for (key, operator, kind) in [
        ("text", Operator::Increment(1.0), ErrorKind::InvalidArgument),
        ("n", Operator::append([1]), ErrorKind::InvalidArgument),
        ("n", Operator::Increment(1e308), ErrorKind::InvalidArgument),
        ("n", Operator::Increment(f64::NAN), ErrorKind::ValueNotJson),
        ("n", Operator::compare_and_set(Some(json!(2)), 3), ErrorKind::StateConflict),
        ("user:x", Operator::compare_and_set(Some(Value::Null), 3), ErrorKind::StateConflict),
        ("x", Operator::SetOnce(deep.clone()), ErrorKind::ValueNotJson),
        ("x", Operator::append([deep[0].clone()]), ErrorKind::ValueNotJson),
    ] {
        let event = operating(&[("ok", Operator::Increment(1.0)), (key, operator.clone())]);
        let error = block_on(service.append_event(&session, event)).unwrap_err();
        assert_eq!((error.kind(), error.key()), (kind, Some(key)), "{operator:?}: {error}");
    }
    let mut both = operating(&[("n", Operator::Increment(1.0))]);
    both.actions.set("n", 1);
    let error = block_on(service.append_event(&session, both)).unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::InvalidArgument, Some("n")));
    assert_eq!(read(&service, &session).revision(), 0);
}

#[test]
fn an_event_that_is_not_stored_yet_says_its_operators_in_json() {
    let mut event = operating(&[("n", Operator::Increment(2.0)), ("l", Operator::append(["x"]))]);
    event.actions.set("a", 1);
    event.delete("d");
    let text = serde_json::to_value(&event).unwrap();
    assert_eq!(text["actions"]["stateDelta"].to_string(), r#"{"a":1,"d":null,"n":null,"l":null}"#);
    let own = r#"{"deleted":["d"],"operators":{"n":{"increment":2},"l":{"append":["x"]}}}"#;
    assert_eq!(text["customMetadata"]["statepad"].to_string(), own);
}

#[test]
fn an_invocation_appends_its_operators() {
    let service = InMemorySessionService::new();
    let session = created(&service, "s", &json!({"n": 1}));
    let mut invocation = Invocation::new(session.state().clone());
    invocation.context("a").operate("n", Operator::Increment(1.0)).unwrap();
    invocation.context("b").operate("temp:t", Operator::append([1])).unwrap();
    append(&service, &session, "other", &json!({"n": 40}), &[]);
    assert_eq!(invocation.get("n"), Some(json!(2)), "as it was when the invocation began");
    let stored = block_on(invocation.append(&service, &session, "a", Event::new("i"))).unwrap();
    assert_eq!(stored.actions.state_delta["n"], 41);
    assert_eq!(invocation.get("n"), Some(json!(41)));
    block_on(invocation.append(&service, &session, "b", Event::new("i"))).unwrap();
    assert_eq!(invocation.get("temp:t"), Some(json!([1])));
    invocation.context("a").operate("n", Operator::compare_and_set(Some(json!(1)), 2)).unwrap();
    let error = block_on(invocation.append(&service, &session, "a", Event::new("i"))).unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::StateConflict, Some("n")));
    invocation.discard_all();
    invocation.end().unwrap();
    assert_eq!(state(&service, &session), json!({"n": 41}));
}

#[test]
fn parallel_increments_all_count() {
    let service = InMemorySessionService::new();
    let sessions: Vec<_> = (0..4).map(|number| created(&service, &number.to_string(), &json!({}))).collect();
    let service = &service;
    std::thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(move || {
                for number in 0..250 {
                    let mut event = Event::new("i");
                    event.actions.operate("app:n", Operator::Increment(1.0));
                    event.actions.operate("app:all", Operator::append([json!([session.id(), number])]));
                    block_on(service.append_event(session, event)).unwrap();
                }
            });
        }
    });
    let state = state(service, &sessions[0]);
    assert_eq!(state["app:n"], 1000);
    let mut all = state["app:all"].as_array().unwrap().clone();
    all.sort_by_key(Value::to_string);
    all.dedup();
    assert_eq!(all.len(), 1000);
}

/// A clock that the test sets.
#[derive(Clone, Default)]
struct Clock(Arc<(AtomicU64, AtomicU64)>);

impl Host for Clock {
    fn now(&self) -> f64 {
        f64::from(u32::try_from(self.0.0.load(Ordering::Relaxed)).unwrap())
    }

    fn new_id(&self) -> String {
        self.0.1.fetch_add(1, Ordering::Relaxed).to_string()
    }
}

#[test]
fn what_is_appended_under_a_lost_lease_is_refused() {
    let clock = Clock::default();
    let service = InMemorySessionService::with_host(clock.clone());
    let session = created(&service, "s", &json!({}));
    let first = block_on(service.lease(&session, Duration::from_millis(100))).unwrap();
    assert_eq!((first.fence(), first.until().to_bits()), (1, 100.0_f64.to_bits()));
    let written = Event { id: "mine".into(), ..Event::new("i") };
    block_on(service.append_leased(&first, written.clone(), Some(0))).unwrap();
    let error = block_on(service.lease(&session, Duration::from_millis(100))).unwrap_err();
    assert_eq!((error.kind(), error.until(), error.id()), (ErrorKind::LeaseHeld, Some(100.0), Some("s")));
    append(&service, &session, "i", &json!({}), &[]);

    clock.0.0.store(100, Ordering::Relaxed);
    // Nobody has taken it: it may write, and be renewed.
    block_on(service.append_leased(&first, Event::new("i"), None)).unwrap();
    let second = block_on(service.lease(&session, Duration::from_millis(100))).unwrap();
    assert_eq!((second.fence(), second.until().to_bits()), (2, 200.0_f64.to_bits()));
    for expected in [None, Some(0), Some(3)] {
        let lost = block_on(service.append_leased(&first, Event::new("i"), expected)).unwrap_err();
        assert_eq!((lost.kind(), lost.id()), (ErrorKind::LeaseLost, Some("s")), "it is looked at first");
    }
    let again = block_on(service.append_leased(&first, written, None));
    assert!(again.is_ok(), "what was written under it is there");
    assert_eq!(block_on(service.renew(&first, Duration::from_secs(1))).unwrap_err().kind(), ErrorKind::LeaseLost);
    assert_eq!(block_on(service.release(&first)).unwrap_err().kind(), ErrorKind::LeaseLost);
    let renewed = block_on(service.renew(&second, Duration::from_secs(1))).unwrap();
    assert_eq!((renewed.fence(), renewed.until().to_bits()), (2, 1100.0_f64.to_bits()));
    block_on(service.release(&renewed)).unwrap();
    let lost = block_on(service.append_leased(&second, Event::new("i"), None)).unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::LeaseLost);
    assert_eq!(read(&service, &session).revision(), 3);
    let third = block_on(service.lease(&session, Duration::ZERO)).unwrap();
    assert_eq!(third.fence(), 4, "a release moves the token on");

    block_on(service.delete(session.key().clone())).unwrap();
    assert_eq!(block_on(service.renew(&third, Duration::ZERO)).unwrap_err().kind(), ErrorKind::SessionNotFound);
    created(&service, "s", &json!({}));
    let error = block_on(service.append_leased(&third, Event::new("i"), None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound, "another session has its key");
}
