//! A new session that goes on from a moment of another one.

use std::rc::Rc;

use js_sys::{Array, Reflect};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use super::backend::{Backend, Plan};
use super::checks::refuse_aborted;
use super::errors::not_found;
use super::event::{Fill, admit_event_of};
use super::expiry::End;
use super::host::{Answer, parse, stringify};
use super::memory::{Memory, Step};
use super::requests::EventWindow;
use super::session_query::SessionQuery;
use super::unfinished::unfinished_id;
use super::walk::adk_event;
use crate::change::{Guard, SessionKey};
use crate::native::{is_own, keep_own_in, origin};
use crate::session_log::SessionLog;

/// A fork that is asked for.
pub(super) struct Fork {
    /// The revision; the last one, when it is `undefined`.
    pub(super) at: JsValue,
    pub(super) session_id: Option<String>,
    pub(super) end: End,
}

/// See `SessionService.fork`.
pub(super) async fn fork(
    backend: Rc<Backend>,
    query: SessionQuery,
    Fork { at, session_id, end }: Fork,
) -> Answer<JsValue> {
    let _permit = backend.permit().await?;
    refuse_aborted(&query.signal)?;
    let id = query.id(&backend)?;
    let revision = {
        let memory = backend.memory.borrow();
        let last = memory.sessions.log(id).map_or(0, SessionLog::revision);
        if at.is_undefined() { last } else { query.check(&at, last, "at")? }
    };
    let (events, state) = {
        let mut memory = backend.memory.borrow_mut();
        (memory.events_from(id, 0), memory.log_of(id)?.creation.delta.session.clone())
    };
    let session_id = session_id.filter(|id| !id.trim().is_empty()).unwrap_or_else(|| backend.id());
    let key = SessionKey { session_id, ..query.key.clone() };
    let created = unfinished_id(revision + 1, &backend.id());
    backend.memory.borrow().damage.check_session(&key)?;
    remove_begun(&backend, &key).await?;
    let now = backend.now()?;
    let (lifetime, limits) = (end.lifetime(&backend, now)?, &backend.limits);
    let change = backend.memory.borrow().prepare_create(&key, now, state, &[], limits)?;
    make(&backend, Step::Create { key: key.clone(), created: created.clone(), change, lifetime }).await?;
    let filled = fill(&backend, &query, &key, &created, &events, revision).await;
    if let Err(thrown) = filled {
        // The caller gets the error of the fork.
        let _ = take_back(&backend, key, created).await;
        return Err(thrown);
    }
    let session = backend.open(&key, EventWindow::default())?;
    if session.is_undefined() { Err(not_found(&key.session_id)) } else { Ok(session) }
}

async fn make(backend: &Backend, step: Step) -> Answer<()> {
    backend.make(Plan { step: Some(step), answer: Box::new(|_| Ok(JsValue::UNDEFINED)) }).await.map(drop)
}

/// Deletes what an earlier fork to this key has left behind before it was whole.
async fn remove_begun(backend: &Backend, key: &SessionKey) -> Answer<()> {
    let begun = |memory: &Memory| memory.find(key).is_some_and(|id| memory.is_unfinished(id));
    let is_there = begun(&backend.memory.borrow());
    if is_there { make(backend, Step::Remove { key: key.clone() }).await } else { Ok(()) }
}

/// Deletes what a fork that has failed has left behind. After a lost answer only the log knows what that is.
async fn take_back(backend: &Backend, key: SessionKey, created: String) -> Answer<()> {
    backend.read().await?;
    let is_there = backend.memory.borrow().find_created(&key, &created).is_some();
    if is_there { make(backend, Step::Remove { key }).await } else { Ok(()) }
}

/// Gives a new session the events of another one up to a revision, and says where it comes from.
async fn fill(
    backend: &Backend,
    query: &SessionQuery,
    key: &SessionKey,
    created: &String,
    events: &Array,
    revision: u64,
) -> Answer<()> {
    let append = async |event: JsValue| -> Answer<()> {
        refuse_aborted(&query.signal)?;
        let draft = admit_event_of(&event, backend, false)?;
        draft.check_size(&backend.limits, &key.session_id)?;
        let id = backend.memory.borrow().find_created(key, created).ok_or_else(|| not_found(&key.session_id))?;
        let plan = backend.append_to(id, key.clone(), None, draft, Guard::default())?;
        backend.make(plan).await.map(drop)
    };
    for event in events.iter().take(usize::try_from(revision).unwrap_or(usize::MAX)) {
        append(own_event(&event)?).await?;
    }
    let metadata = json!({"statepad": origin(&query.key.session_id, revision)});
    let last = json!({"author": "system", "invocationId": backend.id(), "customMetadata": metadata});
    append(parse(&last.to_string())?).await
}

/// An event without what it wrote to the app and the user: that is written already.
fn own_event(event: &JsValue) -> Answer<JsValue> {
    let text = stringify(event)?.as_string().unwrap_or_default();
    let mut value: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(Value::Object(delta)) = value.pointer_mut("/actions/stateDelta") {
        delta.retain(|key, _| is_own(key));
    }
    if let Some(metadata) = value.pointer_mut("/customMetadata/statepad") {
        keep_own_in(metadata);
    }
    let own = parse(&value.to_string())?;
    if Reflect::get(event, &adk_event())? == JsValue::TRUE {
        Reflect::set(&own, &adk_event(), &true.into())?;
    }
    Ok(own)
}
