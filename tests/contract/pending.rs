//! The pending writes of an invocation as a plain list: what the law of `laws.rs` holds the core's against.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::{Map, Value};

/// A step of an invocation's life.
#[derive(Debug, Clone)]
pub enum Does {
    Write(&'static str, &'static str, Option<u32>),
    Discard(&'static str),
    /// An event of an author, under an id or none, with a delta of its own.
    Send(&'static str, &'static str, Option<(&'static str, Option<u32>)>),
    /// The event that was sent first is stored, or refused.
    Arrive(bool),
}

/// Any step.
pub fn invocation_step() -> impl Strategy<Value = Does> {
    let author = || prop::sample::select(vec!["a", "b", "c"]);
    let key = || prop::sample::select(vec!["x", "y", "user:x", "app:x", "temp:x"]);
    let value = || prop::option::weighted(0.7, 0..100_u32);
    let id = prop::sample::select(vec!["", "1", "2"]);
    prop_oneof![
        6 => (author(), key(), value()).prop_map(|(author, key, value)| Does::Write(author, key, value)),
        1 => author().prop_map(Does::Discard),
        3 => (author(), id, prop::option::of((key(), value())))
            .prop_map(|(author, id, own)| Does::Send(author, id, own)),
        4 => any::<bool>().prop_map(Does::Arrive),
    ]
}

/// The pending writes of an invocation as a plain list, in the order of writing.
#[derive(Default)]
pub struct PendingModel {
    pub committed: Map<String, Value>,
    pub pending: Vec<ModelWrite>,
    failed: HashMap<String, (&'static str, Vec<ModelWrite>)>,
    taken: HashSet<String>,
    count: u32,
}

/// A write that is not stored yet.
#[derive(Debug, Clone)]
pub struct ModelWrite {
    number: u32,
    author: &'static str,
    key: &'static str,
    value: Option<Value>,
    is_sent: bool,
    has_failed: bool,
}

/// An event on its way.
pub struct ModelEvent {
    author: &'static str,
    id: String,
    carried: Vec<ModelWrite>,
    own: Option<ModelWrite>,
    whole: bool,
}

impl PendingModel {
    pub fn visible(&self) -> Map<String, Value> {
        let mut visible = self.committed.clone();
        for ModelWrite { key, value, .. } in &self.pending {
            match value {
                Some(value) => drop(visible.insert((*key).to_owned(), value.clone())),
                None => drop(visible.shift_remove(*key)),
            }
        }
        visible
    }

    /// An id is used once: what was stored or is on its way has it, and what was refused keeps it for its author.
    pub fn is_free(&self, id: &str, author: &str) -> bool {
        !self.taken.contains(id) && self.failed.get(id).is_none_or(|(other, _)| *other == author)
    }

    pub fn write(&mut self, author: &'static str, key: &'static str, value: Option<Value>) -> ModelWrite {
        self.pending.retain(|write| write.author != author || write.key != key || write.is_sent || write.has_failed);
        self.push(author, key, value)
    }

    fn push(&mut self, author: &'static str, key: &'static str, value: Option<Value>) -> ModelWrite {
        self.count += 1;
        let write = ModelWrite { number: self.count, author, key, value, is_sent: false, has_failed: false };
        self.pending.push(write.clone());
        write
    }

    pub fn discard(&mut self, author: &str) {
        self.pending.retain(|write| write.author != author || write.is_sent);
        self.failed.retain(|_, (other, _)| *other != author);
    }

    pub fn send(&mut self, author: &'static str, id: &str, own: Option<(&'static str, Option<Value>)>) -> ModelEvent {
        let is_pending = |write: &ModelWrite| self.pending.iter().any(|it| it.number == write.number && !it.is_sent);
        let again = self.failed.get(id).map(|(_, carried)| carried);
        let rest: Option<Vec<_>> = again.map(|carried| carried.iter().filter(|it| is_pending(it)).cloned().collect());
        let whole = again.map(Vec::len) == rest.as_ref().map(Vec::len);
        let is_last =
            |write: &&ModelWrite| !self.pending.iter().any(|it| it.key == write.key && it.number > write.number);
        let next =
            || self.pending.iter().filter(is_last).filter(|it| it.author == author && !it.is_sent).cloned().collect();
        let mut carried = rest.unwrap_or_else(next);
        carried.retain(|write| own.as_ref().is_none_or(|(key, _)| *key != write.key));
        let own = own.map(|(key, value)| self.push(author, key, value));
        for write in &mut self.pending {
            write.is_sent |= carried.iter().chain(&own).any(|it| it.number == write.number);
        }
        if !id.is_empty() {
            self.taken.insert(id.to_owned());
        }
        ModelEvent { author, id: id.to_owned(), carried, own, whole }
    }

    pub fn arrive(&mut self, ModelEvent { author, id, carried, own, whole }: ModelEvent, stored: bool) {
        if stored {
            for ModelWrite { number, key, value, .. } in carried.into_iter().chain(own) {
                self.pending.retain(|it| it.key != key || it.number > number);
                match value {
                    Some(value) => drop(self.committed.insert(key.to_owned(), value)),
                    None => drop(self.committed.shift_remove(key)),
                }
            }
            self.failed.remove(&id);
            return;
        }
        self.taken.remove(&id);
        self.pending.retain(|it| own.as_ref().is_none_or(|own| own.number != it.number));
        for write in &mut self.pending {
            if carried.iter().any(|it| it.number == write.number) {
                write.is_sent = false;
                write.has_failed |= !id.is_empty();
            }
        }
        if !id.is_empty() && whole {
            self.failed.insert(id, (author, carried));
        }
    }
}
