//! The changes that a store writes, each atomically.

use std::sync::Arc;

use crate::delta::{Delta, ScopedDelta};
use crate::json::Json;

/// The full key of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    /// The app.
    pub app_name: String,
    /// The user.
    pub user_id: String,
    /// The session, unique for this user in this app.
    pub session_id: String,
}

impl SessionKey {
    /// Makes a key of its three parts.
    pub fn new(app_name: impl Into<String>, user_id: impl Into<String>, session_id: impl Into<String>) -> Self {
        Self { app_name: app_name.into(), user_id: user_id.into(), session_id: session_id.into() }
    }
}

/// The kind of a change: a creation, an append or an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Creates a session: revision 0.
    Create,
    /// Appends one event to a session: the next revision.
    Append,
    /// Writes app and user state without a session.
    Update,
}

/// One event and its deltas, split by scope: the value that is stored, and then applied.
///
/// `temp:` keys are never in it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Change<V = Json> {
    /// The idempotency key: the event's id.
    pub id: Arc<str>,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The event's time, in milliseconds since the epoch.
    pub time: f64,
    /// The writes to each scope.
    pub delta: ScopedDelta<V>,
}

/// The precondition of a change. Absent members are not checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guard {
    /// The revision that the session must have.
    pub revision: Option<u64>,
    /// The version that the app scope must have.
    pub app: Option<u64>,
    /// The version that the user scope must have.
    pub user: Option<u64>,
}

/// The answer to a request for a change.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Prepared<V = Json> {
    /// This has to be stored, then applied.
    Change {
        /// The change to store and to apply.
        change: Change<V>,
        /// The `temp:` keys under their names: the caller alone sees them, they are not stored.
        temp: Delta<V>,
    },
    /// The session has an event of this id. If the content is the same, that is a success that changes nothing.
    Duplicate {
        /// The event's place in the log, from 0.
        place: usize,
    },
}
