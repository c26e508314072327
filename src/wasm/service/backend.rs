//! The parts behind a service: the sessions, the clock, the handles and, if there is one, the store. The core prepares
//! a change, the store writes it, and then it is applied.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use indexmap::IndexMap;
use js_sys::{Function, Map, Promise};
use rustc_hash::FxBuildHasher;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::checks::{check_time, refuse_aborted};
use super::delta::is_temp;
use super::errors::not_found;
use super::event::{EventDraft, Fill};
use super::handles::{Handles, Through, View};
use super::host::{Answer, settled, stringify};
use super::log::Record;
use super::memory::{Memory, Step};
use super::requests::EventWindow;
use super::store::{Permit, Store};
use crate::change::{Guard, Prepared, SessionKey};
use crate::ids::SessionId;
use crate::json::Json;
use crate::lease::LeaseRow;
use crate::limits::Limits;
use crate::native::refusals::event_id_conflict;
use crate::native::{Conditions, Draft, Host, SystemHost};

/// The sessions of a service.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) memory: RefCell<Memory>,
    pub(super) handles: Handles,
    pub(super) store: Option<Store>,
    /// The removals of sessions that have expired, which the log does not have yet: the first ones first.
    pub(super) unswept: RefCell<IndexMap<SessionKey, Record, FxBuildHasher>>,
    clock: Option<Function>,
    pub(super) limits: Limits,
    /// The milliseconds that sessions last whose creation names no end; nothing, where they do not expire.
    pub(super) ttl: Option<f64>,
    /// The leases that were given, by the id of the creation of the session: they are of this process alone, and
    /// outlive what is read from the store once more.
    pub(super) leases: RefCell<HashMap<String, LeaseRow>>,
    /// Updates that have met others try again one after the other.
    pub(super) retries: RefCell<Promise>,
}

/// A change that was prepared, and what its caller gets once it has been applied.
pub(super) struct Plan {
    /// Nothing, when there is nothing to change.
    pub(super) step: Option<Step>,
    pub(super) answer: PlannedAnswer,
}

type PlannedAnswer = Box<dyn FnOnce(&Backend) -> Answer<JsValue>>;

impl Fill for Backend {
    fn id(&self) -> String {
        SystemHost.new_id()
    }

    fn now(&self) -> Answer<f64> {
        match &self.clock {
            None => Ok(SystemHost.now()),
            Some(clock) => check_time(&clock.call0(&JsValue::UNDEFINED)?),
        }
    }
}

impl Backend {
    pub(super) fn new(store: Option<Store>, clock: Option<Function>, limits: Limits, ttl: Option<f64>) -> Rc<Self> {
        let (memory, handles, leases) = (RefCell::default(), Handles::default(), RefCell::default());
        let (unswept, retries) = (RefCell::default(), Permit::first());
        Rc::new(Self { memory, handles, store, unswept, clock, limits, ttl, leases, retries })
    }

    /// Answers from what is in memory, which is read from the store before, where there is one.
    pub(super) fn ask(
        self: &Rc<Self>,
        signal: JsValue,
        answer: impl FnOnce(&Self) -> Answer<JsValue> + 'static,
    ) -> Promise {
        match &self.store {
            Some(store) if !store.is_read() => {
                let this = Rc::clone(self);
                future_to_promise(async move {
                    drop(this.permit().await?);
                    refuse_aborted(&signal)?;
                    answer(&this)
                })
            }
            _ => settled(refuse_aborted(&signal).and_then(|()| self.begin()).and_then(|()| answer(self))),
        }
    }

    /// Makes a change: at once; or, where there is a store, in the order of the calls, and not before the store has it.
    pub(super) fn change(
        self: &Rc<Self>,
        signal: JsValue,
        prepare: impl FnOnce(&Self) -> Answer<Plan> + 'static,
    ) -> Promise {
        if self.store.is_none() {
            let run = || {
                refuse_aborted(&signal)?;
                self.begin()?;
                let Plan { step, answer } = prepare(self)?;
                step.map_or(Ok(()), |step| self.memory.borrow_mut().apply(&step))?;
                answer(self)
            };
            return settled(run());
        }
        let this = Rc::clone(self);
        future_to_promise(async move {
            let _permit = this.permit().await?;
            refuse_aborted(&signal)?;
            let plan = prepare(&this)?;
            this.make(plan).await
        })
    }

    /// The permit to write, once the log has been read; nothing where there is no store. What has expired is not there
    /// any more.
    pub(super) async fn permit(&self) -> Answer<Option<Permit>> {
        let mut permit = None;
        if let Some(store) = &self.store {
            permit = Some(store.permit().await?);
            self.read().await?;
        }
        self.begin()?;
        Ok(permit)
    }

    /// Reads the log, unless the memory is up to date with it. The caller has the permit.
    pub(super) async fn read(&self) -> Answer<()> {
        if let Some(store) = self.store.as_ref().filter(|store| !store.is_read()) {
            let memory = store.read().await?;
            *self.memory.borrow_mut() = memory;
            self.unswept.borrow_mut().clear();
        }
        Ok(())
    }

    /// Stores a prepared change, and applies it. The caller has the permit.
    pub(super) async fn make(&self, Plan { step, answer }: Plan) -> Answer<JsValue> {
        if let Some(step) = step {
            if let Some(store) = &self.store {
                self.store_step(store, &step).await?;
            }
            self.memory.borrow_mut().apply(&step)?;
        }
        answer(self)
    }

