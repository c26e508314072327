//! Random operations over several sessions, users and apps, against a model that is naive enough to be plainly right.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value};
use statepad::engine::{Change, Guard, Prepared, SessionId, Sessions, Write};
use statepad::{Delta, Scope, SessionKey, SessionState};

use super::delta;

#[derive(Debug, Clone)]
enum Op {
    Create(SessionKey, Delta),
    Append(SessionKey, Delta),
    Update(SessionKey, bool, Delta),
    Delete(SessionKey),
    Hold(SessionKey),
}

fn op() -> impl Strategy<Value = Op> {
    let key = (0..2_u8, 0..2_u8, 0..3_u8)
        .prop_map(|(app, user, id)| SessionKey::new(format!("a{app}"), format!("u{user}"), format!("s{id}")));
    prop_oneof![
        3 => (key.clone(), delta()).prop_map(|(key, delta)| Op::Create(key, delta)),
        6 => (key.clone(), delta()).prop_map(|(key, delta)| Op::Append(key, delta)),
        2 => (key.clone(), any::<bool>(), delta()).prop_map(|(key, user, delta)| Op::Update(key, user, delta)),
        1 => key.clone().prop_map(Op::Delete),
        3 => key.prop_map(Op::Hold),
    ]
}

/// A scope of the model: whose it is, and its values in the order of writing.
type Values = Vec<(String, Value)>;

/// The values of the scopes, and the sessions.
#[derive(Default)]
struct Model {
    scopes: HashMap<(Scope, String), Values>,
    sessions: HashMap<SessionKey, u64>,
}

/// The names of the scopes that a session reads, in the order of merging.
fn scopes_of(key: &SessionKey) -> [(Scope, String); 3] {
    let SessionKey { app_name, user_id, session_id } = key;
    [
        (Scope::Session, format!("{app_name}/{user_id}/{session_id}")),
        (Scope::App, app_name.clone()),
        (Scope::User, format!("{app_name}/{user_id}")),
    ]
}

impl Model {
    fn write(&mut self, session: &SessionKey, delta: &Delta) {
        for (key, write) in delta.iter() {
            let (scope, name) = Scope::split(key);
            let Some(owner) = scopes_of(session).into_iter().find(|(other, _)| *other == scope) else {
                continue;
            };
            let values = self.scopes.entry(owner).or_default();
            let place = values.iter().position(|(other, _)| other == name);
            match (write, place) {
                (Write::Set(json), Some(place)) => values[place].1 = json.to_value(),
                (Write::Set(json), None) => values.push((name.to_owned(), json.to_value())),
                (Write::Unset, Some(place)) => drop(values.remove(place)),
                (Write::Unset, None) => {}
            }
        }
    }

    fn state(&self, session: &SessionKey) -> Map<String, Value> {
        let scopes = scopes_of(session).into_iter().filter_map(|owner| Some((owner.0, self.scopes.get(&owner)?)));
        scopes
            .flat_map(|(scope, values)| values.iter().map(move |(name, value)| (scope.key(name), value.clone())))
            .collect()
    }
}

/// Fails unless both have the same values in the same order.
fn assert_state(actual: &SessionState, expected: &Map<String, Value>) {
    let all = actual.to_map();
    assert_eq!(all.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(&all, expected);
    for (key, value) in expected {
        assert_eq!(actual.get(key).as_ref(), Some(value));
    }
}

/// A change that a service has made, so that it can be made again from nothing.
enum Done {
    Create(SessionKey, Change),
    Append(SessionKey, Change),
    Update(SessionKey, bool, Change),
    Delete(SessionKey),
}

fn replay(log: &[Done]) -> Sessions {
    let mut sessions = Sessions::default();
    for done in log {
        let find = |sessions: &Sessions, key| sessions.find(key).unwrap();
        match done {
            Done::Create(key, change) => drop(sessions.apply_create(key, change).unwrap()),
            Done::Append(key, change) => sessions.apply_append(find(&sessions, key), change).unwrap(),
            Done::Update(key, user, change) => {
                sessions.apply_update(&key.app_name, user.then_some(key.user_id.as_str()), change).unwrap();
            }
            Done::Delete(key) => assert!(sessions.remove(find(&sessions, key))),
        }
    }
    sessions
}

/// The part of a delta that an update may write.
fn shared_part(delta: &Delta, user: bool) -> Delta {
    let may = |key: &str| matches!(Scope::split(key).0, Scope::App) || (user && Scope::split(key).0 == Scope::User);
    delta.iter().filter(|(key, _)| may(key)).map(|(key, write)| (key, write.clone())).collect()
}

fn append(sessions: &mut Sessions, id: SessionId, event: &str, delta: Delta) -> Change {
    match sessions.prepare_append(id, event, 2.0, delta, Guard::default()).unwrap() {
        Prepared::Change { change, .. } => {
            sessions.apply_append(id, &change).unwrap();
            change
        }
        other => panic!("the id is new: {other:?}"),
    }
}

proptest! {
    #[test]
    fn any_order_of_appends_equals_replay_and_what_was_read_does_not_move(ops in vec(op(), 1..40)) {
        let mut sessions = Sessions::default();
        let mut model = Model::default();
        let mut snapshots: Vec<(SessionState, Map<String, Value>)> = Vec::new();
        let mut log = Vec::new();
        for (number, op) in ops.into_iter().enumerate() {
            let there = |sessions: &Sessions, key: &SessionKey| sessions.find(key);
            match op {
                Op::Create(key, delta) => {
                    let prepared = sessions.prepare_create(&key, 1.0, delta.clone());
                    prop_assert_eq!(prepared.is_ok(), !model.sessions.contains_key(&key));
                    if let Ok(change) = prepared {
                        sessions.apply_create(&key, &change).unwrap();
                        model.write(&key, &delta);
                        model.sessions.insert(key.clone(), 0);
                        log.push(Done::Create(key, change));
                    }
                }
                Op::Append(key, delta) => if let Some(id) = there(&sessions, &key) {
                    model.write(&key, &delta);
                    *model.sessions.get_mut(&key).unwrap() += 1;
                    let change = append(&mut sessions, id, &number.to_string(), delta);
                    log.push(Done::Append(key, change));
                }
                Op::Update(key, user, delta) => {
                    let delta = shared_part(&delta, user);
                    let user_id = user.then_some(key.user_id.as_str());
                    let (id, guard) = (number.to_string(), Guard::default());
                    let change = sessions
                        .prepare_update(&key.app_name, user_id, &id, 3.0, delta.clone(), guard)
                        .unwrap();
                    sessions.apply_update(&key.app_name, user_id, &change).unwrap();
                    model.write(&key, &delta);
                    log.push(Done::Update(key, user, change));
                }
                Op::Delete(key) => if let Some(id) = there(&sessions, &key) {
                    sessions.remove(id);
                    model.sessions.remove(&key);
                    let [own, ..] = scopes_of(&key);
                    model.scopes.remove(&own);
                    log.push(Done::Delete(key));
                }
                Op::Hold(key) => if let Some(id) = there(&sessions, &key) {
                    snapshots.push((sessions.state(id).unwrap(), model.state(&key)));
                }
            }
        }
        let again = replay(&log);
        for (key, revision) in &model.sessions {
            for sessions in [&sessions, &again] {
                let id = sessions.find(key).unwrap();
                assert_state(&sessions.state(id).unwrap(), &model.state(key));
                prop_assert_eq!(sessions.log(id).unwrap().revision(), *revision);
            }
        }
        prop_assert_eq!(sessions.all().count(), model.sessions.len());
        for (state, expected) in &snapshots {
            assert_state(state, expected);
        }
    }
}
