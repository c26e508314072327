//! Sessions that expire: the end that a caller asks for, and what has expired by an operation.

use wasm_bindgen::prelude::*;

use super::backend::Backend;
use super::errors::invalid;
use super::event::Fill;
use super::host::{Answer, option};
use super::kinds::describe;
use super::log::Record;
use super::memory::Step;
use crate::expiry::Lifetime;

/// The end that a caller asks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// That of the service.
    Default,
    Never,
    /// So many milliseconds after the last write.
    After(f64),
    /// A time, in milliseconds since the epoch.
    At(f64),
}

impl End {
    /// Checks the `ttl` and the `expireTime` of a request, or of options.
    pub(super) fn of(request: &JsValue) -> Answer<Self> {
        let (ttl, time) = (option(request, "ttl")?, option(request, "expireTime")?);
        if ttl.is_undefined() && time.is_undefined() {
            return Ok(Self::Default);
        }
        if time.is_undefined() {
            return check_ttl(&ttl).map(|ttl| ttl.map_or(Self::Never, Self::After));
        }
        if !ttl.is_undefined() {
            return Err(invalid("expireTime", "cannot go together with ttl"));
        }
        let is_time = |time: &f64| time.is_finite();
        time.as_f64().filter(is_time).map(Self::At).ok_or_else(|| {
            invalid("expireTime", &format!("must be a number of milliseconds since the epoch, not {}", describe(&time)))
        })
    }

    /// The end of a session that is created now.
    pub(super) fn lifetime(self, backend: &Backend, now: f64) -> Answer<Option<Lifetime>> {
        match self {
            Self::Default => Ok(backend.ttl.map(|ttl| Lifetime::sliding(ttl, now))),
            Self::Never => Ok(None),
            Self::After(ttl) => Ok(Some(Lifetime::sliding(ttl, now))),
            Self::At(time) if time > now => Ok(Some(Lifetime::until(time))),
            Self::At(_) => Err(invalid("expireTime", "is over: a session cannot be created when it has expired")),
        }
    }
}

/// Checks a time to live; nothing, where it has no end.
pub(super) fn check_ttl(ttl: &JsValue) -> Answer<Option<f64>> {
    let ttl = ttl.as_f64().filter(|ttl| *ttl > 0.0).ok_or_else(|| {
        invalid("ttl", &format!("must be a number of milliseconds greater than 0, not {}", describe(ttl)))
    })?;
    Ok(Some(ttl).filter(|ttl| ttl.is_finite()))
}

impl Backend {
    /// Begins an operation: what has expired is not there any more.
    pub(super) fn begin(&self) -> Answer<()> {
        if self.memory.borrow().has_expiries() {
            self.take_out(self.now()?, None, usize::MAX)?;
        }
        Ok(())
    }

    /// Takes sessions that have expired out of the memory, and answers with their number. A log has them until they are
    /// swept.
    pub(super) fn take_out(&self, now: f64, app_name: Option<&str>, most: usize) -> Answer<usize> {
        let mut memory = self.memory.borrow_mut();
        let expired = memory.expired(now, app_name, most);
        for key in &expired {
            let step = Step::Remove { key: key.clone() };
            if self.store.is_some() {
                let record = Record::of(&step, &memory, self.id(), now);
                self.unswept.borrow_mut().insert(key.clone(), record);
            }
            memory.apply(&step)?;
        }
        Ok(expired.len())
    }
}
