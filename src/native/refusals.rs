//! The refusals that the services of the crate share, in the same words.

use crate::error::{Error, ErrorKind};

/// A session that is not there, or not any more.
pub(crate) fn not_found(id: &str) -> Error {
    Error::new(ErrorKind::SessionNotFound, format!("session \"{id}\" not found")).with_id(id)
}

/// Another event of an id that a session has.
pub(crate) fn event_id_conflict(session: &str, event: &str) -> Error {
    let message = format!("session \"{session}\" has another event with the id \"{event}\"");
    Error::new(ErrorKind::EventIdConflict, message).with_id(event)
}

/// A revision that a session does not have: it has those up to `until`, and `given` is none of them.
pub(crate) fn no_such_revision(id: &str, until: u64, revision: &str) -> Error {
    Error::invalid(format!("session \"{id}\" has the revisions 0 to {until} here, and not {revision}")).with_id(id)
}

/// A `temp:` key in an update.
pub(crate) fn temp_in_update(key: &str) -> Error {
    Error::invalid(format!("the key \"{key}\" lives for one invocation: it cannot be updated")).with_key(key)
}

/// Others came between at each attempt of an update.
pub(crate) fn always_changed(attempts: &str) -> Error {
    Error::new(ErrorKind::StateConflict, format!("the state changed under each of {attempts} attempts"))
}

/// The refusal of an end, by a service whose sessions have none.
pub(crate) fn no_expiry() -> Error {
    Error::invalid("sessions of this service do not expire")
}

/// The refusal of a lease, by a service that has none.
pub(crate) fn no_leases() -> Error {
    Error::invalid("this service has no leases")
}
