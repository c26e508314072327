//! The records that `restore` gives back become sessions. A record that can only be read in part makes its session
//! unreadable, and no other; what it changed in the app or the user is looked at by itself. The same rules as in the
//! package (pkg/src/stores/journal/restored-record.ts and log-tables.ts), held by the same damaged logs
//! (tests/fixtures/damaged-logs.json).

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use wasm_bindgen::prelude::*;

use super::errors::{Details, error};
use super::host::{Answer, parse_frozen, stringify};
use super::log::{LAYOUT, VERSION};
use super::memory::{Memory, Step};
use crate::change::{Change, ChangeKind, SessionKey};
use crate::delta::{Delta, Write};
use crate::error::ErrorKind;
use crate::expiry::Lifetime;
use crate::json::Json;
use crate::scope::Scope;
use crate::session_log::SessionLog;

/// The greatest whole number that JavaScript tells from its neighbours.
const MAX_COUNT: u64 = (1 << 53) - 1;

/// Makes sessions of the records that are given back.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub(super) memory: Memory,
    /// The records that were made: one may be there twice, because a retry wrote it again.
    made: HashSet<String>,
    /// The number of records.
    pub(super) count: u64,
    /// The record of the version has been read, which comes before all others.
    has_version: bool,
}

/// The key of a record.
#[derive(Debug, Clone)]
struct Key {
    app_name: String,
    user_id: Option<String>,
    session_id: Option<String>,
}

/// The guard of a record: the state before its change.
#[derive(Debug, Default)]
struct Guard {
    created: Option<String>,
    rev: Option<u64>,
    app: u64,
    user: u64,
}

/// The writes of a record to one scope.
#[derive(Debug)]
enum ScopeWrites {
    Delta(Delta),
    /// It cannot be read.
    Unreadable,
}

/// The writes of a record to the scopes that it shares with others.
#[derive(Debug)]
struct SharedWrites {
    app: ScopeWrites,
    user: ScopeWrites,
}

/// A part of a record cannot be read.
#[derive(Debug)]
struct Unreadable;

