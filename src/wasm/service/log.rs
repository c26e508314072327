//! The records that `persist` keeps and `restore` gives back: plain JSON, those of the package
//! (pkg/src/stores/journal/log-record.ts), so that each can go on with a log of the other.

use serde::Serialize;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::host::{Answer, parse};
use super::memory::{Memory, Step, values_set_by};
use crate::change::SessionKey;
use crate::delta::{Delta, ScopedDelta};
use crate::expiry::Lifetime;
use crate::session_log::SessionLog;

/// The version of what logs keep.
pub(super) const VERSION: u32 = 1;

/// Its fingerprint, which tells unreleased builds apart: that of the package (pkg/src/stores/journal/version.ts).
pub(super) const LAYOUT: &str = "c01999b4";

/// One record of a log, as it is written.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// The event's id, unique in its session; of any other record, unique everywhere.
    id: String,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'static str>,
    key: Key,
    /// In milliseconds since the epoch.
    time: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<RecordedEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<Guard>,
    /// Of a creation: the end of the session, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Expires>,
    /// The time at which the session expires after the change, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<f64>,
}

/// The end of a session: so long after each write, or a time.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Expires {
    Ttl(f64),
    At(f64),
}

/// The kind of change that a record has. A log of the package has others, too: see `replay`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Create,
    Append,
    Update,
    Remove,
    Version,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    app_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct RecordedEvent {
    id: String,
    time: f64,
    /// JSON text.
    data: String,
}

/// The state just before the change: the session, its revision, and the positions of its scopes. It shows the loss of
/// records.
#[derive(Debug, Clone, Serialize)]
struct Guard {
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    rev: u64,
    pos: Positions,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Positions {
    app: u64,
    user: u64,
}

impl Record {
    fn new(id: String, kind: Kind, key: Key, time: f64) -> Self {
        let (version, layout, event, delta, guard, expires, ends) = Default::default();
        Self { id, kind, version, layout, key, time, event, delta, guard, expires, ends }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn app_name(&self) -> &str {
        &self.key.app_name
    }

    /// The record of the version that is written now. It comes first in a new log.
    pub(super) fn version(id: String, time: f64) -> Self {
        let key = Key { app_name: "statepad".into(), user_id: Some("version".into()), session_id: Some(id.clone()) };
        let (version, layout) = (Some(VERSION), Some(LAYOUT));
        Self { version, layout, ..Self::new(id, Kind::Version, key, time) }
    }

    /// The record of a change that is to be applied to `memory`. `id` is new, `now` the time.
    pub(super) fn of(step: &Step, memory: &Memory, id: String, now: f64) -> Self {
        let whole = |key: &SessionKey| Key {
            app_name: key.app_name.clone(),
            user_id: Some(key.user_id.clone()),
            session_id: Some(key.session_id.clone()),
        };
        let pos = |app_name: &str, user_id: Option<&str>| Positions {
            app: memory.position(app_name, None),
            user: user_id.map_or(0, |user_id| memory.position(app_name, Some(user_id))),
        };
        let guard = |key: &SessionKey| {
            let id = memory.find(key);
            let created = id.map(|id| memory.created(id).to_owned());
            let rev = id.and_then(|id| memory.sessions.log(id)).map_or(0, SessionLog::revision);
            Some(Guard { created, rev, pos: pos(&key.app_name, Some(&key.user_id)) })
        };
        let new = |id: &str, kind, key, time| Self::new(id.to_owned(), kind, key, time);
        match step {
            Step::Create { key, created, change, lifetime } => {
                let state = values_set_by(&change.delta.clone().join(Delta::default()));
                let data = format!("{{\"timestamp\":{},\"state\":{state}}}", super::event::number(change.time));
                let event = Some(RecordedEvent { id: created.clone(), time: change.time, data });
                let (delta, guard) = (Some(json_of(&change.delta)), guard(key));
                let expires = lifetime.map(|Lifetime { ttl, expires }| ttl.map_or(Expires::At(expires), Expires::Ttl));
                let ends = lifetime.map(|lifetime| lifetime.expires);
                Self { event, delta, guard, expires, ends, ..new(created, Kind::Create, whole(key), change.time) }
            }
            Step::Append { key, change, json, lifetime, .. } => {
                let event = Some(RecordedEvent { id: change.id.to_string(), time: change.time, data: json.clone() });
                let (delta, guard) = (Some(json_of(&change.delta)), guard(key));
                let ends = lifetime.map(|lifetime| lifetime.expires);
                Self { event, delta, guard, ends, ..new(&change.id, Kind::Append, whole(key), change.time) }
            }
            Step::Update { app_name, user_id, change } => {
                let guard = Some(Guard { created: None, rev: 0, pos: pos(app_name, user_id.as_deref()) });
                let key = Key { app_name: app_name.clone(), user_id: user_id.clone(), session_id: None };
                Self { delta: Some(json_of(&change.delta)), guard, ..new(&change.id, Kind::Update, key, change.time) }
            }
            Step::Remove { key } => Self { guard: guard(key), ..new(&id, Kind::Remove, whole(key), now) },
        }
    }

    /// The record as `persist` gets it.
    pub(super) fn to_js(&self) -> Answer<JsValue> {
        parse(&serde_json::to_string(self).unwrap_or_default())
    }
}

fn json_of(delta: &ScopedDelta) -> Value {
    serde_json::from_str(&delta.to_json()).unwrap_or_default()
}
