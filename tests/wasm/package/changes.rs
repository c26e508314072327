//! Changes through the binding: prepared, applied in parts, and discarded.

use statepad::wasm::package::{Core, Outcome, ScopeBit, Words, released_keys};
use wasm_bindgen_test::wasm_bindgen_test;

use super::{
    ALL, Known, NOTHING, append, create, expect, known, places, prepare, read, scope_of_app, token, view, write_keys,
    write_texts,
};

#[wasm_bindgen_test]
fn a_write_has_a_place_once_it_is_applied() {
    let mut core = Core::new();
    let known = create(&mut core, "u", &["x", "app:a", "temp:t", "y"]);
    assert_eq!(places(4), [0, 0, NOTHING, 1]);
    let keys = ["user:é", "-x", "temp:t", "y", "z", "-w", "app:b"];
    let answer = prepare(&mut core, known.session, "e1", &keys, 0.0).unwrap();
    assert_eq!(answer & 15, 15);
    assert!(prepare(&mut core, known.session, "e2", &[], 0.0).is_ok(), "nothing has moved yet");
    assert_eq!(core.apply(token(answer), ALL), 0);
    assert_eq!(places(7), [0, 0, NOTHING, 1, 2, NOTHING, 1]);
    assert_eq!(self::known().scopes, known.scopes);
    assert_eq!(append(&mut core, known.session, "e3", &["x", "z"]), (0, vec![3, 2]), "what was deleted is new");
    assert_eq!(prepare(&mut core, known.session, "e1", &[], -1.0), Ok(-1));
    assert_eq!(prepare(&mut core, known.session, "e3", &[], -1.0), Ok(-2));
}

#[wasm_bindgen_test]
fn a_discarded_change_leaves_no_trace() {
    let mut core = Core::new();
    let Known { session, scopes: [_, app, _] } = create(&mut core, "u", &[]);
    let answer = prepare(&mut core, session, "e1", &["app:a"], -1.0).unwrap();
    core.discard(token(answer));
    assert_eq!((scope_of_app(&core), core.scope_version(app)), (app, 0.0));
    assert_eq!(append(&mut core, session, "e1", &["app:b", "app:a"]), (0, vec![0, 1]));
    assert!(core.scope_version(app) > 0.0);
}

fn restore(core: &mut Core, session: &str, revision: f64) -> u32 {
    write_texts(0, [Some("app"), Some("u"), Some(session)]);
    core.restore(revision, 5.0)
}

#[wasm_bindgen_test]
fn a_session_of_a_store_comes_in_and_leaves_again() {
    let mut core = Core::new();
    assert_eq!(restore(&mut core, "s", 7.0), 0);
    let Known { session, scopes } = known();
    for (scope, keys) in scopes.into_iter().zip([["x", "y"], ["app:a", "app:b"], ["user:a", "user:b"]]) {
        assert_eq!(core.replace(scope, write_keys(&keys)) & Outcome::Failed as u32, 0);
    }
    let answer = prepare(&mut core, session, "e8", &["user:b", "y", "app:c", "app:b"], 7.0).unwrap();
    assert_eq!(core.apply(token(answer), ALL), 0);
    assert_eq!(places(4), [1, 1, 2, 1]);
    assert_eq!(restore(&mut core, "s", 9.0), 0);
    assert_eq!((known().session, known().scopes), (session, scopes));
    assert_eq!(restore(&mut core, "t", 0.0), 0);
    let other = known();
    assert_eq!(other.scopes[1..], scopes[1..]);
    assert_eq!(core.forget(session) & !(Outcome::KeysDue as u32), Outcome::WasThere as u32);
    let dropped = Outcome::DroppedApp as u32 | Outcome::DroppedUser as u32;
    assert_eq!(core.forget(other.session) & !(Outcome::KeysDue as u32), Outcome::WasThere as u32 | dropped);
    assert_eq!((scope_of_app(&core), core.forget(session)), (NOTHING, 0));
}

#[wasm_bindgen_test]
fn a_change_is_applied_in_those_parts_that_are_not_known_yet() {
    let mut core = Core::new();
    let Known { session, scopes } = create(&mut core, "u", &[]);
    let answer = prepare(&mut core, session, "e", &["x", "app:a", "user:b"], 0.0).unwrap();
    core.apply(token(answer), ScopeBit::User as u32);
    assert_eq!(places(3), [NOTHING, NOTHING, 0]);
    assert_eq!(scopes.map(|scope| core.scope_version(scope) > 0.0), [false, false, true]);
    assert!(prepare(&mut core, session, "f", &[], 0.0).is_ok(), "the session has not moved");
}

#[wasm_bindgen_test]
fn an_update_tells_its_scopes_and_whether_they_are_dropped() {
    let mut core = Core::new();
    let mut update = |user: Option<&str>, keys: &[&str]| {
        expect(-1.0);
        let id = format!("{user:?}{keys:?}");
        let count = write_keys(keys);
        write_texts(count, [Some("app"), user, Some(&id)]);
        let answer = core.prepare_update(count);
        let outcome = core.apply(token(answer), ALL) & !(Outcome::KeysDue as u32);
        (outcome, read(Words::Places as usize), places(keys.len()))
    };
    assert_eq!(update(None, &["app:a"]), (0, vec![NOTHING, NOTHING, 0, NOTHING], vec![0]));
    assert_eq!(update(Some("u"), &["user:a", "app:b"]), (0, vec![NOTHING, NOTHING, 0, 1], vec![0, 1]));
    let (outcome, head, written) = update(Some("u"), &["-user:a", "-app:b"]);
    assert_eq!((outcome, written), (Outcome::DroppedUser as u32, vec![0, 1]));
    assert_eq!(head, [NOTHING, NOTHING, 0, 1]);
    assert_eq!(update(Some("u"), &["-app:a"]).0, Outcome::DroppedApp as u32);
    assert_eq!(scope_of_app(&core), NOTHING);
}

#[wasm_bindgen_test]
fn a_delta_may_be_larger_than_any_before_it() {
    let mut core = Core::new();
    let Known { session, .. } = create(&mut core, "u", &[]);
    let keys: Vec<String> = (0..100_000).map(|number| format!("key-{number}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let (outcome, places) = append(&mut core, session, "e", &keys);
    assert_eq!((outcome, places.len()), (0, keys.len()));
    assert!(places.into_iter().eq(0..100_000));
    let dropped = core.remove(session);
    assert_ne!(dropped & Outcome::KeysDue as u32, 0);
    assert!(released_keys().len() >= keys.len());
    view(64);
}
