//! The past of a session: reading it, going back in it, and going on from it elsewhere.

use std::rc::Rc;

use js_sys::{Array, Object, Promise};
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::backend::{Backend, Plan};
use super::checks::{admit_optional_string, admit_string, check_count, check_options, check_signal};
use super::errors::error_at;
use super::event::{Fill, admit_event};
use super::expiry::End;
use super::fork::{Fork, fork};
use super::handles::{Through, View};
use super::host::{Answer, member, option, parse, parse_frozen, put};
use super::memory::read_event;
use super::requests::check_session;
use super::session_query::SessionQuery;
use super::session_service::{SessionService, deleted, started};
use crate::change::Guard;
use crate::delta::Write;
use crate::error::Result;
use crate::event::Event;
use crate::native::{Marker, marker, plan_redo, plan_rewind};
use crate::rewind::Rewind;

#[wasm_bindgen]
impl SessionService {
    /// The state of a session at a revision, from 0, its creation, to that of the handle. Its own keys are exactly as
    /// they were. `app:` and `user:` keys are as this session's log had left them by then; those that it never wrote
    /// are as the handle shows them. Throws `INVALID_ARGUMENT`, `SESSION_NOT_FOUND`.
    #[wasm_bindgen(js_name = stateAt, unchecked_return_type = "Promise<Readonly<Record<string, Json>>>")]
    pub fn state_at(
        &self,
        #[wasm_bindgen(unchecked_param_type = "SessionName")] session: JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] revision: JsValue,
        options: Option<AbortableOptions>,
    ) -> Promise {
        started(|| {
            let query = self.query(session, &options.map_or(JsValue::UNDEFINED, JsValue::from), &["signal"])?;
            let signal = query.signal.clone();
            Ok(self.backend.ask(signal, move |backend| query.state_at(backend, &revision)))
        })
    }

    /// The writes to a key, oldest first: the revision, the event, the time, and the values before and after. Of an
    /// `app:` or `user:` key these are the writes of this session. They end at the revision of the handle. Throws
    /// `INVALID_ARGUMENT`, `SESSION_NOT_FOUND`.
    #[wasm_bindgen(unchecked_return_type = "Promise<readonly HistoryStep[]>")]
    pub fn history(
        &self,
        #[wasm_bindgen(unchecked_param_type = "SessionName")] session: JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] key: JsValue,
        options: Option<HistoryOptions>,
    ) -> Promise {
        started(|| {
            let key = admit_string(&key, "key")?;
            let options = options.map_or(JsValue::UNDEFINED, JsValue::from);
            let query = self.query(session, &options, &["until", "last", "signal"])?;
            let (until, last) = (option(&options, "until")?, check_count(&option(&options, "last")?, "last")?);
            let signal = query.signal.clone();
            Ok(self.backend.ask(signal, move |backend| query.history(backend, &key, &until, last)))
        })
    }

    /// Goes back to just before an invocation: appends one event, by `system`, that restores the session's own keys to
    /// what they were before the first event of the invocation, and that names it in
    /// `actions.rewindBeforeInvocationId`. `app:` and `user:` keys stay. Nothing is destroyed: `redo` takes it back.
    /// Throws `INVALID_ARGUMENT` when no event that stands belongs to the invocation, `SESSION_NOT_FOUND`, and what
    /// `appendEvent` throws.
    #[wasm_bindgen(unchecked_return_type = "Promise<Rewound>")]
    pub fn rewind(
        &self,
        #[wasm_bindgen(unchecked_param_type = "SessionName")] session: JsValue,
        #[wasm_bindgen(unchecked_param_type = "RewindOptions")] options: JsValue,
    ) -> Promise {
        started(|| {
            let query = self.query(session, &options, &["before", "signal"])?;
            let invocation = admit_string(&option(&options, "before")?, "before")?;
            let signal = query.signal.clone();
            Ok(self.backend.change(signal, move |backend| {
                let plan = |id: &str, events: &[Event]| {
                    plan_rewind(id, events, &invocation).map_err(|error| error_at(error, "before"))
                };
                query.mark(backend, plan)
            }))
        })
    }

    /// Takes back the last rewind that was not taken back, as long as nothing else was appended since. Throws
    /// `INVALID_ARGUMENT` when there is nothing to redo, and what `rewind` throws.
    #[wasm_bindgen(unchecked_return_type = "Promise<Rewound>")]
    pub fn redo(
        &self,
        #[wasm_bindgen(unchecked_param_type = "SessionName")] session: JsValue,
        options: Option<AbortableOptions>,
    ) -> Promise {
        started(|| {
            let query = self.query(session, &options.map_or(JsValue::UNDEFINED, JsValue::from), &["signal"])?;
            let signal = query.signal.clone();
            Ok(self.backend.change(signal, move |backend| query.mark(backend, |id, events| Ok(plan_redo(id, events)?))))
        })
    }

    /// Makes a new session of the same user that goes on from a revision, by default the last one: with the
    /// creation state, the events up to there, and one more that says where it comes from
    /// (`customMetadata.statepad.forkedFrom`). Later neither sees what the other does. Throws `INVALID_ARGUMENT`,
    /// `SESSION_NOT_FOUND`, `SESSION_EXISTS`, and what `appendEvent` throws; there is no new session then.
    #[wasm_bindgen(unchecked_return_type = "Promise<Session>")]
    pub fn fork(
        &self,
        #[wasm_bindgen(unchecked_param_type = "SessionName")] session: JsValue,
        options: Option<ForkOptions>,
    ) -> Promise {
        started(|| {
            let options = options.map_or(JsValue::UNDEFINED, JsValue::from);
            let query = self.query(session, &options, &["at", "sessionId", "ttl", "expireTime", "signal"])?;
            let at = option(&options, "at")?;
            let session_id = admit_optional_string(&option(&options, "sessionId")?, "sessionId")?;
            let end = End::of(&options)?;
            Ok(future_to_promise(fork(Rc::clone(&self.backend), query, Fork { at, session_id, end })))
        })
    }