impl Replay {
    /// Makes what a record says, unless it has been made before. Throws `STORE_CORRUPT` when it cannot be known whose
    /// it is.
    pub(super) fn replay(&mut self, value: &JsValue) -> Answer<()> {
        self.count += 1;
        let text = stringify(value)?.as_string().unwrap_or_default();
        let Ok(Value::Object(record)) = serde_json::from_str(&text) else { return Err(self.unreadable()) };
        let kind = record.get("kind").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "version" => return self.check_version(&record),
            "create" | "append" | "update" | "remove" | "remove-scope" | "refusal" if !self.has_version => {
                return Err(other_layout(None));
            }
            // Nothing that is kept here depends on a call that was refused.
            "refusal" => return Ok(()),
            _ => {}
        }
        let key = record.get("key").and_then(key_of).ok_or_else(|| self.unreadable())?;
        match (kind, key.session()) {
            ("update", None) if key.session_id.is_none() => self.update(&record, &key),
            ("remove-scope", None) if key.session_id.is_none() => {
                self.remove_scope(&record, &key);
                Ok(())
            }
            ("create" | "append", Some(session)) => self.change(&record, kind == "create", &key, &session),
            ("remove", Some(session)) => self.remove(&record, &key, session),
            _ => Err(self.unreadable()),
        }
    }

    fn unreadable(&self) -> JsValue {
        let place = self.count;
        let message = format!("record {place} of the log cannot be read, and its owner is unknown");
        error(ErrorKind::StoreCorrupt, &message, Details::default())
    }

    /// Throws `STORE_UNSUITABLE` for another layout and for a later version.
    fn check_version(&mut self, record: &Map<String, Value>) -> Answer<()> {
        let version = record.get("version").and_then(Value::as_f64).ok_or_else(|| self.unreadable())?;
        let layout = record.get("layout").and_then(Value::as_str);
        if layout.is_some() && version > f64::from(VERSION) {
            return Err(unsuitable(&format!("version {version}, newer than {VERSION}: update statepad")));
        }
        if layout != Some(LAYOUT) || version < f64::from(VERSION) {
            return Err(other_layout(layout));
        }
        self.has_version = true;
        Ok(())
    }

    /// Returns `true` if a record is new: the second copy of a record does nothing.
    fn is_new(&mut self, record: &Map<String, Value>, guard: &Guard) -> bool {
        let member = |name: &str| record.get(name).cloned().unwrap_or_default();
        self.made.insert(json!([member("id"), member("kind"), member("key"), guard.created]).to_string())
    }

    fn update(&mut self, record: &Map<String, Value>, key: &Key) -> Answer<()> {
        let delta = record.get("delta").and_then(Value::as_object);
        let writes =
            |name: &str, scope: Scope| delta.map_or(ScopeWrites::Unreadable, |delta| writes_of(delta.get(name), scope));
        let has_user = key.user_id.is_some();
        let user = if has_user { writes("user", Scope::User) } else { ScopeWrites::Delta(Delta::default()) };
        let shared = SharedWrites { app: writes("app", Scope::App), user };
        let guard = own_guard(record).unwrap_or_default();
        if self.is_new(record, &guard) {
            self.catch_up(key, &guard);
            self.share(key, record, shared)?;
        }
        Ok(())
    }

    fn remove_scope(&mut self, record: &Map<String, Value>, key: &Key) {
        let guard = guard_of(record.get("guard")).unwrap_or_default();
        if self.is_new(record, &guard) {
            self.catch_up(key, &guard);
            let user_id = key.user_id.as_deref();
            self.memory.clear(&key.app_name, user_id);
            self.memory.move_on(&key.app_name, user_id);
            self.memory.damage.remove_scope(&key.app_name, user_id);
        }
    }

    /// A session that is removed is gone, whatever was there of it.
    fn remove(&mut self, record: &Map<String, Value>, key: &Key, session: SessionKey) -> Answer<()> {
        let guard = guard_of(record.get("guard")).unwrap_or_default();
        if self.is_new(record, &guard) {
            self.catch_up(key, &guard);
            self.memory.apply(&Step::Remove { key: session })?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        record: &Map<String, Value>,
        is_creation: bool,
        key: &Key,
        session: &SessionKey,
    ) -> Answer<()> {
        let delta = record.get("delta").and_then(Value::as_object);
        let writes = |name: &str, scope: Scope| writes_of(delta.and_then(|delta| delta.get(name)), scope);
        let shared = SharedWrites { app: writes("app", Scope::App), user: writes("user", Scope::User) };
        let own = writes("session", Scope::Session);
        let guard = own_guard(record);
        let event = event_of(record, is_creation)?;
        let lifetime = self.lifetime_of(record, is_creation, session);
        let (Some(guard), Some(event), ScopeWrites::Delta(own), Some(_), Ok(lifetime)) =
            (guard, event, own, delta, lifetime)
        else {
            // The readable parts of the record are applied; the next records say where the scopes are.
            self.lose(session);
            return self.share(key, record, shared);
        };
        if !self.is_new(record, &guard) {
            return Ok(());
        }
        self.catch_up(key, &guard);
        let id = record.get("id").and_then(Value::as_str).unwrap_or_default();
        let current = self.memory.find(session);
        if is_creation && current.is_some_and(|current| self.memory.created(current) == id) {
            return Ok(());
        }
        if !self.follows(session, is_creation, &guard) {
            self.lose(session);
            return self.share(key, record, shared);
        }
        let time = time_of(record).unwrap_or_default();
        let joined = self.joined(key, own, shared);
        if is_creation {
            let change = change_of(ChangeKind::Create, &session.session_id, time, joined);
            let step = Step::Create { key: session.clone(), created: id.to_owned(), change, lifetime };
            return Ok(self.memory.apply(&step)?);
        }
        let created = self.memory.find(session).map(|id| self.memory.created(id).to_owned()).unwrap_or_default();
        let change = change_of(ChangeKind::Append, id, time, joined);
        let step = Step::Append { key: session.clone(), created, change, event, json: String::new(), lifetime };
        Ok(self.memory.apply(&step)?)
    }

    /// The end of a session after a change, if it has one.
    fn lifetime_of(
        &self,
        record: &Map<String, Value>,
        is_creation: bool,
        session: &SessionKey,
    ) -> Result<Option<Lifetime>, Unreadable> {
        let (end, ends) = (record.get("expires"), record.get("ends"));
        let Some(ends) = ends else { return if end.is_none() { Ok(None) } else { Err(Unreadable) } };
        let expires = ends.as_f64().ok_or(Unreadable)?;
        if !is_creation {
            let before = self.memory.find(session).and_then(|id| self.memory.lifetime(id));
            return Ok(before.map(|before| Lifetime { expires, ..before }));
        }
        let end = end.ok_or(Unreadable)?;
        match [end.get("ttl"), end.get("at")].map(|time| time.and_then(Value::as_f64)) {
            [Some(ttl), None] => Ok(Some(Lifetime { ttl: Some(ttl), expires })),
            [None, Some(_)] => Ok(Some(Lifetime::until(expires))),
            _ => Err(Unreadable),
        }
    }

    /// Returns `true` if a session has all records before this one. A creation over another session misses a removal.
    fn follows(&self, session: &SessionKey, is_creation: bool, guard: &Guard) -> bool {
        if self.memory.damage.has_session(session) {
            return false;
        }
        let Some(current) = self.memory.find(session) else { return is_creation };
        let is_same = guard.created.as_deref().is_none_or(|created| created == self.memory.created(current));
        let rev = self.memory.sessions.log(current).map_or(0, SessionLog::revision);
        !is_creation && guard.rev.is_none_or(|expected| is_same && expected <= rev)
    }

    fn lose(&mut self, session: &SessionKey) {
        // The session's part of the memory goes; nothing depends on it.
        let _ = self.memory.apply(&Step::Remove { key: session.clone() });
        self.memory.damage.add_session(session);
    }

    /// A scope whose position is behind the one that a record tells has lost records before it: it cannot be read.
    fn catch_up(&mut self, key: &Key, guard: &Guard) {
        self.catch_up_scope(&key.app_name, None, guard.app);
        if key.user_id.is_some() {
            self.catch_up_scope(&key.app_name, key.user_id.as_deref(), guard.user);
        }
    }

    fn catch_up_scope(&mut self, app_name: &str, user_id: Option<&str>, expected: u64) {
        if self.memory.position(app_name, user_id) < expected {
            self.memory.damage.add_scope(app_name, user_id);
            self.memory.set_position(app_name, user_id, expected);
        }
    }

    /// Makes what a record changes in its scopes alone.
    fn share(&mut self, key: &Key, record: &Map<String, Value>, shared: SharedWrites) -> Answer<()> {
        let joined = self.joined(key, Delta::default(), shared);
        let (user_id, time) = (key.user_id.clone(), time_of(record).unwrap_or_default());
        // Each record has an id of its own for the core, which would drop a second change of one id.
        let change = change_of(ChangeKind::Update, &format!("record {}", self.count), time, joined);
        Ok(self.memory.apply(&Step::Update { app_name: key.app_name.clone(), user_id, change })?)
    }

    /// One delta of all scopes. A scope whose writes cannot be read is unreadable from then on.
    fn joined(&mut self, key: &Key, own: Delta, shared: SharedWrites) -> Delta {
        let mut joined = own;
        for (writes, user_id) in [(shared.app, None), (shared.user, key.user_id.as_deref())] {
            match writes {
                ScopeWrites::Delta(delta) => {
                    for (key, write) in delta.iter() {
                        joined.push(key, write.clone());
                    }
                }
                ScopeWrites::Unreadable => {
                    self.memory.damage.add_scope(&key.app_name, user_id);
                    self.memory.move_on(&key.app_name, user_id);
                }
            }
        }
        joined
    }
}

