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
    let wanted = json!({"x": 1, "temp:t": [2]});
    assert_eq!(read.to_map(), *wanted.as_object().unwrap());
    assert_eq!(read.all(), wanted.as_object().unwrap().clone().into_iter().collect());
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
    let wanted = json!({"app:x": 2, "x": 1}).as_object().unwrap().clone();
    let read: &dyn ReadonlyState = &invocation;
    assert_eq!((read.get("app:x"), read.get("y"), read.has("x"), read.has("y")), (Some(json!(2)), None, true, false));
    assert_eq!((read.to_map(), invocation.to_map()), (wanted.clone(), wanted.clone()));
    let all: std::collections::HashMap<_, _> = wanted.into_iter().collect();
    assert_eq!((read.all(), invocation.all()), (all.clone(), all));
}
