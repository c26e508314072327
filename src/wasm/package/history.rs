//! The binding's part for the history of a session.

use wasm_bindgen::prelude::*;

use super::buffers::fill_words;
use super::protocol::NOTHING;
use super::{keys, narrow, room, version};
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

    /// Adds what a revision wrote: so many words that name keys, and behind them as many values. Says whether all keys
    /// are known.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn push(&mut self, revision: f64, count: usize) -> Result<bool, JsValue> {
        room::or_throw(4096 + room::of_writes(count) + self.0.growth(count))?;
        let Ok(delta) = keys::delta(count, |words, place| value_of(words, count, place)) else {
            return Ok(false);
        };
        room::or_throw(4096 + self.0.growth(count) + self.0.growth_of_steps(&delta))?;
        self.0.push(version(revision).unwrap_or(0), &delta);
        Ok(true)
    }

    /// The state at a revision. Keys that have no history here are taken from the state at the later revision `until`:
    /// so many words that name keys, and behind them as many values. Answers with the number of values that there
    /// were, and in the words with pairs: the number of a key, and its value.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn state_at(&self, revision: f64, until: f64, count: usize) -> Result<u32, JsValue> {
        room::or_throw(4096 + room::of_writes(count) + 64 * self.0.size())?;
        let now = keys::delta(count, |words, place| value_of(words, count, place)).map_err(|_| room::FULL)?;
        let values = self.0.state_at(version(revision).unwrap_or(0), version(until).unwrap_or(0), &now);
        let filled = fill_words(2 * values.len(), |words| {
            for (pair, &(key, value)) in words.chunks_exact_mut(2).zip(&values) {
                pair.copy_from_slice(&[keys::number(key), *value]);
            }
        });
        filled.map_err(|_| room::FULL)?;
        Ok(narrow(values.len()))
    }

    /// The last so many writes, up to a revision, of the key that a word names. Answers with their number, and in the
    /// words with triples: the revision, the value before and the value after, where there was one.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn steps(&self, key: u32, until: f64, last: u32) -> Result<u32, JsValue> {
        let Some(key) = keys::key_of(key) else {
            return Ok(0);
        };
        let steps = self.0.of(&key, version(until).unwrap_or(0));
        let steps = &steps[steps.len().saturating_sub(last as usize)..];
        let filled = fill_words(3 * steps.len(), |words| {
            for (triple, step) in words.chunks_exact_mut(3).zip(steps) {
                let value = |value: Option<u32>| value.unwrap_or(NOTHING);
                let revision = u32::try_from(step.revision).unwrap_or(u32::MAX);
                triple.copy_from_slice(&[revision, value(step.from), value(step.to)]);
            }
        });
        filled.map_err(|_| room::FULL)?;
        Ok(narrow(steps.len()))
    }
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
