//! Runs the steps of sessions.json, session.json and error.json over the service for JavaScript.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use statepad::wasm::service::{SessionService, deleted};
use wasm_bindgen::prelude::*;

use super::{Outcome, compare, compare_error, ensure, items, js, list, member, names, object, settled, text};

/// A service, with the handles that steps have named.
pub struct Scenario {
    service: SessionService,
    handles: HashMap<String, JsValue>,
}

/// Runs all steps of a case.
pub async fn run(steps: &[Value]) -> Outcome {
    let mut scenario = Scenario { service: SessionService::new(None).unwrap(), handles: HashMap::new() };
    for (index, step) in steps.iter().enumerate() {
        scenario.run_step(step).await.map_err(|reason| format!("step {} ({}): {reason}", index + 1, step["do"]))?;
    }
    Ok(())
}

/// The steps of session.json: its session is created first, and named where a step names none.
pub fn steps_of_one_session(case: &Value) -> Vec<Value> {
    let state = case.get("state").cloned().unwrap_or_else(|| json!({}));
    let mut steps = vec![json!({"do": "create", "as": "a", "id": "s", "state": state})];
    for step in list(case, "steps") {
        let mut step = step.clone();
        let (name, value) = if step["do"] == "append" { ("to", "a") } else { ("id", "s") };
        if let Some(members) = step.as_object_mut() {
            members.entry(name).or_insert(value.into());
        }
        steps.push(step);
    }
    steps
}

/// An event as the cases write it: {id, set, unset, at, by, inv, text, more}.
pub fn event_of(case: &Value) -> JsValue {
    let mut event = case["more"].as_object().cloned().unwrap_or_default();
    let known = [("id", "id"), ("at", "timestamp"), ("by", "author"), ("inv", "invocationId")];
    event.extend(known.iter().filter_map(|(short, name)| Some(((*name).to_owned(), case.get(*short)?.clone()))));
    event.entry("author").or_insert("agent".into());
    event.entry("invocationId").or_insert("i".into());
    if let Some(text) = case.get("text") {
        event.insert("content".into(), json!({"role": "model", "parts": [{"text": text}]}));
    }
    let event = js(&Value::Object(event));
    let actions = object([("stateDelta", delta_of(case))]);
    js_sys::Reflect::set(&event, &"actions".into(), &actions).unwrap();
    event
}

/// The delta of a case: what it sets, then what it deletes.
pub fn delta_of(case: &Value) -> JsValue {
    let delta = js(case.get("set").unwrap_or(&Value::Object(Map::new())));
    for key in list(case, "unset") {
        let descriptor = object([
            ("value", deleted()),
            ("enumerable", true.into()),
            ("configurable", true.into()),
            ("writable", true.into()),
        ]);
        js_sys::Reflect::define_property(
            delta.unchecked_ref::<js_sys::Object>(),
            &js(key),
            descriptor.unchecked_ref::<js_sys::Object>(),
        )
        .unwrap();
    }
    delta
}

impl Scenario {
    async fn run_step(&mut self, step: &Value) -> Outcome {
        let part = |name: &str, otherwise: &str| js(step.get(name).unwrap_or(&otherwise.into()));
        let optional = |name: &str| step.get(name).map_or(JsValue::UNDEFINED, js);
        let key = || [("appName", part("app", "app")), ("userId", part("user", "u")), ("sessionId", optional("id"))];
        let handle = |name: &str| self.handles[step[name].as_str().unwrap_or_default()].clone();
        let service = &self.service;
        let promise = match step["do"].as_str().unwrap_or_default() {
            "create" => {
                let [app, user, id] = key();
                service.create_session(object([app, user, id, ("state", optional("state"))]))
            }
            "get" => {
                let [app, user, id] = key();
                let config = [("numRecentEvents", optional("last")), ("afterTimestamp", optional("after"))];
                service.get_session(object([app, user, id, ("config", object(config))]))
            }
            "append" => service.append_event(object([
                ("session", handle("to")),
                ("event", event_of(&step["event"])),
                ("expectedRevision", optional("revision")),
            ])),
            "delete" => service.delete_session(object(key())),
            "list" => service.list_sessions(object([("appName", part("app", "app")), ("userId", optional("user"))])),
            "appState" => service.get_app_state(object([("appName", part("app", "app"))])),
            "userState" => {
                service.get_user_state(object([("appName", part("app", "app")), ("userId", part("user", "u"))]))
            }
            other => return Err(format!("there is no step {other}")),
        };
        let answer = match (settled(promise).await, step.get("error")) {
            (Ok(answer), None) => answer,
            (Err(thrown), Some(expected)) => return compare_error(&thrown, expected),
            (Ok(_), Some(expected)) => return Err(format!("should be refused with {expected}")),
            (Err(thrown), None) => return Err(format!("{thrown:?}")),
        };
        if let Some(name) = step["as"].as_str() {
            self.handles.insert(name.to_owned(), answer.clone());
        }
        check_stored(&answer, &step["stored"])?;
        match step.get("expect") {
            None => Ok(()),
            Some(expect) if step["do"] == "append" => {
                check_session(&self.handles[step["to"].as_str().unwrap_or_default()], expect)
            }
            Some(expect) => check(&answer, expect, step),
        }
    }
}

