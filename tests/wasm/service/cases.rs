//! The shared cases over the service and the templates for JavaScript.

use serde_json::{Value, json};
use statepad::wasm::service::{SessionService, Template};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use super::scenario::{self, delta_of, steps_of_one_session};
use super::{
    Outcome, all_held, compare, compare_error, ensure, file_of_cases, items, js, list, member, name_of, names, object,
    settled, text,
};

/// A new service with a session that begins with a state.
async fn open(state: JsValue) -> (SessionService, JsValue) {
    let service = SessionService::new(None).unwrap();
    let request = js(&json!({"appName": "app", "userId": "u", "sessionId": "s"}));
    js_sys::Reflect::set(&request, &"state".into(), &state).unwrap();
    let session = settled(service.create_session(request)).await.unwrap();
    (service, session)
}

async fn read(service: &SessionService) -> JsValue {
    settled(service.get_session(js(&json!({"appName": "app", "userId": "u", "sessionId": "s"})))).await.unwrap()
}

async fn append(service: &SessionService, session: &JsValue, event: JsValue) -> Result<JsValue, JsValue> {
    settled(service.append_event(object([("session", session.clone()), ("event", event)]))).await
}

/// Runs an asynchronous function over every case.
macro_rules! each {
    ($cases:expr, $run:expr) => {
        let mut outcomes = Vec::new();
        for case in $cases {
            outcomes.push((name_of(case), $run(case).await));
        }
        all_held(&outcomes);
    };
}

#[wasm_bindgen_test]
async fn scenarios_of_several_sessions() {
    each!(list(&file_of_cases!("sessions"), "cases"), async |case: &Value| scenario::run(list(case, "steps")).await);
}

#[wasm_bindgen_test]
async fn scenarios_of_one_session() {
    each!(list(&file_of_cases!("session"), "cases"), async |case: &Value| scenario::run(&steps_of_one_session(case))
        .await);
}

#[wasm_bindgen_test]
async fn errors_with_their_details() {
    each!(list(&file_of_cases!("error"), "cases"), async |case: &Value| scenario::run(list(case, "steps")).await);
}

#[wasm_bindgen_test]
async fn keys_in_their_scopes() {
    each!(list(&file_of_cases!("scope"), "cases"), async |case: &Value| -> Outcome {
        let (service, session) = open(JsValue::UNDEFINED).await;
        let key = case["key"].as_str().unwrap_or_default();
        let values = |is_there: bool, name: &Value| match (is_there, name.as_str()) {
            (true, Some(name)) => json!({ name: 1 }),
            _ => json!({}),
        };
        let event = json!({"invocationId": "i", "actions": {"stateDelta": {key: 1}}});
        append(&service, &session, js(&event)).await.map_err(|thrown| format!("{thrown:?}"))?;
        compare(&member(&session, "state"), &json!({ key: 1 }), "the handle")?;
        let scope = case["scope"].as_str().unwrap_or_default();
        compare(&member(&read(&service).await, "state"), &values(scope != "temp", &case["key"]), "the session")?;
        let whose = js(&json!({"appName": "app", "userId": "u"}));
        let app = settled(service.get_app_state(whose.clone())).await.unwrap();
        compare(&app, &values(scope == "app", &case["bare"]), "the app")?;
        let user = settled(service.get_user_state(whose)).await.unwrap();
        compare(&user, &values(scope == "user", &case["bare"]), "the user")
    });
}

#[wasm_bindgen_test]
async fn deltas_are_applied() {
    each!(list(&file_of_cases!("delta"), "cases"), async |case: &Value| -> Outcome {
        let (service, session) = open(case.get("before").map_or(JsValue::UNDEFINED, js)).await;
        let event = object([("invocationId", "i".into()), ("actions", object([("stateDelta", delta_of(case))]))]);
        append(&service, &session, event).await.map_err(|thrown| format!("{thrown:?}"))?;
        let mut shown = case["after"].as_object().cloned().unwrap_or_default();
        shown.extend(case["temp"].as_object().cloned().unwrap_or_default());
        compare(&member(&session, "state"), &Value::Object(shown), "the handle")?;
        let state = member(&read(&service).await, "state");
        compare(&state, &case["after"], "the session")?;
        if case.get("order").is_some() {
            ensure!(*list(case, "order") == names(&state), "the order is {:?}", names(&state));
        }
        Ok(())
    });
}

