//! Leases: one runner at a time for a session. They are of this process, whatever keeps the sessions.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Function, Object, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::backend::Backend;
use super::checks::{check_options, check_signal};
use super::errors::{invalid, not_found};
use super::event::Fill;
use super::handles::{View, WriteLease};
use super::host::{Answer, member, option, settled};
use super::kinds::describe;
use super::requests::{EventWindow, check_session};
use super::session_service::{SessionService, started};
use crate::change::SessionKey;
use crate::lease::{LeaseFault, LeaseRequest, LeaseRow};

/// The default length of a lease, and the greatest, in milliseconds.
const DEFAULT_TTL: f64 = 30_000.0;
const MAX_TTL: f64 = 2_147_483_647.0;

#[wasm_bindgen]
extern "C" {
    /// The controller that aborts the signal of a lease.
    #[derive(Debug, Clone)]
    type AbortController;
    #[wasm_bindgen(constructor)]
    fn new() -> AbortController;
    #[wasm_bindgen(method, getter)]
    fn signal(this: &AbortController) -> JsValue;
    #[wasm_bindgen(method)]
    fn abort(this: &AbortController, reason: &JsValue);

    /// See `types.d.ts`.
    #[wasm_bindgen(typescript_type = "LeaseOptions")]
    #[derive(Debug, Clone)]
    pub type LeaseOptions;
}

/// The right to run a session: every write through its `session` carries its token until it is released. Once another
/// holder has taken the lease, such a write throws `LEASE_LOST`, and nothing of it is stored.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Lease(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    backend: Rc<Backend>,
    session: JsValue,
    view: View,
    key: SessionKey,
    holder: String,
    ttl: f64,
    fence: u64,
    until: Cell<f64>,
    controller: AbortController,
    /// The reason for which the lease is over: it was given back, or lost.
    over: RefCell<Option<JsValue>>,
}

#[wasm_bindgen]
impl SessionService {
    /// Takes the lease of a session: one holder at a time has it, until it is released, or its time is over and another
    /// takes it. Writes through other handles need no lease. The leases are of this process.
    ///
    /// Throws `LEASE_HELD` with `until`, `SESSION_NOT_FOUND`, `INVALID_ARGUMENT`.
    #[wasm_bindgen(unchecked_return_type = "Promise<Lease>")]
    pub fn lease(
        &self,
        #[wasm_bindgen(unchecked_param_type = "SessionName")] session: JsValue,
        options: Option<LeaseOptions>,
    ) -> Promise {
        started(|| {
            let options = options.map_or(JsValue::UNDEFINED, JsValue::from);
            check_options(&options, &["ttl", "signal"], "options")?;
            let (ttl, signal) = (checked_ttl(&option(&options, "ttl")?, DEFAULT_TTL)?, option(&options, "signal")?);
            check_signal(&signal)?;
            let key = check_session(&session)?;
            let this = Rc::clone(&self.backend);
            Ok(self.backend.ask(signal, move |backend| {
                if let Some(loss) = backend.handles.view(&session).map(|view| view.loss()).filter(JsValue::is_object) {
                    return Err(loss);
                }
                backend.resolve(&key, backend.handles.view(&session).as_ref())?;
                let view = backend.handles.view(&session);
                let session = if view.is_some() { session } else { backend.open(&key, EventWindow::default())? };
                let view = view.or_else(|| backend.handles.view(&session)).ok_or_else(|| not_found(&key.session_id))?;
                let holder = backend.id();
                let row = backend.decide(&view, &key, &LeaseRequest { holder: holder.clone(), ttl, fence: None })?;
                let until = Cell::new(row.holder.map_or(0.0, |(_, until)| until));
                let (controller, over) = (AbortController::new(), RefCell::default());
                let backend = this;
                let inner =
                    Inner { backend, session, view, key, holder, ttl, fence: row.fence, until, controller, over };
                Ok(inner.open())
            }))
        })
    }
}

#[wasm_bindgen]
impl Lease {
    /// The handle: the one that was given, if it is one of this service, else a new one.
    #[wasm_bindgen(getter, unchecked_return_type = "Session")]
    pub fn session(&self) -> JsValue {
        self.0.session.clone()
    }

    /// The fencing token: greater than that of every earlier lease of the session.
    #[wasm_bindgen(getter)]
    #[expect(clippy::cast_precision_loss, reason = "no session is leased so often")]
    pub fn token(&self) -> f64 {
        self.0.fence as f64
    }

    /// The end of the lease unless it is renewed, in milliseconds since the epoch.
    #[wasm_bindgen(getter)]
    pub fn until(&self) -> f64 {
        self.0.until.get()
    }

    /// Aborted, with the error as its reason, once the lease is known to be lost.
    #[wasm_bindgen(getter, unchecked_return_type = "AbortSignal")]
    pub fn signal(&self) -> JsValue {
        self.0.controller.signal()
    }

    /// Makes it last so many milliseconds from now on; by default its `ttl`. Throws `LEASE_LOST`.
    #[wasm_bindgen(unchecked_return_type = "Promise<void>")]
    pub fn renew(&self, #[wasm_bindgen(unchecked_optional_param_type = "number")] ttl: JsValue) -> Promise {
        let inner = Rc::clone(&self.0);
        let run = || -> Answer<JsValue> {
            let ttl = checked_ttl(&ttl, inner.ttl)?;
            if let Some(over) = inner.over.borrow().as_ref() {
                return Err(over.clone());
            }
            let row = inner.ask(ttl)?;
            inner.until.set(row.holder.map_or(0.0, |(_, until)| until));
            Ok(JsValue::UNDEFINED)
        };
        settled(run())
    }

