//! Parts of texts.

use std::ops::Range;

/// The part of a text in a range that was found in it. A range that is none is empty instead of a panic, whose message
/// alone would make the WebAssembly module a tenth larger.
pub(crate) fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}