fn check(answer: &JsValue, expect: &Value, step: &Value) -> Outcome {
    match step["do"].as_str().unwrap_or_default() {
        "appState" | "userState" => {
            compare(answer, expect, "the values")?;
            check_order(answer, step)
        }
        "list" => {
            let sessions = items(&member(answer, "sessions"));
            ensure!(expect["count"] == sessions.len(), "there are {} sessions", sessions.len());
            for (session, state) in sessions.iter().zip(list(expect, "states")) {
                compare(&member(session, "state"), state, "the state in the list")?;
            }
            for session in &sessions {
                compare(&member(session, "events"), &json!([]), "the events in the list")?;
            }
            Ok(())
        }
        _ if expect.is_null() => {
            ensure!(answer.is_undefined(), "there is a session");
            Ok(())
        }
        _ => {
            ensure!(answer.is_object(), "there is no session");
            check_session(answer, expect)
        }
    }
}

fn check_stored(event: &JsValue, stored: &Value) -> Outcome {
    let part = |path: &[&str]| path.iter().fold(event.clone(), |value, name| member(&value, name));
    if let Some(set) = stored.get("set") {
        compare(&part(&["actions", "stateDelta"]), set, "the stored delta")?;
    }
    if let Some(unset) = stored.get("unset") {
        compare(&part(&["customMetadata", "statepad", "deleted"]), unset, "the stored deletions")?;
    }
    if let Some(at) = stored.get("at") {
        compare(&part(&["timestamp"]), at, "the stored timestamp")?;
    }
    Ok(())
}

fn check_session(session: &JsValue, expect: &Value) -> Outcome {
    if let Some(id) = expect["id"].as_str() {
        check_id(session, id)?;
    }
    let parts = [("state", "state"), ("revision", "revision"), ("time", "lastUpdateTime")];
    for (name, member_name) in parts {
        if let Some(expected) = expect.get(name) {
            compare(&member(session, member_name), expected, name)?;
        }
    }
    check_order(&member(session, "state"), expect)?;
    if expect.get("events").is_some() {
        let (events, expected) = (items(&member(session, "events")), list(expect, "events"));
        ensure!(events.len() == expected.len(), "there are {} events, should be {}", events.len(), expected.len());
        for (event, expected) in events.iter().zip(expected) {
            check_id(event, expected.as_str().unwrap_or_default())?;
        }
    }
    Ok(())
}

fn check_order(record: &JsValue, expect: &Value) -> Outcome {
    if expect.get("order").is_some() {
        ensure!(*list(expect, "order") == names(record), "the order is {:?}", names(record));
    }
    Ok(())
}

fn check_id(of: &JsValue, expected: &str) -> Outcome {
    let id = text(of, "id").unwrap_or_default();
    if expected == "<uuid>" {
        let lengths: Vec<_> = id.split('-').map(str::len).collect();
        ensure!(lengths == [8, 4, 4, 4, 12], "{id} is no UUID");
    } else {
        ensure!(id == expected, "the id is {id}, should be {expected}");
    }
    Ok(())
}
