use super::*;
use crate::state::{ReadonlyState, State};
use serde_json::json;

fn keys(delta: &Delta) -> Vec<&str> {
    delta.iter().map(|(key, _)| key).collect()
}

#[test]
fn authors_see_each_others_pending_writes_and_the_later_one_wins() {
    let mut invocation = Invocation::new(SessionState::default());
    invocation.context("a").set("x", json!("a")).unwrap();
    invocation.context("a").set("user:y", json!(1)).unwrap();
    invocation.context("b").set("x", json!("b")).unwrap();
    assert_eq!(invocation.context("a").get("x"), Some(json!("b")));
    assert_eq!(keys(&invocation.take_delta("b")), ["x"]);
    assert_eq!(keys(&invocation.take_delta("a")), ["user:y"]);
}

#[test]
fn a_context_says_the_same_through_its_traits() {
    let mut invocation = Invocation::new(SessionState::default());
    let mut context = invocation.context("a");
    let written: &mut dyn State = &mut context;
    written.set("x".to_owned(), json!(1));
    written.set("temp:t".to_owned(), json!([2]));
    assert_eq!((written.get("x"), written.get("y"), written.all().len()), (Some(json!(1)), None, 2));
    let read: &dyn ReadonlyState = &context;
    assert_eq!((read.get("x"), read.get("y"), read.has("x"), read.has("y")), (Some(json!(1)), None, true, false));
    let expected = json!({"x": 1, "temp:t": [2]});
    assert_eq!(read.to_map(), *expected.as_object().unwrap());
    assert_eq!(read.all(), expected.as_object().unwrap().clone().into_iter().collect());
    assert_eq!(context.all(), context.to_map().into_iter().collect());
    assert_eq!((context.delete("y").unwrap(), context.delete("x").unwrap(), context.has("x")), (false, true, false));
}

