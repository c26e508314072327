//! The binding's part for the history of a session.

use wasm_bindgen::prelude::*;

use super::buffers::{answer, with_words};
use super::numbers::version;
use super::protocol::{Answer, NOTHING};
use super::{keys, room};
use crate::error::Result;
use crate::history::History;

/// The history of one session, which its host fills. Values are numbers by which the host knows them.
#[wasm_bindgen]
pub struct HistoryLog(History<u32>);

#[wasm_bindgen]
impl HistoryLog {
    /// Starts without revisions.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript alone makes one")]
    pub fn new() -> Self {
        Self(History::new())
    }

    /// Adds what a revision wrote: so many words that name keys, and behind them as many values. Answers with 1 if all
    /// keys are known, and otherwise with 0; or, as the other methods do when there is no memory for it, that it
    /// refuses (see [`Answer`]).
    pub fn push(&mut self, revision: f64, count: usize) -> i32 {
        if room::ask(4096 + room::of_writes(count) + self.0.growth(count)).is_err() {
            return Answer::Refused as i32;
        }
        let Ok(delta) = keys::delta(count, |words, place| value_of(words, count, place)) else {
            return 0;
        };
        if room::ask(4096 + self.0.growth(count) + self.0.growth_of_steps(&delta)).is_err() {
            return Answer::Refused as i32;
        }
        self.0.push(version(revision).unwrap_or(0), &delta);
        1
    }

    /// The state at a revision. Keys that have no history here are taken from the state at the later revision `until`:
    /// so many words that name keys, and behind them as many values. Answers with the number of words,
    /// which are pairs: the number of a key, and its value.
    pub fn state_at(&self, revision: f64, until: f64, count: usize) -> i32 {
        let (revision, until) = (version(revision).unwrap_or(0), version(until).unwrap_or(0));
        answer_with(room::of_writes(count) + 64 * self.0.size(), &mut |numbers| {
            let now = keys::delta(count, |words, place| value_of(words, count, place))?;
            for (key, &value) in self.0.state_at(revision, until, &now) {
                numbers.extend([keys::number(key), value]);
            }
            Ok(())
        })
    }

    /// The writes that bring the session's own keys back from revision `until` to an earlier one. Answers with the
    /// number of words, which are pairs: the number of a key and its old value, which is absent where the key is
    /// deleted.
    pub fn restoring(&self, revision: f64, until: f64) -> i32 {
        let (revision, until) = (version(revision).unwrap_or(0), version(until).unwrap_or(0));
        answer_with(64 * self.0.size(), &mut |numbers| {
            self.0.restore(revision, until, &mut |key, value| {
                numbers.extend([keys::number(key), value.copied().unwrap_or(NOTHING)]);
            });
            Ok(())
        })
    }

    /// The `app:` and `user:` keys that so many revisions wrote, which stand in the words in ascending order. Answers
    /// with the number of keys, and in the words with the number of each.
    pub fn shared_of(&self, count: usize) -> i32 {
        answer_with(64 * self.0.size(), &mut |numbers| {
            with_words(|words| {
                let revisions = words.get(..count).unwrap_or_default();
                let is_concerned = |revision| revisions.binary_search_by(|&it| u64::from(it).cmp(&revision)).is_ok();
                numbers.extend(self.0.shared_of(is_concerned).map(|key| keys::number(key)));
            });
            Ok(())
        })
    }

    /// The last so many writes, up to a revision, of the key that a word names. Answers with the number of words,
    /// which are triples: the revision, the value before and the value after, where there was one.
    pub fn steps(&self, key: u32, until: f64, last: u32) -> i32 {
        let Some(key) = keys::key_of(key) else {
            return 0;
        };
        let steps = self.0.of(&key, version(until).unwrap_or(0));
        let steps = steps.get(steps.len().saturating_sub(last as usize)..).unwrap_or_default();
        answer_with(32 * steps.len(), &mut |numbers| {
            for step in steps {
                let value = |value: Option<u32>| value.unwrap_or(NOTHING);
                let revision = u32::try_from(step.revision).unwrap_or(u32::MAX);
                numbers.extend([revision, value(step.from), value(step.to)]);
            }
            Ok(())
        })
    }
}

/// Puts the numbers of `write`, which take so many bytes, into the words, and answers with their count.
#[inline(never)]
fn answer_with(bytes: usize, write: &mut dyn FnMut(&mut Vec<u32>) -> Result<()>) -> i32 {
    let count = room::ask(4096 + bytes).and_then(|()| {
        let mut numbers = Vec::new();
        write(&mut numbers)?;
        answer(&numbers)
    });
    count.unwrap_or(Answer::Refused as i32)
}

/// The keys of a history that ends are not used by it any more.
impl Drop for HistoryLog {
    fn drop(&mut self) {
        keys::note_dropped(self.0.size());
    }
}

/// The value that belongs to the key at a place in the words.
fn value_of(words: &[u32], count: usize, place: usize) -> u32 {
    words.get(count + place).copied().unwrap_or(NOTHING)
}
