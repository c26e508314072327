//! Sweeping: removing what has expired.

use std::collections::HashSet;
use std::rc::Rc;

use js_sys::{Object, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::backend::Backend;
use super::checks::{admit_optional_string, check_count, refuse_aborted};
use super::errors::invalid;
use super::event::Fill;
use super::host::{Answer, option, put, settled};
use super::kinds::describe;
use super::log::Record;
use super::requests::{SWEEP, check_request, narrow};
use super::session_service::{SessionService, started};

/// The most sessions that one call of `persist` removes.
const SLICE: usize = 100;

#[wasm_bindgen]
impl SessionService {
    /// Removes sessions that have expired, the first ones first: so many at most as `limit` says. They are not there
    /// for any operation before that; with `persist`, a log goes on having them until then. Throws `INVALID_ARGUMENT`.
    #[wasm_bindgen(unchecked_return_type = "Promise<SweepAnswer>")]
    pub fn sweep(&self, request: Option<SweepRequest>) -> Promise {
        started(|| {
            let request = request.map_or_else(|| Object::new().into(), JsValue::from);
            let signal = check_request(&request, &SWEEP)?;
            let app_name = admit_optional_string(&option(&request, "appName")?, "appName")?;
            let limit = option(&request, "limit")?;
            let limit = if limit.as_f64() == Some(f64::INFINITY) { JsValue::UNDEFINED } else { limit };
            let most = check_count(&limit, "limit")?;
            if most == Some(0.0) {
                return Err(invalid("limit", "must be at least 1"));
            }
            let most = most.map_or(usize::MAX, narrow);
            let is_dry = option(&request, "dryRun")?;
            let is_dry = match is_dry.as_bool() {
                None if is_dry.is_undefined() => false,
                Some(is_dry) => is_dry,
                None => return Err(invalid("dryRun", &format!("must be true or false, not {}", describe(&is_dry)))),
            };
            if self.backend.store.is_none() {
                let run = || {
                    refuse_aborted(&signal)?;
                    self.backend.sweep_memory(app_name.as_deref(), most, is_dry).map(swept)
                };
                return Ok(settled(run()));
            }
            let backend = Rc::clone(&self.backend);
            Ok(future_to_promise(async move {
                let mut count = 0;
                loop {
                    let _permit = backend.permit().await?;
                    refuse_aborted(&signal)?;
                    let slice = if is_dry { most } else { SLICE.min(most - count) };
                    let removed = backend.sweep_log(app_name.as_deref(), slice, is_dry).await?;
                    count += removed;
                    if is_dry || removed < SLICE || count == most {
                        return Ok(swept(count));
                    }
                }
            }))
        })
    }
}

#[wasm_bindgen]
extern "C" {
    /// See `types.d.ts`.
    #[wasm_bindgen(typescript_type = "SweepRequest")]
    #[derive(Debug)]
    pub type SweepRequest;
}

fn swept(count: usize) -> JsValue {
    let answer = Object::new();
    put(&answer, "sessions", &f64::from(u32::try_from(count).unwrap_or(u32::MAX)).into());
    put(&answer, "users", &0.into());
    answer.into()
}

impl Backend {
    fn sweep_memory(&self, app_name: Option<&str>, most: usize, is_dry: bool) -> Answer<usize> {
        let now = self.now()?;
        if is_dry {
            return Ok(self.memory.borrow_mut().expired(now, app_name, most).len());
        }
        self.take_out(now, app_name, most)
    }

    /// Writes the removal of sessions that have expired. The caller has the permit, so that all of them have been taken
    /// out of the memory.
    async fn sweep_log(&self, app_name: Option<&str>, most: usize, is_dry: bool) -> Answer<usize> {
        let records: Vec<Record> = {
            let unswept = self.unswept.borrow();
            let is_wanted = |record: &&Record| app_name.is_none_or(|app_name| record.app_name() == app_name);
            unswept.values().filter(is_wanted).take(most).cloned().collect()
        };
        if let (false, false, Some(store)) = (is_dry, records.is_empty(), &self.store) {
            let now = self.now()?;
            store.keep(&records, || Record::version(self.id(), now)).await?;
            let ids: HashSet<&str> = records.iter().map(Record::id).collect();
            self.unswept.borrow_mut().retain(|_, record| !ids.contains(record.id()));
        }
        Ok(records.len())
    }
}