#[wasm_bindgen_test]
async fn events_as_they_are_stored() {
    each!(list(&file_of_cases!("event"), "cases"), async |case: &Value| -> Outcome {
        let before = case.get("before").cloned().unwrap_or_else(|| json!({}));
        let (service, session) = open(js(&before)).await;
        let answer = append(&service, &session, js(&case["event"])).await;
        let state = member(&read(&service).await, "state");
        if let Some(code) = case.get("error") {
            let thrown = answer.err().ok_or("should be refused")?;
            let mut expected = json!({"code": code});
            if let Some(message) = case.get("message") {
                expected["message"] = message.clone();
            }
            compare_error(&thrown, &expected)?;
            return compare(&state, case.get("state").unwrap_or(&before), "the state");
        }
        let event = answer.map_err(|thrown| format!("{thrown:?}"))?;
        let said = js_sys::Object::assign(&js_sys::Object::new(), event.unchecked_ref());
        js_sys::Reflect::set(&said, &"state".into(), &state).unwrap();
        let at = |from: &JsValue, path: &str| {
            path.split('.').fold(from.clone(), |value, step| {
                if value.is_object() { member(&value, step) } else { JsValue::UNDEFINED }
            })
        };
        for (path, expected) in case["stored"].as_object().into_iter().flatten() {
            compare(&at(&event, path), expected, path)?;
        }
        for (path, expected) in case["json"].as_object().into_iter().flatten() {
            let written = js_sys::JSON::stringify(&at(&said, path)).unwrap();
            ensure!(*expected == String::from(written.clone()), "{path} is written {written}, should be {expected}");
        }
        compare(&state, case.get("state").unwrap_or(&before), "the state")
    });
}

#[wasm_bindgen_test]
async fn values_nested_deep() {
    let file = file_of_cases!("event");
    for case in list(&file, "depth") {
        let levels = case[0].as_u64().unwrap();
        let value = (0..levels).fold(json!(1), |value, _| json!([value]));
        let (service, session) = open(JsValue::UNDEFINED).await;
        let answer = append(&service, &session, js(&json!({"actions": {"stateDelta": {"x": value}}}))).await;
        assert_eq!(answer.is_ok(), case[1].as_bool().unwrap(), "{levels} levels");
        if let Err(thrown) = answer {
            let message = file["tooDeep"].as_str().unwrap().replace("{way}", &"[0]".repeat(100));
            assert_eq!(text(&thrown, "message"), Some(message));
        }
    }
}

#[wasm_bindgen_test]
async fn names_that_miss_a_known_one() {
    let file = file_of_cases!("names");
    each!(list(&file, "cases"), async |case: &Value| -> Outcome {
        let (service, session) = open(JsValue::UNDEFINED).await;
        let thrown = append(&service, &session, js(&case["event"])).await.err().ok_or("should be refused")?;
        compare_error(&thrown, &json!({"code": "INVALID_ARGUMENT", "message": case["message"]}))
    });
    let (service, session) = open(JsValue::UNDEFINED).await;
    let stored = append(&service, &session, js(&file["kept"])).await.unwrap();
    for (name, value) in file["kept"].as_object().unwrap() {
        if name != "actions" {
            compare(&member(&stored, name), value, name).unwrap();
        }
    }
}

