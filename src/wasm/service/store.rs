//! The two functions that keep a log, and the turns of those who write to it.

use std::cell::{Cell, RefCell};

use js_sys::{Array, Function, Promise, Reflect, Symbol};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::errors::{error_by, is_kind};
use super::host::{Answer, deferred, member, string_of};
use super::log::{Record, Replay};
use super::memory::Memory;
use crate::error::ErrorKind;

/// Keeps records outside of this module. One change is on its way at a time.
#[derive(Debug)]
pub(super) struct Store {
    persist: Function,
    restore: Function,
    /// Resolved when those who came before are done.
    last: RefCell<Promise>,
    /// Whether the sessions in memory are those of the log.
    is_read: Cell<bool>,
    /// Whether the log has no record yet.
    is_new: Cell<bool>,
}

/// The turn of one who writes. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Turn(Function);

impl Drop for Turn {
    fn drop(&mut self) {
        // What resolves a promise does not throw.
        let _ = self.0.call0(&JsValue::UNDEFINED);
    }
}

impl Turn {
    /// A turn that calls `done` when it ends.
    pub(super) fn new(done: Function) -> Self {
        Self(done)
    }

    /// Waits for those who came before.
    pub(super) async fn wait(last: &RefCell<Promise>) -> Self {
        let (promise, done) = deferred();
        let before = last.replace(promise);
        let turn = Self(done);
        // It is never rejected.
        let _ = JsFuture::from(before).await;
        turn
    }

    /// A promise for the first one to wait for.
    pub(super) fn first() -> RefCell<Promise> {
        RefCell::new(Promise::resolve(&JsValue::UNDEFINED))
    }
}

impl Store {
    pub(super) fn new(persist: Function, restore: Function) -> Self {
        Self { persist, restore, last: Turn::first(), is_read: Cell::new(false), is_new: Cell::new(false) }
    }

    /// Waits until it is one's turn to write.
    pub(super) async fn turn(&self) -> Turn {
        Turn::wait(&self.last).await
    }

    /// Whether the sessions in memory are those of the log.
    pub(super) fn is_read(&self) -> bool {
        self.is_read.get()
    }

    /// Reads the log, in one's turn.
    pub(super) async fn read(&self) -> Answer<Memory> {
        let replay = self.replay().await.map_err(|thrown| {
            if is_kind(&thrown, &[ErrorKind::StoreCorrupt]) {
                return thrown;
            }
            let message = format!("the sessions cannot be read: restore() failed: {}", reason(&thrown));
            error_by(ErrorKind::StoreUnavailable, &message, &thrown)
        })?;
        self.is_new.set(replay.is_empty);
        self.is_read.set(true);
        Ok(replay.memory)
    }

    async fn replay(&self) -> Answer<Replay> {
        let records = awaited(self.restore.call0(&JsValue::UNDEFINED)?).await?;
        let mut replay = Replay::new();
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
            let step = if is_later { awaited(step).await? } else { step };
            if member(&step, "done")?.is_truthy() {
                return Ok(replay);
            }
            replay.replay(&member(&step, "value")?)?;
        }
    }

    /// Keeps a record, in one's turn. `version` is that of the version, for a new log.
    pub(super) async fn keep(&self, record: &Record, version: impl FnOnce() -> Record) -> Answer<()> {
        let records = Array::new();
        if self.is_new.get() {
            records.push(&version().to_js()?);
        }
        records.push(&record.to_js()?);
        let kept = match self.persist.call1(&JsValue::UNDEFINED, &records) {
            Ok(answer) => awaited(answer).await,
            Err(thrown) => Err(thrown),
        };
        let Err(thrown) = kept else {
            self.is_new.set(false);
            return Ok(());
        };
        let code = thrown.is_object().then(|| member(&thrown, "code").ok()).flatten().and_then(|code| code.as_string());
        let (kind, what) = match code.as_deref() {
            Some("unavailable") => (ErrorKind::StoreUnavailable, "the store is not available, and nothing was written"),
            Some("rejected") => (ErrorKind::LimitExceeded, "the store has refused the change, and nothing was written"),
            _ => {
                // What is kept now, only the log knows.
                self.is_read.set(false);
                (ErrorKind::CommitUnknown, "it is not known whether the change was stored")
            }
        };
        Err(error_by(kind, &format!("{what}: {}", reason(&thrown)), &thrown))
    }
}

/// What something comes to, if it can be awaited; itself otherwise.
pub(super) async fn awaited(value: JsValue) -> Answer<JsValue> {
    JsFuture::from(Promise::resolve(&value)).await
}

/// What something that was thrown says.
fn reason(thrown: &JsValue) -> String {
    let message = thrown.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    message.unwrap_or_else(|| string_of(thrown))
}
