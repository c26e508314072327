//! Limits and expiry of the native service, for whatever comes in: against models that count anew each time.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use statepad::{
    CreateOptions, CreateRequest, DeleteRequest, ErrorKind, Event, GetRequest, InMemorySessionService, LimitName,
    Limits, ListRequest, Operator, OrderedCreateRequest, Session, SessionKey, SessionService, StateRef, SweepRequest,
};

use block_on::block_on;
use clock::Clock;

#[path = "support/block_on.rs"]
mod block_on;
#[path = "support/clock.rs"]
mod clock;

fn key(id: u8) -> SessionKey {
    SessionKey::new("app", if id.is_multiple_of(2) { "u" } else { "v" }, format!("s{id}"))
}

fn read(service: &InMemorySessionService, id: u8) -> Option<Session> {
    let SessionKey { app_name, user_id, session_id } = key(id);
    block_on(service.get(GetRequest { app_name, user_id, session_id, ..GetRequest::default() })).unwrap()
}

fn all() -> ListRequest {
    ListRequest { app_name: "app".into(), ..ListRequest::default() }
}

/// What may be done with a session, or with the clock.
#[derive(Debug, Clone)]
enum Step {
    Create { id: u8, end: Option<End> },
    Append { id: u8 },
    Update { id: u8 },
    Delete { id: u8 },
    Fork { id: u8, to: u8 },
    Turn { by: u8 },
    Sweep { limit: Option<usize> },
}

#[derive(Debug, Clone, Copy)]
enum End {
    After(u8),
    At(u8),
    Never,
}

fn step() -> impl Strategy<Value = Step> {
    let end = prop_oneof![(1..40_u8).prop_map(End::After), (1..40_u8).prop_map(End::At), Just(End::Never)];
    let id = || 0..6_u8;
    prop_oneof![
        4 => (id(), proptest::option::of(end)).prop_map(|(id, end)| Step::Create { id, end }),
        3 => id().prop_map(|id| Step::Append { id }),
        1 => id().prop_map(|id| Step::Update { id }),
        1 => id().prop_map(|id| Step::Delete { id }),
        1 => (id(), id()).prop_map(|(id, to)| Step::Fork { id, to }),
        4 => (0..20_u8).prop_map(|by| Step::Turn { by }),
        1 => proptest::option::of(1..3_usize).prop_map(|limit| Step::Sweep { limit }),
    ]
}

/// The end of a session, and its revision.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lasting {
    ttl: Option<f64>,
    end: Option<f64>,
    revision: u64,
}

impl Lasting {
    fn written(&mut self, now: f64) {
        self.revision += 1;
        self.end = self.ttl.map_or(self.end, |ttl| Some(now + ttl));
    }
}

