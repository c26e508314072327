//! The binding's part for the past of a session.

use wasm_bindgen::prelude::*;

use super::{parse_delta, version, with_scratch};
use crate::delta::Delta;
use crate::history::{History, HistoryStep};

/// The past of one session, as its host has told it.
#[wasm_bindgen]
#[derive(Default)]
pub struct Past(History);

#[wasm_bindgen]
impl Past {
    /// Starts before the creation.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over what a revision wrote: the delta in the scratch buffer, and behind it the keys that it deletes. Says
    /// whether it could be read.
    pub fn push(&mut self, revision: f64, length: usize, deleted: usize) -> bool {
        let delta = parse_delta(length, deleted);
        delta.map(|delta| self.0.push(version(revision).unwrap_or(0), &delta)).is_ok()
    }

    /// The state at a revision as a JSON object. Keys that have no past here are taken from the object in the scratch
    /// buffer: the state at the later revision `until`.
    pub fn state_at(&self, revision: f64, until: f64, length: usize) -> String {
        let now = with_scratch(0..length, |text| Delta::trusted(text, &[])).unwrap_or_default();
        self.0.state_json(version(revision).unwrap_or(0), version(until).unwrap_or(0), &now)
    }

    /// The last so many writes of a key up to a revision, as a JSON list of `{revision, from?, to?}`.
    pub fn steps(&self, key: &str, until: f64, last: u32) -> String {
        let steps = self.0.of(key, version(until).unwrap_or(0));
        let mut out = String::from("[");
        for step in steps.iter().skip(steps.len().saturating_sub(last as usize)) {
            write_step(&mut out, step);
        }
        out.push(']');
        out
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