    /// Stores a step. A session that is appended to lasts meanwhile: it had not expired when the step was prepared.
    async fn store_step(&self, store: &Store, step: &Step) -> Answer<()> {
        let now = self.now()?;
        let (records, before) = {
            let mut memory = self.memory.borrow_mut();
            let record = Record::of(step, &memory, self.id(), now);
            // A creation comes after the removal of what has expired under its key.
            let removal =
                if let Step::Create { key, .. } = step { self.unswept.borrow().get(key).cloned() } else { None };
            (removal.into_iter().chain([record]).collect::<Vec<_>>(), memory.extend(step))
        };
        let kept = store.keep(&records, || Record::version(self.id(), now)).await;
        let mut memory = self.memory.borrow_mut();
        match (&kept, step) {
            (Ok(()), Step::Create { key, .. }) => drop(self.unswept.borrow_mut().shift_remove(key)),
            (Ok(()), _) => {}
            (Err(_), _) => before.iter().for_each(|(id, lifetime)| memory.set_lifetime(*id, *lifetime)),
        }
        kept
    }

    /// A new handle of a session.
    pub(super) fn open(&self, key: &SessionKey, window: EventWindow) -> Answer<JsValue> {
        let memory = self.memory.borrow();
        memory.damage.check_session(key)?;
        memory.find_whole(key).map_or(Ok(JsValue::UNDEFINED), |id| self.handles.open(&memory, id, window))
    }

    /// The session that a handle is of; or, of any other object, the one of this key.
    pub(super) fn resolve(&self, key: &SessionKey, view: Option<&View>) -> Answer<SessionId> {
        let memory = self.memory.borrow();
        memory.damage.check_session(key)?;
        let id = match view {
            Some(view) => memory.find_created(key, &view.created()),
            None => memory.find_whole(key),
        };
        id.ok_or_else(|| not_found(&key.session_id))
    }

    /// Prepares an append. The handle that it came through is brought up to date.
    pub(super) fn append(
        &self,
        key: SessionKey,
        handle: Option<Through>,
        draft: EventDraft,
        guard: Guard,
    ) -> Answer<Plan> {
        let id = self.resolve(&key, handle.as_ref().map(|handle| &handle.view))?;
        self.append_to(id, key, handle, draft, guard)
    }

    /// As [`Backend::append`], to a session that need not be whole.
    pub(super) fn append_to(
        &self,
        id: SessionId,
        key: SessionKey,
        handle: Option<Through>,
        mut draft: EventDraft,
        guard: Guard,
    ) -> Answer<Plan> {
        let memory = self.memory.borrow();
        let write_lease = handle.as_ref().and_then(|handle| Some((handle.write_lease?, &handle.view)));
        let check_lease = write_lease.map(|(write_lease, view)| {
            let key = &key;
            move || self.check_fence(write_lease, view, key)
        });
        let check_lease = check_lease.as_ref().map(|check| check as &dyn Fn() -> Answer<()>);
        let asks = handle.as_ref().filter(|_| draft.has_operators());
        let shown = asks.and_then(|handle| handle.view.temp_before(&draft));
        let value_of =
            |name: &str| if is_temp(name) { temp_value(shown.as_ref(), name) } else { memory.value(id, name) };
        let conditions = Conditions { guard, check_lease, limits: &self.limits };
        let prepared = memory.prepare_append(id, &mut draft, &conditions, &value_of)?;
        let lifetime = match memory.lifetime(id) {
            Some(lifetime) => Some(lifetime.after_append(self.now()?)),
            None => None,
        };
        let temp = draft.extract_temp_keys();
        let (step, event, shown) = match prepared {
            Prepared::Duplicate { place } => {
                let stored = memory.event(id, place);
                if !draft.is_repeated(draft.to_stored(), &stored)? {
                    return Err(event_id_conflict(&key.session_id, &draft.id).into());
                }
                (None, stored, None)
            }
            Prepared::Change { change, .. } => {
                let created = memory.created(id).to_owned();
                let stored = draft.to_stored();
                let event = stored.to_js()?;
                let json = if self.store.is_some() { stored.to_json() } else { String::new() };
                let key = key.clone();
                let step = Step::Append { key, created, change, event: event.clone(), json, lifetime };
                (Some(step), event, Some((draft, temp)))
            }
        };
        let answer = move |backend: &Self| {
            if let Some(Through { session, view, .. }) = handle {
                if let Some((draft, temp)) = shown {
                    view.show_temp(&draft, &temp)?;
                }
                if let (Ok(id), Some(session)) = (backend.resolve(&key, Some(&view)), session.dyn_ref()) {
                    Handles::refresh(&backend.memory.borrow(), id, session, &view)?;
                }
            }
            Ok(event)
        };
        Ok(Plan { step, answer: Box::new(answer) })
    }
}

/// The value of a `temp:` key that a handle shows.
fn temp_value(shown: Option<&Map>, key: &str) -> Option<Json> {
    let value = shown?.get(&key.into());
    let text = stringify(&value).ok()?.as_string()?;
    Json::from_value(&serde_json::from_str(&text).ok()?).ok()
}
