//! The cases of `tests/cases`, held against the core.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic: that is how it fails")]

use std::cell::RefCell;

use serde_json::{Value, json};
use statepad::engine::{Json, LeaseFault, LeaseRequest, LeaseRow, MAX_DEPTH, ScopedDelta};
use statepad::{
    Delta, Error, ErrorKind, Event, InMemorySessionService, ListRequest, ListResponse, Operator, OperatorFault,
    PlaceholderKind, Result, Scope, SessionService, Template,
};

#[path = "contract/mod.rs"]
mod contract;
#[path = "support/block_on.rs"]
mod block_on;
#[path = "support/clock.rs"]
mod clock;
#[path = "support/json_equality.rs"]
mod json_equality;

use contract::scenario::{Scenario, event_of, steps_of_one_session};
use contract::states::{nested, parts_of, run_invocation, run_state, session_with};
use contract::{assert_same, block_on, check_message, each, list, record, text, texts};

macro_rules! cases {
    ($name:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!("cases/", $name, ".json"))).unwrap()
    };
}

#[test]
fn a_key_is_its_scope_and_its_name() {
    each(list(&cases!("scope"), "cases"), |case| {
        let scope = match text(case, "scope") {
            "app" => Scope::App,
            "user" => Scope::User,
            "temp" => Scope::Temp,
            _ => Scope::Session,
        };
        assert_eq!(Scope::split(text(case, "key")), (scope, text(case, "bare")));
        assert_eq!(scope.key(text(case, "bare")), text(case, "key"));
    });
}

#[test]
fn a_delta_is_split_by_scope_and_applied() {
    each(list(&cases!("delta"), "cases"), |case| {
        let unset = texts(case, "unset");
        let mut object = record(case, "set");
        object.extend(unset.iter().map(|key| (key.clone(), Value::Null)));
        let (scoped, temp) = Delta::parse(&Value::Object(object).to_string(), &unset).unwrap().split();
        assert_same(&serde_json::from_str(&scoped.to_json()).unwrap(), &case["change"], "the change");
        let (mut set, deleted) = parts_of(&ScopedDelta::default().join(temp));
        set.as_object_mut().unwrap().retain(|key, _| !deleted.contains(key));
        assert_same(&set, &Value::Object(record(case, "temp")), "the temp: keys");

        let (service, session) = session_with(record(case, "before"));
        block_on(service.append_event(&session, event_of(case))).unwrap();
        let state = read_state(&service);
        assert_same(&Value::Object(state.clone()), &case["after"], "the state");
        if case.get("order").is_some() {
            assert_eq!(state.keys().cloned().collect::<Vec<_>>(), texts(case, "order"));
        }
    });
}

#[test]
fn state_tracks_its_writes() {
    each(list(&cases!("state"), "cases"), run_state);
}

#[test]
fn events_are_stored_as_they_are_but_for_temp_keys() {
    each(list(&cases!("event"), "cases"), |case| {
        let (service, session) = session_with(record(case, "before"));
        let event: Event = serde_json::from_value(case["event"].clone()).unwrap();
        let answer = block_on(service.append_event(&session, event));
        if let Some(code) = case["error"].as_str() {
            let error = answer.unwrap_err();
            assert_eq!(error.code(), code);
            check_message(&error, case);
        } else {
            let stored = serde_json::to_value(answer.unwrap()).unwrap();
            for (place, expected) in &record(case, "stored") {
                let value = place.split('.').fold(&stored, |value, step| &value[step]);
                assert_same(value, expected, place);
            }
            let mut said = stored;
            said["state"] = Value::Object(read_state(&service));
            for (place, text) in &record(case, "json") {
                let value = place.split('.').fold(&said, |value, step| &value[step]);
                assert_eq!(Json::from_value(value).unwrap().as_str(), text, "{place}");
                // Not only the text is the same: 1 is no other value than 1.0 was.
                assert_eq!(*value, Json::from_value(value).unwrap().to_value(), "{place}");
            }
        }
        let state = case.get("state").cloned().unwrap_or_else(|| Value::Object(record(case, "before")));
        assert_same(&Value::Object(read_state(&service)), &state, "the state");
    });
}

