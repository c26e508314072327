//! The native service, where it is more than the core: how a session is named, and that it is shared between threads.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

use std::sync::Arc;

use serde_json::{Value, json};
use statepad::{
    CreateRequest, ErrorKind, Event, GetRequest, InMemorySessionService, ListRequest, Session, SessionKey, SessionRef,
    SessionService,
};

fn request(user: &str, id: &str) -> CreateRequest {
    let session_id = Some(id.to_owned());
    CreateRequest { app_name: "app".into(), user_id: user.into(), session_id, ..CreateRequest::default() }
}

fn setting(key: &str, value: impl Into<Value>) -> Event {
    let mut event = Event::new("i");
    event.actions.state_delta.insert(key.to_owned(), value.into());
    event
}

async fn read(service: &dyn SessionService, session: &Session) -> Option<Session> {
    let SessionKey { app_name, user_id, session_id } = session.key().clone();
    service.get(GetRequest { app_name, user_id, session_id, ..GetRequest::default() }).await.unwrap()
}

#[tokio::test]
async fn an_event_is_appended_by_id_by_key_or_by_session() {
    let service = InMemorySessionService::new();
    let session = service.create(request("ana", "s")).await.unwrap();
    service.append_event("s", setting("a", 1)).await.unwrap();
    service.append_event(&"s".to_owned(), setting("b", 2)).await.unwrap();
    service.append_event(session.key(), setting("c", 3)).await.unwrap();
    service.append_event(&session, setting("d", 4)).await.unwrap();
    service.append_event(session.id(), setting("e", 5)).await.unwrap();
    let read = read(&service, &session).await.unwrap();
    assert_eq!(Value::Object(read.state().to_map()), json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}));
    assert_eq!(read.revision(), 5);
}

