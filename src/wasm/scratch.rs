//! The buffer through which long texts come in.

use std::cell::RefCell;
use std::ops::Range;

use wasm_bindgen::prelude::*;

use super::room;
use crate::error::{Error, Result};

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes the scratch buffer so long and says where it is: nowhere, when there is no memory for it. What was in it is gone.
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

pub(super) fn with_scratch<T>(range: Range<usize>, read: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    SCRATCH.with_borrow(|scratch| {
        let bytes = scratch.get(range).unwrap_or_default();
        read(std::str::from_utf8(bytes).map_err(|_| Error::invalid("the text is not UTF-8"))?)
    })
}
