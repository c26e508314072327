//! An event on its way in: admitted, and completed once the core has answered. The same rules as in the package
//! (pkg/src/input/event-draft.ts).

use js_sys::Reflect;
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use super::delta::{core_delta, is_temp, resolve_into};
use super::errors::invalid;
use super::host::{Answer, deep_freeze, member, parse, stringify};
use super::kinds::{describe, describe_json, is_plain};
use super::limits::{check_delta, exceeded};
use super::requests::check_event_names;
use super::walk::{AdmittedDelta, adk_event, admit_delta, admit_members};
use crate::delta::Delta;
use crate::error::Result;
use crate::event::metadata::{with_deletions, with_operators};
use crate::json::{Json, size_at_most, size_of, string_at_most};
use crate::limits::Limits;
use crate::native::Draft;
use crate::operator::Operator;

/// More bytes than the members have that every event gets.
const REST_AT_MOST: u64 = 512;

/// An admitted event.
#[derive(Debug, Clone)]
pub(super) struct EventDraft {
    /// All members but the actions.
    members: Map<String, Value>,
    /// The actions but the delta.
    actions: Map<String, Value>,
    delta: Map<String, Value>,
    /// The keys that it deletes: each of them is in the delta, as `null`.
    deleted: Vec<String>,
    /// The operators, by key: each of these keys is in the delta, as `null` until its operator is resolved.
    operators: Vec<(String, Operator)>,
    pub(super) id: String,
    /// In milliseconds since the epoch.
    pub(super) time: f64,
    /// The caller left the timestamp to the clock.
    is_timed: bool,
    /// The event has ADK's mark of its events.
    is_marked: bool,
}

/// The `temp:` keys of an event: for the eyes of its invocation, never stored. Keys are unset after the others are
/// set.
#[derive(Debug, Default)]
pub(super) struct TempDelta {
    pub(super) set: Vec<(String, Value)>,
    pub(super) unset: Vec<String>,
}

/// Supplies the id and the time of an event that comes without.
pub(super) trait Fill {
    /// A new id.
    fn id(&self) -> String;
    /// Milliseconds since the epoch.
    fn now(&self) -> Answer<f64>;
}

/// Checks and copies an event, and fills in what is missing. The caller's object is never changed.
pub(super) fn admit_event(event: &JsValue, fill: &impl Fill) -> Answer<EventDraft> {
    admit_event_of(event, fill, true)
}

/// As [`admit_event`]; an event of a log may have names that are almost known ones.
pub(super) fn admit_event_of(event: &JsValue, fill: &impl Fill, has_known_names: bool) -> Answer<EventDraft> {
    check_record(event, "event")?;
    let actions_value = member(event, "actions")?;
    if !actions_value.is_undefined() {
        check_record(&actions_value, "actions")?;
    }
    if has_known_names {
        check_event_names(event, &actions_value)?;
    }
    let mut members = admit_members(event, "actions", "")?;
    let named = members.get("id").filter(|id| **id != *"");
    let id = named.map_or_else(|| Ok(fill.id()), |id| text_of(id, "id"))?;
    let is_timed = !members.contains_key("timestamp");
    let time = match members.get("timestamp") {
        None => fill.now()?,
        Some(time) => time.as_f64().ok_or_else(|| {
            invalid("timestamp", &format!("must be a number of milliseconds, not {}", describe_json(time)))
        })?,
    };
    let invocation_id = members.get("invocationId").map_or(Ok(String::new()), |id| text_of(id, "invocationId"))?;
    members.insert("id".into(), id.clone().into());
    members.insert("invocationId".into(), invocation_id.into());
    members.entry("timestamp").or_insert_with(|| number(time));

    let (AdmittedDelta { members: delta, deleted, operators }, actions) = if actions_value.is_undefined() {
        (AdmittedDelta::default(), Map::new())
    } else {
        (
            admit_delta(&member(&actions_value, "stateDelta")?, "actions.stateDelta")?,
            admit_members(&actions_value, "stateDelta", "actions")?,
        )
    };
    let is_marked = Reflect::get(event, &adk_event())? == JsValue::TRUE;
    let metadata = members.get("customMetadata");
    if !operators.is_empty() {
        check_metadata(metadata, "the operators of the event")?;
    }
    let deleted = deletions_in(metadata, deleted)?;
    Ok(EventDraft { members, actions, delta, deleted, operators, id, time, is_timed, is_marked })
}

