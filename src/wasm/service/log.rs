//! The records that `persist` keeps and `restore` gives back: plain JSON, those of the package
//! (pkg/src/stores/journal/log-record.ts), so that each can go on with a log of the other.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wasm_bindgen::prelude::*;

use super::errors::{Details, error};
use super::host::{Answer, parse, parse_frozen, stringify};
use super::memory::{Memory, Step, values_set_by};
use crate::change::{Change, ChangeKind, SessionKey};
use crate::delta::{Delta, ScopedDelta, Write};
use crate::error::ErrorKind;
use crate::json::Json;
use crate::scope::Scope;
use crate::session_log::SessionLog;

/// The version of what logs keep.
const VERSION: u32 = 2;

/// One record of a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// The event's id, unique in its session; of any other record, unique everywhere.
    id: String,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    key: Key,
    /// In milliseconds since the epoch.
    time: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<RecordedEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delta: Option<Value>,
    #[serde(default, skip_serializing_if = "Guard::is_empty")]
    guard: Guard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Create,
    Append,
    Update,
    Remove,
    RemoveScope,
    /// A call that was refused: nothing that is kept here depends on it.
    Refusal,
    Version,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    app_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RecordedEvent {
    id: String,
    time: f64,
    /// JSON text.
    data: String,
}

/// What was there just before the change: which session, at which revision.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Guard {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rev: Option<u64>,
}

impl Guard {
    fn is_empty(&self) -> bool {
        self.created.is_none() && self.rev.is_none()
    }
}

/// What changes in one scope, as records have it.
#[derive(Debug, Default, Deserialize)]
struct Part {
    #[serde(default)]
    set: Map<String, Value>,
    #[serde(default)]
    unset: Vec<String>,
}

impl Record {
    /// The record of the version that is written now. It comes first in a new log.
    pub(super) fn version(id: String, time: f64) -> Self {
        let key = Key { app_name: "statepad".into(), user_id: Some("version".into()), session_id: Some(id.clone()) };
        let guard = Guard::default();
        let (version, delta) = (Some(VERSION), Some(json!({})));
        Self { id, kind: Kind::Version, version, key, time, event: None, delta, guard }
    }

