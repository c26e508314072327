//! The service for Rust programs and templates, once they are WebAssembly.

use serde_json::{Map, Value, json};
use statepad::{CreateRequest, ErrorKind, InMemorySessionService, SessionService, StateDraft, StateRef, Template};
use wasm_bindgen_test::wasm_bindgen_test;

fn state(values: &Value) -> Map<String, Value> {
    values.as_object().cloned().unwrap_or_default()
}

#[wasm_bindgen_test]
fn a_template_renders_values_of_every_kind() {
    let values =
        state(&json!({ "topic": "tides", "user:level": 2.5, "done": true, "none": null, "cart": [1, { "a": "é" }] }));
    let template = Template::parse("{topic} {user:level} {done} {none}|{cart} {cart[1].a} {later?}.");
    assert_eq!(template.render(&values).unwrap(), r#"tides 2.5 true |[1,{"a":"é"}] é ."#);
}

#[wasm_bindgen_test]
fn a_template_names_each_key_that_is_missing_once() {
    let error = Template::parse("{topic} for {user:name}, {topic}").render(&state(&json!({}))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TemplateKeyMissing);
    let keys: Vec<&str> = error.missing().iter().map(|missing| missing.key.as_str()).collect();
    assert_eq!(keys, ["topic", "user:name"]);
}

#[wasm_bindgen_test]
fn an_escaped_text_renders_to_itself() {
    for text in ["{topic}", r"\{topic}", r"\\{topic}", "{{topic}}", "${HOME}", "\u{1F30A} {é}", ""] {
        let escaped = Template::escape(text);
        assert_eq!(Template::parse(escaped).render(&state(&json!({}))).unwrap(), text);
    }
}

#[wasm_bindgen_test]
async fn the_service_has_the_clock_and_the_randomness_of_javascript() {
    let service = InMemorySessionService::new();
    let request = || CreateRequest { app_name: "app".into(), user_id: "u".into(), ..CreateRequest::default() };
    let session = service.create(request()).await.unwrap();
    let other = service.create(request()).await.unwrap();
    for id in [session.id(), other.id()] {
        assert_eq!(id.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{id}");
        assert!(id[14..].starts_with('4') && ["8", "9", "a", "b"].contains(&&id[19..20]), "{id}");
    }
    assert_ne!(session.id(), other.id());
    assert!(session.last_update_time() > 1.6e12);
    let count = |state: &mut StateDraft| {
        let count = state.get("user:n").and_then(|n| n.as_u64()).unwrap_or(0);
        state.set("user:n", count + 1)
    };
    service.update_state(StateRef::User("app", "u"), count).await.unwrap();
    let state = service.update_state(StateRef::Session(session.key()), count).await.unwrap();
    assert_eq!(state.get("user:n"), Some(json!(2)));
}
