//! Rewinding and operators, whatever comes before.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use statepad::engine::{Json, Timeline};
use statepad::{
    CreateRequest, ErrorKind, Event, GetRequest, InMemorySessionService, Operator, OperatorFault, Scope, Session,
    SessionService,
};

use super::value;
use crate::block_on::block_on;

type Log = Vec<(Option<u8>, Option<u8>)>;

/// The events that the Python ADK shows: it walks backwards, and jumps at a marker to before the first event of the
/// invocation that the marker names.
fn shown(log: &Log) -> Vec<usize> {
    let mut shown = Vec::new();
    let mut end = log.len();
    while end > 0 {
        end -= 1;
        let Some(before) = log[end].1 else {
            shown.insert(0, end);
            continue;
        };
        let first = log.iter().position(|(invocation, _)| *invocation == Some(before));
        end = first.filter(|first| *first < end).unwrap_or(end);
    }
    shown
}

fn timeline(log: &Log) -> Timeline {
    const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let name = |number: u8| NAMES[usize::from(number)];
    Timeline::of(log.iter().map(|(invocation, before)| (invocation.map(name), before.map(name))))
}

/// The events that are in one of two lists alone.
fn apart(one: &[usize], other: &[usize]) -> Vec<usize> {
    let mut apart: Vec<_> = one
        .iter()
        .filter(|place| !other.contains(place))
        .chain(other.iter().filter(|place| !one.contains(place)))
        .copied()
        .collect();
    apart.sort_unstable();
    apart
}

/// An operation on a session.
#[derive(Debug, Clone)]
enum Does {
    Append(u8, Vec<(String, Option<Value>)>),
    Operate(u8, String, f64),
    /// Of the invocation of one of the events; or of none.
    Rewind(Index),
    Redo,
}

fn does() -> impl Strategy<Value = Does> {
    let key =
        || prop_oneof!["[abcd]", "app:[ab]", "user:[ab]", Just("temp:t".to_owned()), Just("__proto__".to_owned())];
    let write = prop_oneof![3 => value().prop_map(Some), 1 => Just(None)];
    prop_oneof![
        4 => (0..4_u8, vec((key(), write), 0..4)).prop_map(|(invocation, writes)| Does::Append(invocation, writes)),
        1 => (0..4_u8, "[xy]|app:n", -9.0..9.0).prop_map(|(invocation, key, by)| Does::Operate(invocation, key, by)),
        3 => any::<Index>().prop_map(Does::Rewind),
        2 => Just(Does::Redo),
    ]
}

fn read(service: &InMemorySessionService, session: &Session) -> Session {
    let (app_name, user_id) = ("app".into(), "u".into());
    let request = GetRequest { app_name, user_id, session_id: session.id().into(), ..GetRequest::default() };
    block_on(service.get(request)).unwrap().unwrap()
}

fn own(state: &Map<String, Value>) -> Map<String, Value> {
    state.clone().into_iter().filter(|(key, _)| Scope::split(key).0 == Scope::Session).collect()
}

/// The own keys, in no order: a key that was deleted and comes back stands at the end.
fn same_own(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    own(one) == own(other)
}

