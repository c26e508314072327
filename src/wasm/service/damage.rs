//! The parts of a log that cannot be read: a session; a user whose values are unknown, with all sessions; an app whose
//! values are unknown, with all users. They are neither read nor written until they are deleted.

use std::collections::HashSet;

use super::errors::{Details, error};
use super::host::Answer;
use crate::change::SessionKey;
use crate::error::ErrorKind;

/// A session, a user or an app.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) app_name: String,
    pub(super) user_id: Option<String>,
    pub(super) session_id: Option<String>,
}

impl Place {
    /// The values of an app, or of a user in it.
    pub(super) fn of_scope(app_name: &str, user_id: Option<&str>) -> Self {
        Self { app_name: app_name.to_owned(), user_id: user_id.map(str::to_owned), session_id: None }
    }

    /// A session.
    pub(super) fn of_session(key: &SessionKey) -> Self {
        let SessionKey { app_name, user_id, session_id } = key.clone();
        Self { app_name, user_id: Some(user_id), session_id: Some(session_id) }
    }

    fn title(&self) -> String {
        match (&self.session_id, &self.user_id) {
            (Some(id), _) => format!("session \"{id}\""),
            (None, Some(id)) => format!("the state of user \"{id}\""),
            (None, None) => format!("the state of app \"{}\"", self.app_name),
        }
    }
}

/// All that cannot be read.
#[derive(Debug, Default)]
pub(super) struct Damage {
    places: HashSet<Place>,
    /// The sessions among them, in the order in which they were found.
    sessions: Vec<SessionKey>,
}

impl Damage {
    /// Notes a scope.
    pub(super) fn add_scope(&mut self, app_name: &str, user_id: Option<&str>) {
        self.places.insert(Place::of_scope(app_name, user_id));
    }

    /// Notes a session.
    pub(super) fn add_session(&mut self, key: &SessionKey) {
        if self.places.insert(Place::of_session(key)) {
            self.sessions.push(key.clone());
        }
    }

    /// Says that a scope has been deleted.
    pub(super) fn remove_scope(&mut self, app_name: &str, user_id: Option<&str>) {
        self.places.remove(&Place::of_scope(app_name, user_id));
    }

    /// Says that a session has been deleted, and whether it was one of these.
    pub(super) fn remove_session(&mut self, key: &SessionKey) -> bool {
        let was_there = self.has_session(key);
        if was_there {
            self.places.remove(&Place::of_session(key));
            self.sessions.retain(|other| other != key);
        }
        was_there
    }

    pub(super) fn has_session(&self, key: &SessionKey) -> bool {
        !self.places.is_empty() && self.places.contains(&Place::of_session(key))
    }

    pub(super) fn has_scope(&self, app_name: &str, user_id: Option<&str>) -> bool {
        !self.places.is_empty() && self.places.contains(&Place::of_scope(app_name, user_id))
    }

    /// The sessions of an app, or of a user in it.
    pub(super) fn sessions(&self, app_name: &str, user_id: Option<&str>) -> impl Iterator<Item = &SessionKey> {
        self.sessions
            .iter()
            .filter(move |key| key.app_name == app_name && user_id.is_none_or(|user_id| key.user_id == user_id))
    }

    /// Throws `STORE_CORRUPT` when the values of an app, or of a user in it, cannot be read.
    pub(super) fn check_scope(&self, app_name: &str, user_id: Option<&str>) -> Answer<()> {
        if self.has_scope(app_name, user_id) { Err(corrupt(&Place::of_scope(app_name, user_id))) } else { Ok(()) }
    }

    /// Throws `STORE_CORRUPT` when the values of an app, or those of a user in it, cannot be read.
    pub(super) fn check_scopes(&self, app_name: &str, user_id: Option<&str>) -> Answer<()> {
        self.check_scope(app_name, None)?;
        user_id.map_or(Ok(()), |user_id| self.check_scope(app_name, Some(user_id)))
    }

    /// Throws `STORE_CORRUPT` when a session cannot be read, or one of its scopes.
    pub(super) fn check_session(&self, key: &SessionKey) -> Answer<()> {
        self.check_scopes(&key.app_name, Some(&key.user_id))?;
        if self.has_session(key) { Err(corrupt(&Place::of_session(key))) } else { Ok(()) }
    }
}

fn corrupt(place: &Place) -> wasm_bindgen::JsValue {
    let message = format!("{} cannot be read: a record of it is damaged or missing", place.title());
    error(ErrorKind::StoreCorrupt, &message, Details::default())
}
