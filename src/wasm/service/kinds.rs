//! The kind of a value that a caller passes, and its name in messages. Nothing here throws, not even for a revoked
//! proxy.

use js_sys::Reflect;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::host::{has_own, is_array, member};
use crate::json::js_number;

/// An object, or an instance of a class: no list, no function, not `null`.
pub(super) fn is_object(value: &JsValue) -> bool {
    value.is_object() && matches!(is_array(value), Ok(false))
}

/// A list.
pub(super) fn is_list(value: &JsValue) -> bool {
    value.is_object() && matches!(is_array(value), Ok(true))
}

/// Made by `{}`, by `Object.create(null)`, or by the `{}` of another realm.
pub(super) fn is_plain(value: &JsValue) -> bool {
    if !value.is_object() {
        return false;
    }
    // A proxy that was revoked, or one whose owner does not want it to be looked at, throws.
    let Ok(prototype) = Reflect::get_prototype_of(value) else {
        return false;
    };
    let prototype = JsValue::from(prototype);
    prototype.is_null() || matches!(has_own(&prototype, &"isPrototypeOf".into()), Ok(true))
}

/// A plain object, or an instance of a class that nothing but its members make up.
pub(super) fn is_record_like(value: &JsValue) -> bool {
    is_plain(value) || object_to_string(value).is_ok_and(|tag| tag == "[object Object]")
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["Object", "prototype", "toString"], js_name = call)]
    fn object_to_string(value: &JsValue) -> Result<String, JsValue>;
}

/// A proxy that was revoked: nothing can be asked of it.
pub(super) fn is_revoked(value: &JsValue) -> bool {
    value.is_object() && is_array(value).is_err()
}

/// Describes a value in words for a message.
pub(super) fn describe(value: &JsValue) -> String {
    if value.is_undefined() {
        "undefined".into()
    } else if value.is_null() {
        "null".into()
    } else if let Some(number) = value.as_f64() {
        js_number(number)
    } else if let Some(flag) = value.as_bool() {
        flag.to_string()
    } else if value.is_object() {
        describe_object(value)
    } else {
        format!("a {}", type_of(value))
    }
}

/// The `typeof` of a value.
pub(super) fn type_of(value: &JsValue) -> String {
    value.js_typeof().as_string().unwrap_or_default()
}

fn describe_object(value: &JsValue) -> String {
    if is_revoked(value) {
        return "a revoked proxy".into();
    }
    if is_list(value) {
        return "a list".into();
    }
    if is_plain(value) {
        return "an object".into();
    }
    let Ok(constructor) = member(value, "constructor") else {
        return "an object of an unknown kind".into();
    };
    if constructor.is_undefined() {
        return "an object of an unknown kind".into();
    }
    match member(&constructor, "name").ok().and_then(|name| name.as_string()) {
        Some(name) if name.is_empty() => "an object".into(),
        Some(name) => format!("an instance of {name}"),
        None => "an object of an unknown kind".into(),
    }
}

/// As [`describe`], for a value that was admitted.
pub(super) fn describe_json(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.as_f64().map_or_else(String::new, js_number),
        Value::String(_) => "a string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}