#[test]
fn temp_keys_live_until_the_end() {
    let mut invocation = Invocation::new(SessionState::default());
    invocation.context("a").set("temp:t", json!(1)).unwrap();
    invocation.take_delta("a");
    assert!(invocation.context("b").has("temp:t"));
    assert!(invocation.context("b").delete("temp:t").unwrap());
    assert!(!invocation.context("a").has("temp:t"));
    invocation.discard("b");
    assert!(invocation.has("temp:t"));
    invocation.end().unwrap();
    assert!(!invocation.has("temp:t"));
    let error = invocation.context("a").set("x", json!(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvocationEnded);
}

#[test]
fn ending_with_pending_writes_is_an_error_that_names_them() {
    let mut invocation = Invocation::new(SessionState::default());
    invocation.context("a").set("x", json!(1)).unwrap();
    assert!(invocation.end().unwrap_err().to_string().contains("\"x\""));
    invocation.discard_all();
    invocation.end().unwrap();
}

#[cfg(not(target_arch = "wasm32"))]
#[tokio::test]
async fn an_append_that_the_service_refuses_leaves_the_writes_pending() {
    use crate::{CreateRequest, DeleteRequest, InMemorySessionService};

    let service = InMemorySessionService::new();
    let request = CreateRequest { app_name: "app".into(), user_id: "u".into(), ..CreateRequest::default() };
    let session = service.create(request.clone()).await.unwrap();
    let mut invocation = Invocation::new(session.state().clone());
    invocation.context("a").set("x", json!(1)).unwrap();
    invocation.context("b").set("y", json!(1)).unwrap();
    let mut event = Event::new("i");
    event.actions.state_delta.insert("own".into(), json!(1));
    service.delete(DeleteRequest::new("app", "u", session.id())).await.unwrap();
    let refused = invocation.append(&service, &session, "a", event.clone()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::SessionNotFound);
    assert_eq!(invocation.get("x"), Some(json!(1)));
    assert_eq!(invocation.get("own"), None);
    let other = service.create(request).await.unwrap();
    let stored = invocation.append(&service, &other, "a", event).await.unwrap();
    assert_eq!(stored.author, "a");
    assert_eq!(stored.actions.state_delta.len(), 2);
    assert_eq!(invocation.get("own"), Some(json!(1)));
    invocation.context("b").delete("x").unwrap();
    invocation.discard("b");
    assert!(invocation.has("x"));
    invocation.end().unwrap();
    let refused = invocation.append(&service, &other, "a", Event::new("i")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvocationEnded);
}

#[test]
fn an_invocation_says_the_same_through_its_trait_and_shows_what_it_is_refreshed_with() {
    let mut invocation = Invocation::new(SessionState::default());
    invocation.context("a").set("x", json!(1)).unwrap();
    let mut committed = SessionState::default();
    committed.set("app:x", &json!(2)).unwrap();
    assert!(!invocation.has("app:x"));
    invocation.refresh(committed);
    let expected = json!({"app:x": 2, "x": 1}).as_object().unwrap().clone();
    let read: &dyn ReadonlyState = &invocation;
    assert_eq!((read.get("app:x"), read.get("y"), read.has("x"), read.has("y")), (Some(json!(2)), None, true, false));
    assert_eq!((read.to_map(), invocation.to_map()), (expected.clone(), expected.clone()));
    let all: std::collections::HashMap<_, _> = expected.into_iter().collect();
    assert_eq!((read.all(), invocation.all()), (all.clone(), all));
}

/// The delta and the operators of an event, as JSON.
fn said(event: &Event) -> (serde_json::Value, serde_json::Value) {
    let text = serde_json::to_value(event).unwrap();
    (json!(event.actions.state_delta), text["customMetadata"]["statepad"]["operators"].clone())
}

fn over(state: &[(&str, serde_json::Value)]) -> Invocation {
    let mut committed = SessionState::default();
    for (key, value) in state {
        committed.set(key, value).unwrap();
    }
    Invocation::new(committed)
}

#[test]
fn pending_operators_go_together_and_are_read_as_they_would_come_out() {
    let mut invocation = over(&[("n", json!(1)), ("text", json!("x"))]);
    let mut context = invocation.context("a");
    context.operate("n", Operator::Increment(2.0)).unwrap();
    context.operate("n", Operator::Increment(0.5)).unwrap();
    context.operate("l", Operator::append([1])).unwrap();
    context.operate("l", Operator::append(["b"])).unwrap();
    context.operate("o", Operator::set_once(1)).unwrap();
    context.operate("o", Operator::set_once(2)).unwrap();
    context.operate("text", Operator::Increment(1.0)).unwrap();
    let expected = json!({"n": 3.5, "text": "x", "l": [1, "b"], "o": 1});
    assert_eq!(context.to_map(), *expected.as_object().unwrap(), "what does not fit is passed over");
    for (key, operator, code) in [
        ("n", Operator::append([1]), "INVALID_ARGUMENT"),
        ("o", Operator::compare_and_set(None, 1), "INVALID_ARGUMENT"),
        ("n", Operator::Increment(f64::INFINITY), "VALUE_NOT_JSON"),
    ] {
        let error = context.operate(key, operator).unwrap_err();
        assert_eq!((error.code(), error.key()), (code, Some(key)), "{error}");
    }
    assert!(context.delete("text").unwrap());
    let mut event = Event::new("i");
    let sent = invocation.send("a", &mut event).unwrap();
    let operators = json!({"n": {"increment": 2.5}, "l": {"append": [1, "b"]}, "o": {"setOnce": 1}});
    assert_eq!(said(&event), (json!({"text": null}), operators));
    assert_eq!(invocation.get("n"), Some(json!(3.5)), "it is on its way");
    invocation.failed(sent);
    assert_eq!(invocation.get("n"), Some(json!(3.5)), "it is pending again");
}

#[test]
fn an_operator_over_a_pending_value_is_resolved_at_once() {
    let mut invocation = over(&[("n", json!(10)), ("gone", json!(5))]);
    let mut context = invocation.context("a");
    context.set("n", json!(1)).unwrap();
    context.operate("n", Operator::Increment(2.0)).unwrap();
    context.delete("gone").unwrap();
    context.operate("gone", Operator::append([1])).unwrap();
    let error = context.operate("n", Operator::compare_and_set(Some(json!(9)), 1)).unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::StateConflict, Some("n")));
    assert_eq!(context.operate("n", Operator::append([1])).unwrap_err().kind(), ErrorKind::InvalidArgument);
    context.operate("n", Operator::compare_and_set(Some(json!(3)), json!([]))).unwrap();
    let mut event = Event::new("i");
    let sent = invocation.send("a", &mut event).unwrap();
    assert_eq!(said(&event), (json!({"n": [], "gone": [1]}), json!(null)));
    invocation.appended(&sent, SessionState::default());
    invocation.end().unwrap();
}