#[wasm_bindgen_test]
async fn pages_of_sessions() {
    let file = file_of_cases!("list");
    let service = SessionService::new(None).unwrap();
    for row in list(&file, "sessions") {
        let key = json!({"appName": "app", "userId": row[0], "sessionId": row[1], "state": {"at": 0}});
        let session = settled(service.create_session(js(&key))).await.unwrap();
        let event = json!({"id": "e", "timestamp": row[2], "actions": {"stateDelta": {"at": row[2]}}});
        append(&service, &session, js(&event)).await.unwrap();
    }
    let shown = |page: &JsValue| -> Value {
        let sessions = items(&member(page, "sessions"));
        let named =
            |session: &JsValue| format!("{}/{}", text(session, "userId").unwrap(), text(session, "id").unwrap());
        sessions.iter().map(named).collect()
    };
    each!(list(&file, "cases"), async |case: &Value| -> Outcome {
        let mut request = case["list"].clone();
        request.as_object_mut().unwrap().entry("appName").or_insert("app".into());
        let answer = settled(service.list_sessions(js(&request))).await;
        if let Some(code) = case.get("error") {
            let mut expected = json!({"code": code});
            if let Some(message) = case.get("message") {
                expected["message"] = message.clone();
            }
            return compare_error(&answer.err().ok_or("should be refused")?, &expected);
        }
        let mut page = answer.map_err(|thrown| format!("{thrown:?}"))?;
        if let Some(pages) = case.get("pages") {
            let mut all = vec![shown(&page)];
            while let Some(cursor) = text(&page, "cursor") {
                request["cursor"] = cursor.into();
                page = settled(service.list_sessions(js(&request))).await.map_err(|thrown| format!("{thrown:?}"))?;
                all.push(shown(&page));
            }
            ensure!(*pages == Value::from(all.clone()), "the pages are {all:?}");
            return Ok(());
        }
        ensure!(case["ids"] == shown(&page), "the page is {}", shown(&page));
        for name in ["page", "limit", "totalItems", "totalPages"] {
            compare(&member(&page, name), &case[name], name)?;
        }
        if let Some(cursor) = case.get("cursor") {
            ensure!(*cursor == text(&page, "cursor").is_some(), "there is a cursor, or there is none");
        }
        Ok(())
    });
}

#[wasm_bindgen_test]
async fn templates_are_rendered() {
    let file = file_of_cases!("template");
    each!(list(&file, "cases"), async |case: &Value| -> Outcome {
        let template = Template::new(js(&case["template"])).map_err(|thrown| format!("{thrown:?}"))?;
        let names = js_sys::Array::new();
        let artifacts = case.get("artifacts").cloned();
        let artifact = {
            let (names, artifacts) = (names.clone(), artifacts.clone().unwrap_or_default());
            Closure::<dyn Fn(String) -> JsValue>::new(move |name: String| {
                names.push(&name.as_str().into());
                artifacts.get(&name).map_or(JsValue::UNDEFINED, |text| {
                    text.as_str().map_or_else(|| text.to_string().into(), JsValue::from)
                })
            })
        };
        let state = js(&case.get("state").cloned().unwrap_or_else(|| json!({})));
        let options = object([("state", state)]);
        if artifacts.is_some() {
            js_sys::Reflect::set(&options, &"artifact".into(), artifact.as_ref()).unwrap();
        }
        let rendered = template.render(options.clone());
        if let Some(expected) = case.get("asked") {
            compare(&names, expected, "the artifacts that were asked for")?;
        }
        for answer in [rendered.map(JsValue::from), settled(template.render_async(options)).await] {
            match (answer, case.get("missing")) {
                (Ok(text), None) => compare(&text, &case["ok"], "the text")?,
                (Err(thrown), Some(missing)) => {
                    let code = case.get("code").cloned().unwrap_or("TEMPLATE_KEY_MISSING".into());
                    compare_error(&thrown, &json!({ "code": code }))?;
                    if let Some(message) = case["message"].as_str() {
                        ensure!(text(&thrown, "message").as_deref() == Some(message), "the message is {thrown:?}");
                    }
                    let to_json = |it: &JsValue| -> Value {
                        let parts = ["key", "line", "column", "nearest"].map(|name| super::json(&member(it, name)));
                        parts.into_iter().flatten().collect()
                    };
                    let actual: Value = items(&member(&thrown, "missing")).iter().map(to_json).collect();
                    ensure!(super::same(&actual, missing), "the missing keys: are {actual}, should be {missing}");
                }
                (answer, _) => return Err(format!("{answer:?}")),
            }
        }
        if let Some(needs) = case.get("needs") {
            let shown = |it: &JsValue| -> Value {
                let parts = ["kind", "key", "path", "optional", "line", "column"];
                parts.iter().map(|name| super::json(&member(it, name)).unwrap_or_default()).collect()
            };
            let shown: Value = items(&template.placeholders().unwrap()).iter().map(shown).collect();
            ensure!(super::same(&shown, needs), "the placeholders: are {shown}, should be {needs}");
        }
        Ok(())
    });
    for text in list(&file, "escapes") {
        let template = Template::new(Template::escape(js(text)).unwrap().into()).unwrap();
        assert_eq!(template.render(js(&json!({"state": {"n": "no"}}))).unwrap(), text.as_str().unwrap());
    }
}