proptest! {
    #[test]
    fn a_session_is_there_until_it_has_expired_and_never_comes_back(
        steps in vec(step(), 0..60),
        default in proptest::option::of(1..40_u8),
    ) {
        let clock = Clock::new();
        let mut service = InMemorySessionService::with_host(clock.clone());
        if let Some(ttl) = default {
            service = service.with_ttl(Duration::from_millis(ttl.into()));
        }
        let (mut now, mut model) = (1_000.0, BTreeMap::<u8, Lasting>::new());
        let of_service = default.map_or(End::Never, End::After);
        let lasting = |end: End, now: f64| match end {
            End::After(ttl) => Lasting { ttl: Some(ttl.into()), end: Some(now + f64::from(ttl)), revision: 0 },
            End::At(time) => Lasting { ttl: None, end: Some(now + f64::from(time)), revision: 0 },
            End::Never => Lasting { ttl: None, end: None, revision: 0 },
        };
        for step in steps {
            match step {
                Step::Create { id, end } => {
                    let SessionKey { app_name, user_id, session_id } = key(id);
                    let session_id = Some(session_id);
                    let request =
                        OrderedCreateRequest { app_name, user_id, session_id, ..Default::default() };
                    let options = match end {
                        None => CreateOptions::default(),
                        Some(End::After(ttl)) => {
                            CreateOptions::default().expiring_after(Duration::from_millis(ttl.into()))
                        }
                        Some(End::At(time)) => CreateOptions::default().expiring_at(now + f64::from(time)),
                        Some(End::Never) => CreateOptions::default().never_expiring(),
                    };
                    let is_free = !model.contains_key(&id);
                    prop_assert_eq!(block_on(service.create_with(request, options)).is_ok(), is_free);
                    model.entry(id).or_insert_with(|| lasting(end.unwrap_or(of_service), now));
                }
                Step::Append { id } => {
                    let key = key(id);
                    let answer = block_on(service.append_event(&key, Event::new("i")));
                    prop_assert_eq!(answer.is_ok(), model.contains_key(&id));
                    model.entry(id).and_modify(|lasting| lasting.written(now));
                }
                Step::Update { id } => {
                    let answer = block_on(service.update_state(StateRef::Session(&key(id)), |state| state.set("x", 1)));
                    prop_assert_eq!(answer.is_ok(), model.contains_key(&id));
                    model.entry(id).and_modify(|lasting| lasting.written(now));
                }
                Step::Delete { id } => {
                    block_on(service.delete(DeleteRequest::clone(&key(id)))).unwrap();
                    model.remove(&id);
                }
                Step::Fork { id, to } => {
                    // A fork is of the user of its source.
                    let Some(source) = read(&service, id).filter(|_| id % 2 == to % 2) else { continue };
                    let answer = block_on(service.fork(&source, None, Some(format!("s{to}"))));
                    prop_assert_eq!(answer.is_ok(), !model.contains_key(&to));
                    let revision = source.revision() + 1;
                    model.entry(to).or_insert_with(|| Lasting { revision, ..lasting(of_service, now) });
                }
                Step::Turn { by } => {
                    now += f64::from(by);
                    clock.turn(now);
                    model.retain(|_, lasting| lasting.end.is_none_or(|end| end > now));
                }
                Step::Sweep { limit } => {
                    let swept = block_on(service.sweep(SweepRequest { limit, ..SweepRequest::default() })).unwrap();
                    prop_assert!(swept.sessions <= limit.unwrap_or(usize::MAX));
                }
            }
            // Sometimes nothing is read between two steps: what has expired is still in memory then.
            if now % 3.0 == 0.0 {
                for id in 0..6 {
                    let found = read(&service, id).map(|session| (session.revision(), session.expire_time()));
                    prop_assert_eq!(found, model.get(&id).map(|lasting| (lasting.revision, lasting.end)));
                }
                let page = block_on(service.list(all())).unwrap();
                prop_assert_eq!((page.total, page.sessions.len()), (model.len(), model.len()));
            }
        }
        clock.turn(now + 1_000.0);
        let swept = block_on(service.sweep(SweepRequest::default())).unwrap();
        prop_assert!(swept.sessions >= model.values().filter(|lasting| lasting.end.is_some()).count());
        let page = block_on(service.list(all())).unwrap();
        prop_assert_eq!(page.total, model.values().filter(|lasting| lasting.end.is_none()).count());
    }

    #[test]
    fn a_limit_is_never_exceeded_and_refuses_nothing_else(
        limits in (0..9_u64, 0..30_u64, 0..30_u64, 0..5_u64),
        deltas in vec((0..3_u8, any::<bool>(), btree_map(name(), proptest::option::of(small()), 0..4)), 0..40),
    ) {
        let (value, delta, state, keys) = limits;
        let [value, delta, state, keys] = [value, delta, state, keys].map(Some);
        let limits = Limits { value, delta, state, keys, ..Limits::NONE };
        let service = InMemorySessionService::new().with_limits(limits);
        for id in 0..3 {
            let SessionKey { app_name, user_id, session_id } = key(id);
            let request = CreateRequest { app_name, user_id, session_id: Some(session_id), ..Default::default() };
            block_on(service.create(request)).unwrap();
        }
        for (id, grows, writes) in deltas {
            let before = read(&service, id).unwrap().state().to_map();
            let mut event = Event::new("i");
            for (name, value) in &writes {
                match value {
                    Some(value) => drop(event.actions.set(name, value.clone())),
                    None => event.delete(name),
                }
            }
            if grows {
                event.actions.operate("list", Operator::append([7]));
            }
            let after = after(&before, &event);
            let expected = refusal(limits, &before, &after, &event);
            let refused = block_on(service.append_event(&key(id), event)).err();
            prop_assert!(refused.iter().all(|error| error.kind() == ErrorKind::LimitExceeded));
            let found = refused.as_ref().map(|error| (error.exceeded().unwrap(), error.size().unwrap()));
            prop_assert_eq!(found, expected, "{:?}", before);
            let kept = if refused.is_some() { before } else { after };
            prop_assert_eq!(read(&service, id).unwrap().state().to_map(), kept);
        }
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("é"), Just("app:a"), Just("app:b"), Just("user:a"), Just("user:")]
        .prop_map(str::to_owned)
}

fn small() -> impl Strategy<Value = Value> {
    prop_oneof![Just(json!([])), Just(json!(1)), Just(json!("é")), Just(json!("\n")), Just(json!([1, 2, 3, 4]))]
}

/// The state after an event whose only operator appends to a list.
fn after(before: &Map<String, Value>, event: &Event) -> Map<String, Value> {
    let mut state = before.clone();
    let deleted = event.custom_metadata.get("statepad").map_or(json!([]), |own| own["deleted"].clone());
    for (key, value) in event.actions.in_order() {
        if deleted.as_array().unwrap().contains(&key.into()) {
            state.shift_remove(key);
        } else {
            state.insert(key.to_owned(), value.clone());
        }
    }
    if !event.actions.operators.is_empty()
        && let Value::Array(items) = state.entry("list").or_insert_with(|| json!([]))
    {
        items.push(7.into());
    }
    state
}

