//! Creates app, user and session state in one session and shows the next session inheriting the first two.
//!
//! Run with `cargo run --example scopes`.

use std::collections::HashMap;

use serde_json::{Value, json};
use statepad::{
    CreateRequest, Event, EventActions, GetRequest, InMemorySessionService, KEY_PREFIX_APP, KEY_PREFIX_TEMP,
    KEY_PREFIX_USER, Result, Session, SessionService, Template,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let service = InMemorySessionService::new();

    let mut state = HashMap::new();
    state.insert(format!("{KEY_PREFIX_APP}motto"), json!("ask first"));
    state.insert(format!("{KEY_PREFIX_USER}name"), json!("Ana"));
    state.insert("topic".into(), json!("tides"));
    let first = service.create(request("monday", state)).await?;
    show("monday, created", &first);

    let mut state_delta = HashMap::new();
    state_delta.insert(format!("{KEY_PREFIX_USER}level"), json!(2));
    state_delta.insert(format!("{KEY_PREFIX_TEMP}draft"), json!("never stored"));
    state_delta.insert("topic".into(), json!("the moon"));
    let actions = EventActions { state_delta, ..Default::default() };
    let event = Event { author: "tutor".into(), actions, ..Event::new("inv-1") };
    service.append_event(first.id(), event).await?;

    let get = GetRequest {
        app_name: first.app_name().into(),
        user_id: first.user_id().into(),
        session_id: first.id().into(),
        ..Default::default()
    };
    if let Some(again) = service.get(get).await? {
        show("monday, after an event", &again);
    }

    let second = service.create(request("tuesday", HashMap::new())).await?;
    show("tuesday, created", &second);

    let template = Template::parse("Teach {user:name} at level {user:level}. Topic: {topic?}. Motto: {app:motto}.");
    println!("\ninstruction: {}", template.render(second.state())?);
    Ok(())
}

fn request(session_id: &str, state: HashMap<String, Value>) -> CreateRequest {
    CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), session_id: Some(session_id.into()), state }
}

fn show(title: &str, session: &Session) {
    println!("{title} (revision {}, {} events)", session.revision(), session.events().len());
    for (key, value) in session.state().to_map() {
        println!("  {key:<12} {value}");
    }
}
