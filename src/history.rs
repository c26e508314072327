//! The past of one session: what each key was at each revision, and which change made it so.

use crate::delta::{Delta, Write};
use crate::index::Ordered;
use crate::json::{Json, write_string};
use crate::scope::Scope;

/// What the log of one session says about each key, from its creation on.
///
/// Of the session's own keys it knows everything. Of `app:` and `user:` keys it knows what this session wrote: what
/// others wrote is in their logs. `temp:` keys have no past.
#[derive(Debug, Clone, Default)]
pub struct History {
    keys: Ordered<Vec<HistoryStep>>,
    /// How many writes there have been: the order in which keys came to be.
    writes: u64,
}

/// One write of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryStep {
    /// The revision that the session came to with it: 0 is its creation.
    pub revision: u64,
    /// The value before, as far as this session's log knows it.
    pub from: Option<Json>,
    /// The value since, if there is one: a write may delete.
    pub to: Option<Json>,
    /// Which write it was that made the key, the last time that it came to be.
    born: u64,
}

impl History {
    /// Takes over what the creation, revision 0, or the event of a later revision wrote. They come in order; those that
    /// write nothing may be left out.
    pub fn push(&mut self, revision: u64, delta: &Delta) {
        for (key, write) in delta.iter().filter(|(key, _)| Scope::split(key).0 != Scope::Temp) {
            self.writes += 1;
            let steps = match self.keys.get_mut(key) {
                Some(steps) => steps,
                None => self.keys.entry(key.into()).or_default(),
            };
            let last = steps.last().filter(|last| last.to.is_some());
            let from = last.and_then(|last| last.to.clone());
            let born = last.map_or(self.writes, |last| last.born);
            let to = match write {
                Write::Set(json) => Some(json.clone()),
                Write::Unset => None,
            };
            steps.push(HistoryStep { revision, from, to, born });
        }
    }

    /// The writes of a key up to a revision, oldest first.
    pub fn of(&self, key: &str, until: u64) -> &[HistoryStep] {
        let steps = self.keys.get(key).map_or(&[][..], Vec::as_slice);
        steps.get(..steps.partition_point(|step| step.revision <= until)).unwrap_or_default()
    }

    /// All values as they were at a revision, under full keys: the session's, then `app:`, then `user:` keys, each in the
    /// order of writing. What the log up to the revision of `now` knows nothing of is taken from `now`: keys that only
    /// others wrote and, where the creation is not known, those that are as they were then. What comes after `now` does
    /// not matter.
    pub fn state_at<'a>(&'a self, revision: u64, until: u64, now: &'a Delta) -> Vec<(&'a str, &'a Json)> {
        let unknown = now.iter().filter_map(|(key, write)| match write {
            Write::Set(json) if self.of(key, until).is_empty() => Some((0, key, json)),
            _ => None,
        });
        let known = self.keys.iter().filter_map(|(key, steps)| {
            let step = at(steps, revision)?;
            Some((step.born, &**key, step.to.as_ref()?))
        });
        let mut state: Vec<_> = unknown.filter(|(_, key, _)| Scope::split(key).0 != Scope::Temp).chain(known).collect();
        state.sort_by_key(|(born, key, _)| (rank(key), *born));
        state.into_iter().map(|(_, key, json)| (key, json)).collect()
    }

    /// [`History::state_at`] as one JSON object.
    pub fn state_json(&self, revision: u64, until: u64, now: &Delta) -> String {
        let mut out = String::from("{");
        for (key, json) in self.state_at(revision, until, now) {
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
}

/// Where the keys of a scope stand in a merged state.
fn rank(key: &str) -> usize {
    match Scope::split(key).0 {
        Scope::Session => 0,
        Scope::App => 1,
        Scope::User => 2,
        Scope::Temp => 3,
    }
}

/// The last write up to a revision.
fn at(steps: &[HistoryStep], revision: u64) -> Option<&HistoryStep> {
    steps.partition_point(|step| step.revision <= revision).checked_sub(1).and_then(|place| steps.get(place))
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
        let told: Vec<_> = steps
            .iter()
            .map(|step| (step.revision, step.from.as_ref().map(Json::as_str), step.to.as_ref().map(Json::as_str)))
            .collect();
        let expected = [
            (0, None, Some(r#""tides""#)),
            (2, Some(r#""tides""#), Some(r#""moon""#)),
            (3, Some(r#""moon""#), None),
            (5, None, Some(r#""sun""#)),
        ];
        assert_eq!(told, expected);
        assert_eq!(history.of("topic", 2).len(), 2);
        assert_eq!(history.of("temp:x", 9), []);
        assert_eq!(history.of("never", 9), []);
    }
}
