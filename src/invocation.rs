//! One invocation: where `temp:` keys are born and die, and where writes wait for the event that carries them.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::delta::{Delta, Write};
use crate::error::{Error, ErrorKind, Result};
use crate::index::Ordered;
use crate::json::Json;
use crate::scope::Scope;
use crate::state::{ReadonlyState, SessionState, State, must_be_written};

/// Everything from one user input to the final answer. Its contexts, one per author, share it.
///
/// # Examples
///
/// ```
/// use statepad::{Invocation, SessionState};
///
/// let mut invocation = Invocation::new(SessionState::default());
/// invocation.context("planner").set("temp:plan", "walk".into())?;
/// assert_eq!(invocation.context("writer").get("temp:plan"), Some("walk".into()));
/// let delta = invocation.take_delta("planner");
/// assert_eq!(delta.iter().count(), 1);
/// invocation.end()?;
/// # Ok::<(), statepad::Error>(())
/// ```
#[derive(Debug)]
pub struct Invocation {
    committed: SessionState,
    temp: Ordered<Json>,
    pending: Ordered<Pending>,
    ended: bool,
}

#[derive(Debug)]
struct Pending {
    author: String,
    write: Write,
}

/// The state of an invocation as one author reads and writes it.
#[derive(Debug)]
pub struct Context<'a> {
    invocation: &'a mut Invocation,
    author: &'a str,
}

impl Invocation {
    /// Begins an invocation over the committed state of a session.
    pub fn new(committed: SessionState) -> Self {
        Self { committed, temp: Ordered::default(), pending: Ordered::default(), ended: false }
    }

    /// The state as an author reads and writes it.
    pub fn context<'a>(&'a mut self, author: &'a str) -> Context<'a> {
        Context { invocation: self, author }
    }

    /// Takes the writes of an author, to put them into its event. `temp:` keys stay visible until the end.
    ///
    /// A key that another author has written since is not among them: the later write wins, whatever order the events
    /// are appended in.
    pub fn take_delta(&mut self, author: &str) -> Delta {
        let (own, others) = std::mem::take(&mut self.pending).into_iter().partition(|(_, p)| p.author == author);
        self.pending = others;
        let own: Ordered<Pending> = own;
        for (key, Pending { write, .. }) in &own {
            if Scope::split(key).0 == Scope::Temp {
                match write {
                    Write::Set(json) => self.temp.insert(Arc::clone(key), json.clone()),
                    Write::Unset => self.temp.shift_remove(key),
                };
            }
        }
        own.into_iter().map(|(key, pending)| (key, pending.write)).collect()
    }

    /// Takes over the committed state after an event has been appended.
    pub fn refresh(&mut self, committed: SessionState) {
        self.committed = committed;
    }

    /// Drops the writes that no event has carried.
    pub fn discard(&mut self) {
        self.pending.clear();
    }

    /// Ends the invocation: `temp:` keys are gone, and nothing can be written any more.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when writes are pending: they would be lost. The invocation goes on.
    pub fn end(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            let keys: Vec<_> = self.pending.keys().map(|key| format!("\"{key}\"")).collect();
            let message = format!("writes were never appended: {}", keys.join(", "));
            return Err(Error::invalid(message));
        }
        self.temp.clear();
        self.ended = true;
        Ok(())
    }

    fn write(&mut self, author: &str, key: &str, write: Write) -> Result<()> {
        if self.ended {
            return Err(Error::new(ErrorKind::InvocationEnded, "the invocation has ended"));
        }
        // A key written again moves to the end: the order of writing is the order of the last writes.
        self.pending.shift_remove(key);
        self.pending.insert(Arc::from(key), Pending { author: author.to_owned(), write });
        Ok(())
    }
}

impl Invocation {
    /// The value of a key, if it is there. `null` is a value.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.json(key).map(Json::to_value)
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.json(key).is_some()
    }

    /// All values under their full keys. A `HashMap` has no order: [`Invocation::to_map`] has.
    pub fn all(&self) -> HashMap<String, Value> {
        self.to_map().into_iter().collect()
    }

    /// All values under their full keys: the session's as [`SessionState::to_map`] has them, then `temp:` keys and pending
    /// writes.
    pub fn to_map(&self) -> Map<String, Value> {
        let mut all = self.committed.to_map();
        all.extend(self.temp.iter().map(|(key, json)| (key.to_string(), json.to_value())));
        for (key, Pending { write, .. }) in &self.pending {
            match write {
                Write::Set(json) => all.insert(key.to_string(), json.to_value()),
                Write::Unset => all.shift_remove(&**key),
            };
        }
        all
    }

    fn json(&self, key: &str) -> Option<&Json> {
        match self.pending.get(key).map(|pending| &pending.write) {
            Some(Write::Set(json)) => Some(json),
            Some(Write::Unset) => None,
            None => self.temp.get(key).or_else(|| self.committed.json(key)),
        }
    }
}

