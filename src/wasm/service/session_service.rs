//! The class `SessionService`.

use std::rc::Rc;

use js_sys::{Array, Object, Promise, Symbol};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::backend::{Backend, Plan};
use super::checks::{
    admit_optional_string, admit_string, check_count, check_function, check_object, check_options, refuse_aborted,
};
use super::delta::{core_delta, resolve_into};
use super::errors::invalid;
use super::event::{Fill, admit_event};
use super::expiry::{End, check_ttl};
use super::handles::Through;
use super::host::{Answer, Attributes, define, member, option, parse, put, settled};
use super::limits::{check_delta, check_limits};
use super::memory::Step;
use super::requests::{
    APP_STATE, APPEND, CREATE, DELETE, EventWindow, GET, LIST, ListPlan, NO_EVENTS, USER_STATE, check_config,
    check_key, check_list, check_request, check_session, check_target, check_update_options, narrow,
};
use super::store::Store;
use super::update::update;
use super::walk::{AdmittedDelta, admit_delta};
use crate::change::{Guard, SessionKey};
use crate::list::{ListQuery, Start};

/// The default time that one answer of `persist` and `restore` is waited for, in milliseconds.
const DEFAULT_TIMEOUT_MS: f64 = 10_000.0;

/// Keeps sessions: scoped state and an append-only log of events. In memory; or, with the callbacks `persist` and
/// `restore`, also wherever they keep them.
///
/// A write is never dropped silently: it resolves when it is durable, or it throws an error with a `code`. It has not
/// happened then, unless the code is `COMMIT_UNKNOWN`: then it may have happened.
#[wasm_bindgen]
#[derive(Debug)]
pub struct SessionService {
    pub(super) backend: Rc<Backend>,
}

#[wasm_bindgen]
impl SessionService {
    /// Throws `INVALID_ARGUMENT` when the options do not go together.
    #[wasm_bindgen(constructor)]
    pub fn new(options: Option<SessionServiceOptions>) -> Answer<SessionService> {
        let options = options.map_or(JsValue::UNDEFINED, JsValue::from);
        check_options(&options, &["now", "persist", "restore", "timeout", "limits", "ttl"], "options")?;
        let member = |name: &str| option(&options, name);
        let optional = |value: &JsValue, name: &str| {
            if value.is_undefined() { Ok(None) } else { check_function(value, name).map(Some) }
        };
        let clock = optional(&member("now")?, "now")?;
        let (persist, restore) = (member("persist")?, member("restore")?);
        if persist.is_undefined() && !restore.is_undefined() {
            return Err(invalid("persist", "is missing: restore returns the records that it stores"));
        }
        let (persist, restore) = (optional(&persist, "persist")?, optional(&restore, "restore")?);
        let timeout = member("timeout")?;
        let timeout = if timeout.is_undefined() { Some(DEFAULT_TIMEOUT_MS) } else { timeout.as_f64() };
        let timeout = timeout.filter(|timeout| timeout.is_finite() && *timeout >= 1.0);
        let timeout = timeout.ok_or_else(|| invalid("timeout", "must be a number from 1"))?;
        let store = persist.map(|persist| Store::new(persist, restore, timeout));
        let (limits, ttl) = (check_limits(&member("limits")?)?, member("ttl")?);
        let ttl = if ttl.is_undefined() { None } else { check_ttl(&ttl)? };
        Ok(Self { backend: Backend::new(store, clock, limits, ttl) })
    }

