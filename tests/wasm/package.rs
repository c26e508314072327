//! The binding that the npm package drives.

use serde_json::{Value, json};
use statepad::wasm::package::{Core, Past, nearest_key, parse_template, scratch, template_places};
use wasm_bindgen_test::wasm_bindgen_test;

/// Writes a text where the binding reads it, as the host does, and says how long it is.
fn write(text: &str) -> usize {
    let memory: js_sys::WebAssembly::Memory = wasm_bindgen::JsCast::unchecked_into(wasm_bindgen::memory());
    let start = u32::try_from(scratch(text.len()) as usize).unwrap();
    let length = u32::try_from(text.len()).unwrap();
    js_sys::Uint8Array::new_with_byte_offset_and_length(&memory.buffer(), start, length).copy_from(text.as_bytes());
    text.len()
}

fn create(core: &mut Core, user: &str, state: &str) -> u32 {
    let length = write(state);
    let ticket = core.prepare_create("app", user, "s", 1.0, length, 0);
    core.apply(usize::try_from(ticket >> 4).unwrap(), 7).unwrap()
}

fn append(core: &mut Core, session: u32, id: &str, delta: &str, revision: f64) -> Result<i32, String> {
    write(&[delta, id].concat());
    let ticket = core.prepare_append(session as usize, 2.0, delta.len(), 0, id.len(), revision, -1.0, -1.0);
    if ticket == i32::MIN { Err(core.take_error().unwrap()) } else { Ok(ticket) }
}

