//! The two functions that keep a log, and the permit to write to it, which one caller has at a time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Function, Promise, Reflect, Symbol};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::errors::{Details, error, error_by, is_kind};
use super::host::{Answer, Timer, deferred, member, string_of};
use super::log::Record;
use super::memory::Memory;
use super::replay::Replay;
use crate::error::ErrorKind;

/// Keeps records outside of this module. One change is on its way at a time.
#[derive(Debug)]
pub(super) struct Store {
    persist: Function,
    /// Nothing where the log is not read back: the service begins empty then, and goes by its memory.
    restore: Option<Function>,
    /// The time that one answer is waited for, in milliseconds.
    timeout: f64,
    /// Resolved when those who came before are done.
    last: RefCell<Promise>,
    /// The log has no record yet.
    is_new: Cell<bool>,
    log: Rc<LogState>,
}

/// The state of the log, as far as it is known.
#[derive(Debug, Default)]
struct LogState {
    /// The sessions in memory are those of the log.
    is_read: Cell<bool>,
    /// An answer of `persist` that has not come in time: nothing is written before it has come.
    late: RefCell<Option<Promise>>,
}

/// The permit to write. The next caller gets it when it is dropped.
#[derive(Debug)]
pub(super) struct Permit(Function);

impl Drop for Permit {
    fn drop(&mut self) {
        // The function that resolves a promise does not throw.
        let _ = self.0.call0(&JsValue::UNDEFINED);
    }
}

impl Permit {
    /// A permit that calls `done` when it is dropped.
    pub(super) fn new(done: Function) -> Self {
        Self(done)
    }

    /// A promise for the first one to wait for.
    pub(super) fn first() -> RefCell<Promise> {
        RefCell::new(Promise::resolve(&JsValue::UNDEFINED))
    }
}

impl Store {
    pub(super) fn new(persist: Function, restore: Option<Function>, timeout: f64) -> Self {
        let log = Rc::new(LogState::default());
        // A log that is never read back is new, and all of it is in memory.
        log.is_read.set(restore.is_none());
        Self { persist, is_new: Cell::new(restore.is_none()), restore, timeout, last: Permit::first(), log }
    }

    /// Waits for the permit to write. Throws `STORE_UNAVAILABLE` when it does not come in time.
    pub(super) async fn permit(&self) -> Answer<Permit> {
        let (promise, done) = deferred();
        let before = self.last.replace(promise);
        let permit = Permit(done);
        // It is never rejected.
        if self.in_time(&before).await.is_none() {
            spawn_local(async move {
                let _ = JsFuture::from(before).await;
                drop(permit);
            });
            return Err(not_in_time());
        }
        loop {
            let Some(late) = self.log.late.borrow().clone() else { return Ok(permit) };
            if self.in_time(&late).await.is_none() {
                return Err(not_in_time());
            }
        }
    }

    /// The outcome of a promise, if it settles in time.
    async fn in_time(&self, promise: &Promise) -> Option<Answer<JsValue>> {
        let timer = Timer::new(self.timeout);
        let first = JsFuture::from(Promise::race(&Array::of2(promise, &timer.ended))).await;
        if first.as_ref().is_ok_and(|value| timer.is_end(value)) { None } else { Some(first) }
    }

    fn no_answer(&self, of: &str) -> JsValue {
        js_sys::Error::new(&format!("{of} did not answer within {} ms", self.timeout)).into()
    }

    /// Returns `true` if the sessions in memory are those of the log.
    pub(super) fn is_read(&self) -> bool {
        self.log.is_read.get()
    }

    /// Reads the log. The caller has the permit.
    pub(super) async fn read(&self) -> Answer<Memory> {
        let replay = self.replay().await.map_err(|thrown| {
            if is_kind(&thrown, &[ErrorKind::StoreCorrupt, ErrorKind::StoreUnavailable, ErrorKind::StoreUnsuitable]) {
                return thrown;
            }
            let message = format!("the sessions cannot be read: restore() failed: {}", reason(&thrown));
            error_by(ErrorKind::StoreUnavailable, &message, &thrown)
        })?;
        self.is_new.set(replay.count == 0);
        self.log.is_read.set(true);
        Ok(replay.memory)
    }

