//! A query of the past of a session.

use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use super::backend::Backend;
use super::delta::is_temp;
use super::errors::{error_at, with_member};
use super::handles::{View, WriteLease};
use super::host::{Answer, member, stringify};
use super::kinds::describe;
use super::memory::Memory;
use crate::change::SessionKey;
use crate::ids::SessionId;
use crate::native::refusals::no_such_revision;
use crate::session_log::SessionLog;

/// A query of a session.
pub(super) struct SessionQuery {
    pub(super) session: JsValue,
    pub(super) key: SessionKey,
    /// The view, when the session is a handle.
    pub(super) view: Option<View>,
    /// The lease of the handle at the time of the query.
    pub(super) write_lease: Option<WriteLease>,
    pub(super) signal: JsValue,
}

impl SessionQuery {
    pub(super) fn id(&self, backend: &Backend) -> Answer<SessionId> {
        backend.resolve(&self.key, self.view.as_ref())
    }

    /// The revision of the handle, or of the session.
    pub(super) fn revision(&self, memory: &Memory, id: SessionId) -> u64 {
        let shown = self.view.as_ref().and_then(|_| member(&self.session, "revision").ok()?.as_f64());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handle shows a whole number")]
        let shown = shown.map(|revision| revision as u64);
        shown.unwrap_or_else(|| memory.sessions.log(id).map_or(0, SessionLog::revision))
    }

    /// Checks a revision that is asked for.
    pub(super) fn check(&self, revision_value: &JsValue, until: u64, path: &str) -> Answer<u64> {
        let number = revision_value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole, and not negative")]
        let revision = number.map(|number| number as u64).filter(|revision| *revision <= until);
        revision.ok_or_else(|| {
            let refused = no_such_revision(&self.key.session_id, until, &describe(revision_value));
            #[expect(clippy::cast_precision_loss, reason = "no session has so many events")]
            let actual = JsValue::from(until as f64);
            with_member(error_at(refused, path), "actual", &actual)
        })
    }

    /// The current state of the handle, or of the session, without `temp:` keys.
    pub(super) fn state(&self, memory: &Memory, id: SessionId) -> Answer<Map<String, Value>> {
        let text = match &self.view {
            Some(_) => stringify(&member(&self.session, "state")?)?.as_string().unwrap_or_default(),
            None => memory.state_json(id),
        };
        let mut state: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
        state.retain(|key, _| !is_temp(key));
        Ok(state)
    }
}
