//! Forks that fail, over a service that refuses events from some moment on.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;
use statepad::{
    CreateRequest, Error, ErrorKind, Event, InMemorySessionService, ListRequest, Result, SessionRef, SessionService,
};

#[path = "support/block_on.rs"]
mod block_on;
#[path = "support/service_over.rs"]
mod service_over;
use block_on::block_on;
use service_over::service_over;

/// A service in memory that takes so many more events.
struct Tired {
    inner: InMemorySessionService,
    remaining: AtomicI64,
}

service_over!([] Tired, inner, {
    async fn append_expecting(&self, session: SessionRef<'_>, event: Event, revision: Option<u64>) -> Result<Event> {
        if self.remaining.fetch_sub(1, Ordering::SeqCst) > 0 {
            self.inner.append_expecting(session, event, revision).await
        } else {
            Err(Error::new(ErrorKind::StoreUnavailable, "the disk is full"))
        }
    }
});

fn names(service: &Tired) -> Vec<String> {
    let request = ListRequest { app_name: "app".into(), ..ListRequest::default() };
    let mut names: Vec<_> =
        block_on(service.list(request)).unwrap().sessions.iter().map(|session| session.id().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_fork_that_fails_leaves_no_session_and_its_id_is_free() {
    for allowed in 0..3 {
        let service = Tired { inner: InMemorySessionService::new(), remaining: AtomicI64::new(2) };
        let state = [("k".to_owned(), json!(1)), ("app:n".to_owned(), json!(1))].into();
        let (app_name, user_id, session_id) = ("app".into(), "u".into(), Some("s".into()));
        let session = block_on(service.create(CreateRequest { app_name, user_id, session_id, state })).unwrap();
        for number in 0..2 {
            let mut event = Event::new("i");
            event.actions.set("k", json!(number));
            block_on(service.append_event(&session, event)).unwrap();
        }
        // A fork appends both events, and one that says where it comes from.
        service.remaining.store(allowed, Ordering::SeqCst);
        let failed = block_on(service.fork(&session, None, Some("f".into()))).unwrap_err();
        assert_eq!((failed.kind(), failed.to_string().as_str()), (ErrorKind::StoreUnavailable, "the disk is full"));
        assert_eq!(names(&service), ["s"], "{allowed} events were taken");
        service.remaining.store(3, Ordering::SeqCst);
        let fork = block_on(service.fork(&session, None, Some("f".into()))).unwrap();
        assert_eq!((fork.revision(), fork.state().to_map()["k"].clone()), (3, json!(1)));
        assert_eq!(names(&service), ["f", "s"]);
    }
}