#[test]
fn operators_of_several_authors_all_count() {
    let mut invocation = over(&[("n", json!(1))]);
    invocation.context("a").operate("n", Operator::Increment(1.0)).unwrap();
    invocation.context("b").operate("n", Operator::Increment(10.0)).unwrap();
    invocation.context("a").operate("n", Operator::Increment(100.0)).unwrap();
    assert_eq!(invocation.get("n"), Some(json!(112)));
    let mut event = Event::new("i");
    event.actions.operate("n", Operator::Increment(1000.0));
    let sent = invocation.send("a", &mut event).unwrap();
    assert_eq!(said(&event).1, json!({"n": {"increment": 1111}}), "with all that are pending under it");
    invocation.context("b").operate("n", Operator::Increment(0.5)).unwrap();
    let mut committed = SessionState::default();
    committed.set("n", &json!(1112)).unwrap();
    invocation.appended(&sent, committed);
    assert_eq!(invocation.get("n"), Some(json!(1112.5)), "what came later is still pending");
    assert!(invocation.end().is_err());
    assert!(invocation.take_delta("b").is_empty(), "operators need an event");
    invocation.discard("b");
    invocation.end().unwrap();
}

#[test]
fn an_event_that_has_failed_carries_the_same_operators_again() {
    let mut invocation = over(&[]);
    invocation.context("a").operate("n", Operator::Increment(1.0)).unwrap();
    let original = Event { id: "e".into(), ..Event::new("i") };
    let mut event = original.clone();
    let sent = invocation.send("a", &mut event).unwrap();
    invocation.failed(sent);
    invocation.context("a").operate("n", Operator::Increment(10.0)).unwrap();
    let mut again = original;
    let sent = invocation.send("a", &mut again).unwrap();
    assert_eq!(again, event);
    let mut committed = SessionState::default();
    committed.set("n", &json!(1)).unwrap();
    invocation.appended(&sent, committed);
    assert_eq!(invocation.get("n"), Some(json!(11)));
    let mut rest = Event::new("i");
    let sent = invocation.send("a", &mut rest).unwrap();
    assert_eq!(said(&rest).1, json!({"n": {"increment": 10}}));
    invocation.failed(sent);
}

#[test]
fn operators_of_temp_keys_are_resolved_in_the_invocation() {
    let mut invocation = over(&[]);
    invocation.context("a").operate("temp:n", Operator::Increment(1.0)).unwrap();
    let mut event = Event::new("i");
    let sent = invocation.send("a", &mut event).unwrap();
    invocation.appended(&sent, SessionState::default());
    invocation.context("a").operate("temp:n", Operator::Increment(1.0)).unwrap();
    assert_eq!(invocation.get("temp:n"), Some(json!(2)));
    let mut event = Event::new("i");
    let sent = invocation.send("a", &mut event).unwrap();
    invocation.appended(&sent, SessionState::default());
    assert_eq!(invocation.get("temp:n"), Some(json!(2)));
    invocation.context("a").operate("temp:n", Operator::append([1])).unwrap();
    let mut event = Event::new("i");
    let error = invocation.send("a", &mut event).unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::InvalidArgument, Some("temp:n")));
    invocation.discard("a");
    assert_eq!(invocation.get("temp:n"), Some(json!(2)));
    invocation.end().unwrap();
}
