//! A safe read-modify-write: the values that were read, and the writes that are stored if those values have not
//! changed.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::change::SessionKey;
use crate::delta::{Delta, Write};
use crate::error::Result;
use crate::json::Json;
use crate::maps::Ordered;
use crate::native::refusals::temp_in_update;
use crate::scope::Scope;
use crate::state::{SessionState, reading_methods, state_trait};

/// Whose state [`SessionService::update_state`](crate::SessionService::update_state) reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateRef<'a> {
    /// The `app:` keys of an app.
    App(&'a str),
    /// The `user:` keys of a user, named second, and the `app:` keys of the app, named first.
    User(&'a str, &'a str),
    /// All keys that a session reads. The writes become an event of it.
    Session(&'a SessionKey),
}

impl StateRef<'_> {
    /// The name of the target, which no other target has.
    pub(crate) fn name(&self) -> Vec<String> {
        match self {
            Self::App(app_name) => vec![(*app_name).to_owned()],
            Self::User(app_name, user_id) => vec![(*app_name).to_owned(), (*user_id).to_owned()],
            Self::Session(SessionKey { app_name, user_id, session_id }) => {
                vec![app_name.clone(), user_id.clone(), session_id.clone()]
            }
        }
    }
}

/// Options of [`SessionService::update`](crate::SessionService::update).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateOptions {
    /// The maximum number of runs of the function: 100 by default.
    pub attempts: u32,
    /// The author of the event, where a session is updated: `system` by default.
    pub author: String,
    /// The invocation of the event, where a session is updated.
    pub invocation_id: String,
}

impl Default for UpdateOptions {
    fn default() -> Self {
        Self { attempts: 100, author: "system".into(), invocation_id: String::new() }
    }
}

/// The state that the function of an update reads and writes. It shows its own writes, and remembers which keys were
/// read.
#[derive(Debug)]
pub struct StateDraft {
    committed: SessionState,
    pending: Ordered<Write>,
    reads: Mutex<Reads>,
}

#[derive(Debug, Default)]
struct Reads {
    keys: HashSet<String>,
    all: bool,
}

impl StateDraft {
    /// Begins with the values that an update may read. For services: a program gets its draft from
    /// [`SessionService::update_state`](crate::SessionService::update_state).
    pub fn new(committed: SessionState) -> Self {
        Self { committed, pending: Ordered::default(), reads: Mutex::default() }
    }

    /// Sets a key to a value, whole.
    ///
    /// # Errors
    ///
    /// [`ValueNotJson`](crate::ErrorKind::ValueNotJson) for a value nested too deep,
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a `temp:` key: it would not be stored.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> Result<()> {
        let json = Json::of_key("state", key, &value.into())?;
        self.write(key, Write::Set(json))
    }

    /// Deletes a key. Says whether it was there.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a `temp:` key.
    pub fn delete(&mut self, key: &str) -> Result<bool> {
        let is_there = self.has(key);
        if is_there {
            self.write(key, Write::Unset)?;
        }
        Ok(is_there)
    }

    /// The writes of the draft, under full keys in the order of writing.
    pub fn delta(&self) -> Delta {
        self.writes().map(|(key, write)| (key, write.clone())).collect()
    }

    pub(crate) fn writes(&self) -> impl Iterator<Item = (&str, &Write)> {
        self.pending.iter().map(|(key, write)| (&**key, write))
    }

    /// Returns `true` if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns `true` if every value that was read is the same in another state. Otherwise the update has to run again
    /// on that state.
    pub fn holds_in(&self, now: &SessionState) -> bool {
        let reads = self.reads();
        (!reads.all || self.committed.is_at(now))
            && reads.keys.iter().all(|key| self.committed.json(key) == now.json(key))
    }

    fn write(&mut self, key: &str, write: Write) -> Result<()> {
        if Scope::split(key).0 == Scope::Temp {
            return Err(temp_in_update(key));
        }
        self.pending.shift_remove(key);
        self.pending.insert(key.into(), write);
        Ok(())
    }

    fn map(&self) -> Map<String, Value> {
        self.reads().all = true;
        let mut all = self.committed.to_map();
        for (key, write) in &self.pending {
            match write {
                Write::Set(json) => all.insert(key.to_string(), json.to_value()),
                Write::Unset => all.shift_remove(&**key),
            };
        }
        all
    }

    fn json(&self, key: &str) -> Option<&Json> {
        match self.pending.get(key) {
            Some(Write::Set(json)) => Some(json),
            Some(Write::Unset) => None,
            None => {
                self.reads().keys.insert(key.to_owned());
                self.committed.json(key)
            }
        }
    }

    fn reads(&self) -> MutexGuard<'_, Reads> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

reading_methods!(StateDraft, "session keys, then app keys, then user keys, and then those that were set here.");
state_trait!(StateDraft, Self::set);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::state::{ReadonlyState, State};

    fn draft() -> StateDraft {
        let mut state = SessionState::default();
        state.set("x", &json!(1)).unwrap();
        state.set("user:x", &json!(2)).unwrap();
        StateDraft::new(state)
    }

    #[test]
    fn a_draft_says_the_same_through_its_traits() {
        let mut draft = draft();
        assert_eq!((draft.has("x"), draft.has("y")), (true, false));
        assert_eq!((draft.delete("y").unwrap(), draft.is_empty()), (false, true));
        let expected = json!({"x": 1, "user:x": 2});
        let read: &dyn ReadonlyState = &draft;
        assert_eq!((read.get("x"), read.get("y"), read.has("x"), read.has("y")), (Some(json!(1)), None, true, false));
        assert_eq!(read.to_map(), *expected.as_object().unwrap());
        assert_eq!(read.all(), expected.as_object().unwrap().clone().into_iter().collect());
        let written: &mut dyn State = &mut draft;
        written.set("y".to_owned(), json!([3]));
        assert_eq!((written.get("y"), written.get("z"), written.all().len()), (Some(json!([3])), None, 3));
        assert_eq!(draft.writes().map(|(key, _)| key).collect::<Vec<_>>(), ["y"]);
        assert!(draft.delete("x").unwrap() && draft.get("x").is_none() && !draft.is_empty());
        assert_eq!(draft.to_map(), *json!({"user:x": 2, "y": [3]}).as_object().unwrap());
    }

    #[test]
    fn a_draft_holds_while_what_it_has_read_stays() {
        let other = |key: &str| {
            let mut now = draft().committed;
            now.set(key, &json!("new")).unwrap();
            now
        };
        let draft = draft();
        assert!(draft.holds_in(&other("x")), "nothing was read");
        draft.get("x");
        assert!(draft.holds_in(&other("user:x")) && !draft.holds_in(&other("x")));
        draft.has("user:y");
        assert!(draft.holds_in(&other("user:x")) && !draft.holds_in(&other("user:y")));
    }

    #[test]
    fn each_target_has_a_lock_of_its_own() {
        let keys = ["s", "t"].map(|id| SessionKey::new("app", "u", id));
        let targets = [
            StateRef::App("app"),
            StateRef::App("other"),
            StateRef::User("app", "u"),
            StateRef::User("app", "v"),
            StateRef::User("other", "u"),
            StateRef::Session(&keys[0]),
            StateRef::Session(&keys[1]),
        ];
        let names: HashSet<_> = targets.iter().map(StateRef::name).collect();
        assert_eq!(names.len(), targets.len());
        assert_eq!(StateRef::App("app").name(), StateRef::App("app").name());
    }
}