    /// Creates a session, at revision 0. The keys of `state` go where their prefix says: `app:` and `user:` keys reach
    /// every session they belong to, also earlier ones; `temp:` keys are dropped.
    ///
    /// Throws `SESSION_EXISTS` when the id is taken, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`, `INVALID_ARGUMENT`; nothing is
    /// applied then.
    #[wasm_bindgen(js_name = createSession, unchecked_return_type = "Promise<Session>")]
    pub fn create_session(
        &self,
        #[wasm_bindgen(unchecked_param_type = "CreateSessionRequest")] request: JsValue,
    ) -> Promise {
        started(|| {
            let signal = check_request(&request, &CREATE)?;
            let named = admit_optional_string(&member(&request, "sessionId")?, "sessionId")?;
            let key = SessionKey {
                app_name: admit_string(&member(&request, "appName")?, "appName")?,
                user_id: admit_string(&member(&request, "userId")?, "userId")?,
                session_id: named.filter(|id| !id.trim().is_empty()).unwrap_or_else(|| self.backend.id()),
            };
            let state = admit_delta(&member(&request, "state")?, "state")?;
            let end = End::of(&request)?;
            let AdmittedDelta { members, deleted, operators } = &state;
            check_delta(&self.backend.limits, "state", members, deleted, operators, Some(&key.session_id))?;
            Ok(self.backend.change(signal, move |backend| {
                let (time, created) = (backend.now()?, backend.id());
                let lifetime = end.lifetime(backend, time)?;
                backend.memory.borrow().damage.check_session(&key)?;
                let value_of =
                    |name: &str| backend.memory.borrow().shared_value(&key.app_name, Some(&key.user_id), name);
                let AdmittedDelta { mut members, deleted, operators } = state;
                resolve_into(&mut members, &operators, &value_of)?;
                let state = core_delta("state", &members, &deleted)?;
                let results: Vec<String> = operators.into_iter().map(|(key, _)| key).collect();
                let limits = &backend.limits;
                let change = backend.memory.borrow().prepare_create(&key, time, state, &results, limits)?;
                let step = Some(Step::Create { key: key.clone(), created, change, lifetime });
                let answer = move |backend: &Backend| backend.open(&key, EventWindow::default());
                Ok(Plan { step, answer: Box::new(answer) })
            }))
        })
    }

    /// Gets a session as it is now, or `undefined` when there is none. A session may be given in the place of its key.
    /// Throws `INVALID_ARGUMENT`.
    #[wasm_bindgen(js_name = getSession, unchecked_return_type = "Promise<Session | undefined>")]
    pub fn get_session(
        &self,
        #[wasm_bindgen(unchecked_param_type = "GetSessionRequest | GetSessionByName")] request: JsValue,
    ) -> Promise {
        started(|| {
            let signal = check_request(&request, &GET)?;
            let key = check_key(&request)?;
            let window = check_config(&member(&request, "config")?)?;
            Ok(self.backend.ask(signal, move |backend| backend.open(&key, window)))
        })
    }

    /// Lists the sessions of an app, or of one of its users, by the time of their last event. The rows show their
    /// current state and no events. Throws `INVALID_ARGUMENT`.
    #[wasm_bindgen(js_name = listSessions, unchecked_return_type = "Promise<ListSessionsResponse>")]
    pub fn list_sessions(
        &self,
        #[wasm_bindgen(unchecked_param_type = "ListSessionsRequest")] request: JsValue,
    ) -> Promise {
        started(|| {
            let signal = check_request(&request, &LIST)?;
            let plan = check_list(&request)?;
            Ok(self.backend.ask(signal, move |backend| page_of(backend, &plan)))
        })
    }

    /// Deletes a session with its events and its own state; app and user state stay. It need not be there. A session
    /// may be given in the place of its key; through the handle of a lease that was lost it throws `LEASE_LOST`.
    #[wasm_bindgen(js_name = deleteSession, unchecked_return_type = "Promise<void>")]
    pub fn delete_session(
        &self,
        #[wasm_bindgen(unchecked_param_type = "(SessionKey | SessionName) & Abortable")] request: JsValue,
    ) -> Promise {
        started(|| {
            let signal = check_request(&request, &DELETE)?;
            let key = check_key(&request)?;
            let leased = self.backend.handles.view(&request).and_then(|view| Some((view.write_lease()?, view)));
            Ok(self.backend.change(signal, move |backend| {
                if let Some((write_lease, view)) = leased {
                    backend.check_fence(write_lease, &view, &key)?;
                }
                let memory = backend.memory.borrow();
                let is_there = memory.find(&key).is_some() || memory.damage.has_session(&key);
                let step = is_there.then_some(Step::Remove { key });
                Ok(Plan { step, answer: Box::new(|_| Ok(JsValue::UNDEFINED)) })
            }))
        })
    }

