//! Programs outside of the crate that make states, a service, sessions and errors of their own: they use nothing that
//! only this crate can reach.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

use std::collections::{BTreeMap, HashMap};
use std::error::Error as _;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use statepad::{
    CreateRequest, DeleteRequest, Error, ErrorKind, Event, GetRequest, HistoryEntry, Invocation, ListRequest,
    ListResponse, Missing, OrderedCreateRequest, ReadonlyState, Result, Session, SessionKey, SessionRef,
    SessionService, SessionState, State, StateDraft, StateRef, Template, UpdateOptions,
};

#[path = "support/service_over.rs"]
mod service_over;
use service_over::service_over;

/// A state that shouts all that it is given.
#[derive(Default)]
struct Loud(HashMap<String, Value>);

impl ReadonlyState for Loud {
    fn get(&self, key: &str) -> Option<Value> {
        self.0.get(key).cloned()
    }

    fn all(&self) -> HashMap<String, Value> {
        self.0.clone()
    }
}

impl State for Loud {
    fn get(&self, key: &str) -> Option<Value> {
        ReadonlyState::get(self, key)
    }

    fn set(&mut self, key: String, value: Value) {
        self.0.insert(key, json!(value.as_str().unwrap_or_default().to_uppercase()));
    }

    fn all(&self) -> HashMap<String, Value> {
        ReadonlyState::all(self)
    }
}

#[test]
fn a_template_renders_a_state_that_a_program_has_made() {
    let mut state = Loud::default();
    let written: &mut dyn State = &mut state;
    written.set("user:name".into(), json!("Ana"));
    assert_eq!((written.get("user:name"), written.all().len()), (Some(json!("ANA")), 1));
    assert_eq!(Template::parse("Hi {user:name}{x?}").render(&state).unwrap(), "Hi ANA");
    let error = Template::parse("Hi {user:nme}").render(&state as &dyn ReadonlyState).unwrap_err();
    let message = r#"values are missing for the template: "user:nme" (line 1, column 4, did you mean "user:name"?)"#;
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_error_has_a_kind_a_message_details_and_a_source() {
    let cause = std::io::Error::other("connection reset");
    let error = Error::new(ErrorKind::SessionStale, "it has moved on")
        .with_id("s")
        .with_key("user:x")
        .with_revisions(3, 4)
        .with_missing(vec![Missing::new("topik", 1, 2).with_nearest("topic")])
        .with_source(cause);
    assert_eq!((error.code(), error.to_string().as_str()), ("SESSION_STALE", "it has moved on"));
    assert_eq!((error.id(), error.key()), (Some("s"), Some("user:x")));
    assert_eq!((error.expected(), error.actual()), (Some(3), Some(4)));
    assert_eq!((error.missing()[0].line, error.missing()[0].nearest.as_deref()), (1, Some("topic")));
    let source = error.source().unwrap();
    assert!(source.downcast_ref::<std::io::Error>().is_some_and(|cause| cause.to_string() == "connection reset"));
    let copy: anyhow::Error = error.clone().into();
    assert_eq!(copy.chain().map(ToString::to_string).collect::<Vec<_>>(), ["it has moved on", "connection reset"]);
    assert!(Error::new(ErrorKind::Closed, "the service is closed").source().is_none());
}

#[test]
fn errors_of_this_crate_say_what_has_caused_them() {
    let error = statepad::Delta::parse("{", &[]).unwrap_err();
    assert_eq!(error.to_string(), "a state delta is not the text of a JSON object");
    assert!(error.source().and_then(|source| source.downcast_ref::<serde_json::Error>()).is_some());
    let mut event = Event::new("i");
    event.custom_metadata.insert("statepad".into(), json!({"deleted": 1}));
    assert!(event.delta().unwrap_err().source().is_some());
}

/// A service that keeps whole sessions under their keys.
#[derive(Default)]
struct Shelf {
    sessions: Mutex<BTreeMap<SessionKey, Session>>,
    is_down: bool,
}

impl Shelf {
    fn open(&self) -> Result<MutexGuard<'_, BTreeMap<SessionKey, Session>>> {
        if self.is_down {
            let cause = std::io::Error::other("connection reset");
            return Err(Error::new(ErrorKind::StoreUnavailable, "the shelf is out of reach").with_source(cause));
        }
        Ok(self.sessions.lock().unwrap())
    }

    fn find(&self, session: SessionRef<'_>) -> Result<Session> {
        let sessions = self.open()?;
        let stored = match session {
            SessionRef::Id(id) => sessions.values().find(|session| session.id() == id),
            SessionRef::Key(key) => sessions.get(key),
            other => return Err(Error::new(ErrorKind::InvalidArgument, format!("{other:?} names no session here"))),
        };
        stored.cloned().ok_or_else(|| Error::new(ErrorKind::SessionNotFound, "there is no such session"))
    }
}