impl EventDraft {
    /// `user`, or the agent's name.
    pub(super) fn author(&self) -> Option<&str> {
        self.members.get("author").and_then(Value::as_str)
    }

    /// The invocation that it belongs to.
    pub(super) fn invocation_id(&self) -> &str {
        self.members.get("invocationId").and_then(Value::as_str).unwrap_or_default()
    }

    /// Throws `LIMIT_EXCEEDED` for an event, a delta or a value that is too large.
    pub(super) fn check_size(&self, limits: &Limits, session_id: &str) -> Answer<()> {
        let Self { members, actions, delta, deleted, operators, .. } = self;
        check_delta(limits, "actions.stateDelta", delta, deleted, operators, Some(session_id))?;
        let at_most = || {
            let parts = [members, actions, delta].into_iter().flatten();
            let sizes = parts.map(|(name, value)| 2 * string_at_most(name) + size_at_most(value));
            let of_operators = operators.iter().map(|(_, operator)| size_at_most(&operator.to_value()));
            REST_AT_MOST + sizes.chain(of_operators).sum::<u64>()
        };
        let size = || {
            let mut stored = self.clone();
            stored.extract_temp_keys();
            size_of(&stored.to_stored().value)
        };
        limits.check_event(at_most, size).map_err(|error| exceeded(error, "event", Some(session_id)))
    }

    /// Takes the `temp:` keys out.
    pub(super) fn extract_temp_keys(&mut self) -> TempDelta {
        let mut set = Vec::new();
        let mut stored = Map::new();
        for (key, value) in std::mem::take(&mut self.delta) {
            if is_temp(&key) {
                set.push((key, value));
            } else {
                stored.insert(key, value);
            }
        }
        self.delta = stored;
        self.operators.retain(|(key, _)| !is_temp(key));
        let (unset, deleted): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.deleted).into_iter().partition(|key| is_temp(key));
        self.deleted = deleted;
        let metadata = self.members.get("customMetadata");
        if !unset.is_empty() && stored_deletions(metadata).is_ok_and(|keys| keys.iter().any(|key| is_temp(key))) {
            let metadata = with_deletions(metadata, &self.deleted);
            self.members.insert("customMetadata".into(), metadata.into());
        }
        TempDelta { set, unset }
    }

    /// The event as it is stored, its deletions in their stored form. The `temp:` keys have been taken out.
    pub(super) fn to_stored(&self) -> StoredEvent {
        let mut event = self.members.clone();
        let mut actions = Map::new();
        actions.insert("stateDelta".into(), Value::Object(self.delta.clone()));
        for name in ["artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations"] {
            actions.insert(name.into(), Value::Object(Map::new()));
        }
        actions.extend(self.actions.clone());
        event.insert("actions".into(), Value::Object(actions));
        if !self.deleted.is_empty() {
            let metadata = with_deletions(event.get("customMetadata"), &self.deleted);
            event.insert("customMetadata".into(), metadata.into());
        }
        if !self.operators.is_empty() {
            let metadata = event.get("customMetadata").and_then(Value::as_object);
            let operators = self.operators.iter().map(|(key, operator)| (key.as_str(), operator));
            let metadata = with_operators(metadata, operators);
            event.insert("customMetadata".into(), metadata.into());
        }
        StoredEvent { value: Value::Object(event), is_marked: self.is_marked }
    }

    /// Returns `true` if the stored event is this one. A timestamp that the clock gave does not count, and neither do
    /// the results of operators.
    pub(super) fn is_repeated(&self, mut sealed: StoredEvent, stored: &JsValue) -> Answer<bool> {
        let text = stringify(stored)?.as_string().unwrap_or_default();
        let mut stored: Value = serde_json::from_str(&text).unwrap_or_default();
        for event in [&mut sealed.value, &mut stored] {
            for (key, _) in &self.operators {
                if let Some(value) = event.pointer_mut("/actions/stateDelta").and_then(|delta| delta.get_mut(key)) {
                    *value = Value::Null;
                }
            }
        }
        if let (true, Some(event), Some(time)) = (self.is_timed, sealed.value.as_object_mut(), stored.get("timestamp"))
        {
            event.insert("timestamp".into(), time.clone());
        }
        Ok(sealed.value == stored)
    }
}