impl Key {
    /// The session, when the key is whole.
    fn session(&self) -> Option<SessionKey> {
        let (user_id, session_id) = self.user_id.clone().zip(self.session_id.clone())?;
        Some(SessionKey { app_name: self.app_name.clone(), user_id, session_id })
    }
}

/// The refusal of a layout that an unreleased build has written: `found` is its fingerprint, if it has one.
fn other_layout(fingerprint: Option<&str>) -> JsValue {
    let layout = fingerprint
        .map_or_else(|| "a layout without a fingerprint".into(), |fingerprint| format!("the layout {fingerprint}"));
    let advice = "open it with the build that made it, or delete it";
    unsuitable(&format!("{layout}, written by an unreleased build of statepad; this build reads {LAYOUT}: {advice}"))
}

fn unsuitable(what: &str) -> JsValue {
    let message = format!("the store cannot be opened: the log has {what}");
    error(ErrorKind::StoreUnsuitable, &message, Details::default())
}

fn change_of(kind: ChangeKind, id: &str, time: f64, delta: Delta) -> Change {
    Change { id: id.into(), kind, time, delta: delta.split().0 }
}

fn key_of(value: &Value) -> Option<Key> {
    let name = |member: &str| match value.get(member) {
        None => Some(None),
        Some(name) => name.as_str().map(|name| Some(name.to_owned())),
    };
    Some(Key { app_name: name("appName")??, user_id: name("userId")?, session_id: name("sessionId")? })
}