#[tokio::test]
async fn an_id_that_two_users_have_must_be_named_with_its_key() {
    let service = InMemorySessionService::new();
    let ana = service.create(request("ana", "s")).await.unwrap();
    let bob = service.create(request("bob", "s")).await.unwrap();
    let error = service.append_event("s", setting("x", 1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("\"s\""), "{error}");
    for session in [&ana, &bob] {
        assert_eq!(read(&service, session).await.unwrap().revision(), 0);
    }
    service.append_event(&bob, setting("x", 1)).await.unwrap();
    assert!(!read(&service, &ana).await.unwrap().state().has("x"));
    service.delete(ana.key().clone()).await.unwrap();
    service.append_event("s", setting("x", 2)).await.unwrap();
    assert_eq!(read(&service, &bob).await.unwrap().state().get("x"), Some(json!(2)));
}

#[tokio::test]
async fn an_id_that_nobody_has_is_not_found() {
    let service = InMemorySessionService::new();
    let session = service.create(request("ana", "s")).await.unwrap();
    service.delete(session.key().clone()).await.unwrap();
    for named in [SessionRef::Id("s"), SessionRef::Id("t"), SessionRef::Key(session.key()), SessionRef::from(&session)]
    {
        let error = service.append(named, setting("x", 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SessionNotFound);
    }
    assert!(read(&service, &session).await.is_none());
}

#[tokio::test]
async fn a_service_is_shared_as_a_trait_object() {
    let service: Arc<dyn SessionService> = Arc::new(InMemorySessionService::new());
    let session = service.create(request("ana", "s")).await.unwrap();
    let event = service.append(session.id().into(), setting("user:x", 1)).await.unwrap();
    assert!(!event.id.is_empty());
    let other = service.create(request("ana", "t")).await.unwrap();
    assert_eq!(other.state().get("user:x"), Some(json!(1)));
    let all = service.list(ListRequest { app_name: "app".into(), ..ListRequest::default() }).await.unwrap();
    assert_eq!(all.sessions.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_from_many_tasks_are_all_there() {
    let service: Arc<dyn SessionService> = Arc::new(InMemorySessionService::new());
    let session = service.create(request("ana", "s")).await.unwrap();
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let (service, key) = (Arc::clone(&service), session.key().clone());
            let event = setting(&format!("app:k{number}"), number);
            tokio::spawn(async move { service.append(SessionRef::Key(&key), event).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let read = read(&*service, &session).await.unwrap();
    assert_eq!((read.revision(), read.events().len(), read.state().all().len()), (100, 100, 100));
}

#[tokio::test]
async fn a_session_that_was_read_does_not_move() {
    let service = InMemorySessionService::new();
    let before = service.create(request("ana", "s")).await.unwrap();
    service.append_event(&before, setting("app:x", 1)).await.unwrap();
    let after = read(&service, &before).await.unwrap();
    service.delete(before.key().clone()).await.unwrap();
    assert_eq!((before.revision(), before.events().len(), before.state().has("app:x")), (0, 0, false));
    assert_eq!((after.revision(), after.events().len(), after.state().has("app:x")), (1, 1, true));
}

#[tokio::test]
async fn a_creation_is_told_with_its_time_and_an_event_is_the_one_that_is_stored() {
    let service = InMemorySessionService::new();
    let mut creation = request("ana", "s");
    creation.state.insert("x".to_owned(), json!(0));
    let created = service.create(creation).await.unwrap();
    service.append_event(&created, setting("x", 1)).await.unwrap();
    let session = read(&service, &created).await.unwrap();
    let history = service.history(&session, "x").await.unwrap();
    let [first, second] = &history[..] else { panic!("two writes: {history:?}") };
    assert_eq!((first.timestamp, &first.event), (created.last_update_time(), &None));
    assert!(Arc::ptr_eq(second.event.as_ref().unwrap(), &session.events()[0]));
    assert_eq!((second.revision, second.timestamp), (1, session.last_update_time()));
}

#[tokio::test]
async fn the_past_is_caught_up_by_what_comes_after_it_was_asked_for() {
    let service: Arc<dyn SessionService> = Arc::new(InMemorySessionService::new());
    let created = service.create(request("ana", "s")).await.unwrap();
    for number in 1..=20_u64 {
        service.append((&created).into(), setting("x", number)).await.unwrap();
        let session = read(&*service, &created).await.unwrap();
        let history = service.history(&session, "x").await.unwrap();
        assert_eq!(history.iter().map(|entry| entry.revision).collect::<Vec<_>>(), (1..=number).collect::<Vec<_>>());
        assert_eq!(
            service.state_at(&session, number - 1).await.unwrap().get("x").cloned().unwrap_or(json!(0)),
            number - 1
        );
    }
    assert_eq!(service.history(&created, "x").await.unwrap(), []);
}

#[tokio::test]
async fn the_past_ends_with_its_session() {
    let service = InMemorySessionService::new();
    let old = service.create(request("ana", "s")).await.unwrap();
    service.append_event(&old, setting("x", 1)).await.unwrap();
    service.history(&old, "x").await.unwrap();
    service.delete(old.key().clone()).await.unwrap();
    assert_gone(&service, &old).await;
    let new = service.create(request("ana", "s")).await.unwrap();
    assert_gone(&service, &old).await;
    assert_eq!(service.history(&new, "x").await.unwrap(), []);
}

async fn assert_gone(service: &InMemorySessionService, session: &Session) {
    assert_eq!(service.state_at(session, 0).await.unwrap_err().kind(), ErrorKind::SessionNotFound);
    assert_eq!(service.history(session, "x").await.unwrap_err().kind(), ErrorKind::SessionNotFound);
}

#[tokio::test]
async fn a_time_that_is_no_number_is_refused() {
    let service = InMemorySessionService::new();
    let session = service.create(request("ana", "s")).await.unwrap();
    for time in [f64::NAN, f64::INFINITY] {
        let event = Event { timestamp: Some(time), ..setting("x", 1) };
        let error = service.append_event(&session, event).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
    let request = GetRequest { after_timestamp: Some(f64::NAN), ..GetRequest::default() };
    assert_eq!(service.get(request).await.unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(read(&service, &session).await.unwrap().revision(), 0);
}

#[test]
fn an_event_deletes_a_key_whatever_its_metadata_is() {
    for own in
        [json!({}), json!({"deleted": ["a"]}), json!({"note": 1}), json!("text"), json!(7), json!([]), Value::Null]
    {
        let mut event = Event::new("i");
        event.custom_metadata.insert("statepad".to_owned(), own);
        event.actions.state_delta.insert("a".to_owned(), Value::Null);
        event.delete("user:x");
        let deleted = event.custom_metadata["statepad"]["deleted"].as_array().unwrap();
        assert!(deleted.contains(&json!("user:x")));
        assert!(event.delta().is_ok());
    }
}

#[test]
fn an_event_reads_and_writes_the_json_of_adk() {
    let text = json!({
        "id": "e", "invocationId": "i", "author": "bot", "timestamp": 5.5, "branch": "a.b", "turnComplete": true,
        "content": {"role": "model", "parts": [{"text": "hi"}]},
        "actions": {"stateDelta": {"x": null}, "artifactDelta": {"f": 1}, "escalate": true},
        "partial": true, "customMetadata": {"statepad": {"deleted": ["x"]}, "mine": 1},
    });
    let event: Event = serde_json::from_value(text.clone()).unwrap();
    assert!(event.partial);
    assert_eq!(serde_json::to_value(&event).unwrap(), text);
}
