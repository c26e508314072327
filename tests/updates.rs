//! Writing safely: updates that read what they write, appends that expect a revision, and what keeps its order.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a test may panic: that is how it fails")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use serde_json::{Value, json};
use statepad::{
    CreateRequest, ErrorKind, Event, GetRequest, Host, InMemorySessionService, OrderedCreateRequest, Session,
    SessionKey, SessionRef, SessionService, StateDraft, StateRef, UpdateOptions,
};

#[path = "support/block_on.rs"]
mod block_on;
use block_on::block_on;

fn session(service: &impl SessionService) -> Session {
    let (app_name, user_id, session_id) = ("app".into(), "ana".into(), Some("s".into()));
    block_on(service.create(CreateRequest { app_name, user_id, session_id, state: HashMap::new() })).unwrap()
}

fn read(service: &impl SessionService) -> Session {
    let (app_name, user_id, session_id) = ("app".into(), "ana".into(), "s".into());
    block_on(service.get(GetRequest { app_name, user_id, session_id, ..GetRequest::default() })).unwrap().unwrap()
}

fn increment(state: &mut StateDraft, key: &str) -> statepad::Result<()> {
    let count = state.get(key).and_then(|count| count.as_u64()).unwrap_or(0);
    state.set(key, count + 1)
}

