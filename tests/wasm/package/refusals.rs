//! Refusals of the binding: errors with their details, and arguments that name nothing.

use js_sys::Uint8Array;
use statepad::wasm::package::{Answer, Core, ErrorText, Floats, Outcome, intern, scratch};
use wasm_bindgen_test::wasm_bindgen_test;

use super::{
    ALL, Known, NOTHING, address, code, create, float_view, memory, prepare, text, token, view, write, write_keys,
    write_texts,
};

#[wasm_bindgen_test]
fn an_error_crosses_with_its_code_and_its_details() {
    let mut core = Core::new();
    let Known { session, .. } = create(&mut core, "u", &[]);
    assert_eq!(core.error_text(ErrorText::Code as u32), None);
    assert_eq!(prepare(&mut core, session, "e", &[], 7.0).unwrap_err(), "SESSION_STALE");
    assert_eq!((text(&core, ErrorText::Id).as_deref(), text(&core, ErrorText::Key)), (Some("s"), None));
    let revisions = || [Floats::Expected, Floats::Actual].map(|place| float_view().get_index(place as u32));
    assert_eq!(revisions().map(f64::to_bits), [7.0, 0.0].map(f64::to_bits));
    let count = write_keys(&["app:x", "user:x"]);
    write_texts(count, [Some("app"), None, Some("id")]);
    let answer = core.prepare_update(count);
    assert_eq!(answer, Answer::Refused as i32);
    let message = text(&core, ErrorText::Message);
    assert_eq!(message.as_deref(), Some("the key \"user:x\" does not belong to what is updated: use \"app:x\""));
    assert_eq!(text(&core, ErrorText::Key).as_deref(), Some("user:x"));
    assert!(revisions().iter().all(|&revision| revision < 0.0));
    let dropped = Outcome::WasThere as u32 | Outcome::DroppedApp as u32 | Outcome::DroppedUser as u32;
    assert_eq!(core.remove(session) & dropped, dropped);
    assert_eq!(prepare(&mut core, session, "e", &[], -1.0).unwrap_err(), "SESSION_NOT_FOUND");
}

#[wasm_bindgen_test]
fn what_a_host_gets_wrong_is_refused_and_changes_nothing() {
    let mut core = Core::new();
    let Known { session, scopes: [own, ..] } = create(&mut core, "u", &["x"]);
    assert!(prepare(&mut core, session + 7, "e", &[], -1.0).unwrap_err().contains("SESSION_NOT_FOUND"));
    view(64).set_index(0, (1 << 31) - 1);
    assert_eq!(core.prepare_append(session, 1, write("e")), Answer::Refused as i32);
    assert_eq!(code(&core), "INVALID_ARGUMENT");
    assert_eq!(core.apply(99, ALL), Outcome::Failed as u32);
    core.discard(99);
    let answer = prepare(&mut core, session, "e", &["y"], -1.0).unwrap();
    assert_eq!((core.apply(token(answer), ALL), core.apply(token(answer), ALL)), (0, Outcome::Failed as u32));
    let version = core.scope_version(own);
    view(64).set_index(0, (1 << 31) - 1);
    assert_eq!((core.replace(own, 1), core.scope_version(own)), (Outcome::Failed as u32, version));
    assert_eq!((core.scope_version(99), core.remove(99), core.cursor(99)), (0.0, 0, None));
    Uint8Array::new_with_byte_offset_and_length(&memory().buffer(), address(scratch(1)), 1).set_index(0, 0xff);
    assert_eq!(intern(1), NOTHING, "a text that is not UTF-8");
    let answer = prepare(&mut core, session, "f", &["x"], -1.0).unwrap();
    assert_ne!(core.remove(session), 0);
    assert_eq!(core.apply(token(answer), ALL), Outcome::Failed as u32, "it is deleted by now");
    assert_eq!(code(&core), "SESSION_NOT_FOUND");
}