    /// The outcome of an awaitable value, in time.
    async fn awaited(&self, value: JsValue) -> Answer<JsValue> {
        self.in_time(&Promise::resolve(&value)).await.unwrap_or_else(|| Err(self.no_answer("restore()")))
    }

    async fn replay(&self) -> Answer<Replay> {
        let mut replay = Replay::default();
        let Some(restore) = &self.restore else { return Ok(replay) };
        let records = self.awaited(restore.call0(&JsValue::UNDEFINED)?).await?;
        if let Some(list) = records.dyn_ref::<Array>() {
            for record in list.iter() {
                replay.replay(&record)?;
            }
            return Ok(replay);
        }
        let later = Reflect::get(&records, &Symbol::async_iterator())?;
        let is_later = later.is_function();
        let start = if is_later { later } else { Reflect::get(&records, &Symbol::iterator())? };
        let iterator = start.dyn_into::<Function>()?.call0(&records)?;
        let next = member(&iterator, "next")?.dyn_into::<Function>()?;
        loop {
            let step = next.call0(&iterator)?;
            let step = if is_later { self.awaited(step).await? } else { step };
            if member(&step, "done")?.is_truthy() {
                return Ok(replay);
            }
            replay.replay(&member(&step, "value")?)?;
        }
    }

    /// Writes records, all or none. The caller has the permit. `version` is the record of the version, for a new log.
    pub(super) async fn keep(&self, written: &[Record], version: impl FnOnce() -> Record) -> Answer<()> {
        let records = Array::new();
        if self.is_new.get() {
            records.push(&version().to_js()?);
        }
        for record in written {
            records.push(&record.to_js()?);
        }
        let answer = match self.persist.call1(&JsValue::UNDEFINED, &records) {
            Ok(answer) => Promise::resolve(&answer),
            Err(thrown) => Promise::reject(&thrown),
        };
        let thrown = match self.in_time(&answer).await {
            Some(Ok(_)) => {
                self.is_new.set(false);
                return Ok(());
            }
            Some(Err(thrown)) => thrown,
            None => {
                self.wait_for(answer);
                return Err(unknown(&self.no_answer("persist()")));
            }
        };
        let code = thrown.is_object().then(|| member(&thrown, "code").ok()).flatten().and_then(|code| code.as_string());
        let (kind, what) = match code.as_deref() {
            Some("unavailable") => (ErrorKind::StoreUnavailable, "the store is not available, and nothing was written"),
            Some("rejected") => (ErrorKind::LimitExceeded, "the store has refused the change, and nothing was written"),
            _ => {
                self.log.forget(self.restore.is_some());
                return Err(unknown(&thrown));
            }
        };
        Err(error_by(kind, &format!("{what}: {}", reason(&thrown)), &thrown))
    }

    /// Nothing is written before this answer of `persist` has come, whatever it is.
    fn wait_for(&self, answer: Promise) {
        let (settled, done) = deferred();
        *self.log.late.borrow_mut() = Some(settled);
        let (log, can_read) = (Rc::clone(&self.log), self.restore.is_some());
        spawn_local(async move {
            let _ = JsFuture::from(answer).await;
            log.late.borrow_mut().take();
            log.forget(can_read);
            drop(Permit(done));
        });
    }
}

impl LogState {
    /// From now on the log alone knows its content. If it cannot be read, the change counts as not written.
    fn forget(&self, can_read: bool) {
        if can_read {
            self.is_read.set(false);
        }
    }
}

fn not_in_time() -> JsValue {
    let message = "the store is not available: the writes before this one have not ended in time: persist must not \
                   wait for a write of its own";
    error(ErrorKind::StoreUnavailable, message, Details::default())
}

fn unknown(thrown: &JsValue) -> JsValue {
    let message = format!("it is unknown whether the change was stored: {}", reason(thrown));
    error_by(ErrorKind::CommitUnknown, &message, thrown)
}

/// The outcome of an awaitable value; any other value itself.
pub(super) async fn awaited(value: JsValue) -> Answer<JsValue> {
    JsFuture::from(Promise::resolve(&value)).await
}

/// The reason that a thrown value gives.
fn reason(thrown: &JsValue) -> String {
    let message = thrown.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    message.unwrap_or_else(|| string_of(thrown))
}