    /// Appends an event, writes its delta, and brings the handle up to date with everything that has happened since.
    /// Resolves to the stored event, frozen. A partial event is handed back and changes nothing.
    ///
    /// Throws `SESSION_NOT_FOUND`, `SESSION_STALE` (with `expectedRevision`), `EVENT_ID_CONFLICT`, `VALUE_NOT_JSON`,
    /// `LIMIT_EXCEEDED`, `INVALID_ARGUMENT`; nothing has changed then.
    #[wasm_bindgen(js_name = appendEvent, unchecked_return_type = "Promise<Event>")]
    pub fn append_event(
        &self,
        #[wasm_bindgen(unchecked_param_type = "AppendEventRequest")] request: JsValue,
    ) -> Promise {
        started(|| {
            let signal = check_request(&request, &APPEND)?;
            let session = member(&request, "session")?;
            let key = check_session(&session)?;
            let event = member(&request, "event")?;
            check_object(&event, "event")?;
            if member(&event, "partial")?.is_truthy() {
                refuse_aborted(&signal)?;
                return Ok(Promise::resolve(&event));
            }
            let revision = check_count(&member(&request, "expectedRevision")?, "expectedRevision")?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is whole, and not negative"
            )]
            let guard = Guard { revision: revision.map(|revision| revision as u64), ..Guard::default() };
            let draft = admit_event(&event, &*self.backend)?;
            draft.check_size(&self.backend.limits, &key.session_id)?;
            let handle = self.backend.handles.view(&session).map(|view| Through::of(session, view));
            Ok(self.backend.change(signal, move |backend| backend.append(key, handle, draft, guard)))
        })
    }

    /// The state of an app, under names without prefix. The copy is the caller's.
    #[wasm_bindgen(js_name = getAppState, unchecked_return_type = "Promise<Record<string, Json>>")]
    pub fn get_app_state(
        &self,
        #[wasm_bindgen(unchecked_param_type = "{ readonly appName: string } & Abortable")] request: JsValue,
    ) -> Promise {
        started(|| {
            let signal = check_request(&request, &APP_STATE)?;
            let app_name = admit_string(&member(&request, "appName")?, "appName")?;
            Ok(self.backend.ask(signal, move |backend| backend.values_of(&app_name, None)))
        })
    }

    /// The state of a user in an app, under names without prefix. The copy is the caller's.
    #[wasm_bindgen(js_name = getUserState, unchecked_return_type = "Promise<Record<string, Json>>")]
    pub fn get_user_state(
        &self,
        #[wasm_bindgen(unchecked_param_type = "{ readonly appName: string; readonly userId: string } & Abortable")]
        request: JsValue,
    ) -> Promise {
        started(|| {
            let signal = check_request(&request, &USER_STATE)?;
            let app_name = admit_string(&member(&request, "appName")?, "appName")?;
            let user_id = admit_string(&member(&request, "userId")?, "userId")?;
            Ok(self.backend.ask(signal, move |backend| backend.values_of(&app_name, Some(&user_id))))
        })
    }

    /// Reads, computes and writes without losing what others write meanwhile. `fn` gets the current values and returns
    /// a delta, both under full keys; it runs again when what it read no longer holds. With a `sessionId`, or for a
    /// session, the values are those of the session and the delta becomes an event of it; otherwise they are the
    /// `user:` and `app:` keys, and without a `userId` the `app:` keys. Resolves to the values after the update,
    /// frozen.
    ///
    /// `fn` may answer with a promise. An answer of `undefined` writes nothing, as `{}` does.
    ///
    /// Throws `STATE_CONFLICT` after `attempts` runs, `SESSION_NOT_FOUND`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`,
    /// `INVALID_ARGUMENT` for keys that do not belong to what is updated and for any other answer than a plain object,
    /// and what `fn` throws.
    #[wasm_bindgen(js_name = updateState, unchecked_return_type = "Promise<Readonly<Record<string, Json>>>")]
    pub fn update_state(
        &self,
        #[wasm_bindgen(unchecked_param_type = "UpdateStateTarget | SessionName")] target: JsValue,
        #[wasm_bindgen(js_name = "fn", unchecked_param_type = "UpdateFunction")] function: JsValue,
        options: Option<UpdateStateOptions>,
    ) -> Promise {
        started(|| {
            let leased = self.backend.handles.view(&target).and_then(|view| Some((view.write_lease()?, view)));
            let target = check_target(&target)?;
            let function = check_function(&function, "fn")?;
            let options = check_update_options(&options.map_or(JsValue::UNDEFINED, JsValue::from))?;
            Ok(future_to_promise(update(Rc::clone(&self.backend), target, leased, function, options)))
        })
    }
}

#[wasm_bindgen]
extern "C" {
    /// See `types.d.ts`.
    #[wasm_bindgen(typescript_type = "SessionServiceOptions")]
    #[derive(Debug)]
    pub type SessionServiceOptions;

    /// See `types.d.ts`.
    #[wasm_bindgen(typescript_type = "UpdateStateOptions")]
    #[derive(Debug)]
    pub type UpdateStateOptions;
}

