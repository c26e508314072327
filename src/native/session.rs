//! A session as programs read it.

use std::sync::Arc;

use crate::change::SessionKey;
use crate::event::Event;
use crate::state::SessionState;

/// A session as it was when it was read. It stays the same when the session changes.
#[derive(Debug, Clone)]
pub struct Session {
    serial: u64,
    key: SessionKey,
    revision: u64,
    last_update_time: f64,
    expire_time: Option<f64>,
    state: SessionState,
    events: Vec<Arc<Event>>,
}

impl Session {
    /// Makes a session at revision 0, without state and events: what a service answers with. Programs get theirs from
    /// a [`SessionService`](crate::SessionService).
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::{Session, SessionKey, SessionState};
    ///
    /// let mut state = SessionState::default();
    /// state.set("user:name", &"Ana".into())?;
    /// let session = Session::new(SessionKey::new("tutor", "ana", "s1")).with_state(state).with_revision(3);
    /// assert_eq!((session.id(), session.revision()), ("s1", 3));
    /// assert_eq!(session.state().get("user:name"), Some("Ana".into()));
    /// # Ok::<(), statepad::Error>(())
    /// ```
    pub fn new(key: SessionKey) -> Self {
        let (state, events) = (SessionState::default(), Vec::new());
        Self { serial: 0, key, revision: 0, last_update_time: 0.0, expire_time: None, state, events }
    }

    /// Sets the serial number, which differs from that of an earlier session of the same key.
    #[must_use]
    pub fn with_serial(mut self, serial: u64) -> Self {
        self.serial = serial;
        self
    }

    /// Sets the revision.
    #[must_use]
    pub fn with_revision(mut self, revision: u64) -> Self {
        self.revision = revision;
        self
    }

    /// Sets the time of the last event, or of the creation, in milliseconds since the epoch.
    #[must_use]
    pub fn with_last_update_time(mut self, time: f64) -> Self {
        self.last_update_time = time;
        self
    }

    /// Sets the time at which the session expires, in milliseconds since the epoch; `None`, where it does not.
    #[must_use]
    pub fn with_expire_time(mut self, time: Option<f64>) -> Self {
        self.expire_time = time;
        self
    }

    /// Sets the merged state.
    #[must_use]
    pub fn with_state(mut self, state: SessionState) -> Self {
        self.state = state;
        self
    }

    /// Sets the events, oldest first.
    #[must_use]
    pub fn with_events(mut self, events: Vec<Arc<Event>>) -> Self {
        self.events = events;
        self
    }

    /// The serial number: different from that of an earlier session of the same key. 0, where a service has none.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.key.session_id
    }

    /// The app.
    pub fn app_name(&self) -> &str {
        &self.key.app_name
    }

    /// The user.
    pub fn user_id(&self) -> &str {
        &self.key.user_id
    }

    /// The full key.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// One more for each event, 0 at creation.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The time of the last event, or of creation, in milliseconds since the epoch.
    pub fn last_update_time(&self) -> f64 {
        self.last_update_time
    }

    /// The time at which the session expires, in milliseconds since the epoch, as of this read; `None`, where it does
    /// not.
    pub fn expire_time(&self) -> Option<f64> {
        self.expire_time
    }

    /// The merged state.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// The events, oldest first.
    pub fn events(&self) -> &[Arc<Event>] {
        &self.events
    }
}