#[test]
fn values_nested_too_deep_are_refused() {
    let file = cases!("event");
    for pair in list(&file, "depth") {
        let (service, session) = session_with(record(&json!({}), ""));
        let value = nested(pair[0].as_u64().unwrap());
        let answer = block_on(service.append_event(&session, event_of(&json!({"set": {"x": value}}))));
        match answer {
            Ok(_) => assert_eq!((&pair[1], &read_state(&service)["x"]), (&json!(true), &value)),
            Err(error) => {
                assert_eq!((&pair[1], error.kind()), (&json!(false), ErrorKind::ValueNotJson));
                assert_eq!(error.to_string(), text(&file, "tooDeep").replace("{way}", &"[0]".repeat(MAX_DEPTH)));
            }
        }
    }
}

#[test]
fn one_session() {
    let file = cases!("session");
    each(list(&file, "cases"), |case| Scenario::run(&steps_of_one_session(case)));
    // Strictness lives in the core: there it is held, too.
    each(list(&file, "cases").iter().filter(|case| contract::core::asks_for_a_revision(case)), contract::core::run);
}

#[test]
fn several_sessions() {
    each(list(&cases!("sessions"), "cases"), |case| Scenario::run(list(case, "steps")));
}

#[test]
fn the_past_of_a_session() {
    let file = cases!("history");
    let for_every_host = |case: &&Value| text(case, "only") != "package";
    each(list(&file, "cases").iter().filter(for_every_host), |case| Scenario::run(list(case, "steps")));
}

#[test]
fn rewinding() {
    let file = cases!("rewind");
    each(list(&file, "walk"), contract::rewind::run_walk);
    each(list(&file, "delta"), contract::rewind::run_delta);
}

#[test]
fn operators_are_resolved_against_the_value_that_is_there() {
    each(list(&cases!("operators"), "cases"), |case| {
        let current = case.get("value").map(|value| Json::from_value(value).unwrap());
        let operator: Operator = serde_json::from_value(case["operator"].clone()).unwrap();
        let answer = operator.resolve(current.as_ref());
        let fault = answer.as_ref().err().map(|fault| match fault {
            OperatorFault::Changed => "changed",
            OperatorFault::Kind => "kind",
            OperatorFault::Overflow => "overflow",
            other => panic!("{other:?} is not in the cases"),
        });
        assert_eq!(answer.as_ref().ok().map(Json::as_str), case["result"].as_str());
        assert_eq!(fault, case["fault"].as_str());
        let written = serde_json::to_value(&operator).unwrap();
        assert_same(&written, &case["operator"], "the operator as JSON");
        assert_eq!(written.as_object().unwrap().keys().collect::<Vec<_>>(), [operator.name()]);
    });
}

#[test]
fn a_lease_is_given_to_one_holder_at_a_time() {
    let row_of = |row: &Value| LeaseRow {
        fence: row["fence"].as_u64().unwrap(),
        holder: row["holder"].as_str().map(|holder| (holder.to_owned(), row["until"].as_f64().unwrap())),
    };
    each(list(&cases!("lease"), "cases"), |case| {
        let ask = &case["ask"];
        let request = LeaseRequest {
            holder: text(ask, "holder").to_owned(),
            ttl: ask["ttl"].as_f64().unwrap(),
            fence: ask["fence"].as_u64(),
        };
        let row = row_of(&case["row"]);
        let expected = match text(case, "error") {
            "held" => Err(LeaseFault::Held(case["until"].as_f64().unwrap())),
            "fenced" => Err(LeaseFault::Fenced),
            _ => Ok(row_of(&case["then"])),
        };
        assert_eq!(row.decide(&request, case["now"].as_f64().unwrap()), expected);
    });
}

#[test]
fn what_exceeds_a_limit_is_refused() {
    let file = cases!("limits");
    for pair in list(&file, "sizes") {
        let (value, size) = (&pair[0], pair[1].as_u64().unwrap());
        let event = json!({"id": "e", "set": {"x": value}});
        let refusal = json!({"code": "LIMIT_EXCEEDED", "exceeded": "value", "key": "x", "id": "s", "size": size, "limit": size - 1});
        for (limit, error) in [(size, None), (size - 1, Some(&refusal))] {
            let mut steps = [
                json!({"do": "create", "as": "a", "id": "s"}),
                json!({"do": "append", "to": "a", "event": event}),
                json!({"do": "update", "id": "s", "set": {"x": value}}),
                json!({"do": "create", "id": "s", "user": "v", "state": {"x": value}}),
            ];
            for step in steps.iter_mut().skip(1) {
                if let Some(error) = error {
                    step["error"] = error.clone();
                }
            }
            contract::growth::run(&json!({"limits": {"value": limit}, "steps": steps}));
        }
    }
    each(list(&file, "cases"), contract::growth::run);
}

