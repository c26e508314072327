//! Values that JavaScript alone can give to the service, and those that come back to it.

use serde_json::json;
use statepad::wasm::service::{SessionService, deleted};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use super::{compare_error, js, json, member, names, object, settled};

async fn open() -> (SessionService, JsValue) {
    let service = SessionService::new(None).unwrap();
    let session = settled(service.create_session(js(&json!({"appName": "app", "userId": "u"})))).await.unwrap();
    (service, session)
}

fn event(value: JsValue) -> JsValue {
    object([("actions", object([("stateDelta", object([("x", value)]))]))])
}

async fn append(service: &SessionService, session: &JsValue, event: JsValue) -> Result<JsValue, JsValue> {
    settled(service.append_event(object([("session", session.clone()), ("event", event)]))).await
}

#[wasm_bindgen_test]
async fn what_is_no_json_is_refused_and_its_place_is_named() {
    let (service, session) = open().await;
    for (value, what) in [
        (JsValue::from(f64::NAN), "is NaN"),
        (js_sys::BigInt::from(1).into(), "is a bigint"),
        (js_sys::Symbol::for_("s").into(), "is a symbol"),
        (js_sys::Map::new().into(), "is an instance of Map"),
        (js_sys::Date::new(&f64::NAN.into()).into(), "is an invalid date"),
        (js_sys::JsString::from_char_code1(0xd800).into(), "has a lone surrogate"),
        (JsValue::UNDEFINED, "is undefined"),
    ] {
        let list = js_sys::Array::of2(&1.into(), &value);
        let thrown = append(&service, &session, event(object([("items", list.into())]))).await.unwrap_err();
        let path = r#"actions.stateDelta["x"].items[1]"#;
        let message = format!("{path} {what}: it is not JSON");
        compare_error(&thrown, &json!({"code": "VALUE_NOT_JSON", "path": path, "message": message})).unwrap();
    }
    let cycle = object([]);
    js_sys::Reflect::set(&cycle, &"self".into(), &cycle).unwrap();
    let thrown = append(&service, &session, event(cycle)).await.unwrap_err();
    compare_error(&thrown, &json!({"code": "VALUE_NOT_JSON", "says": "is part of a cycle"})).unwrap();
    assert_eq!(member(&session, "revision"), 0);
}

#[wasm_bindgen_test]
async fn no_key_is_lost_whatever_its_name() {
    let (service, session) = open().await;
    let delta = r#"{"__proto__":{"__proto__":1},"constructor":2,"":3,"b":4,"é":[null]}"#;
    let delta = js_sys::JSON::parse(delta).unwrap();
    let stored = append(&service, &session, object([("actions", object([("stateDelta", delta.clone())]))])).await;
    let state = member(&session, "state");
    assert_eq!(names(&state), ["__proto__", "constructor", "", "b", "é"]);
    assert_eq!(json(&state), json(&delta));
    assert_eq!(json(&member(&member(&stored.unwrap(), "actions"), "stateDelta")), json(&delta));
}

#[wasm_bindgen_test]
async fn a_date_is_what_it_says_it_is_and_a_deleted_key_is_gone() {
    let (service, session) = open().await;
    append(&service, &session, event(js_sys::Date::new(&0.0.into()).into())).await.unwrap();
    assert_eq!(json(&member(&session, "state")), Some(json!({"x": "1970-01-01T00:00:00.000Z"})));
    append(&service, &session, event(deleted())).await.unwrap();
    assert_eq!(json(&member(&session, "state")), Some(json!({})));
    assert_eq!(json(&deleted()), Some(json!(null)));
}

#[wasm_bindgen_test]
async fn what_is_handed_out_is_frozen() {
    let (service, session) = open().await;
    let stored = append(&service, &session, event(js(&json!({"a": [1]})))).await.unwrap();
    let state = member(&session, "state");
    let value = member(&state, "x");
    for part in [&stored, &state, &value, &member(&value, "a"), &member(&session, "events")] {
        assert!(js_sys::Object::is_frozen(part.unchecked_ref::<js_sys::Object>()));
    }
    assert!(!js_sys::Reflect::set(&session, &"revision".into(), &7.into()).unwrap());
    assert_eq!(member(&session, "revision"), 1);
}

#[wasm_bindgen_test]
async fn updates_of_one_key_at_once_lose_none() {
    let service = SessionService::new(None).unwrap();
    let count = Closure::<dyn Fn(JsValue) -> JsValue>::new(|state: JsValue| {
        let count = member(&state, "app:n").as_f64().unwrap_or(0.0) + 1.0;
        js_sys::Promise::resolve(&object([("app:n", count.into())])).into()
    });
    let target = js(&json!({"appName": "app"}));
    let updates: js_sys::Array =
        (0..100).map(|_| service.update_state(target.clone(), count.as_ref().clone(), None)).collect();
    settled(js_sys::Promise::all(&updates)).await.unwrap();
    assert_eq!(json(&settled(service.get_app_state(target)).await.unwrap()), Some(json!({"n": 100})));
}
