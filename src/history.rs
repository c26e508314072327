//! The history of one session: the value of each key at each revision, and the change that wrote it.

use std::sync::Arc;

use crate::delta::{Delta, Write};
use crate::json::{Json, size_of_members, write_string};
use crate::maps::Index;
use crate::scope::Scope;

/// The writes to each key in the log of one session, from its creation on.
///
/// Of the session's own keys it knows everything. Of `app:` and `user:` keys it knows what this session wrote: what
/// other sessions wrote is in their logs. `temp:` keys have no history.
#[derive(Debug, Clone)]
pub struct History<V = Json> {
    index: Index,
    keys: Vec<Key<V>>,
    /// The insertion order: the place of a key in `keys`, once for each time that the key was inserted. A key that was
    /// deleted and is set again is inserted again.
    insertions: Vec<usize>,
}

/// The writes to one key.
#[derive(Debug, Clone)]
struct Key<V> {
    name: Arc<str>,
    steps: Vec<HistoryStep<V>>,
}

/// One write of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryStep<V = Json> {
    /// The revision that the session came to with it: 0 is its creation.
    pub revision: u64,
    /// The value before, if this session's log has one.
    pub from: Option<V>,
    /// The value after; absent when the write deleted the key.
    pub to: Option<V>,
    /// The place in the insertion order of the insertion that this write belongs to.
    insertion: usize,
}

// For JSON alone, so that the type of the values need not be named where it is JSON.
impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> History<V> {
    /// Starts without revisions.
    pub fn new() -> Self {
        Self { index: Index::default(), keys: Vec::new(), insertions: Vec::new() }
    }

    /// Adds what the creation, which is revision 0, or the event of a later revision wrote. Revisions must come in
    /// order; those that write nothing may be left out.
    pub fn push(&mut self, revision: u64, delta: &Delta<V>)
    where
        V: Clone,
    {
        for (name, key, write) in delta.shared().filter(|(name, ..)| Scope::split(name).0 != Scope::Temp) {
            let place = self.place(name, key);
            let last = self.keys[place].steps.last().filter(|last| last.to.is_some());
            let from = last.and_then(|last| last.to.clone());
            let insertion = last.map_or(self.insertions.len(), |last| last.insertion);
            let to = match write {
                Write::Set(value) => Some(value.clone()),
                Write::Unset => None,
            };
            if insertion == self.insertions.len() && to.is_some() {
                self.insertions.push(place);
            }
            self.keys[place].steps.push(HistoryStep { revision, from, to, insertion });
        }
    }

    /// The most that the lists and the index grow by, in bytes, when a delta with so many members is pushed. Those of
    /// the keys are short.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn growth(&self, members: usize) -> usize {
        use crate::maps::{growth_of_index, growth_of_list};
        growth_of_index(&self.index, members)
            + growth_of_list(&self.keys, members)
            + growth_of_list(&self.insertions, members)
            + members * 8 * size_of::<HistoryStep<V>>()
    }

    /// The most that the lists of steps grow by, in bytes, when a delta is pushed.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn growth_of_steps(&self, delta: &Delta<V>) -> usize {
        let steps = delta.iter().filter_map(|(key, _)| self.index.get(key)).map(|place| &self.keys[place].steps);
        steps.map(|steps| crate::maps::growth_of_list(steps, 1)).sum()
    }

    /// The number of insertions of keys; a key that was inserted again counts again.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn size(&self) -> usize {
        self.insertions.len()
    }

    /// The place in `keys` of a name, which gets one when it has none. `key` ends with it.
    fn place(&mut self, name: &str, key: &Arc<str>) -> usize {
        if let Some(place) = self.index.get(name) {
            return place;
        }
        let name: Arc<str> = if name.len() == key.len() { Arc::clone(key) } else { Arc::from(name) };
        self.index.insert(Arc::clone(&name), self.keys.len());
        self.keys.push(Key { name, steps: Vec::new() });
        self.keys.len() - 1
    }

    /// The writes of a key up to a revision, oldest first.
    pub fn of(&self, key: &str, until: u64) -> &[HistoryStep<V>] {
        let steps = self.index.get(key).map_or(&[][..], |place| &self.keys[place].steps);
        &steps[..written_by(steps, until)]
    }

    /// All values as they were at a revision, under full keys: the session's, then `app:`, then `user:` keys, each in
    /// the insertion order. `now` is the state at revision `until`, and gives the keys that the log does not know by
    /// then: those that only other sessions wrote and, where the log does not begin with the creation, those that have
    /// not been written since its beginning.
    #[inline(never)]
    pub fn state_at<'a>(&'a self, revision: u64, until: u64, now: &'a Delta<V>) -> Vec<(&'a str, &'a V)> {
        let mut state = Vec::new();
        for scope in [Scope::Session, Scope::App, Scope::User] {
            let is_of = |name: &str| Scope::split(name).0 == scope;
            for (name, write) in now.iter() {
                if let Write::Set(value) = write
                    && is_of(name)
                    && self.of(name, until).is_empty()
                {
                    state.push((name, value));
                }
            }
            for (insertion, &place) in self.insertions.iter().enumerate() {
                let key = &self.keys[place];
                if let Some(HistoryStep { to: Some(value), insertion: last, .. }) = key.by(revision).last()
                    && *last == insertion
                    && is_of(&key.name)
                {
                    state.push((&*key.name, value));
                }
            }
        }
        state
    }

    /// The delta that brings the session's own keys back from revision `until` to their values at an earlier one: keys
    /// that were written since get their old values, in the order of the earlier state, and then keys that were not
    /// there are deleted.
    pub fn restoring(&self, revision: u64, until: u64) -> Delta<V>
    where
        V: Clone,
    {
        let mut delta = Delta::new();
        self.restore(revision, until, &mut |key, value| {
            delta.push(key, value.map_or(Write::Unset, |value| Write::Set(value.clone())));
        });
        delta
    }

    /// As [`History::restoring`], one write after the other: the key, and its old value.
    pub(crate) fn restore(&self, revision: u64, until: u64, write: &mut dyn FnMut(&str, Option<&V>)) {
        let own = |name: &str| Scope::split(name).0 == Scope::Session;
        let none = Delta::new();
        for (name, value) in self.state_at(revision, until, &none) {
            if own(name) && self.of(name, until).len() > self.of(name, revision).len() {
                write(name, Some(value));
            }
        }
        for key in &self.keys {
            if key.has_value(until) && !key.has_value(revision) && own(&key.name) {
                write(&key.name, None);
            }
        }
    }

    /// The `app:` and `user:` keys that revisions wrote, in the order in which the session first wrote them.
    pub fn shared_of(&self, is_concerned: impl Fn(u64) -> bool) -> impl Iterator<Item = &Arc<str>> {
        let shared = self.keys.iter().filter(|key| Scope::split(&key.name).0 != Scope::Session);
        shared.filter(move |key| key.steps.iter().any(|step| is_concerned(step.revision))).map(|key| &key.name)
    }
}