/// In a delta, deletes the key: `{ 'user:theme': deleted() }`. In the stored event it is `null` plus the key in
/// `customMetadata.statepad.deleted`, so that other readers of the log understand it.
#[wasm_bindgen(unchecked_return_type = "Deleted")]
pub fn deleted() -> JsValue {
    thread_local! {
        static DELETED: JsValue = {
            let hidden = Attributes { enumerable: false, configurable: false, writable: false };
            let marker = Object::new();
            // The mark by which the package knows its own.
            define(&marker, &Symbol::for_("statepad.deleted").into(), &JsValue::TRUE, &hidden);
            let to_json = Closure::<dyn Fn() -> JsValue>::new(|| JsValue::NULL).into_js_value();
            define(&marker, &"toJSON".into(), &to_json, &hidden);
            Object::freeze(&marker);
            marker.into()
        };
    }
    DELETED.with(JsValue::clone)
}

/// An operation that has begun, or what was wrong with its arguments.
pub(super) fn started(begin: impl FnOnce() -> Answer<Promise>) -> Promise {
    begin().unwrap_or_else(|thrown| settled(Err(thrown)))
}

/// The numbers of a page, with adk-js's meaning of each.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PageNumbers {
    page: f64,
    limit: f64,
    total_items: f64,
    total_pages: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The sessions that cannot be read come on the first page, as nobody knows where they stand in the list.
fn page_of(backend: &Backend, plan: &ListPlan) -> Answer<JsValue> {
    let memory = backend.memory.borrow();
    let (app_name, user_id) = (plan.app_name.as_str(), plan.user_id.as_deref());
    memory.damage.check_scopes(app_name, user_id)?;
    let lost = memory.damage.sessions(app_name, user_id);
    let count_of_lost = memory.damage.sessions(app_name, user_id).count();
    let is_first = plan.cursor.is_none() && plan.offset == 0.0;
    let mut corrupt: Vec<SessionKey> = lost.filter(|_| is_first).cloned().collect();
    let page = memory.sessions.list(&ListQuery {
        app_name: &plan.app_name,
        user_id: plan.user_id.as_deref(),
        descending: plan.descending,
        limit: plan.limit.map(narrow),
        start: plan.cursor.as_deref().map_or_else(|| Start::Offset(narrow(plan.offset)), Start::After),
    })?;
    let sessions = Array::new();
    let (whole, begun): (Vec<_>, Vec<_>) = page.sessions.iter().partition(|id| !memory.is_unfinished(**id));
    for id in whole {
        let key = memory.sessions.log(id).map(|log| log.key().clone());
        match key.filter(|key| memory.damage.has_scope(app_name, Some(&key.user_id))) {
            Some(key) => corrupt.push(key),
            None => {
                sessions.push(&backend.handles.open(&memory, id, NO_EVENTS)?);
            }
        }
    }
    let [total, offset] = [page.total + count_of_lost - begun.len(), page.offset]
        .map(|count| f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
    let offset = if plan.cursor.is_none() { plan.offset } else { offset };
    let numbers = PageNumbers {
        page: plan.limit.filter(|limit| *limit > 0.0).map_or(plan.page, |limit| (offset / limit).floor() + 1.0),
        limit: plan.limit.unwrap_or(total),
        total_items: total,
        total_pages: match plan.limit {
            None => total.min(1.0),
            Some(0.0) => 0.0,
            Some(limit) => (total / limit).ceil(),
        },
        cursor: page.cursor,
    };
    let answer = Object::new();
    put(&answer, "sessions", &sessions);
    if let Some(numbers) = serde_wasm_bindgen::to_value(&numbers)?.dyn_ref() {
        Object::assign(&answer, numbers);
    }
    if !corrupt.is_empty() {
        put(&answer, "corrupt", &corrupt.iter().map(key_to_js).collect::<Array>());
    }
    Ok(answer.into())
}

fn key_to_js(SessionKey { app_name, user_id, session_id }: &SessionKey) -> JsValue {
    let key = Object::new();
    for (name, value) in [("appName", app_name), ("userId", user_id), ("sessionId", session_id)] {
        put(&key, name, &value.into());
    }
    key.into()
}

impl Backend {
    /// The values of an app, or of a user in it, under names without prefix.
    fn values_of(&self, app_name: &str, user_id: Option<&str>) -> Answer<JsValue> {
        let memory = self.memory.borrow();
        memory.damage.check_scope(app_name, user_id)?;
        parse(&memory.names_json(app_name, user_id))
    }
}