#[async_trait]
impl SessionService for Shelf {
    async fn create_ordered(&self, request: OrderedCreateRequest) -> Result<Session> {
        let OrderedCreateRequest { app_name, user_id, session_id, state } = request;
        let mut values = SessionState::default();
        for (key, value) in &state {
            values.set(key, value)?;
        }
        let key = SessionKey::new(app_name, user_id, session_id.unwrap_or_else(|| "new".into()));
        let session = Session::new(key.clone()).with_state(values).with_last_update_time(1.0).with_serial(1);
        self.open()?.insert(key, session.clone());
        Ok(session)
    }

    async fn get(&self, request: GetRequest) -> Result<Option<Session>> {
        let GetRequest { app_name, user_id, session_id, .. } = request;
        Ok(self.open()?.get(&SessionKey { app_name, user_id, session_id }).cloned())
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse> {
        let sessions = self.open()?;
        let of_app = |session: &&Session| session.app_name() == request.app_name;
        let all: Vec<_> = sessions.values().filter(of_app).cloned().collect();
        let total = all.len();
        let mut page = ListResponse::new(all.into_iter().take(request.limit.unwrap_or(total)).collect(), total);
        page.cursor = (page.sessions.len() < total).then(|| "more".into());
        Ok(page)
    }

    async fn delete(&self, request: DeleteRequest) -> Result<()> {
        self.open()?.remove(&request);
        Ok(())
    }

    async fn append_expecting(
        &self,
        session: SessionRef<'_>,
        event: Event,
        expected_revision: Option<u64>,
    ) -> Result<Event> {
        event.check_names()?;
        let session = self.find(session)?;
        if let Some(expected) = expected_revision.filter(|expected| *expected != session.revision()) {
            let stale = Error::new(ErrorKind::SessionStale, "the session has moved on");
            return Err(stale.with_id(session.id()).with_revisions(expected, session.revision()));
        }
        let event = event.as_stored();
        let mut state = session.state().clone();
        state.apply(&event.delta()?);
        let mut events = session.events().to_vec();
        events.push(Arc::new(event.clone()));
        let next = session.clone().with_state(state).with_events(events).with_revision(session.revision() + 1);
        self.open()?.insert(next.key().clone(), next);
        Ok(event)
    }

    async fn update(
        &self,
        target: StateRef<'_>,
        options: UpdateOptions,
        function: &mut (dyn for<'s> FnMut(&'s mut StateDraft) -> Result<()> + Send),
    ) -> Result<SessionState> {
        let StateRef::Session(key) = target else {
            return Err(Error::new(ErrorKind::InvalidArgument, "sessions alone can be updated here"));
        };
        for _ in 0..options.attempts {
            let mut draft = StateDraft::new(self.find(key.into())?.state().clone());
            function(&mut draft)?;
            let now = self.find(key.into())?;
            if !draft.holds_in(now.state()) {
                continue;
            }
            let mut state = now.state().clone();
            state.apply(&draft.delta());
            if !draft.is_empty() {
                self.open()?.insert(key.clone(), now.with_state(state.clone()));
            }
            return Ok(state);
        }
        Err(Error::new(ErrorKind::StateConflict, "others came between each time"))
    }

    async fn state_at(&self, session: &Session, _revision: u64) -> Result<Map<String, Value>> {
        Ok(session.state().to_map())
    }

    async fn history(&self, session: &Session, key: &str) -> Result<Vec<HistoryEntry>> {
        let mut entry = HistoryEntry::new(session.revision(), session.last_update_time());
        entry.to = session.state().get(key);
        entry.event = session.events().last().cloned();
        Ok(vec![entry])
    }
}

fn request(id: &str) -> CreateRequest {
    let state = HashMap::from([("n".to_owned(), json!(1)), ("gone".to_owned(), json!(2))]);
    CreateRequest { app_name: "app".into(), user_id: "u".into(), session_id: Some(id.into()), state }
}