impl<V> Key<V> {
    #[inline(never)]
    /// The writes up to a revision.
    fn by(&self, revision: u64) -> &[HistoryStep<V>] {
        &self.steps[..written_by(&self.steps, revision)]
    }

    fn has_value(&self, revision: u64) -> bool {
        self.by(revision).last().is_some_and(|last| last.to.is_some())
    }
}

impl History {
    /// [`History::state_at`] as one JSON object.
    pub fn state_json(&self, revision: u64, until: u64, now: &Delta) -> String {
        object_of(&self.state_at(revision, until, now))
    }
}

/// Values as one JSON object.
fn object_of(values: &[(&str, &Json)]) -> String {
    let mut out = String::with_capacity(size_of_members(values.iter().copied()));
    out.push('{');
    for (key, json) in values {
        if out.len() > 1 {
            out.push(',');
        }
        write_string(&mut out, key);
        out.push(':');
        out.push_str(json.as_str());
    }
    out.push('}');
    out
}

/// The number of steps that were made up to a revision.
fn written_by<V>(steps: &[HistoryStep<V>], revision: u64) -> usize {
    steps.partition_point(|step| step.revision <= revision)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(object: &str, deleted: &[&str]) -> Delta {
        Delta::parse(object, &deleted.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    fn history() -> History {
        let mut history = History::default();
        history.push(0, &delta(r#"{"topic":"tides","user:name":"Ana"}"#, &[]));
        history.push(2, &delta(r#"{"n":1,"temp:x":1,"topic":"moon"}"#, &[]));
        history.push(3, &delta(r#"{"topic":null,"app:motd":"hi"}"#, &["topic"]));
        history.push(5, &delta(r#"{"topic":"sun"}"#, &[]));
        history
    }

    fn state(revision: u64, now: &str) -> String {
        history().state_json(revision, 5, &delta(now, &[]))
    }

    #[test]
    fn each_revision_has_the_values_that_were_written_by_then() {
        assert_eq!(state(0, "{}"), r#"{"topic":"tides","user:name":"Ana"}"#);
        assert_eq!(state(1, "{}"), state(0, "{}"));
        assert_eq!(state(2, "{}"), r#"{"topic":"moon","n":1,"user:name":"Ana"}"#);
        assert_eq!(state(4, "{}"), r#"{"n":1,"app:motd":"hi","user:name":"Ana"}"#);
    }

    #[test]
    fn a_key_that_is_written_again_goes_to_the_end() {
        assert_eq!(state(9, "{}"), r#"{"n":1,"topic":"sun","app:motd":"hi","user:name":"Ana"}"#);
    }

    #[test]
    fn keys_that_the_session_never_wrote_are_as_they_are_now() {
        let now = r#"{"app:motd":"later","app:other":1,"user:name":"Eva","user:more":2,"temp:x":3}"#;
        assert_eq!(state(1, now), r#"{"topic":"tides","app:other":1,"user:more":2,"user:name":"Ana"}"#);
    }

    #[test]
    fn what_is_written_after_now_does_not_matter() {
        let now = delta(r#"{"topic":"moon","n":1,"app:motd":"theirs","user:name":"Ana"}"#, &[]);
        let expected = r#"{"topic":"tides","app:motd":"theirs","user:name":"Ana"}"#;
        assert_eq!(history().state_json(1, 2, &now), expected);
    }

    #[test]
    fn a_key_knows_who_changed_it_from_what_to_what() {
        let history = history();
        let steps = history.of("topic", u64::MAX);
        let actual: Vec<_> = steps
            .iter()
            .map(|step| (step.revision, step.from.as_ref().map(Json::as_str), step.to.as_ref().map(Json::as_str)))
            .collect();
        let expected = [
            (0, None, Some(r#""tides""#)),
            (2, Some(r#""tides""#), Some(r#""moon""#)),
            (3, Some(r#""moon""#), None),
            (5, None, Some(r#""sun""#)),
        ];
        assert_eq!(actual, expected);
        assert_eq!(history.of("topic", 2).len(), 2);
        assert_eq!(history.of("temp:x", 9), []);
        assert_eq!(history.of("never", 9), []);
    }

    #[test]
    fn the_first_write_of_a_key_comes_from_nothing_and_makes_it_what_it_is() {
        let mut history = History::default();
        history.push(3, &delta(r#"{"b":null,"a":1}"#, &["b"]));
        let first = |key: &str| {
            history.of(key, 9).iter().map(|step| (step.from.is_some(), step.to.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(first("a"), [(false, true)]);
        assert_eq!(first("b"), [(false, false)], "what was not there is deleted");
        assert_eq!(history.state_json(2, 3, &Delta::default()), "{}", "a write is not there before its revision");
        assert_eq!(history.state_json(3, 3, &Delta::default()), r#"{"a":1}"#);
        history.push(4, &delta(r#"{"b":2,"a":3}"#, &[]));
        history.push(5, &delta(r#"{"a":null,"b":null,"c":4}"#, &["a", "b"]));
        history.push(6, &delta(r#"{"a":5,"b":6}"#, &[]));
        assert_eq!(
            history.state_json(4, 6, &Delta::default()),
            r#"{"a":3,"b":2}"#,
            "in the order in which they came to be"
        );
        assert_eq!(history.state_json(6, 6, &Delta::default()), r#"{"c":4,"a":5,"b":6}"#);
        assert_eq!(history.of("a", 3).len(), 1);
        let steps = history.of("b", 9);
        assert_eq!(steps.iter().map(|step| step.revision).collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!((steps[1].from.as_ref(), steps[2].to.as_ref()), (None, None));
        assert_eq!(history.insertions.len(), 5, "a, b, c, and a and b again: no other write inserts a key");
    }

    #[test]
    fn a_past_that_begins_later_takes_what_it_does_not_know_from_now() {
        let mut history = History::default();
        history.push(8, &delta(r#"{"x":2}"#, &[]));
        let now = delta(r#"{"x":3,"y":1}"#, &[]);
        assert_eq!(history.state_json(7, 7, &now), r#"{"x":3,"y":1}"#, "up to then nothing was written here");
        assert_eq!(history.state_json(7, 8, &now), r#"{"y":1}"#);
        assert_eq!(history.state_json(8, 8, &now), r#"{"y":1,"x":2}"#);
    }
}