    /// The record of a change that is to be applied to `memory`. `id` is new, `now` the time.
    pub(super) fn of(step: &Step, memory: &Memory, id: String, now: f64) -> Self {
        let whole = |key: &SessionKey| Key {
            app_name: key.app_name.clone(),
            user_id: Some(key.user_id.clone()),
            session_id: Some(key.session_id.clone()),
        };
        let guard = |key: &SessionKey, created: &str| Guard {
            created: Some(created.to_owned()),
            rev: memory.find(key).and_then(|id| memory.sessions.log(id)).map(SessionLog::revision),
        };
        let (version, event) = (None, None);
        match step {
            Step::Create { key, created, change } => {
                let state = values_set_by(&change.delta.clone().join(Delta::default()));
                let data = format!("{{\"timestamp\":{},\"state\":{state}}}", super::event::number(change.time));
                let event = Some(RecordedEvent { id: created.clone(), time: change.time, data });
                let (time, delta) = (change.time, Some(json_of(&change.delta)));
                let id = created.clone();
                Self { id, kind: Kind::Create, version, key: whole(key), time, event, delta, guard: Guard::default() }
            }
            Step::Append { key, created, change, json, .. } => {
                let id = change.id.to_string();
                let event = Some(RecordedEvent { id: id.clone(), time: change.time, data: json.clone() });
                let (time, delta, guard) = (change.time, Some(json_of(&change.delta)), guard(key, created));
                Self { id, kind: Kind::Append, version, key: whole(key), time, event, delta, guard }
            }
            Step::Update { app_name, user_id, change } => {
                let key = Key { app_name: app_name.clone(), user_id: user_id.clone(), session_id: None };
                let (id, time, delta) = (change.id.to_string(), change.time, Some(json_of(&change.delta)));
                Self { id, kind: Kind::Update, version, key, time, event, delta, guard: Guard::default() }
            }
            Step::Remove { key, created } => {
                let guard = guard(key, created);
                Self { id, kind: Kind::Remove, version, key: whole(key), time: now, event, delta: None, guard }
            }
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

/// Makes sessions of the records that are given back.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub(super) memory: Memory,
    /// The records that were made: one may be there twice, because a retry wrote it again.
    made: HashSet<String>,
    /// Whether there are none.
    pub(super) is_empty: bool,
}

impl Replay {
    pub(super) fn new() -> Self {
        Self { is_empty: true, ..Self::default() }
    }

    /// Makes what a record says, unless it has been made before.
    pub(super) fn replay(&mut self, given: &JsValue) -> Answer<()> {
        let text = stringify(given)?.as_string().unwrap_or_default();
        let record: Record = serde_json::from_str(&text)
            .map_err(|reason| corrupt(&format!("what restore() gives back is no record of a log: {reason}"), None))?;
        self.is_empty = false;
        match record.kind {
            Kind::Refusal => return Ok(()),
            Kind::Version => {
                let version = record.version.unwrap_or_default();
                let message =
                    format!("the log has version {version}, which is later than {VERSION}: use a later statepad");
                return if version > VERSION { Err(corrupt(&message, None)) } else { Ok(()) };
            }
            _ => {}
        }
        let Record { id, key, guard, .. } = &record;
        let mark = json!([id, record.kind, key.app_name, key.user_id, key.session_id, guard.created]).to_string();
        if self.made.insert(mark) { self.make(record) } else { Ok(()) }
    }

    fn make(&mut self, record: Record) -> Answer<()> {
        let Record { id, kind, key, time, event, delta, guard, .. } = record;
        let Key { app_name, user_id, session_id } = key;
        let delta = delta_of(delta)?;
        let change = |kind, id: &str| Change { id: id.into(), kind, time, delta: delta.split().0 };
        let named = user_id.clone().zip(session_id);
        let step = match (kind, named) {
            (Kind::Update, None) => Step::Update { app_name, user_id, change: change(ChangeKind::Update, &id) },
            (Kind::RemoveScope, None) => {
                if let Some(scope) = self.memory.sessions.scope(&app_name, user_id.as_deref()) {
                    self.memory.sessions.replace(scope, &Delta::default());
                }
                return Ok(());
            }
            (kind, Some((user_id, session_id))) => {
                let key = SessionKey { app_name, user_id, session_id };
                if kind == Kind::Create {
                    let change = change(ChangeKind::Create, &key.session_id);
                    Step::Create { key, created: id, change }
                } else {
                    let created = self.sound(&key, &guard)?;
                    match (kind, event) {
                        (Kind::Remove, _) => Step::Remove { key, created },
                        (Kind::Append, Some(RecordedEvent { data: json, .. })) => {
                            let change = change(ChangeKind::Append, &id);
                            let event = parse_frozen(&json)?;
                            Step::Append { key, created, change, event, json }
                        }
                        _ => return Err(corrupt(&lost(&key.session_id), Some(&key.session_id))),
                    }
                }
            }
            _ => return Err(corrupt("what restore() gives back has a record without its key", None)),
        };
        Ok(self.memory.apply(&step)?)
    }

    /// The creation of the session that a record is about, if no record before it is missing.
    fn sound(&self, key: &SessionKey, guard: &Guard) -> Answer<String> {
        let session = self.memory.find(key);
        let revision = session.and_then(|id| self.memory.sessions.log(id)).map(SessionLog::revision);
        let created = session.map(|id| self.memory.created(id));
        match (created, revision) {
            (Some(created), Some(revision))
                if guard.created.as_deref().is_none_or(|wanted| wanted == created)
                    && guard.rev.is_none_or(|wanted| wanted == revision) =>
            {
                Ok(created.to_owned())
            }
            _ => Err(corrupt(&lost(&key.session_id), Some(&key.session_id))),
        }
    }
}

/// The delta of a record, under full keys.
fn delta_of(delta: Option<Value>) -> Answer<Delta> {
    let mut parts: Map<String, Value> = serde_json::from_value(delta.unwrap_or_else(|| json!({}))).unwrap_or_default();
    let mut joined = Delta::default();
    for (name, scope) in [("app", Scope::App), ("user", Scope::User), ("session", Scope::Session)] {
        let Some(part) = parts.remove(name) else {
            continue;
        };
        let Part { set, unset } = serde_json::from_value(part)
            .map_err(|reason| corrupt(&format!("what restore() gives back has a broken delta: {reason}"), None))?;
        // What is unset is unset before what is set: a name that is in both goes to the end.
        for name in &unset {
            joined.push(scope.key(name), Write::Unset);
        }
        for (name, value) in &set {
            joined.push(scope.key(name), Write::Set(Json::from_value(value)?));
        }
    }
    Ok(joined)
}

fn lost(id: &str) -> String {
    format!("session \"{id}\" cannot be read: a record of it is damaged or missing")
}

fn corrupt(message: &str, id: Option<&str>) -> JsValue {
    error(ErrorKind::StoreCorrupt, message, id.map_or_else(Details::default, Details::of))
}
