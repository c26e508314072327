//! The buffer through which long texts come in.

use std::cell::RefCell;
use std::ops::Range;

use wasm_bindgen::prelude::*;

use super::room;
use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::json::members::Members;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes the scratch buffer so long and answers with its address: null, when there is no memory for it. What was in it
/// is gone.
#[wasm_bindgen]
pub fn scratch(length: usize) -> *const u8 {
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() != length {
            *scratch = Vec::new();
            if !room::is_there(length + 4096) {
                return std::ptr::null();
            }
            scratch.resize(length, 0);
        }
        scratch.as_ptr()
    })
}

/// Reads the text in a range of the scratch buffer.
pub(super) fn with_scratch<T>(range: Range<usize>, read: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    SCRATCH.with_borrow(|scratch| {
        let bytes = scratch.get(range).unwrap_or_default();
        read(std::str::from_utf8(bytes).map_err(|_| Error::invalid("the text is not UTF-8"))?)
    })
}

/// The most bytes that the delta in the scratch buffer, and behind it the keys that it deletes, take when they are
/// parsed.
pub(super) fn size_of_delta(length: usize, deleted: usize) -> usize {
    [0..length, length..length + deleted]
        .map(|range| with_scratch(range, |text| Ok(room::of_object(text))).unwrap_or_default())
        .iter()
        .sum()
}

/// The delta in the scratch buffer, and behind it the keys that it deletes: an object with these members, or nothing.
pub(super) fn parse_delta(length: usize, deleted: usize) -> Result<Delta> {
    let deleted = with_scratch(length..length + deleted, names)?;
    with_scratch(0..length, |text| Delta::trusted(text, &deleted))
}

/// The names of an object's members; none, for the empty text.
pub(super) fn names(object: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    if object.is_empty() {
        return Ok(names);
    }
    let mut members = Members::new(object);
    while let Some((name, _)) = members.next_member()? {
        names.push(name.into_owned());
    }
    Ok(names)
}