#[wasm_bindgen_test]
fn a_change_is_seen_when_it_is_applied_and_not_before() {
    let mut core = Core::new();
    let session = create(&mut core, "u", r#"{"x":1,"app:a":"é","temp:t":0}"#);
    let [own, app, user] = core.scopes(session as usize).unwrap()[..] else { panic!("a session has three scopes") };
    let prepared = append(&mut core, session, "e1", r#"{"x":2,"user:\u00e9":[null],"temp:t":1}"#, -1.0).unwrap();
    assert_eq!(prepared & 15, 1 | 4 | 8);
    let token = usize::try_from(prepared >> 4).unwrap();
    let change = r#"{"user":{"set":{"é":[null]},"unset":[]},"session":{"set":{"x":2},"unset":[]}}"#;
    assert_eq!(core.change_json(token).unwrap().unwrap(), change);
    assert_eq!(core.scope_json(own as usize, true).unwrap().unwrap(), r#"{"x":1}"#);
    assert_eq!(core.apply(token, 7), Some(session));
    assert_eq!(core.scope_json(own as usize, true).unwrap().unwrap(), r#"{"x":2}"#);
    assert_eq!(core.scope_json(app as usize, true).unwrap().unwrap(), r#"{"app:a":"é"}"#);
    assert_eq!(core.scope_json(user as usize, false).unwrap().unwrap(), r#"{"é":[null]}"#);
    assert_eq!(append(&mut core, session, "e1", "{}", -1.0), Ok(-1));
}

#[wasm_bindgen_test]
fn an_error_crosses_with_its_code_and_its_details() {
    let mut core = Core::new();
    let session = create(&mut core, "u", "{}");
    let error: Value = serde_json::from_str(&append(&mut core, session, "e", "{}", 7.0).unwrap_err()).unwrap();
    assert_eq!(error["code"], "SESSION_STALE");
    assert_eq!((&error["expected"], &error["actual"]), (&json!(7), &json!(0)));
    assert!(core.remove(session as usize));
    let error: Value = serde_json::from_str(&append(&mut core, session, "e", "{}", -1.0).unwrap_err()).unwrap();
    assert_eq!(error["code"], "SESSION_NOT_FOUND");
}

#[wasm_bindgen_test]
fn a_discarded_change_leaves_no_trace() {
    let mut core = Core::new();
    let session = create(&mut core, "u", "{}");
    let prepared = append(&mut core, session, "e1", r#"{"app:a":1}"#, -1.0).unwrap();
    core.discard(usize::try_from(prepared >> 4).unwrap());
    let app = core.scope("app", None).unwrap() as usize;
    assert_eq!((core.scope_json(app, true).unwrap().unwrap().as_str(), core.scope_version(app)), ("{}", 0.0));
    assert!(append(&mut core, session, "e1", "{}", 0.0).unwrap() >= 0);
}

#[wasm_bindgen_test]
fn a_session_of_a_store_comes_in_and_leaves_again() {
    let mut core = Core::new();
    let session = core.restore("app", "u", "s", 7.0, 5.0).unwrap();
    let [own, app, user] = core.scopes(session as usize).unwrap()[..] else { panic!("a session has three scopes") };
    for (scope, values) in [(own, r#"{"x":1}"#), (app, r#"{"app:a":2}"#), (user, r#"{"user:b":3}"#)] {
        let length = write(values);
        core.replace(scope as usize, length).unwrap();
        assert_eq!(core.scope_json(scope as usize, true).unwrap().unwrap(), values);
    }
    let prepared = append(&mut core, session, "e8", "{}", 7.0).unwrap();
    core.discard(usize::try_from(prepared >> 4).unwrap());
    core.forget(session as usize);
    assert!(core.scope("app", None).is_none() && core.scopes(session as usize).is_none());
}

#[wasm_bindgen_test]
fn a_change_is_applied_in_those_parts_that_are_not_known_yet() {
    let mut core = Core::new();
    let session = create(&mut core, "u", "{}");
    let [own, app, user] = core.scopes(session as usize).unwrap()[..] else { panic!("a session has three scopes") };
    let prepared = append(&mut core, session, "e", r#"{"x":1,"app:a":2,"user:b":3}"#, 0.0).unwrap();
    core.apply(usize::try_from(prepared >> 4).unwrap(), 4);
    let values = [own, app, user].map(|scope| core.scope_json(scope as usize, true).unwrap().unwrap());
    assert_eq!(values, ["{}", "{}", r#"{"user:b":3}"#]);
    assert!(append(&mut core, session, "f", "{}", 0.0).is_ok(), "the session has not moved");
}

#[wasm_bindgen_test]
fn a_list_tells_what_stands_before_it_and_how_many_there_are() {
    let mut core = Core::new();
    let sessions = ["c", "a", "b"].map(|user| create(&mut core, user, "{}"));
    let [c, a, b] = sessions;
    assert_eq!(core.list("app", None, false, Some(2), 0, None).unwrap(), [0, 3, a, b]);
    let cursor = core.cursor(b as usize);
    assert_eq!(core.list("app", None, false, Some(2), 0, cursor).unwrap(), [2, 3, c]);
    assert_eq!(core.list("app", Some("a".into()), true, None, 0, None).unwrap(), [0, 1, a]);
}

#[wasm_bindgen_test]
fn a_past_tells_what_it_was_told() {
    let mut past = Past::new();
    let mut push = |revision: f64, delta: &str, deleted: &str| {
        write(&[delta, deleted].concat());
        past.push(revision, delta.len(), deleted.len()).unwrap()
    };
    assert!(push(0.0, r#"{"x":"é","app:a":1}"#, ""));
    assert!(push(2.0, r#"{"x":null,"y":[2]}"#, r#"{"x":0}"#));
    assert!(!push(3.0, "[]", ""));
    let length = write(r#"{"y":[2],"app:a":9,"user:u":3,"temp:t":4}"#);
    assert_eq!(past.state_at(1.0, 2.0, length).unwrap(), r#"{"x":"é","app:a":1,"user:u":3}"#);
    let length = write("{}");
    assert_eq!(past.state_at(2.0, 2.0, length).unwrap(), r#"{"y":[2],"app:a":1}"#);
    assert_eq!(past.steps("x", 2.0, u32::MAX).unwrap(), r#"[{"revision":0,"to":"é"},{"revision":2,"from":"é"}]"#);
    assert_eq!(past.steps("x", 1.0, 1).unwrap(), r#"[{"revision":0,"to":"é"}]"#);
    assert_eq!(
        (past.steps("x", 2.0, 0).unwrap(), past.steps("z", 2.0, 1).unwrap()),
        ("[]".to_owned(), "[]".to_owned())
    );
}

#[wasm_bindgen_test]
fn what_a_host_gets_wrong_is_refused_and_changes_nothing() {
    let mut core = Core::new();
    let session = create(&mut core, "u", r#"{"x":1}"#);
    let [own, ..] = core.scopes(session as usize).unwrap()[..] else { panic!("a session has three scopes") };
    assert!(append(&mut core, session + 7, "e", "{}", -1.0).unwrap_err().contains("SESSION_NOT_FOUND"));
    assert!(append(&mut core, session, "e", "[]", -1.0).unwrap_err().contains("INVALID_ARGUMENT"));
    assert_eq!(core.apply(99, 7), None);
    core.discard(99);
    let ticket = append(&mut core, session, "e", r#"{"x":2}"#, -1.0).unwrap();
    let token = usize::try_from(ticket >> 4).unwrap();
    assert_eq!((core.apply(token, 7), core.apply(token, 7)), (Some(session), None), "once and no more");
    assert_eq!(core.scope_json(own as usize, true).unwrap().unwrap(), r#"{"x":2}"#);
    let length = write(r#"{"x":"#);
    assert!(core.replace(own as usize, length).is_err(), "what is no object replaces nothing");
    assert_eq!(core.scope_json(own as usize, true).unwrap().unwrap(), r#"{"x":2}"#);
    assert_eq!(core.scope_json(99, true).unwrap(), None);
    assert!(!core.remove(99) && core.scopes(99).is_none() && core.cursor(99).is_none());
    let ticket = append(&mut core, session, "f", r#"{"x":3}"#, -1.0).unwrap();
    assert!(core.remove(session as usize));
    assert_eq!(core.apply(usize::try_from(ticket >> 4).unwrap(), 7), None, "it is deleted by now");
    assert!(core.take_error().unwrap().contains("SESSION_NOT_FOUND"));
}

#[wasm_bindgen_test]
fn places_in_a_template_are_counted_in_utf16_units() {
    let length = write("🌊{user:né.x[7]?}");
    // A literal of two units; then an optional state key with two steps.
    assert_eq!(parse_template(length).unwrap(), [0, 0, 2, 5, 3, 3, 15, 10, 2, 0, 11, 12, 1, 13, 14]);
    assert_eq!(template_places(length).unwrap(), [1, 2]);
    let length = write(r#"{"x":0,"topic":0}"#);
    assert_eq!(nearest_key("topci", length).unwrap().as_deref(), Some("topic"));
    assert_eq!(nearest_key("other", length).unwrap(), None);
}