    /// Gives it back, when the writes that were asked for before have been made. Nothing happens when it was lost: what
    /// comes through its handle goes on being refused then. Throws `STORE_UNAVAILABLE` when these writes do not end in
    /// time: it can be given back again.
    #[wasm_bindgen(unchecked_return_type = "Promise<void>")]
    pub fn release(&self) -> Promise {
        Inner::release(&self.0)
    }
}

impl Inner {
    /// The lease as its holder gets it; from then on writes through its handle carry the token.
    fn open(self) -> JsValue {
        let inner = Rc::new(self);
        let weak = Rc::downgrade(&inner);
        let lose = Closure::<dyn Fn(JsValue)>::new(move |thrown: JsValue| {
            if let Some(inner) = weak.upgrade() {
                inner.lose(&thrown);
            }
        });
        // A lease that the handle had before is over.
        if let Some(lose_before) = inner.view.on_loss() {
            let fenced = JsValue::from(LeaseFault::Fenced.error(&inner.key.session_id));
            // It is a function of this module.
            let _ = lose_before.call1(&JsValue::UNDEFINED, &fenced);
            inner.view.set_loss(&JsValue::UNDEFINED);
        }
        #[expect(clippy::cast_precision_loss, reason = "no session is leased so often")]
        inner.view.set_fence(Some(inner.fence as f64));
        inner.view.set_on_loss(lose.into_js_value().dyn_ref::<Function>());
        let disposed = Rc::clone(&inner);
        let lease = JsValue::from(Lease(inner));
        // Not every host has it.
        let symbol = member(&js_sys::global(), "Symbol").and_then(|symbols| member(&symbols, "asyncDispose"));
        if let Some(symbol) = symbol.ok().filter(JsValue::is_symbol) {
            let dispose = Closure::<dyn Fn() -> Promise>::new(move || {
                let released = Inner::release(&disposed);
                future_to_promise(async move {
                    // A block that ends tells its own error.
                    let _ = JsFuture::from(released).await;
                    Ok(JsValue::UNDEFINED)
                })
            });
            let hidden = super::host::Attributes { enumerable: false, configurable: true, writable: true };
            if let Some(object) = lease.dyn_ref::<Object>() {
                super::host::define(object, &symbol, &dispose.into_js_value(), &hidden);
            }
        }
        lease
    }

    /// Asks for so many milliseconds more; 0 gives it back.
    fn ask(&self, ttl: f64) -> Answer<LeaseRow> {
        let request = LeaseRequest { holder: self.holder.clone(), ttl, fence: Some(self.fence) };
        let row = self.backend.decide(&self.view, &self.key, &request);
        if let Err(thrown) = &row {
            self.lose(thrown);
        }
        row
    }

    fn release(inner: &Rc<Self>) -> Promise {
        if inner.over.borrow().is_some() {
            return Promise::resolve(&JsValue::UNDEFINED);
        }
        if inner.backend.store.is_none() {
            inner.give_back();
            return Promise::resolve(&JsValue::UNDEFINED);
        }
        let inner = Rc::clone(inner);
        inner.view.set_releasing(true);
        future_to_promise(async move {
            let permit = inner.backend.permit().await;
            inner.view.set_releasing(false);
            let _permit = permit?;
            inner.give_back();
            Ok(JsValue::UNDEFINED)
        })
    }

    fn give_back(&self) {
        if self.over.borrow().is_some() {
            return;
        }
        let _ = self.ask(0.0);
        if self.over.borrow().is_none() {
            *self.over.borrow_mut() = Some(LeaseFault::Fenced.error(&self.key.session_id).into());
            self.view.set_released(self.view.fence());
            self.view.set_fence(None);
            self.view.set_on_loss(None);
        }
    }

    fn lose(&self, thrown: &JsValue) {
        if self.over.borrow().is_none() {
            *self.over.borrow_mut() = Some(thrown.clone());
            self.view.set_loss(thrown);
            self.controller.abort(thrown);
        }
    }
}

impl Backend {
    /// Takes, renews or gives back the lease of a session.
    fn decide(&self, view: &View, key: &SessionKey, request: &LeaseRequest) -> Answer<LeaseRow> {
        self.begin()?;
        self.resolve(key, Some(view))?;
        let now = self.now()?;
        let mut leases = self.leases.borrow_mut();
        let row = leases.entry(view.created()).or_default();
        *row = row.decide(request, now).map_err(|fault| fault.error(&key.session_id))?;
        Ok(row.clone())
    }

    /// Refuses what carries a lease that was lost.
    pub(super) fn check_fence(&self, write_lease: WriteLease, view: &View, key: &SessionKey) -> Answer<()> {
        if write_lease.is_after && view.released() == Some(write_lease.fence) {
            return Ok(());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a whole number")]
        let fence = write_lease.fence as u64;
        let row = self.leases.borrow().get(&view.created()).cloned().unwrap_or_default();
        row.check(fence).map_err(|fault| {
            let thrown = JsValue::from(fault.error(&key.session_id));
            if let Some(lose) = view.on_loss() {
                // It is a function of this module.
                let _ = lose.call1(&JsValue::UNDEFINED, &thrown);
            }
            thrown
        })
    }
}

fn checked_ttl(value: &JsValue, otherwise: f64) -> Answer<f64> {
    if value.is_undefined() {
        return Ok(otherwise);
    }
    let is_time = |ttl: &f64| ttl.fract() == 0.0 && (1.0..=MAX_TTL).contains(ttl);
    value.as_f64().filter(is_time).ok_or_else(|| {
        let what = describe(value);
        invalid("ttl", &format!("must be a whole number of milliseconds from 1 to 2147483647, not {what}"))
    })
}
