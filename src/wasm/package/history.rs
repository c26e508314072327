//! The binding's part for the history of a session.

use wasm_bindgen::prelude::*;

use super::scratch::{parse_delta, size_of_delta, with_scratch};
use super::{room, version};
use crate::delta::Delta;
use crate::history::{History, HistoryStep, object_of};
use crate::json::Json;

/// The history of one session, which its host fills.
#[wasm_bindgen]
#[derive(Default)]
pub struct Past(History);

#[wasm_bindgen]
impl Past {
    /// Starts without revisions.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what a revision wrote: the delta in the scratch buffer, and behind it the keys that it deletes. Says
    /// whether it could be read.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn push(&mut self, revision: f64, length: usize, deleted: usize) -> Result<bool, JsValue> {
        room::or_throw(size_of_delta(length, deleted))?;
        let Ok(delta) = parse_delta(length, deleted) else {
            return Ok(false);
        };
        room::or_throw(
            self.0.growth(delta.iter().count()) + self.0.growth_of_steps(&delta) + size_of_delta(length, 0),
        )?;
        self.0.push(version(revision).unwrap_or(0), &delta);
        Ok(true)
    }

    /// The state at a revision as a JSON object. Keys that have no history here are taken from the object in the
    /// scratch buffer: the state at the later revision `until`.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn state_at(&self, revision: f64, until: f64, length: usize) -> Result<String, JsValue> {
        room::or_throw(size_of_delta(length, 0) + 64 * self.0.size())?;
        let now = with_scratch(0..length, |text| Delta::trusted(text, &[])).unwrap_or_default();
        let values = self.0.state_at(version(revision).unwrap_or(0), version(until).unwrap_or(0), &now);
        room::or_throw(room::of_members(values.iter().copied()))?;
        Ok(object_of(&values))
    }

    /// The last so many writes of a key up to a revision, as a JSON list of `{revision, from?, to?}`.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn steps(&self, key: &str, until: f64, last: u32) -> Result<String, JsValue> {
        let steps = self.0.of(key, version(until).unwrap_or(0));
        let steps = &steps[steps.len().saturating_sub(last as usize)..];
        let text = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.as_str().len());
        room::or_throw(3 * steps.iter().map(|step| 64 + text(&step.from) + text(&step.to)).sum::<usize>())?;
        let mut out = String::from("[");
        for step in steps {
            write_step(&mut out, step);
        }
        out.push(']');
        Ok(out)
    }
}

fn write_step(out: &mut String, HistoryStep { revision, from, to, .. }: &HistoryStep) {
    if out.len() > 1 {
        out.push(',');
    }
    out.push_str("{\"revision\":");
    out.push_str(&revision.to_string());
    for (name, value) in [(",\"from\":", from), (",\"to\":", to)] {
        if let Some(value) = value {
            out.push_str(name);
            out.push_str(value.as_str());
        }
    }
    out.push('}');
}