proptest! {
    #[test]
    fn the_events_that_stand_are_those_that_adk_shows(
        log in vec((prop::option::weighted(0.9, 0..8_u8), prop::option::weighted(0.3, 0..8_u8)), 0..24),
        before in 0..8_u8,
    ) {
        let timeline = timeline(&log);
        let standing = shown(&log);
        prop_assert_eq!(&timeline.effective(), &standing);
        let after = |before| {
            let mut log = log.clone();
            log.push((Some(8), Some(before)));
            shown(&log)
        };
        let first = log.iter().position(|(invocation, _)| *invocation == Some(before));
        let stands = standing.iter().any(|&place| log[place].0 == Some(before));
        let plan = first.and_then(|first| timeline.rewind(first));
        prop_assert_eq!(plan.is_some(), stands);
        if let Some(plan) = plan {
            prop_assert_eq!(Some(plan.to), first);
            prop_assert_eq!(&plan.concerned, &apart(&standing, &after(before)));
        }
        if let Some(plan) = timeline.redo() {
            let marker = log[plan.to];
            prop_assert!(marker.1.is_some(), "what is taken back is a rewind");
            prop_assert_eq!(after(marker.0.unwrap()), shown(&log[..plan.to].to_vec()), "as if it had not been");
            prop_assert_eq!(plan.concerned, apart(&standing, &after(marker.0.unwrap())));
        }
    }

    #[test]
    fn a_rewind_restores_the_own_keys_and_a_redo_takes_it_back(
        creation in vec(("[abcd]|user:[ab]", value()), 0..4),
        steps in vec(does(), 0..24),
    ) {
        let service = InMemorySessionService::new();
        let (app_name, user_id, state) = ("app".to_owned(), "u".to_owned(), creation.into_iter().collect());
        let created = block_on(service.create(CreateRequest { app_name, user_id, session_id: None, state })).unwrap();
        // The state at each revision, as it was seen then.
        let mut seen = vec![created.state().to_map()];
        for step in steps {
            let before = read(&service, &created);
            let did = match step {
                Does::Append(invocation, writes) => {
                    let mut event = Event::new(invocation.to_string());
                    for (key, write) in writes {
                        match write {
                            Some(value) => drop(event.actions.set(key, value)),
                            None if event.actions.state_delta.contains_key(&key) => {}
                            None => event.delete(&key),
                        }
                    }
                    let is_apart = event.delta().is_ok();
                    is_apart && block_on(service.append_event(&created, event)).is_ok()
                }
                Does::Operate(invocation, key, by) => {
                    let mut event = Event::new(invocation.to_string());
                    event.actions.operate(key, Operator::Increment(by));
                    block_on(service.append_event(&created, event)).is_ok()
                }
                Does::Rewind(index) => {
                    let invocation = before.events().get(index.index(24)).map_or("none", |event| &event.invocation_id);
                    let standing = standing(&before);
                    let first = before.events().iter().position(|event| event.invocation_id == invocation);
                    let stands = standing.iter().any(|&place| before.events()[place].invocation_id == invocation);
                    match block_on(service.rewind(&created, invocation)) {
                        Ok(rewound) => {
                            let now = read(&service, &created);
                            prop_assert!(same_own(&now.state().to_map(), &seen[first.unwrap()]));
                            prop_assert_eq!(rewound.revision, now.revision());
                            check_shared(&before, &now, &rewound.shared)?;
                            true
                        }
                        Err(error) => {
                            prop_assert_eq!((error.kind(), stands), (ErrorKind::InvalidArgument, false));
                            false
                        }
                    }
                }
                Does::Redo => match block_on(service.redo(&created)) {
                    Ok(redone) => {
                        let now = read(&service, &created);
                        let place = redone.event.rewinds_before().and_then(|marker| {
                            before.events().iter().position(|event| event.invocation_id == marker)
                        });
                        prop_assert!(same_own(&now.state().to_map(), &seen[place.unwrap()]));
                        let then: Vec<_> = standing_of(&before, place.unwrap());
                        prop_assert_eq!(standing(&now), then);
                        check_shared(&before, &now, &redone.shared)?;
                        true
                    }
                    Err(error) => {
                        prop_assert_eq!(error.kind(), ErrorKind::InvalidArgument);
                        false
                    }
                },
            };
            let now = read(&service, &created);
            prop_assert_eq!(now.revision(), before.revision() + u64::from(did));
            if did {
                seen.push(now.state().to_map());
            }
        }
        // The past is what was seen, rewinds and all, in its order; and a fork of it goes on from there.
        let now = read(&service, &created);
        for (revision, then) in (0..).zip(&seen) {
            let state = block_on(service.state_at(&now, revision)).unwrap();
            prop_assert_eq!(Value::from(own(&state)).to_string(), Value::from(own(then)).to_string());
        }
        let fork = block_on(service.fork(&created, Some(now.revision() / 2), None)).unwrap();
        let then = &seen[usize::try_from(now.revision() / 2).unwrap()];
        prop_assert_eq!(Value::from(own(&fork.state().to_map())).to_string(), Value::from(own(then)).to_string());
        let shared = |session: &Session| {
            let mut state = session.state().to_map();
            state.retain(|key, _| Scope::split(key).0 != Scope::Session);
            state
        };
        prop_assert_eq!(shared(&fork), shared(&now), "a fork writes nothing that is shared");
    }

    #[test]
    fn operators_do_what_their_model_does(current in prop::option::of(value()), operand in value(), by in any::<f64>()) {
        let current = current.map(|current| Json::from_value(&current).unwrap());
        let read = current.as_ref().map(Json::to_value);
        let text = |value: &Value| Json::from_value(value).unwrap();
        let increment = Operator::Increment(by).resolve(current.as_ref());
        match read.as_ref().map_or(Some(0.0), Value::as_f64) {
            None => prop_assert_eq!(increment, Err(OperatorFault::Kind)),
            Some(number) if (number + by).is_finite() => {
                let sum: f64 = increment.unwrap().as_str().parse().unwrap();
                prop_assert_eq!(sum.to_bits(), (number + by + 0.0).to_bits());
            }
            Some(_) => prop_assert_eq!(increment, Err(OperatorFault::Overflow)),
        }
        let appended = Operator::append([operand.clone(), json!(1)]).resolve(current.as_ref());
        if let Value::Array(mut items) = read.clone().unwrap_or_else(|| json!([])) {
            items.extend([operand.clone(), json!(1)]);
            prop_assert_eq!(appended, Ok(text(&Value::from(items))));
        } else {
            prop_assert_eq!(appended, Err(OperatorFault::Kind));
        }
        let once = Operator::set_once(operand.clone()).resolve(current.as_ref());
        prop_assert_eq!(once, Ok(current.clone().unwrap_or_else(|| text(&operand))));
        let same = Operator::compare_and_set(read.clone(), operand.clone()).resolve(current.as_ref());
        prop_assert_eq!(same, Ok(text(&operand)), "it has the value that was read");
        let other = Operator::compare_and_set(Some(operand.clone()), 1).resolve(current.as_ref());
        prop_assert_eq!(other.is_ok(), current.as_ref() == Some(&text(&operand)));
    }

    #[test]
    fn the_json_of_an_operator_reads_back(
        operator in prop_oneof![
            (-1e9..1e9).prop_map(Operator::Increment),
            vec(value(), 0..3).prop_map(Operator::Append),
            value().prop_map(Operator::SetOnce),
            (prop::option::of(value()), value())
                .prop_map(|(expected, value)| Operator::CompareAndSet { expected, value }),
        ],
    ) {
        let text = serde_json::to_string(&operator).unwrap();
        prop_assert_eq!(serde_json::from_str::<Operator>(&text).unwrap(), operator);
    }
}

/// The places of the events that stand in a session.
fn standing(session: &Session) -> Vec<usize> {
    standing_of(session, session.events().len())
}

/// Those that stood when it had so many events.
fn standing_of(session: &Session, count: usize) -> Vec<usize> {
    let events = session.events().iter().take(count);
    Timeline::of(events.map(|event| (Some(event.invocation_id.as_str()), event.rewinds_before()))).effective()
}

/// The keys in the answer are those that the events that came or went had written.
fn check_shared(before: &Session, now: &Session, actual: &[String]) -> Result<(), TestCaseError> {
    let mut expected: Vec<_> = apart(&standing(before), &standing(now))
        .into_iter()
        .flat_map(|place| now.events()[place].actions.in_order().map(|(key, _)| key.to_owned()).collect::<Vec<_>>())
        .filter(|key| Scope::split(key).0 != Scope::Session)
        .collect();
    expected.sort_unstable();
    expected.dedup();
    let mut actual = actual.to_vec();
    actual.sort_unstable();
    prop_assert_eq!(actual, expected);
    Ok(())
}