#[test]
fn increments_of_a_hundred_threads_end_at_a_hundred() {
    let service = Arc::new(InMemorySessionService::new());
    let key = session(&service).key().clone();
    let targets = [
        (StateRef::App("app"), "app:count"),
        (StateRef::User("app", "ana"), "user:count"),
        (StateRef::Session(&key), "count"),
    ];
    for (target, name) in targets {
        let (runs, start) = (AtomicU64::new(0), Barrier::new(100));
        let mut answers: Vec<u64> = std::thread::scope(|scope| {
            let one = || {
                start.wait();
                let function = |state: &mut StateDraft| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    increment(state, name)?;
                    std::thread::yield_now();
                    Ok(())
                };
                let state = block_on(service.update_state(target, function)).unwrap();
                state.get(name).and_then(|count| count.as_u64()).unwrap()
            };
            let threads: Vec<_> = (0..100).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(read(&service).state().get(name), Some(json!(100)));
        answers.sort_unstable();
        assert_eq!(answers, (1..=100).collect::<Vec<_>>(), "each is told what it wrote itself");
        assert!(runs.into_inner() <= 200, "one waits for another in place of running again");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn increments_of_a_hundred_tasks_end_at_a_hundred() {
    let service: Arc<dyn SessionService> = Arc::new(InMemorySessionService::new());
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                service.update_state(StateRef::User("app", "ana"), |state| increment(state, "user:count")).await
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let state = service.update_state(StateRef::User("app", "ana"), |_| Ok(())).await.unwrap();
    assert_eq!(state.get("user:count"), Some(json!(100)));
}

#[test]
fn an_update_runs_again_when_what_it_read_has_changed_and_not_for_what_it_did_not_read() {
    let service = InMemorySessionService::new();
    let key = session(&service).key().clone();
    let append = |name: &str, value: u64| {
        let mut event = Event::new("i");
        event.actions.set(name, value);
        block_on(service.append(SessionRef::Key(&key), event)).unwrap();
    };
    for (read_key, written, runs_wanted) in [("x", "x", 2), ("x", "y", 1), ("user:x", "user:x", 2), ("x", "app:x", 1)] {
        let mut runs = 0;
        let state = block_on(service.update_state(StateRef::Session(&key), |state| {
            runs += 1;
            increment(state, read_key)?;
            if runs == 1 {
                append(written, 10);
            }
            Ok(())
        }));
        assert_eq!(runs, runs_wanted, "{read_key} {written}");
        assert_eq!(state.unwrap().get(written).unwrap().as_u64(), Some(if runs_wanted == 2 { 11 } else { 10 }));
    }
    let mut runs = 0;
    block_on(service.update_state(StateRef::Session(&key), |state| {
        runs += 1;
        let count = state.all().len();
        if runs == 1 {
            append("other", 1);
        }
        state.set("keys", count)
    }))
    .unwrap();
    assert_eq!((runs, read(&service).state().get("keys")), (2, Some(json!(5))), "it has read everything");
}

#[test]
fn an_update_within_an_update_does_not_wait_for_itself() {
    let service = InMemorySessionService::new();
    let target = StateRef::App("app");
    let mut inner = true;
    let state = block_on(service.update_state(target, |state| {
        increment(state, "app:x")?;
        if std::mem::take(&mut inner) {
            block_on(service.update_state(target, |state| increment(state, "app:x")))?;
        }
        Ok(())
    }));
    assert_eq!(state.unwrap().get("app:x"), Some(json!(2)));
}

#[test]
fn an_update_of_a_session_is_an_event_of_it() {
    let service = InMemorySessionService::new();
    let created = session(&service);
    let options = UpdateOptions { author: "tutor".into(), invocation_id: "inv-1".into(), ..UpdateOptions::default() };
    let target = StateRef::Session(created.key());
    block_on(service.update(target, options, &mut |state| {
        state.set("z", 1.0)?;
        state.set("a", json!([null]))?;
        state.set("user:gone", 1)?;
        state.delete("user:gone").map(drop)
    }))
    .unwrap();
    let session = read(&service);
    let event = &session.events()[0];
    assert_eq!((session.revision(), event.author.as_str(), event.invocation_id.as_str()), (1, "tutor", "inv-1"));
    assert_eq!(
        serde_json::to_value(&event.actions).unwrap()["stateDelta"],
        json!({"z": 1, "a": [null], "user:gone": null})
    );
    assert_eq!(event.custom_metadata["statepad"]["deleted"], json!(["user:gone"]));
    assert_eq!(session.state().to_map().keys().collect::<Vec<_>>(), ["z", "a"]);
    block_on(service.update_state(target, |state| {
        state.get("z");
        Ok(())
    }))
    .unwrap();
    assert_eq!(read(&service).revision(), 1, "an update that writes nothing leaves no event");
}

#[test]
fn an_update_that_fails_changes_nothing() {
    let service = InMemorySessionService::new();
    let created = session(&service);
    let deep = (0..200).fold(json!(1), |value, _| json!([value]));
    let kind = |answer: statepad::Result<_>| answer.map(|_: statepad::SessionState| ()).unwrap_err().kind();
    let session = StateRef::Session(created.key());
    for (target, name, value, expected) in [
        (session, "temp:x", json!(1), ErrorKind::InvalidArgument),
        (session, "x", deep, ErrorKind::ValueNotJson),
        (StateRef::App("app"), "x", json!(1), ErrorKind::InvalidArgument),
        (StateRef::App("app"), "user:x", json!(1), ErrorKind::InvalidArgument),
        (StateRef::User("app", "ana"), "x", json!(1), ErrorKind::InvalidArgument),
    ] {
        let answer = block_on(service.update_state(target, |state| {
            state.set("app:y", 1)?;
            state.set(name, value.clone())
        }));
        assert_eq!(kind(answer), expected, "{name}");
    }
    let none = UpdateOptions { attempts: 0, ..UpdateOptions::default() };
    assert_eq!(kind(block_on(service.update(session, none, &mut |_| Ok(())))), ErrorKind::InvalidArgument);
    let mut count = 0;
    let few = UpdateOptions { attempts: 3, ..UpdateOptions::default() };
    let contended = block_on(service.update(session, few, &mut |state| {
        count += 1;
        increment(state, "x")?;
        block_on(service.append_event("s", {
            let mut event = Event::new("i");
            event.actions.set("x", 10 * count);
            event
        }))?;
        Ok(())
    }));
    assert_eq!((kind(contended), count), (ErrorKind::StateConflict, 3));
    assert_eq!(read(&service).state().to_map(), *json!({"x": 30}).as_object().unwrap());
    let missing = SessionKey::new("app", "ana", "gone");
    let answer = block_on(service.update_state(StateRef::Session(&missing), |state| state.set("x", 1)));
    assert_eq!(kind(answer), ErrorKind::SessionNotFound);
}

#[test]
fn an_update_never_writes_to_another_session_under_the_same_key() {
    let service = InMemorySessionService::new();
    let key = session(&service).key().clone();
    let mut runs = 0;
    block_on(service.update_state(StateRef::Session(&key), |state| {
        runs += 1;
        if runs == 1 {
            block_on(service.delete(key.clone()))?;
            session(&service);
        }
        state.set("x", runs)
    }))
    .unwrap();
    assert_eq!((runs, read(&service).state().get("x")), (2, Some(json!(2))));
}

#[test]
fn an_append_that_expects_another_revision_is_stale_and_a_retry_is_not() {
    let service = InMemorySessionService::new();
    let created = session(&service);
    let event = Event { id: "e".into(), ..Event::new("i") };
    let append =
        |event: &Event, revision| block_on(service.append_expecting((&created).into(), event.clone(), Some(revision)));
    append(&event, 0).unwrap();
    append(&event, 0).unwrap();
    let other = Event { id: "f".into(), ..event.clone() };
    let error = append(&other, 0).unwrap_err();
    assert_eq!((error.kind(), error.expected(), error.actual()), (ErrorKind::SessionStale, Some(0), Some(1)));
    append(&other, 1).unwrap();
    assert_eq!(read(&service).revision(), 2);
}

#[test]
fn keys_without_an_order_are_written_sorted_and_others_in_the_order_of_writing() {
    let names = ["m", "a", "é", "z", "b"];
    let values: HashMap<String, Value> = names.iter().map(|name| ((*name).to_owned(), json!(1))).collect();
    let keys = |session: &Session| session.state().to_map().keys().cloned().collect::<Vec<_>>();
    for _ in 0..10 {
        let service = InMemorySessionService::new();
        let request = CreateRequest {
            app_name: "app".into(),
            user_id: "ana".into(),
            state: values.clone(),
            ..Default::default()
        };
        assert_eq!(keys(&block_on(service.create(request)).unwrap()), ["a", "b", "m", "z", "é"]);

        session(&service);
        let mut event = Event::new("i");
        event.actions.state_delta.clone_from(&values);
        let stored = block_on(service.append_event("s", event)).unwrap();
        assert_eq!(stored.actions.in_order().map(|(key, _)| key).collect::<Vec<_>>(), ["a", "b", "m", "z", "é"]);
        assert_eq!(keys(&read(&service)), ["a", "b", "m", "z", "é"]);
    }
    let service = InMemorySessionService::new();
    let state = names.iter().map(|name| ((*name).to_owned(), json!(1))).collect();
    let (app_name, user_id) = ("app".into(), "ana".into());
    let request = OrderedCreateRequest { app_name, user_id, session_id: Some("s".into()), state };
    assert_eq!(keys(&block_on(service.create_ordered(request)).unwrap()), names);
    let text = r#"{"actions":{"stateDelta":{"y":1,"x":2,"temp:t":3,"c":4}}}"#;
    let stored = block_on(service.append_event("s", serde_json::from_str(text).unwrap())).unwrap();
    assert_eq!(stored.actions.in_order().map(|(key, _)| key).collect::<Vec<_>>(), ["y", "x", "c"]);
    assert_eq!(keys(&read(&service)), ["m", "a", "é", "z", "b", "y", "x", "c"]);
}

#[test]
fn a_host_of_the_program_gives_the_time_and_the_ids() {
    #[derive(Default)]
    struct Counting(AtomicU64);
    impl Host for Counting {
        fn now(&self) -> f64 {
            1000.0
        }
        fn new_id(&self) -> String {
            format!("id-{}", self.0.fetch_add(1, Ordering::Relaxed))
        }
    }
    let service = InMemorySessionService::with_host(Counting::default());
    let request = CreateRequest { app_name: "app".into(), user_id: "ana".into(), ..Default::default() };
    let session = block_on(service.create(request)).unwrap();
    let event = block_on(service.append_event(&session, Event::new("i"))).unwrap();
    assert_eq!((session.id(), event.id.as_str(), event.timestamp), ("id-0", "id-1", Some(1000.0)));
    assert_eq!(session.last_update_time().to_bits(), 1000.0_f64.to_bits());
}

#[test]
fn sessions_are_found_by_their_id_while_others_come_and_go() {
    let service = InMemorySessionService::new();
    let create = |user: &str, id: &str| {
        let (app_name, user_id, session_id) = ("app".into(), user.into(), Some(id.into()));
        block_on(service.create(CreateRequest { app_name, user_id, session_id, ..Default::default() })).unwrap()
    };
    let append = |id: &str| block_on(service.append_event(id, Event::new("i"))).map_err(|error| error.kind());
    let delete = |session: &Session| block_on(service.delete(session.key().clone())).unwrap();
    for round in 0..3 {
        let users: Vec<_> = ["ana", "bob", "eva"].iter().map(|user| create(user, "same")).collect();
        assert_eq!(append("same").unwrap_err(), ErrorKind::InvalidArgument, "{round}");
        delete(&users[1]);
        assert_eq!(append("same").unwrap_err(), ErrorKind::InvalidArgument);
        delete(&users[0]);
        append("same").unwrap();
        delete(&users[2]);
        assert_eq!(append("same").unwrap_err(), ErrorKind::SessionNotFound);
    }
}

#[test]
fn a_host_whose_time_is_no_number_is_told_so_and_nothing_is_written() {
    struct Broken;
    impl Host for Broken {
        fn now(&self) -> f64 {
            f64::NAN
        }
        fn new_id(&self) -> String {
            "id".to_owned()
        }
    }
    let service = InMemorySessionService::with_host(Broken);
    let request = CreateRequest { app_name: "app".into(), user_id: "ana".into(), ..Default::default() };
    let error = block_on(service.create(request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.to_string(), "now() must return a number of milliseconds, not NaN");
    for (time, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")] {
        let service = InMemorySessionService::new();
        let request = CreateRequest { app_name: "app".into(), user_id: "ana".into(), ..Default::default() };
        let session = block_on(service.create(request)).unwrap();
        let event = statepad::Event { timestamp: Some(time), ..statepad::Event::new("i") };
        let error = block_on(service.append_event(&session, event)).unwrap_err();
        assert_eq!(error.to_string(), format!("timestamp must be a number of milliseconds, not {name}"));
    }
    let update = block_on(service.update_state(StateRef::App("app"), |state| state.set("app:x", 1)));
    assert_eq!(update.unwrap_err().kind(), ErrorKind::InvalidArgument);
    let state = block_on(service.update_state(StateRef::App("app"), |_| Ok(()))).unwrap();
    assert!(state.all().is_empty());
}
