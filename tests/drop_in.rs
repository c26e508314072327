//! Programs in the documented style of adk-rust: but for the crate's name nothing in them is this crate's own. Each is
//! a whole program, with its own imports and its own `main`.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::uninlined_format_args, reason = "written as adk-rust's documentation writes it")]
#![allow(clippy::unwrap_used, reason = "a test may panic: that is how it fails")]

/// The quick start: initial state under a user's key, read without an import of any trait of states.
mod quick_start {
    use serde_json::json;
    use statepad::{CreateRequest, InMemorySessionService, KEY_PREFIX_USER, SessionService};
    use std::collections::HashMap;

    #[tokio::test]
    async fn main() -> anyhow::Result<()> {
        let service = InMemorySessionService::new();

        let mut initial_state = HashMap::new();
        initial_state.insert(format!("{}name", KEY_PREFIX_USER), json!("Alice"));

        let session = service
            .create(CreateRequest {
                app_name: "my_app".to_string(),
                user_id: "user_123".to_string(),
                session_id: None,
                state: initial_state,
            })
            .await?;

        let name = session.state().get("user:name");
        assert_eq!(name, Some(json!("Alice")));
        assert_eq!((session.app_name(), session.user_id()), ("my_app", "user_123"));
        assert_eq!(session.id().len(), 36);
        Ok(())
    }
}

/// State of three scopes, and a second session that inherits two of them.
mod scopes {
    use serde_json::json;
    use statepad::{
        CreateRequest, DeleteRequest, InMemorySessionService, KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER,
        SessionService,
    };
    use std::collections::HashMap;

    #[tokio::test]
    async fn main() -> anyhow::Result<()> {
        let service = InMemorySessionService::new();

        let mut state1 = HashMap::new();
        state1.insert(format!("{KEY_PREFIX_APP}theme"), json!("dark"));
        state1.insert(format!("{KEY_PREFIX_USER}language"), json!("en"));
        state1.insert(format!("{KEY_PREFIX_TEMP}step"), json!(1));
        state1.insert("context".to_string(), json!("session1"));
        let session1 = service
            .create(CreateRequest {
                app_name: "my_app".to_string(),
                user_id: "alice".to_string(),
                session_id: Some("s1".to_string()),
                state: state1,
            })
            .await?;

        let mut state2 = HashMap::new();
        state2.insert("context".to_string(), json!("session2"));
        let session2 = service
            .create(CreateRequest {
                app_name: "my_app".to_string(),
                user_id: "alice".to_string(),
                session_id: Some("s2".to_string()),
                state: state2,
            })
            .await?;

        let s2_state = session2.state();
        assert_eq!(s2_state.get("app:theme"), Some(json!("dark")));
        assert_eq!(s2_state.get("user:language"), Some(json!("en")));
        assert_eq!(s2_state.get("context"), Some(json!("session2")));
        assert_eq!(s2_state.get("temp:step"), None);

        let mut all_state: Vec<_> = session1.state().all().into_iter().collect();
        all_state.sort_by(|(a, _), (b, _)| a.cmp(b));
        let expected = [("app:theme", json!("dark")), ("context", json!("session1")), ("user:language", json!("en"))];
        assert_eq!(all_state, expected.map(|(key, value)| (key.to_string(), value)));

        service
            .delete(DeleteRequest {
                app_name: "my_app".to_string(),
                user_id: "alice".to_string(),
                session_id: "s1".to_string(),
            })
            .await?;
        Ok(())
    }
}

/// A delta in an event, appended through a service that is shared as a trait object.
mod events {
    use serde_json::json;
    use statepad::{CreateRequest, Event, EventActions, GetRequest, InMemorySessionService, SessionService};
    use std::collections::HashMap;
    use std::sync::Arc;

