//! Sessions and deltas that the tests of several modules begin with.

use crate::change::{Guard, Prepared, SessionKey};
use crate::delta::Delta;
use crate::ids::SessionId;
use crate::sessions::Sessions;

/// A delta without deletions, from the text of an object.
pub fn delta(object: &str) -> Delta {
    Delta::parse(object, &[]).unwrap()
}

/// Creates a session with a state, at time 1.
pub fn create(sessions: &mut Sessions, key: &SessionKey, state: &str) -> SessionId {
    let change = sessions.prepare_create(key, 1.0, delta(state)).unwrap();
    sessions.apply_create(key, &change).unwrap()
}

/// Appends an event of a new id, at time 2.
pub fn append(sessions: &mut Sessions, id: SessionId, event: &str, object: &str) {
    match sessions.prepare_append(id, event, 2.0, delta(object), Guard::default()).unwrap() {
        Prepared::Change { change, .. } => sessions.apply_append(id, &change).unwrap(),
        Prepared::Duplicate { .. } => unreachable!("the ids of these tests are unique"),
    }
}