#[test]
fn sessions_expire() {
    let file = cases!("expiry");
    let for_every_host = |case: &&Value| text(case, "only") != "javascript";
    each(list(&file, "cases").iter().filter(for_every_host), contract::growth::run);
}

#[test]
fn errors_have_stable_codes_and_name_the_culprit() {
    let file = cases!("error");
    each(list(&file, "cases"), |case| Scenario::run(list(case, "steps")));
    let kinds = [
        ErrorKind::InvalidArgument,
        ErrorKind::ValueNotJson,
        ErrorKind::SessionNotFound,
        ErrorKind::SessionExists,
        ErrorKind::SessionStale,
        ErrorKind::StateConflict,
        ErrorKind::EventIdConflict,
        ErrorKind::InvocationEnded,
        ErrorKind::TemplateKeyMissing,
        ErrorKind::ArtifactMissing,
        ErrorKind::SchemaInvalid,
        ErrorKind::LimitExceeded,
        ErrorKind::StoreUnavailable,
        ErrorKind::StoreUnsuitable,
        ErrorKind::CommitUnknown,
        ErrorKind::StoreCorrupt,
        ErrorKind::LeaseHeld,
        ErrorKind::LeaseLost,
        ErrorKind::Closed,
        ErrorKind::CoreFailed,
    ];
    assert_eq!(kinds.map(ErrorKind::code).to_vec(), texts(&file, "codes"));
}

#[test]
fn lists_are_in_order_a_page_at_a_time() {
    let file = cases!("list");
    let service = InMemorySessionService::new();
    for row in list(&file, "sessions") {
        let (user_id, id) = (row[0].as_str().unwrap().to_owned(), row[1].as_str().unwrap().to_owned());
        let request =
            statepad::CreateRequest { app_name: "app".into(), user_id, session_id: Some(id), ..Default::default() };
        let session = block_on(service.create(request)).unwrap();
        block_on(service.append_event(&session, event_of(&json!({"id": "e", "at": row[2]})))).unwrap();
    }
    // A count, a page or an order of another type cannot be said in Rust; an invalid cursor can.
    let can_be_said = |case: &&Value| case.get("error").is_none() || is_cursor_alone(&case["list"]);
    each(list(&file, "cases").iter().filter(can_be_said), |case| {
        if let Some(code) = case["error"].as_str() {
            let error = listed(&service, &case["list"], None).unwrap_err();
            assert_eq!(error.code(), code);
            check_message(&error, case);
        } else if case.get("pages").is_some() {
            let mut cursor = None;
            for expected in list(case, "pages") {
                let page = listed(&service, &case["list"], cursor.as_deref()).unwrap();
                assert_same(&ids(&page), expected, "the page");
                cursor = page.cursor;
            }
            assert_eq!(cursor, None);
        } else {
            let page = listed(&service, &case["list"], None).unwrap();
            assert_same(&ids(&page), &case["ids"], "the page");
            assert_eq!(page.total as u64, case["totalItems"]);
            if let Some(more) = case["cursor"].as_bool() {
                assert_eq!(page.cursor.is_some(), more, "the cursor");
            }
        }
    });
}

fn is_cursor_alone(request: &Value) -> bool {
    request.get("cursor").is_some() && request.get("page").is_none() && request.get("offset").is_none()
}

fn listed(service: &InMemorySessionService, request: &Value, cursor: Option<&str>) -> Result<ListResponse> {
    let number = |name: &str| request[name].as_u64().map(|number| usize::try_from(number).unwrap());
    let limit = number("limit");
    let offset = match (number("page"), limit) {
        (Some(page), Some(limit)) => (page - 1) * limit,
        _ => number("offset").unwrap_or(0),
    };
    let word = |name: &str| request[name].as_str().map(str::to_owned);
    block_on(service.list(ListRequest {
        app_name: word("appName").unwrap_or_else(|| "app".to_owned()),
        user_id: word("userId"),
        limit,
        offset,
        cursor: cursor.map(str::to_owned).or_else(|| word("cursor")),
        descending: request["order"] == "desc",
    }))
}

fn ids(page: &ListResponse) -> Value {
    page.sessions.iter().map(|session| format!("{}/{}", session.user_id(), session.id())).collect()
}

#[test]
fn an_invocation_shares_its_pending_writes() {
    let file = cases!("invocation");
    let for_every_host = |case: &&Value| text(case, "only") != "package";
    each(list(&file, "cases").iter().filter(for_every_host), run_invocation);
}

