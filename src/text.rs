//! Slices of texts that cannot panic.

use std::ops::Range;

/// The part of a text in a range that was found in it. For a range that does not fit the answer is empty: the code of
/// a panic would make the WebAssembly module a tenth larger.
pub(crate) fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}
