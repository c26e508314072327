//! The binding's part for rewinding: the host knows an invocation by the place of its first event.

use wasm_bindgen::prelude::*;

use super::buffers::{self, with_words};
use super::numbers::narrow;
use super::protocol::{Answer, NOTHING};
use super::room;
use crate::error::Result;
use crate::rewind::{Rewind, Timeline};

/// Numbers in the place of an invocation: they ask for a redo, and for the events that stand.
const REDO: u32 = NOTHING;
const STANDING: u32 = NOTHING - 1;

/// Plans a rewind before an invocation, or a redo, over so many events. In the words are pairs: the invocation of each
/// event, and the one that it rewinds before. Answers with 0 when there is nothing to rewind, and otherwise with the
/// number of words: the number of events before the moment that comes back, and the places of the events concerned.
/// Asked for the events that stand, it answers with their places instead.
#[wasm_bindgen]
pub fn rewind_events(count: usize, before: u32) -> i32 {
    answer(count, before).unwrap_or(Answer::Refused as i32)
}

fn answer(count: usize, before: u32) -> Result<i32> {
    room::ask(4096 + 64 * count)?;
    let named = |number: u32| (number != NOTHING).then_some(number as usize);
    let mut timeline = Timeline::new();
    with_words(|words| {
        for pair in words.chunks_exact(2).take(count) {
            timeline.push(named(pair[0]), named(pair[1]));
        }
    });
    let rewind = match before {
        REDO => timeline.redo(),
        STANDING => Some(Rewind { to: count, concerned: timeline.effective() }),
        _ => timeline.rewind(before as usize),
    };
    let Some(Rewind { to, concerned }) = rewind else { return Ok(0) };
    let mut numbers = vec![narrow(to)];
    for place in concerned {
        numbers.push(narrow(place));
    }
    buffers::answer(&numbers)
}
