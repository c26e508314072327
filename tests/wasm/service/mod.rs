//! The session service for JavaScript: the shared cases of `tests/cases`, and what JavaScript alone can give it.

mod cases;
#[path = "../../support/json_equality.rs"]
mod json_equality;
mod scenario;
mod values;

use js_sys::{Array, Object, Promise};
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use json_equality::same;

/// The outcome of a case: an error says in what it differs.
type Outcome = Result<(), String>;

/// The cases of a file.
macro_rules! file_of_cases {
    ($name:literal) => {
        serde_json::from_str::<serde_json::Value>(include_str!(concat!("../../cases/", $name, ".json"))).unwrap()
    };
}
use file_of_cases;

/// Ends a case that differs.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+));
        }
    };
}
use ensure;

/// Fails when cases have failed, and names all of them, so that one failure hides no other.
#[track_caller]
fn all_held(outcomes: &[(String, Outcome)]) {
    assert!(!outcomes.is_empty(), "there are no cases");
    let failed = outcomes.iter().filter_map(|(name, outcome)| Some(format!("{name}: {}", outcome.as_ref().err()?)));
    let failed: Vec<_> = failed.collect();
    assert!(failed.is_empty(), "{} of {} cases failed:\n  {}", failed.len(), outcomes.len(), failed.join("\n  "));
}

/// The value of JavaScript that a JSON value is.
fn js(value: &Value) -> JsValue {
    js_sys::JSON::parse(&value.to_string()).unwrap()
}

/// The JSON of a value; nothing for `undefined`.
fn json(value: &JsValue) -> Option<Value> {
    let text = js_sys::JSON::stringify(value).ok()?.as_string()?;
    serde_json::from_str(&text).ok()
}

/// A member of an object.
fn member(object: &JsValue, name: &str) -> JsValue {
    js_sys::Reflect::get(object, &name.into()).unwrap()
}

/// An object with these members; those that are `undefined` are there all the same.
fn object<const N: usize>(members: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (name, value) in members {
        js_sys::Reflect::set(&object, &name.into(), &value).unwrap();
    }
    object.into()
}

/// The names of the own members of an object, in their order.
fn names(object: &JsValue) -> Vec<String> {
    Object::keys(object.unchecked_ref::<Object>()).iter().filter_map(|name| name.as_string()).collect()
}

async fn settled(promise: Promise) -> Result<JsValue, JsValue> {
    JsFuture::from(promise).await
}

/// The text of a member.
fn text(object: &JsValue, name: &str) -> Option<String> {
    member(object, name).as_string()
}

/// The member of a case that is a list.
fn list<'a>(case: &'a Value, name: &str) -> &'a [Value] {
    case[name].as_array().map_or(&[], Vec::as_slice)
}

/// The name of a case.
fn name_of(case: &Value) -> String {
    case["name"].as_str().unwrap_or("a case without a name").to_owned()
}

/// The difference between a value and the expected one.
fn compare(actual: &JsValue, expected: &Value, what: &str) -> Outcome {
    let actual = json(actual).unwrap_or_default();
    ensure!(same(&actual, expected), "{what}: is {actual}, should be {expected}");
    Ok(())
}

/// Says in what an error differs from the one that a case wants: an `Error` with a code, a message and details.
fn compare_error(thrown: &JsValue, expected: &Value) -> Outcome {
    ensure!(thrown.is_instance_of::<js_sys::Error>(), "no Error was thrown, but {thrown:?}");
    let message = text(thrown, "message").unwrap_or_default();
    for (name, expected) in expected.as_object().into_iter().flatten() {
        match name.as_str() {
            "says" => {
                let says = expected.as_str().unwrap_or_default();
                ensure!(message.contains(says), "the message must name {says}: {message}");
            }
            "message" => ensure!(*expected == *message, "the message is {message}, should be {expected}"),
            name => compare(&member(thrown, name), expected, name)?,
        }
    }
    let is_lower = expected.get("message").is_some() || !message.starts_with(char::is_uppercase);
    ensure!(is_lower, "a message begins in lower case: {message}");
    Ok(())
}

/// The values of a list of JavaScript.
fn items(list: &JsValue) -> Vec<JsValue> {
    Array::from(list).to_vec()
}