impl ReadonlyState for Invocation {
    fn get(&self, key: &str) -> Option<Value> {
        Self::get(self, key)
    }

    fn all(&self) -> HashMap<String, Value> {
        Self::all(self)
    }

    fn to_map(&self) -> Map<String, Value> {
        Self::to_map(self)
    }

    fn has(&self, key: &str) -> bool {
        Self::has(self, key)
    }
}

impl Context<'_> {
    /// The value of a key, if it is there. `null` is a value.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.invocation.get(key)
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.invocation.has(key)
    }

    /// All values under their full keys. A `HashMap` has no order: [`Context::to_map`] has.
    pub fn all(&self) -> HashMap<String, Value> {
        self.invocation.all()
    }

    /// All values under their full keys, as [`Invocation::to_map`] has them.
    pub fn to_map(&self) -> Map<String, Value> {
        self.invocation.to_map()
    }

    /// Sets a key to a value, whole.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ValueNotJson`] for a value nested too deep, [`ErrorKind::InvocationEnded`].
    #[expect(clippy::needless_pass_by_value, reason = "so that a value can be written where it is set")]
    pub fn set(&mut self, key: &str, value: Value) -> Result<()> {
        let json = Json::from_value(&value)?;
        self.invocation.write(self.author, key, Write::Set(json))
    }

    /// Deletes a key. Says whether it was there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvocationEnded`].
    pub fn delete(&mut self, key: &str) -> Result<bool> {
        let there = self.has(key);
        if there {
            self.invocation.write(self.author, key, Write::Unset)?;
        }
        Ok(there)
    }
}

impl ReadonlyState for Context<'_> {
    fn get(&self, key: &str) -> Option<Value> {
        Self::get(self, key)
    }

    fn all(&self) -> HashMap<String, Value> {
        Self::all(self)
    }

    fn to_map(&self) -> Map<String, Value> {
        Self::to_map(self)
    }

    fn has(&self, key: &str) -> bool {
        Self::has(self, key)
    }
}

impl State for Context<'_> {
    fn get(&self, key: &str) -> Option<Value> {
        Self::get(self, key)
    }

    /// # Panics
    ///
    /// For what [`Context::set`] refuses.
    fn set(&mut self, key: String, value: Value) {
        must_be_written(&key, Self::set(self, &key, value));
    }

    fn all(&self) -> HashMap<String, Value> {
        Self::all(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keys(delta: &Delta) -> Vec<&str> {
        delta.iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn authors_see_each_others_pending_writes_and_the_later_one_wins() {
        let mut invocation = Invocation::new(SessionState::default());
        invocation.context("a").set("x", json!("a")).unwrap();
        invocation.context("a").set("user:y", json!(1)).unwrap();
        invocation.context("b").set("x", json!("b")).unwrap();
        assert_eq!(invocation.context("a").get("x"), Some(json!("b")));
        assert_eq!(keys(&invocation.take_delta("b")), ["x"]);
        assert_eq!(keys(&invocation.take_delta("a")), ["user:y"]);
    }

    #[test]
    fn temp_keys_live_until_the_end() {
        let mut invocation = Invocation::new(SessionState::default());
        invocation.context("a").set("temp:t", json!(1)).unwrap();
        invocation.take_delta("a");
        assert!(invocation.context("b").has("temp:t"));
        assert!(invocation.context("b").delete("temp:t").unwrap());
        assert!(!invocation.context("a").has("temp:t"));
        invocation.discard();
        assert!(invocation.has("temp:t"));
        invocation.end().unwrap();
        assert!(!invocation.has("temp:t"));
        let error = invocation.context("a").set("x", json!(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvocationEnded);
    }

    #[test]
    fn ending_with_pending_writes_is_an_error_that_names_them() {
        let mut invocation = Invocation::new(SessionState::default());
        invocation.context("a").set("x", json!(1)).unwrap();
        assert!(invocation.end().unwrap_err().to_string().contains("\"x\""));
        invocation.discard();
        invocation.end().unwrap();
    }
}