#[test]
fn templates_render() {
    each(list(&cases!("template"), "cases"), |case| {
        let template = Template::parse(text(case, "template"));
        let artifacts = record(case, "artifacts");
        let names = RefCell::new(Vec::new());
        let answer = template.render_with(&record(case, "state"), |name| {
            names.borrow_mut().push(name.to_owned());
            artifacts.get(name).map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned))
        });
        match (answer, case.get("ok")) {
            (Ok(rendered), Some(expected)) => assert_eq!(&rendered, expected),
            (Err(error), None) => check_missing(&error, case),
            (answer, _) => panic!("{answer:?}"),
        }
        if case.get("asked").is_some() {
            assert_eq!(names.into_inner(), texts(case, "asked"));
        }
        if let Some(needs) = case.get("needs") {
            assert_same(&needed(&template), needs, "the placeholders");
        }
    });
}

#[test]
fn a_missing_key_is_told_with_the_nearest_one() {
    each(list(&cases!("nearest"), "cases"), |case| {
        let template = Template::parse(format!("{{{}}}", text(case, "key")));
        let state: serde_json::Map<_, _> =
            texts(case, "candidates").into_iter().map(|candidate| (candidate, json!(1))).collect();
        let error = template.render_with(&state, |_| None).unwrap_err();
        assert_eq!(error.missing()[0].nearest.as_deref(), case.get("nearest").and_then(Value::as_str));
    });
}

#[test]
fn a_near_miss_of_a_known_name_is_told_and_other_names_are_kept() {
    let file = cases!("names");
    each(list(&file, "cases"), |case| {
        for event in [case["event"].clone(), with(&case["event"], "partial", true)] {
            let (service, session) = session_with(serde_json::Map::new());
            let read: Event = serde_json::from_value(event).unwrap();
            let error = block_on(service.append_event(&session, read)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            check_message(&error, case);
            assert_eq!(block_on(service.append_event(&session, Event::new("i"))).unwrap().invocation_id, "i");
        }
    });
    let (service, session) = session_with(serde_json::Map::new());
    let read: Event = serde_json::from_value(file["kept"].clone()).unwrap();
    let stored = serde_json::to_value(block_on(service.append_event(&session, read)).unwrap()).unwrap();
    let (actions, event) = (record(&file["kept"], "actions"), record(&file, "kept"));
    for (name, value) in event.iter().filter(|(name, _)| *name != "actions") {
        assert_same(&stored[name], value, name);
    }
    for (name, value) in &actions {
        assert_same(&stored["actions"][name], value, name);
    }
}

fn with(event: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut event = event.clone();
    event[name] = value.into();
    event
}

fn check_missing(error: &Error, case: &Value) {
    assert_eq!(error.code(), case["code"].as_str().unwrap_or("TEMPLATE_KEY_MISSING"));
    let missing = error.missing().iter().map(|it| match &it.nearest {
        None => json!([it.key, it.line, it.column]),
        Some(nearest) => json!([it.key, it.line, it.column, nearest]),
    });
    assert_same(&missing.collect(), &case["missing"], "what is missing");
    check_message(error, case);
}

fn needed(template: &Template) -> Value {
    let text = template.text();
    let needs = template.placeholders().zip(template.places()).map(|(it, (line, column))| {
        let path = it.path.iter().map(|step| match &text[step.range.clone()] {
            index if step.is_index => json!(index.parse::<u64>().unwrap()),
            name => json!(name),
        });
        let (kind, key) = match it.kind {
            PlaceholderKind::State => ("state", &text[it.root.clone()]),
            PlaceholderKind::Artifact => ("artifact", &text[it.key.clone()]),
            kind => panic!("{kind:?} is not in the cases"),
        };
        json!([kind, key, path.collect::<Value>(), it.optional, line, column])
    });
    needs.collect()
}

#[test]
fn an_escaped_text_renders_to_itself() {
    let state = record(&json!({"state": {"n": "no"}}), "state");
    for text in texts(&cases!("template"), "escapes") {
        assert_eq!(Template::parse(Template::escape(&text)).render(&state).unwrap(), text);
    }
}

fn read_state(service: &InMemorySessionService) -> serde_json::Map<String, Value> {
    let request = ListRequest { app_name: "app".into(), ..Default::default() };
    let sessions = block_on(service.list(request)).unwrap().sessions;
    sessions[0].state().to_map()
}
