//! What must hold of the core once it is WebAssembly, on every host: `wasm_node.rs` and `wasm_browser.rs` run it.

use serde_json::{Map, Value, json};
use statepad::{ErrorKind, Template};
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
