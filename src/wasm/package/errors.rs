//! Errors on their way to the host.

use crate::error::{Error, ErrorKind};
use crate::json::write_string;

/// An error as JSON text: its code, its message and its details. The host makes an error object of it.
pub(super) fn error_json(error: &Error) -> String {
    let mut out = String::from("{\"code\":");
    write_string(&mut out, error.code());
    let message = error.to_string();
    for (name, text) in [("message", Some(message.as_str())), ("key", error.key()), ("id", error.id())] {
        if let Some(text) = text {
            out.push(',');
            write_string(&mut out, name);
            out.push(':');
            write_string(&mut out, text);
        }
    }
    if error.kind() == ErrorKind::CoreFailed {
        out.push_str(",\"reason\":\"memory\"");
    }
    for (name, revision) in [("expected", error.expected()), ("actual", error.actual())] {
        if let Some(revision) = revision {
            out.push(',');
            write_string(&mut out, name);
            out.push(':');
            out.push_str(&revision.to_string());
        }
    }
    out.push('}');
    out
}