    async fn run(service: Arc<dyn SessionService>) -> anyhow::Result<()> {
        let session = service
            .create(CreateRequest {
                app_name: "my_app".to_string(),
                user_id: "user_123".to_string(),
                session_id: Some("session_abc".to_string()),
                state: HashMap::from([("topic".to_string(), json!("Getting started"))]),
            })
            .await?;
        if let Some(value) = session.state().get("topic") {
            println!("Topic: {}", value);
        }

        let mut state_delta = HashMap::new();
        state_delta.insert("counter".to_string(), json!(42));
        state_delta.insert("user:last_seen".to_string(), json!("2024-01-15"));
        let mut event = Event::new("invocation_123");
        event.author = "assistant".to_string();
        event.actions = EventActions { state_delta, ..Default::default() };
        service.append_event(session.id(), event).await?;

        let mut event = Event::new("invocation_124");
        event.actions.state_delta.insert("counter".to_string(), json!(43));
        service.append_event(session.id(), event).await?;

        let request = GetRequest {
            app_name: "my_app".to_string(),
            user_id: "user_123".to_string(),
            session_id: "session_abc".to_string(),
            ..Default::default()
        };
        let session = service.get(request).await?.ok_or_else(|| anyhow::anyhow!("the session is gone"))?;
        assert_eq!(session.state().get("counter"), Some(json!(43)));
        assert_eq!(session.state().get("user:last_seen"), Some(json!("2024-01-15")));
        assert_eq!(session.events().len(), 2);

        let error: anyhow::Error = service.append_event("nobody", Event::new("i")).await.unwrap_err().into();
        assert_eq!(error.to_string(), "session \"nobody\" not found");
        assert!(error.downcast_ref::<statepad::Error>().is_some());
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn main() -> anyhow::Result<()> {
        // In a task of its own: all futures and all answers can be sent.
        tokio::spawn(run(Arc::new(InMemorySessionService::new()))).await?
    }
}

/// The two traits, implemented by a program, used as trait objects and by functions over any state.
mod own_states {
    use serde_json::{Value, json};
    use statepad::{CreateRequest, InMemorySessionService, ReadonlyState, SessionService, State, Template};
    use std::collections::HashMap;
    use std::sync::{Arc, RwLock};

    #[derive(Default)]
    struct MyState {
        values: HashMap<String, Value>,
    }

    impl State for MyState {
        fn get(&self, key: &str) -> Option<Value> {
            self.values.get(key).cloned()
        }

        fn set(&mut self, key: String, value: Value) {
            self.values.insert(key, value);
        }

        fn all(&self) -> HashMap<String, Value> {
            self.values.clone()
        }
    }

    struct Shared(Arc<RwLock<MyState>>);

    impl ReadonlyState for Shared {
        fn get(&self, key: &str) -> Option<Value> {
            State::get(&*self.0.read().unwrap(), key)
        }

        fn all(&self) -> HashMap<String, Value> {
            State::all(&*self.0.read().unwrap())
        }
    }

    fn count(state: &mut dyn State) -> u64 {
        let next = state.get("count").and_then(|count| count.as_u64()).unwrap_or(0) + 1;
        state.set("count".to_string(), json!(next));
        next
    }

    fn describe<S: State + ?Sized>(state: &S) -> String {
        let mut keys: Vec<_> = state.all().into_keys().collect();
        keys.sort();
        keys.join(" ")
    }

    #[tokio::test]
    async fn main() -> anyhow::Result<()> {
        let mut own = MyState::default();
        assert_eq!((count(&mut own), count(&mut own)), (1, 2));

        let service = InMemorySessionService::new();
        let session = service
            .create(CreateRequest {
                app_name: "my_app".to_string(),
                user_id: "user_123".to_string(),
                session_id: None,
                state: State::all(&own),
            })
            .await?;
        assert_eq!(describe(session.state()), "count");
        let state: &dyn State = session.state();
        assert_eq!(state.get("count"), Some(json!(2)));
        let mut copy = session.state().clone();
        assert_eq!(count(&mut copy), 3);
        assert_eq!(session.state().get("count"), Some(json!(2)), "a copy is a copy");

        let shared = Shared(Arc::new(RwLock::new(own)));
        let readonly: &dyn ReadonlyState = &shared;
        assert_eq!(Template::parse("{count} {missing?}").render(readonly)?, "2 ");
        Ok(())
    }
}

#[test]
fn all_that_a_program_holds_can_be_sent_and_shared() {
    fn is<T: Send + Sync + 'static>() {}
    is::<statepad::Error>();
    is::<statepad::InMemorySessionService>();
    is::<statepad::Session>();
    is::<statepad::SessionState>();
    is::<statepad::Event>();
    is::<statepad::Invocation>();
    is::<statepad::Template>();
    is::<statepad::engine::Sessions>();
    is::<statepad::StateDraft>();
    is::<Box<dyn statepad::State>>();
    is::<Box<dyn statepad::ReadonlyState>>();
}