fn time_of(record: &Map<String, Value>) -> Option<f64> {
    record.get("time").and_then(Value::as_f64)
}

/// The guard of a change whose id, time and guard can be read.
fn own_guard(record: &Map<String, Value>) -> Option<Guard> {
    let is_text = |name: &str| record.get(name).is_some_and(Value::is_string);
    let is_called = ["call", "digest"].iter().all(|&name| record.get(name).is_none_or(Value::is_string));
    if is_text("id") && is_called && time_of(record).is_some() { guard_of(record.get("guard")) } else { None }
}

fn guard_of(value: Option<&Value>) -> Option<Guard> {
    let Some(value) = value else { return Some(Guard::default()) };
    let value = value.as_object()?;
    let created = value.get("created").map_or(Some(None), |created| created.as_str().map(|id| Some(id.to_owned())))?;
    let no_positions = Map::new();
    let pos = value.get("pos").map_or(Some(&no_positions), Value::as_object)?;
    let counts = [value.get("rev"), pos.get("app"), pos.get("user")];
    if !counts.iter().all(|count| count.is_none_or(is_count)) {
        return None;
    }
    let [rev, app, user] = counts.map(|count| count.and_then(Value::as_u64));
    Some(Guard { created, rev, app: app.unwrap_or_default(), user: user.unwrap_or_default() })
}

/// Returns `true` if a value is a whole number that is not negative.
fn is_count(value: &Value) -> bool {
    value.as_u64().is_some_and(|count| count <= MAX_COUNT)
}

/// The event of a change, frozen; `undefined` for a creation. Nothing when it cannot be read.
fn event_of(record: &Map<String, Value>, is_creation: bool) -> Answer<Option<JsValue>> {
    let Some(event) = record.get("event") else { return Ok(is_creation.then_some(JsValue::UNDEFINED)) };
    let is_whole = event.get("id").is_some_and(Value::is_string) && event.get("time").is_some_and(Value::is_number);
    let data = event
        .get("data")
        .and_then(Value::as_str)
        .filter(|data| is_whole && serde_json::from_str::<Value>(data).is_ok_and(|data| data.is_object()));
    match data {
        None => Ok(None),
        Some(_) if is_creation => Ok(Some(JsValue::UNDEFINED)),
        Some(data) => parse_frozen(data).map(Some),
    }
}

/// The writes of a record to one scope, under full keys.
fn writes_of(value: Option<&Value>, scope: Scope) -> ScopeWrites {
    value.map_or_else(
        || ScopeWrites::Delta(Delta::default()),
        |value| read_writes(value, scope).map_or(ScopeWrites::Unreadable, ScopeWrites::Delta),
    )
}

fn read_writes(members: &Value, scope: Scope) -> Option<Delta> {
    let members = members.as_object()?;
    let mut delta = Delta::default();
    // Names are unset before others are set: a name that is in both goes to the end.
    for name in members.get("unset").map_or(Some(&Vec::new()), Value::as_array)? {
        delta.push(scope.key(name.as_str()?), Write::Unset);
    }
    for (name, value) in members.get("set").map_or(Some(&Map::new()), Value::as_object)? {
        delta.push(scope.key(name), Write::Set(Json::from_value(value).ok()?));
    }
    Some(delta)
}