impl Draft for EventDraft {
    fn id(&self) -> &str {
        &self.id
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn delta(&mut self) -> Result<Delta> {
        core_delta("actions.stateDelta", &self.delta, &self.deleted)
    }

    fn has_operators(&self) -> bool {
        !self.operators.is_empty()
    }

    fn resolve(&mut self, value_of: &dyn Fn(&str) -> Option<Json>) -> Result<()> {
        resolve_into(&mut self.delta, &self.operators, value_of)
    }

    fn results(&self) -> Vec<String> {
        self.operators.iter().map(|(key, _)| key.clone()).collect()
    }
}

/// An event as it is stored.
#[derive(Debug, Clone)]
pub(super) struct StoredEvent {
    value: Value,
    is_marked: bool,
}

impl StoredEvent {
    /// Its JSON text.
    pub(super) fn to_json(&self) -> String {
        self.value.to_string()
    }

    /// The frozen object that all readers share.
    pub(super) fn to_js(&self) -> Answer<JsValue> {
        let event = parse(&self.to_json())?;
        if self.is_marked {
            Reflect::set(&event, &adk_event(), &true.into())?;
        }
        deep_freeze(&event);
        Ok(event)
    }
}

/// A number as JSON of JavaScript has it.
pub(super) fn number(number: f64) -> Value {
    let mut value = Value::from(number + 0.0);
    crate::json::normalize(&mut value);
    value
}

/// Refuses a value with getters or entries in the place of members: they would be lost.
fn check_record(value: &JsValue, path: &str) -> Answer<()> {
    if is_plain(value) {
        Ok(())
    } else {
        Err(invalid(path, &format!("must be a plain object, not {}", describe(value))))
    }
}

fn text_of(value: &Value, path: &str) -> Answer<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(invalid(path, &format!("must be a string and not {}", describe_json(other)))),
    }
}

/// All deletions of an event: those that its metadata name already, and those of its delta.
fn deletions_in(metadata: Option<&Value>, deleted: Vec<String>) -> Answer<Vec<String>> {
    if !deleted.is_empty() {
        check_metadata(metadata, "the keys that the event deletes")?;
    }
    let mut all = stored_deletions(metadata)?;
    all.extend(deleted);
    Ok(all)
}

/// The deletions that an event already has in its stored form.
fn stored_deletions(metadata: Option<&Value>) -> Answer<Vec<String>> {
    let deleted = metadata.and_then(|metadata| metadata.get("statepad")).and_then(|own| own.get("deleted"));
    match deleted {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(deleted) => serde_json::from_value(deleted.clone())
            .map_err(|_| invalid("customMetadata.statepad.deleted", "must be a list of keys")),
    }
}

/// Checks that what is `kept` in the metadata of an event can be put there, without anything of them being lost.
fn check_metadata(metadata: Option<&Value>, content: &str) -> Answer<()> {
    let own = metadata.and_then(|metadata| metadata.get("statepad"));
    for (path, value) in [("customMetadata", metadata), ("customMetadata.statepad", own)] {
        if let Some(value) = value.filter(|value| !(value.is_null() || value.is_object())) {
            let what = format!("must be an object, not {}: {content} are kept in it", describe_json(value));
            return Err(invalid(path, &what));
        }
    }
    Ok(())
}