#[tokio::test]
async fn a_service_of_a_program_serves_like_any_other() {
    let service: Arc<dyn SessionService> = Arc::new(Shelf::default());
    let session = service.create(request("s")).await.unwrap();
    service.create(request("t")).await.unwrap();
    let mut event = Event { id: "e".into(), ..Event::new("i") };
    event.actions.set("user:x", 3);
    event.delete("gone");
    service.append_event(&session, event).await.unwrap();
    let refused = service.append_expecting((&session).into(), Event::new("i"), Some(0)).await.unwrap_err();
    assert_eq!((refused.kind(), refused.actual()), (ErrorKind::SessionStale, Some(1)));
    let near_miss: Event = serde_json::from_value(json!({"state_delta": {}})).unwrap();
    assert_eq!(service.append_event("s", near_miss).await.unwrap_err().kind(), ErrorKind::InvalidArgument);

    let state = service.update_state(StateRef::Session(session.key()), |state| state.set("n", 2)).await.unwrap();
    assert_eq!(state.to_map(), *json!({"n": 2, "user:x": 3}).as_object().unwrap());
    let page = service.list(ListRequest { app_name: "app".into(), limit: Some(1), ..ListRequest::default() }).await;
    assert_eq!(page.map(|page| (page.sessions.len(), page.total, page.cursor)).unwrap(), (1, 2, Some("more".into())));

    let mut invocation = Invocation::new(session.state().clone()).with_id("inv-7");
    invocation.context("writer").set("draft", json!("done")).unwrap();
    let stored = invocation.append(&*service, &session, "writer", Event::default()).await.unwrap();
    assert_eq!((stored.invocation_id.as_str(), &stored.actions.state_delta["draft"]), ("inv-7", &json!("done")));
    let key = session.key().clone();
    let read = service.get(GetRequest {
        app_name: key.app_name,
        user_id: key.user_id,
        session_id: key.session_id,
        ..GetRequest::default()
    });
    let history = service.history(&read.await.unwrap().unwrap(), "draft").await.unwrap();
    assert_eq!((history[0].revision, history[0].to.as_ref()), (2, Some(&json!("done"))));
}

#[tokio::test]
async fn an_update_of_a_programs_service_runs_again_when_what_it_has_read_has_changed() {
    let service = Shelf::default();
    let session = service.create(request("s")).await.unwrap();
    let mut runs = 0;
    let mut other = session.state().clone();
    other.set("n", &json!(10)).unwrap();
    let state = service.update_state(StateRef::Session(session.key()), |state| {
        runs += 1;
        let n: i64 = state.all().get("n").and_then(Value::as_i64).unwrap();
        if runs == 1 {
            let changed = session.clone().with_state(other.clone());
            service.sessions.lock().unwrap().insert(session.key().clone(), changed);
        }
        state.set("n", n + 1)
    });
    assert_eq!((state.await.unwrap().get("n"), runs), (Some(json!(11)), 2));
}

#[tokio::test]
async fn a_store_that_fails_is_told_with_its_cause_through_any_pointer() {
    let service: Box<dyn SessionService> = Box::new(Shelf { is_down: true, ..Shelf::default() });
    let error = service.append_event("s", Event::new("i")).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::StoreUnavailable, "STORE_UNAVAILABLE"));
    assert_eq!(error.source().unwrap().to_string(), "connection reset");
}

/// A service that counts what is appended, and has the rest done by another.
struct Counting<S>(S, Mutex<u32>);

service_over!([<S: SessionService>] Counting<S>, 0, {
    async fn append(&self, session: SessionRef<'_>, event: Event) -> Result<Event> {
        *self.1.lock().unwrap() += 1;
        self.0.append(session, event).await
    }

    async fn append_expecting(&self, session: SessionRef<'_>, event: Event, revision: Option<u64>) -> Result<Event> {
        self.0.append_expecting(session, event, revision).await
    }
});

#[tokio::test]
async fn a_pointer_to_a_service_calls_the_methods_that_the_service_has_of_its_own() {
    let counting = Counting(Shelf::default(), Mutex::new(0));
    let session = counting.create(request("s")).await.unwrap();
    let pointer: &dyn SessionService = &counting;
    Box::new(pointer).append_event(&session, Event::new("i")).await.unwrap();
    assert_eq!(*counting.1.lock().unwrap(), 1);
}
