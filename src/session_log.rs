//! One session: its revision, its time and the ids of its events.

use std::sync::Arc;

use crate::change::{Change, ChangeKind, Guard, Prepared, SessionKey};
use crate::delta::Delta;
use crate::error::{Error, ErrorKind, Result};
use crate::maps::Index;
use crate::text::digits;

/// One session without its values, which are in scopes, and without its events, which the host keeps.
#[derive(Debug, Clone)]
pub struct SessionLog {
    key: SessionKey,
    revision: u64,
    update_time: f64,
    /// The place in the log of each event that was appended here. Of events that were loaded from a store, the store
    /// checks the ids.
    event_ids: Index,
}

impl SessionLog {
    /// A session at a revision: 0, when it has just been created.
    pub(crate) fn new(key: SessionKey, revision: u64, time: f64) -> Self {
        Self { key, revision, update_time: time, event_ids: Index::default() }
    }

    /// Moves to the revision and the time that a store has.
    pub(crate) fn advance(&mut self, revision: u64, time: f64) {
        self.revision = revision;
        self.update_time = time;
    }

    /// The full key.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// One more for each change, 0 at creation.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The time of the last event, or of creation, in milliseconds since the epoch.
    pub fn update_time(&self) -> f64 {
        self.update_time
    }

    /// Turns an event into the change that a store has to write. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a time that is no number, [`ErrorKind::SessionStale`] when the guard expects
    /// another revision.
    pub(crate) fn prepare<V>(&self, id: &str, time: f64, delta: Delta<V>, guard: Guard) -> Result<Prepared<V>> {
        if let Some(place) = self.event_ids.get(id) {
            return Ok(Prepared::Duplicate { place });
        }
        if let Some(expected) = guard.revision.filter(|&expected| expected != self.revision) {
            return Err(self.stale(expected));
        }
        let (delta, temp) = delta.split();
        Ok(Prepared::Change {
            change: Change { id: Arc::from(id), kind: ChangeKind::Append, time: check_time(time)?, delta },
            temp,
        })
    }

    /// Takes over a change that a store has. Says whether it is new: the same one again changes nothing.
    #[must_use]
    pub(crate) fn apply<V>(&mut self, change: &Change<V>) -> bool {
        if self.event_ids.get(&change.id).is_some() {
            return false;
        }
        let place = or_impossible!(usize::try_from(self.revision).ok(), "no list of events is longer than the memory");
        self.event_ids.insert(Arc::clone(&change.id), place);
        self.revision += 1;
        self.update_time = change.time;
        true
    }

    /// The number of bytes by which the index of events grows when one more is applied.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn growth(&self) -> usize {
        crate::maps::growth_of_index(&self.event_ids, 1)
    }

    fn stale(&self, expected: u64) -> Error {
        let SessionKey { session_id, .. } = &self.key;
        let [actual_text, expected_text] = [self.revision, expected].map(|revision| digits(revision, 10));
        let message =
            ["session \"", session_id, "\" is at revision ", &actual_text, ", not at the expected ", &expected_text]
                .concat();
        Error::new(ErrorKind::SessionStale, message)
            .with_id(session_id.as_str())
            .with_revisions(expected, self.revision)
    }
}

/// Times are sort keys: they must be numbers, and there is one zero.
pub(crate) fn check_time(time: f64) -> Result<f64> {
    if time.is_finite() { Ok(time + 0.0) } else { Err(Error::invalid("timestamp must be a number of milliseconds")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> SessionLog {
        SessionLog::new(SessionKey::new("app", "u", "s"), 0, 5.0)
    }

    fn change(log: &SessionLog, id: &str, guard: Guard) -> Result<Change> {
        match log.prepare(id, 7.0, Delta::default(), guard)? {
            Prepared::Change { change, .. } => Ok(change),
            Prepared::Duplicate { .. } => Err(Error::invalid("duplicate")),
        }
    }

    #[test]
    fn preparing_changes_nothing_and_applying_moves_the_revision() {
        let mut log = log();
        let change = change(&log, "e1", Guard::default()).unwrap();
        assert_eq!((log.revision(), log.update_time()), (0, 5.0));
        assert!(log.apply(&change));
        assert_eq!((log.revision(), log.update_time()), (1, 7.0));
        assert!(!log.apply(&change), "it is there already");
        assert_eq!(log.revision(), 1);
    }

    #[test]
    fn a_known_id_is_a_duplicate_even_when_the_guard_is_stale() {
        let mut log = log();
        assert!(log.apply(&change(&log, "e1", Guard::default()).unwrap()));
        let guard = Guard { revision: Some(0), ..Guard::default() };
        let again = log.prepare("e1", 7.0, Delta::default(), guard).unwrap();
        assert_eq!(again, Prepared::Duplicate { place: 0 });
    }

    #[test]
    fn a_guard_that_expects_another_revision_is_stale() {
        let guard = Guard { revision: Some(3), ..Guard::default() };
        let error = change(&log(), "e1", guard).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SessionStale);
        assert_eq!((error.expected(), error.actual()), (Some(3), Some(0)));
    }

    #[test]
    fn events_of_a_loaded_session_have_their_place_in_the_whole_log() {
        let mut log = SessionLog::new(SessionKey::new("app", "u", "s"), 7, 5.0);
        assert!(log.apply(&change(&log, "e8", Guard::default()).unwrap()));
        log.advance(9, 1.0);
        assert_eq!((log.revision(), log.update_time()), (9, 1.0));
        assert!(log.apply(&change(&log, "e10", Guard::default()).unwrap()));
        for (id, place) in [("e8", 7), ("e10", 9)] {
            let again = log.prepare(id, 7.0, Delta::default(), Guard::default()).unwrap();
            assert_eq!(again, Prepared::Duplicate { place });
        }
    }

    #[test]
    fn a_time_must_be_a_number() {
        for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = log().prepare("e", time, Delta::default(), Guard::default()).unwrap_err();
            assert_eq!(error.to_string(), "timestamp must be a number of milliseconds");
        }
        assert_eq!(check_time(-0.0).unwrap().to_bits(), 0.0_f64.to_bits(), "one zero, or it sorts before the other");
        assert_eq!(check_time(-1.5).unwrap().to_bits(), (-1.5_f64).to_bits());
    }
}