/// The first limit that is exceeded, and the size: counted anew.
fn refusal(
    limits: Limits,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    event: &Event,
) -> Option<(LimitName, u64)> {
    let bytes = |value: &Value| value.to_string().len() as u64;
    let deleted = event.custom_metadata.get("statepad").map_or(json!([]), |own| own["deleted"].clone());
    let mut all = 0;
    for (key, value) in event.actions.in_order() {
        let size = if deleted.as_array().unwrap().contains(&key.into()) { 0 } else { bytes(value) };
        if size > limits.value.unwrap() {
            return Some((LimitName::Value, size));
        }
        all += key.len() as u64 + size;
    }
    let is_operated = !event.actions.operators.is_empty();
    // {"append":[7]}
    all += if is_operated { 4 + 14 } else { 0 };
    if all > limits.delta.unwrap() {
        return Some((LimitName::Delta, all));
    }
    for prefix in ["app:", "user:", ""] {
        let of = |state: &Map<String, Value>| {
            let own = state.iter().filter(|(key, _)| match prefix {
                "" => !key.starts_with("app:") && !key.starts_with("user:"),
                _ => key.starts_with(prefix),
            });
            let sizes: Vec<_> = own.map(|(key, value)| (key.len() - prefix.len()) as u64 + bytes(value)).collect();
            (sizes.len() as u64, sizes.iter().sum::<u64>())
        };
        let list = |state: &Map<String, Value>| state.get("list").map_or(0, bytes);
        if prefix.is_empty() && is_operated && list(after) > limits.value.unwrap().max(list(before)) {
            return Some((LimitName::Value, list(after)));
        }
        let ((keys_before, bytes_before), (keys, bytes)) = (of(before), of(after));
        if keys > limits.keys.unwrap().max(keys_before) {
            return Some((LimitName::Keys, keys));
        }
        if bytes > limits.state.unwrap().max(bytes_before) {
            return Some((LimitName::State, bytes));
        }
    }
    None
}

#[test]
fn the_size_of_an_event_is_that_of_its_stored_text() {
    let event = || {
        let mut event = Event { id: "e".into(), timestamp: Some(5.0), author: "é".into(), ..Event::new("i") };
        event.content = Some(json!({"parts": [{"text": "\"\u{1}"}]}));
        event.actions.set("x", 1e21).set("temp:t", "not stored");
        event.delete("user:gone");
        event
    };
    let append = |limits| {
        let service = InMemorySessionService::new().with_limits(limits);
        let request = CreateRequest { app_name: "app".into(), user_id: "u".into(), ..Default::default() };
        let session = block_on(service.create(request)).unwrap();
        block_on(service.append_event(&session, event()))
    };
    let size = serde_json::to_string(&append(Limits::NONE).unwrap()).unwrap().len() as u64;
    assert!(append(Limits { event: Some(size), ..Limits::NONE }).is_ok());
    let refused = append(Limits { event: Some(size - 1), ..Limits::NONE }).unwrap_err();
    assert_eq!(
        (refused.exceeded(), refused.size(), refused.limit()),
        (Some(LimitName::Event), Some(size), Some(size - 1))
    );
}

#[test]
fn an_end_that_cannot_be_is_refused() {
    let of = |service: &InMemorySessionService, options| {
        let request = OrderedCreateRequest { app_name: "app".into(), user_id: "u".into(), ..Default::default() };
        block_on(service.create_with(request, options)).map_err(|error| error.kind())
    };
    let (service, options) = (InMemorySessionService::with_host(Clock::new()), CreateOptions::default());
    for options in [options.expiring_after(Duration::ZERO), options.expiring_at(f64::NAN), options.expiring_at(1_000.0)]
    {
        assert_eq!(of(&service, options).unwrap_err(), ErrorKind::InvalidArgument);
    }
    let service = service.with_ttl(Duration::ZERO);
    assert_eq!(of(&service, options).unwrap_err(), ErrorKind::InvalidArgument);
    assert_eq!(of(&service, options.never_expiring()).unwrap().expire_time(), None);
}

#[test]
fn a_lease_and_what_is_written_under_it_end_with_the_session() {
    let clock = Clock::new();
    let service = InMemorySessionService::with_host(clock.clone()).with_ttl(Duration::from_millis(10));
    let request = || CreateRequest {
        app_name: "app".into(),
        user_id: "u".into(),
        session_id: Some("s".into()),
        ..Default::default()
    };
    let session = block_on(service.create(request())).unwrap();
    let lease = block_on(service.lease(&session, Duration::from_secs(9))).unwrap();
    clock.turn(1_009.0);
    block_on(service.append_leased(&lease, Event::new("i"), None)).unwrap();
    clock.turn(1_019.0);
    let not_found = |error: statepad::Error| assert_eq!(error.kind(), ErrorKind::SessionNotFound);
    not_found(block_on(service.append_leased(&lease, Event::new("i"), None)).unwrap_err());
    not_found(block_on(service.renew(&lease, Duration::from_secs(9))).unwrap_err());
    let again = block_on(service.create(request())).unwrap();
    not_found(block_on(service.append_leased(&lease, Event::new("i"), None)).unwrap_err());
    drop(block_on(service.lease(&again, Duration::from_secs(9))).unwrap());
}