    /// Checks a session and the options of a query.
    fn query(&self, session: JsValue, options: &JsValue, known: &'static [&'static str]) -> Answer<SessionQuery> {
        check_options(options, known, "options")?;
        let signal = option(options, "signal")?;
        check_signal(&signal)?;
        let key = check_session(&session)?;
        let view = self.backend.handles.view(&session);
        let write_lease = view.as_ref().and_then(View::write_lease);
        Ok(SessionQuery { session, key, view, write_lease, signal })
    }
}

#[wasm_bindgen]
extern "C" {
    /// See `types.d.ts`.
    #[wasm_bindgen(typescript_type = "Abortable")]
    #[derive(Debug, Clone)]
    pub type AbortableOptions;

    /// See `types.d.ts`.
    #[wasm_bindgen(typescript_type = "HistoryOptions")]
    #[derive(Debug, Clone)]
    pub type HistoryOptions;

    /// See `types.d.ts`.
    #[wasm_bindgen(typescript_type = "ForkOptions")]
    #[derive(Debug, Clone)]
    pub type ForkOptions;
}

impl SessionQuery {
    fn state_at(&self, backend: &Backend, revision: &JsValue) -> Answer<JsValue> {
        let id = self.id(backend)?;
        let mut memory = backend.memory.borrow_mut();
        let until = self.revision(&memory, id);
        let revision = self.check(revision, until, "revision")?;
        let now = self.state(&memory, id)?;
        let state = memory.log_of(id)?.state_at(revision, until, now)?;
        parse_frozen(&Value::Object(state).to_string())
    }

    fn history(&self, backend: &Backend, key: &str, until: &JsValue, last: Option<f64>) -> Answer<JsValue> {
        let id = self.id(backend)?;
        let mut memory = backend.memory.borrow_mut();
        let shown = self.revision(&memory, id);
        let until = if until.is_undefined() { shown } else { self.check(until, shown, "until")? };
        let log = memory.log_of(id)?;
        let created_at = log.creation.time;
        let steps = log.history()?.of(key, until).to_vec();
        let last = last.map_or(steps.len(), super::requests::narrow);
        let entries = Array::new();
        for step in steps.get(steps.len().saturating_sub(last)..).unwrap_or_default() {
            let entry = Object::new();
            let place = usize::try_from(step.revision).unwrap_or(usize::MAX);
            put(&entry, "revision", &number(step.revision));
            let event = place.checked_sub(1).map_or(JsValue::UNDEFINED, |place| memory.event(id, place));
            if event.is_undefined() {
                put(&entry, "timestamp", &created_at.into());
            } else {
                put(&entry, "timestamp", &member(&event, "timestamp")?);
                put(&entry, "event", &event);
            }
            for (name, value) in [("from", &step.from), ("to", &step.to)] {
                if let Some(value) = value {
                    put(&entry, name, &parse_frozen(value.as_str())?);
                }
            }
            Object::freeze(&entry);
            entries.push(&entry);
        }
        Object::freeze(&entries);
        Ok(entries.into())
    }

    /// Appends the marker of what is planned.
    fn mark(self, backend: &Backend, plan: impl FnOnce(&str, &[Event]) -> Answer<Rewind>) -> Answer<Plan> {
        let id = self.id(backend)?;
        let mut memory = backend.memory.borrow_mut();
        let events = memory.events_from(id, 0);
        let events = events.iter().map(|event| read_event(&event)).collect::<Result<Vec<_>>>()?;
        let plan = plan(&self.key.session_id, &events)?;
        let revision = events.len() as u64;
        let marker = marker(&events, memory.log_of(id)?.history()?, &plan);
        drop(memory);

        let shared: Array = marker.shared.iter().map(JsValue::from).collect();
        let draft = admit_event(&event_of(&marker, &backend.id())?, backend)?;
        draft.check_size(&backend.limits, &self.key.session_id)?;
        let guard = Guard { revision: Some(revision), ..Guard::default() };
        let handle = self.view.map(|view| Through { session: self.session, view, write_lease: self.write_lease });
        let Plan { step, answer } = backend.append(self.key, handle, draft, guard)?;
        let answer = move |backend: &Backend| {
            let rewound = Object::new();
            put(&rewound, "event", &answer(backend)?);
            put(&rewound, "revision", &number(revision + 1));
            put(&rewound, "shared", &Object::freeze(&shared));
            Ok(Object::freeze(&rewound).into())
        };
        Ok(Plan { step, answer: Box::new(answer) })
    }
}

fn number(count: u64) -> JsValue {
    #[expect(clippy::cast_precision_loss, reason = "no session has so many events")]
    let number = count as f64;
    number.into()
}

/// The event of a rewind, before it is admitted.
fn event_of(marker: &Marker, invocation: &str) -> Answer<JsValue> {
    let delta = Object::new();
    for (key, write) in marker.delta.iter() {
        let value = match write {
            Write::Set(json) => parse(json.as_str())?,
            Write::Unset => deleted(),
        };
        put(&delta, key, &value);
    }
    let (event, actions) = (Object::new(), Object::new());
    put(&actions, "stateDelta", &delta);
    put(&actions, "rewindBeforeInvocationId", &marker.before.as_str().into());
    put(&event, "author", &"system".into());
    put(&event, "invocationId", &invocation.into());
    put(&event, "actions", &actions);
    Ok(event.into())
}
