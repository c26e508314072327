//! The memory that a call needs, asked for before the call changes anything.
//!
//! An allocation that fails ends the module: its change is left half done, and everything that it had borrowed stays
//! borrowed. So each call first allocates as much as it can need, and frees that at once. A reserve covers the errors
//! of the estimates, and the calls that cannot be refused (deleting, small reads, describing an error).

use std::cell::RefCell;

use crate::error::{Error, ErrorKind, Result};

/// The reserve, in bytes.
pub(super) const RESERVE: usize = 256 * 1024;

/// Texts up to this many bytes are not parsed for the estimate: the most that any text of that length can need is
/// asked for.
const SHORT: usize = 1024;

/// The most that one write takes, in bytes: its place in the delta, in a part of it that grows by doubling, and in the
/// order of the request.
const WRITE: usize = 96;

/// The most that one brace, and one step of a path, add to a compiled template, in bytes: a segment, and its numbers.
const BRACE: usize = 512;
const STEP: usize = 128;

thread_local! {
    static RESERVED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns `true` if so many bytes can be allocated beside the reserve. When they cannot, the reserve is freed until
/// they can.
pub(super) fn is_there(bytes: usize) -> bool {
    RESERVED.with_borrow_mut(|reserved| {
        let mut block = Vec::<u8>::new();
        let is_there = reserved.try_reserve_exact(RESERVE).is_ok() && block.try_reserve_exact(bytes).is_ok();
        drop(std::hint::black_box(block));
        if !is_there {
            *reserved = Vec::new();
        }
        is_there
    })
}

/// As [`is_there`], with the error that refuses the call.
#[inline(never)]
pub(super) fn ask(bytes: usize) -> Result<()> {
    if is_there(bytes) {
        return Ok(());
    }
    // The host has the words for it: where there is no memory, it says the same without asking.
    Err(Error::new(ErrorKind::CoreFailed, "no memory"))
}

/// The most bytes that a delta of so many writes takes until it is applied, besides what the scopes grow by.
pub(super) fn of_writes(count: usize) -> usize {
    WRITE * count
}

/// The most bytes that a template takes when it is compiled.
pub(super) fn of_template(text: &str) -> usize {
    if text.len() <= SHORT {
        return 4096 + BRACE / 2 * text.len();
    }
    let count = |character: char| text.matches(character).count();
    4096 + 2 * text.len() + BRACE * count('{') + STEP * (count('.') + count('['))
}
