//! Errors on their way to the host.

use super::buffers::write_revisions;
use super::protocol::ErrorText;
use crate::error::Error;

/// A text of an error, if it has that one.
pub(super) fn text_of(error: &Error, part: u32) -> Option<String> {
    const CODE: u32 = ErrorText::Code as u32;
    const MESSAGE: u32 = ErrorText::Message as u32;
    const KEY: u32 = ErrorText::Key as u32;
    match part {
        CODE => Some(error.code()),
        MESSAGE => Some(error.message()),
        KEY => error.key(),
        _ => error.id(),
    }
    .map(str::to_owned)
}

/// Puts the revisions that an error tells into the floats.
pub(super) fn tell_revisions(error: &Error) {
    write_revisions(error.expected(), error.actual());
}
