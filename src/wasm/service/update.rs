//! A safe read-modify-write.

use std::rc::Rc;

use js_sys::{Function, Object, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::backend::{Backend, Plan};
use super::checks::refuse_aborted;
use super::delta::{core_delta, is_temp, resolve_into};
use super::errors::{Details, caused_by, error, is_kind, not_found};
use super::event::{Fill, admit_event};
use super::handles::{View, WriteLease};
use super::host::{Answer, deferred, is_thenable, keys, member, parse_frozen, put, sleep, symbols};
use super::kinds::{describe, is_plain};
use super::limits::check_delta;
use super::memory::{Memory, Step};
use super::requests::{Target, UpdateOptions};
use super::store::{Permit, awaited};
use super::walk::admit_delta;
use crate::change::{Guard, SessionKey};
use crate::error::ErrorKind;
use crate::native::refusals::{always_changed, temp_in_update};
use crate::session_log::SessionLog;

/// The longest that an update which has met others waits for the one before it, in milliseconds. That one may wait for
/// this one: its function may have asked for it.
const RETRY_PERMIT_TIMEOUT_MS: u32 = 50;

/// The state that a function was called with, and the guard under which its answer is written.
struct Snapshot {
    state: JsValue,
    guard: Guard,
    /// The creation of the session, where it is one.
    created: String,
}

/// Runs `function` until its delta is written over what it read.
pub(super) async fn update(
    backend: Rc<Backend>,
    target: Target,
    leased: Option<(WriteLease, View)>,
    function: Function,
    options: UpdateOptions,
) -> Answer<JsValue> {
    let mut conflict = JsValue::UNDEFINED;
    let mut count = 0.0;
    while count < options.attempts {
        let _retry = if count > 0.0 { Some(retry_permit(&backend).await) } else { None };
        match attempt(&backend, &target, leased.as_ref(), &function, &options).await {
            Err(thrown) if is_conflict(&thrown) => conflict = thrown,
            answer => return answer,
        }
        count += 1.0;
    }
    Err(caused_by(always_changed(&options.attempts.to_string()).into(), &conflict))
}

/// A value that the function's own `compareAndSet` does not find has a key: it runs once.
fn is_conflict(thrown: &JsValue) -> bool {
    is_kind(thrown, &[ErrorKind::StateConflict, ErrorKind::SessionStale])
        && member(thrown, "key").is_ok_and(|key| key.is_undefined())
}

async fn attempt(
    backend: &Rc<Backend>,
    target: &Target,
    leased: Option<&(WriteLease, View)>,
    function: &Function,
    options: &UpdateOptions,
) -> Answer<JsValue> {
    let mut permit = backend.permit().await?;
    refuse_aborted(&options.signal)?;
    let snapshot = Snapshot::of(&backend.memory.borrow(), target)?;
    let mut answer = function.call1(&JsValue::UNDEFINED, &snapshot.state)?;
    if is_thenable(&answer)? {
        // It may take long, and may wait for a change of its own.
        drop(permit);
        answer = awaited(answer).await?;
        permit = backend.permit().await?;
    }
    if answer.is_undefined() {
        return Ok(snapshot.state);
    }
    if !is_plain(&answer) {
        let what = describe(&answer);
        let message =
            format!("the update function must return a plain object of keys and values, or undefined, not {what}");
        return Err(error(ErrorKind::InvalidArgument, &message, Details::at("fn")));
    }
    let names = keys(&answer)?;
    if names.length() == 0 && symbols(&answer)?.length() == 0 {
        return Ok(snapshot.state);
    }
    if let Some(key) = names.iter().filter_map(|name| name.as_string()).find(|key| is_temp(key)) {
        return Err(temp_in_update(&key).into());
    }
    refuse_aborted(&options.signal)?;
    let plan = match target {
        Target::Session(key) => {
            if let Some((write_lease, view)) = leased {
                backend.check_fence(*write_lease, view, key)?;
            }
            of_session(backend, key, &snapshot, &answer, options)?
        }
        Target::Scopes { app_name, user_id } => of_scopes(backend, app_name, user_id.as_deref(), &snapshot, &answer)?,
    };
    let written = backend.make(plan).await;
    drop(permit);
    written
}

impl Snapshot {
    fn of(memory: &Memory, target: &Target) -> Answer<Self> {
        match target {
            Target::Session(key) => {
                memory.damage.check_session(key)?;
                let id = memory.find_whole(key).ok_or_else(|| not_found(&key.session_id))?;
                let revision = memory.sessions.log(id).map(SessionLog::revision);
                let guard = Guard { revision, ..memory.guard(&key.app_name, Some(&key.user_id)) };
                let created = memory.created(id).to_owned();
                Ok(Self { state: parse_frozen(&memory.state_json(id))?, guard, created })
            }
            Target::Scopes { app_name, user_id } => {
                let user_id = user_id.as_deref();
                memory.damage.check_scopes(app_name, user_id)?;
                let state = parse_frozen(&memory.shared_json(app_name, user_id))?;
                Ok(Self { state, guard: memory.guard(app_name, user_id), created: String::new() })
            }
        }
    }
}

/// A session: what is written becomes an event of it.
fn of_session(
    backend: &Backend,
    key: &SessionKey,
    snapshot: &Snapshot,
    delta: &JsValue,
    options: &UpdateOptions,
) -> Answer<Plan> {
    let memory = backend.memory.borrow();
    if memory.find(key).is_none() {
        return Err(not_found(&key.session_id));
    }
    if memory.find_created(key, &snapshot.created).is_none() {
        let id = key.session_id.as_str();
        let details = Details::of(id);
        return Err(error(ErrorKind::StateConflict, &format!("session \"{id}\" was created again"), details));
    }
    drop(memory);
    let (event, actions) = (Object::new(), Object::new());
    put(&actions, "stateDelta", delta);
    put(&event, "author", &options.author.as_deref().unwrap_or("system").into());
    if let Some(invocation) = &options.invocation_id {
        put(&event, "invocationId", &invocation.into());
    }
    put(&event, "actions", &actions);
    let draft = admit_event(&event, backend)?;
    draft.check_size(&backend.limits, &key.session_id)?;
    let Plan { step, .. } = backend.append(key.clone(), None, draft, snapshot.guard)?;
    let key = key.clone();
    let answer = move |backend: &Backend| {
        let memory = backend.memory.borrow();
        let id = memory.find(&key).ok_or_else(|| not_found(&key.session_id))?;
        parse_frozen(&memory.state_json(id))
    };
    Ok(Plan { step, answer: Box::new(answer) })
}

/// A user's and the app's keys, or the app's alone.
fn of_scopes(
    backend: &Backend,
    app_name: &str,
    user_id: Option<&str>,
    snapshot: &Snapshot,
    delta: &JsValue,
) -> Answer<Plan> {
    let mut admitted = admit_delta(delta, "delta")?;
    check_delta(&backend.limits, "delta", &admitted.members, &admitted.deleted, &admitted.operators, None)?;
    let value_of = |key: &str| backend.memory.borrow().shared_value(app_name, user_id, key);
    resolve_into(&mut admitted.members, &admitted.operators, &value_of)?;
    let delta = core_delta("delta", &admitted.members, &admitted.deleted)?;
    let (id, time) = (backend.id(), backend.now()?);
    let memory = backend.memory.borrow();
    let results: Vec<String> = admitted.operators.into_iter().map(|(key, _)| key).collect();
    let (whose, guard, limits) = ((app_name, user_id), snapshot.guard, &backend.limits);
    let change = memory.prepare_update(whose, (&id, time), delta, guard, &results, limits)?;
    let (app_name, user_id) = (app_name.to_owned(), user_id.map(str::to_owned));
    let step = Step::Update { app_name: app_name.clone(), user_id: user_id.clone(), change };
    let answer =
        move |backend: &Backend| parse_frozen(&backend.memory.borrow().shared_json(&app_name, user_id.as_deref()));
    Ok(Plan { step: Some(step), answer: Box::new(answer) })
}

/// Waits for the update that has met others before this one, so that they do not meet again; but not for long.
async fn retry_permit(backend: &Backend) -> Permit {
    let (promise, done) = deferred();
    let before = backend.retries.replace(promise);
    let permit = Permit::new(done);
    let soon = Promise::race(&js_sys::Array::of2(&before, &sleep(RETRY_PERMIT_TIMEOUT_MS)));
    // Neither is ever rejected.
    let _ = JsFuture::from(soon).await;
    permit
}
