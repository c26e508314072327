//! The rules are the same whatever the values are: JSON, or numbers of a program that keeps the values itself.

use proptest::collection::vec;
use proptest::prelude::*;
use statepad::engine::{Guard, History, Prepared, Sessions, Write};
use statepad::{Delta, Scope, SessionKey};

use super::delta;

/// The same writes, with numbers for values.
fn numbered(delta: &Delta, number: u32) -> Delta<u32> {
    let write = |write: &Write| match write {
        Write::Set(_) => Write::Set(number),
        Write::Unset => Write::Unset,
    };
    delta.iter().map(|(key, value)| (key, write(value))).collect()
}

fn append<V: Clone + std::fmt::Debug>(sessions: &mut Sessions<V>, key: &SessionKey, event: &str, delta: Delta<V>) {
    let id = sessions.find(key).unwrap();
    match sessions.prepare_append(id, event, 2.0, delta, Guard::default()).unwrap() {
        Prepared::Change { change, .. } => sessions.apply_append(id, &change).unwrap(),
        other => panic!("the id is new: {other:?}"),
    }
}

/// The keys of each scope of a session, in their order, with the version of the scope.
fn keys<V>(sessions: &Sessions<V>, key: &SessionKey) -> Vec<(u64, Vec<String>)> {
    let scopes = sessions.scopes(sessions.find(key).unwrap()).unwrap();
    [scopes.session, scopes.app, scopes.user]
        .map(|scope| {
            let state = sessions.scope_state(scope).unwrap();
            assert_eq!(state.values().len(), state.values().iter().count());
            (state.version(), state.values().iter().map(|(key, _)| key.to_string()).collect())
        })
        .into()
}

proptest! {
    #[test]
    fn sessions_of_numbers_have_the_keys_that_sessions_of_json_have(steps in vec((0..3_u8, delta()), 1..60)) {
        let mut json = Sessions::default();
        let mut numbers = Sessions::<u32>::new();
        let mut histories = (History::default(), History::<u32>::new());
        let all = [0, 1, 2].map(|number| SessionKey::new("app", format!("u{}", number % 2), number.to_string()));
        for key in &all {
            let change = json.prepare_create(key, 1.0, Delta::default()).unwrap();
            json.apply_create(key, &change).unwrap();
            let change = numbers.prepare_create(key, 1.0, Delta::new()).unwrap();
            numbers.apply_create(key, &change).unwrap();
        }
        for (number, (session, delta)) in (0_u32..).zip(&steps) {
            let (key, event) = (&all[usize::from(*session)], number.to_string());
            append(&mut json, key, &event, delta.clone());
            append(&mut numbers, key, &event, numbered(delta, number));
            if *session == 0 {
                histories.0.push(u64::from(number), delta);
                histories.1.push(u64::from(number), &numbered(delta, number));
            }
            prop_assert_eq!(keys(&json, key), keys(&numbers, key));
        }
        for revision in 0..steps.len() as u64 {
            let names = |state: Vec<&str>| state.into_iter().map(str::to_owned).collect::<Vec<_>>();
            let (none, no_numbers) = (Delta::default(), Delta::new());
            let of_json = histories.0.state_at(revision, revision, &none);
            let of_numbers = histories.1.state_at(revision, revision, &no_numbers);
            let json_names = names(of_json.iter().map(|(name, _)| *name).collect());
            prop_assert_eq!(json_names, names(of_numbers.iter().map(|(name, _)| *name).collect()));
            for (name, value) in of_numbers {
                // The number is that of the step that wrote the key last.
                let (session, delta) = &steps[*value as usize];
                prop_assert_eq!(*session, 0);
                prop_assert!(matches!(delta.get(name), Some(Write::Set(_))));
                prop_assert_ne!(Scope::split(name).0, Scope::Temp);
            }
        }
    }

    #[test]
    fn values_that_come_and_go_stay_in_the_order_of_insertion(writes in vec((0..60_u8, any::<bool>()), 0..600)) {
        let mut sessions = Sessions::<usize>::new();
        let key = SessionKey::new("app", "u", "s");
        let change = sessions.prepare_create(&key, 1.0, Delta::new()).unwrap();
        let id = sessions.apply_create(&key, &change).unwrap();
        let mut model: Vec<(String, usize)> = Vec::new();
        for (number, (name, is_set)) in writes.into_iter().enumerate() {
            let name = format!("k{name}");
            // Times of growth and times of decline take turns.
            let is_set = is_set && number / 100 % 2 == 0 || number % 9 == 0;
            let write = if is_set { Write::Set(number) } else { Write::Unset };
            append(&mut sessions, &key, &number.to_string(), [(name.as_str(), write)].into_iter().collect());
            match (is_set, model.iter().position(|(other, _)| *other == name)) {
                (true, Some(place)) => model[place].1 = number,
                (true, None) => model.push((name, number)),
                (false, Some(place)) => drop(model.remove(place)),
                (false, None) => {}
            }
            let values = sessions.scope_state(sessions.scopes(id).unwrap().session).unwrap().values();
            prop_assert!(values.iter().map(|(key, value)| (&**key, *value)).eq(model.iter().map(|(key, value)| (key.as_str(), *value))));
            prop_assert!(model.iter().all(|(key, value)| values.get(key) == Some(value)));
            prop_assert_eq!(values.len(), model.len());
        }
    }
}
