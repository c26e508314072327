//! All sessions of a process and the scopes that they share.

use std::collections::HashMap;

use crate::change::{Change, ChangeKind, Guard, Prepared, SessionKey};
use crate::delta::Delta;
use crate::error::{Error, ErrorKind, Result};
use crate::scope::Scope;
use crate::session::{SessionLog, check_time};
use crate::state::{ScopeState, SessionState};

/// Names a session in [`Sessions`]. Never used twice: a session that is created anew gets another.
pub type SessionId = usize;
/// Names a scope in [`Sessions`].
pub type ScopeId = usize;

/// The three stored scopes that a session reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeIds {
    /// The session's own.
    pub session: ScopeId,
    /// Its app's.
    pub app: ScopeId,
    /// Its user's.
    pub user: ScopeId,
}

/// All sessions of a process and the scopes that they share.
///
/// It decides and remembers, and waits for nobody: whoever owns it takes a [`Change`] from a `prepare` method, has it
/// stored, and gives it to the `apply` method of the same name.
#[derive(Debug, Default)]
pub struct Sessions {
    entries: Vec<Option<Entry>>,
    scopes: Vec<ScopeState>,
    apps: HashMap<Box<str>, App>,
}

#[derive(Debug)]
struct Entry {
    log: SessionLog,
    scopes: ScopeIds,
}

#[derive(Debug)]
struct App {
    scope: ScopeId,
    users: HashMap<Box<str>, User>,
}

#[derive(Debug)]
struct User {
    scope: ScopeId,
    sessions: HashMap<Box<str>, SessionId>,
}

impl Sessions {
    /// Finds a session by its full key.
    pub fn find(&self, key: &SessionKey) -> Option<SessionId> {
        let user = self.apps.get(&*key.app_name)?.users.get(&*key.user_id)?;
        user.sessions.get(&*key.session_id).copied()
    }

    /// All sessions of an app, or of one of its users, in no order.
    pub fn of(&self, app_name: &str, user_id: Option<&str>) -> impl Iterator<Item = (SessionId, &SessionLog)> {
        let users = self.apps.get(app_name).into_iter().flat_map(|app| &app.users);
        users
            .filter(move |(user, _)| user_id.is_none_or(|wanted| wanted == &***user))
            .flat_map(|(_, user)| user.sessions.values())
            .filter_map(|&id| Some((id, self.log(id)?)))
    }

    /// All sessions of all apps, in no order.
    pub fn all(&self) -> impl Iterator<Item = (SessionId, &SessionLog)> {
        self.entries.iter().enumerate().filter_map(|(id, entry)| Some((id, &entry.as_ref()?.log)))
    }

    /// A session's log, while the session exists.
    pub fn log(&self, id: SessionId) -> Option<&SessionLog> {
        Some(&self.entry(id)?.log)
    }

    /// The scopes that a session reads.
    pub fn scopes(&self, id: SessionId) -> Option<ScopeIds> {
        Some(self.entry(id)?.scopes)
    }

    /// The scope of an app, or of a user in it, once anything has been there.
    pub fn scope(&self, app_name: &str, user_id: Option<&str>) -> Option<ScopeId> {
        let app = self.apps.get(app_name)?;
        match user_id {
            None => Some(app.scope),
            Some(user_id) => Some(app.users.get(user_id)?.scope),
        }
    }

    /// The values of a scope.
    pub fn scope_state(&self, scope: ScopeId) -> Option<&ScopeState> {
        self.scopes.get(scope)
    }

    /// The merged state of a session as it is now.
    pub fn state(&self, id: SessionId) -> Option<SessionState> {
        let ScopeIds { session, app, user } = self.scopes(id)?;
        Some(SessionState::new([session, app, user].map(|scope| self.scopes[scope].clone())))
    }

    /// Prepares the creation of a session: revision 0, with the initial state routed by prefix and `temp:` dropped.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SessionExists`] when the key is taken.
    pub fn prepare_create(&self, key: &SessionKey, time: f64, state: Delta) -> Result<Change> {
        if self.find(key).is_some() {
            let message = format!("session \"{}\" exists already", key.session_id);
            return Err(Error::new(ErrorKind::SessionExists, message));
        }
        Ok(Change {
            id: key.session_id.clone(),
            kind: ChangeKind::Create,
            time: check_time(time)?,
            delta: state.split().0,
        })
    }

    /// Takes over a creation.
    pub fn apply_create(&mut self, key: &SessionKey, change: &Change) -> SessionId {
        let scopes = ScopeIds {
            session: add_scope(&mut self.scopes, Scope::Session),
            app: self.app_entry(&key.app_name).scope,
            user: self.user_entry(&key.app_name, &key.user_id).scope,
        };
        let id = self.entries.len();
        self.entries.push(Some(Entry { log: SessionLog::new(key.clone(), change.time), scopes }));
        self.user_entry(&key.app_name, &key.user_id).sessions.insert(key.session_id.as_str().into(), id);
        self.apply_delta(scopes, change);
        id
    }

    /// Prepares the appending of an event. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SessionNotFound`], [`ErrorKind::SessionStale`], [`ErrorKind::StateConflict`],
    /// [`ErrorKind::InvalidArgument`].
    pub fn prepare_append(
        &self,
        id: SessionId,
        event: &str,
        time: f64,
        delta: Delta,
        guard: Guard,
    ) -> Result<Prepared> {
        let Some(entry) = self.entry(id) else {
            return Err(Error::new(ErrorKind::SessionNotFound, "the session has been deleted"));
        };
        let prepared = entry.log.prepare(event, time, delta, guard)?;
        if matches!(prepared, Prepared::Change { .. }) {
            self.check_versions(Some(entry.scopes.app), Some(entry.scopes.user), guard)?;
        }
        Ok(prepared)
    }

    /// Takes over an appended event.
    pub fn apply_append(&mut self, id: SessionId, change: &Change) {
        if let Some(entry) = self.entries.get_mut(id).and_then(Option::as_mut) {
            entry.log.apply(change);
            let scopes = entry.scopes;
            self.apply_delta(scopes, change);
        }
    }

    /// Prepares a change of app and user state that belongs to no session.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when the delta has keys of other scopes, [`ErrorKind::StateConflict`] when the
    /// guard does not hold.
    pub fn prepare_update(
        &self,
        app_name: &str,
        user_id: Option<&str>,
        id: &str,
        time: f64,
        delta: Delta,
        guard: Guard,
    ) -> Result<Change> {
        for (key, _) in delta.iter() {
            let (scope, _) = Scope::split(key);
            if scope != Scope::App && (scope != Scope::User || user_id.is_none()) {
                let message = format!("the key \"{key}\" does not belong to what is updated");
                return Err(Error::invalid(message));
            }
        }
        let user = user_id.and_then(|user_id| self.scope(app_name, Some(user_id)));
        self.check_versions(self.scope(app_name, None), user, guard)?;
        Ok(Change { id: id.to_owned(), kind: ChangeKind::Update, time: check_time(time)?, delta: delta.split().0 })
    }

    /// Takes over a change of app and user state.
    pub fn apply_update(&mut self, app_name: &str, user_id: Option<&str>, change: &Change) {
        let app = self.app_entry(app_name).scope;
        self.scopes[app].apply(&change.delta.app);
        if let Some(user_id) = user_id {
            let user = self.user_entry(app_name, user_id).scope;
            self.scopes[user].apply(&change.delta.user);
        }
    }

    /// Deletes a session with its own state. App and user state stay. Says whether it was there.
    pub fn remove(&mut self, id: SessionId) -> bool {
        let Some(entry) = self.entries.get_mut(id).and_then(Option::take) else {
            return false;
        };
        let SessionKey { app_name, user_id, session_id } = entry.log.key();
        self.scopes[entry.scopes.session] = ScopeState::new(Scope::Session);
        self.user_entry(app_name, user_id).sessions.remove(&**session_id);
        true
    }

    fn entry(&self, id: SessionId) -> Option<&Entry> {
        self.entries.get(id)?.as_ref()
    }

    fn app_entry(&mut self, app_name: &str) -> &mut App {
        app_of(&mut self.apps, &mut self.scopes, app_name)
    }

    fn user_entry(&mut self, app_name: &str, user_id: &str) -> &mut User {
        let app = app_of(&mut self.apps, &mut self.scopes, app_name);
        app.users
            .entry(user_id.into())
            .or_insert_with(|| User { scope: add_scope(&mut self.scopes, Scope::User), sessions: HashMap::new() })
    }

    fn apply_delta(&mut self, scopes: ScopeIds, change: &Change) {
        self.scopes[scopes.session].apply(&change.delta.session);
        self.scopes[scopes.app].apply(&change.delta.app);
        self.scopes[scopes.user].apply(&change.delta.user);
    }

    /// A scope that nobody has written to yet is at version 0.
    fn check_versions(&self, app: Option<ScopeId>, user: Option<ScopeId>, guard: Guard) -> Result<()> {
        for (scope, expected) in [(app, guard.app), (user, guard.user)] {
            let actual = scope.map_or(0, |scope| self.scopes[scope].version());
            if expected.is_some_and(|expected| expected != actual) {
                return Err(Error::new(ErrorKind::StateConflict, "the state changed since it was read"));
            }
        }
        Ok(())
    }
}

fn app_of<'a>(apps: &'a mut HashMap<Box<str>, App>, scopes: &mut Vec<ScopeState>, app_name: &str) -> &'a mut App {
    apps.entry(app_name.into()).or_insert_with(|| App { scope: add_scope(scopes, Scope::App), users: HashMap::new() })
}

fn add_scope(scopes: &mut Vec<ScopeState>, scope: Scope) -> ScopeId {
    scopes.push(ScopeState::new(scope));
    scopes.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::ReadonlyState;

    fn delta(object: &str) -> Delta {
        Delta::parse(object, &[]).unwrap()
    }

    fn create(sessions: &mut Sessions, key: &SessionKey, state: &str) -> SessionId {
        let change = sessions.prepare_create(key, 1.0, delta(state)).unwrap();
        sessions.apply_create(key, &change)
    }

    fn append(sessions: &mut Sessions, id: SessionId, event: &str, object: &str) {
        match sessions.prepare_append(id, event, 2.0, delta(object), Guard::default()).unwrap() {
            Prepared::Change { change, .. } => sessions.apply_append(id, &change),
            Prepared::Duplicate { .. } => unreachable!("the ids of these tests are unique"),
        }
    }

    #[test]
    fn app_and_user_state_reach_every_session_they_belong_to() {
        let mut sessions = Sessions::default();
        let first = create(&mut sessions, &SessionKey::new("app", "u", "1"), "{}");
        let second = create(&mut sessions, &SessionKey::new("app", "u", "2"), r#"{"user:u":1,"app:a":2,"s":3}"#);
        let other = create(&mut sessions, &SessionKey::new("app", "v", "1"), "{}");
        append(&mut sessions, other, "e", r#"{"app:b":4,"user:u":5}"#);
        let keys = |id| sessions.state(id).unwrap().all().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(keys(first), "app:a app:b user:u");
        assert_eq!(keys(second), "s app:a app:b user:u");
        assert_eq!(keys(other), "app:a app:b user:u");
        assert_eq!(sessions.state(first).unwrap().get("user:u"), Some(1.into()));
    }

    #[test]
    fn a_taken_key_is_refused_and_its_parts_never_blend() {
        let mut sessions = Sessions::default();
        let key = SessionKey::new("a", "b/c", "d");
        create(&mut sessions, &key, "{}");
        let error = sessions.prepare_create(&key, 1.0, Delta::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SessionExists);
        assert!(sessions.prepare_create(&SessionKey::new("a/b", "c", "d"), 1.0, Delta::default()).is_ok());
    }

    #[test]
    fn a_deleted_session_stays_deleted_when_its_key_is_used_again() {
        let mut sessions = Sessions::default();
        let key = SessionKey::new("app", "u", "s");
        let old = create(&mut sessions, &key, r#"{"x":1,"user:u":2}"#);
        assert!(sessions.remove(old) && !sessions.remove(old));
        let new = create(&mut sessions, &key, "{}");
        assert_ne!(old, new);
        assert_eq!(sessions.state(new).unwrap().all().keys().collect::<Vec<_>>(), ["user:u"]);
        let error = sessions.prepare_append(old, "e", 1.0, Delta::default(), Guard::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SessionNotFound);
    }

    #[test]
    fn an_update_may_only_touch_its_own_scopes_and_only_what_it_read() {
        let mut sessions = Sessions::default();
        let update = |sessions: &Sessions, user, object, guard| {
            sessions.prepare_update("app", user, "id", 1.0, delta(object), guard).map_err(|error| error.kind())
        };
        let none = Guard::default();
        assert_eq!(update(&sessions, None, r#"{"user:x":1}"#, none), Err(ErrorKind::InvalidArgument));
        assert_eq!(update(&sessions, Some("u"), r#"{"x":1}"#, none), Err(ErrorKind::InvalidArgument));
        assert_eq!(update(&sessions, Some("u"), r#"{"temp:x":1}"#, none), Err(ErrorKind::InvalidArgument));
        let guard = Guard { app: Some(0), user: Some(0), ..none };
        let change = update(&sessions, Some("u"), r#"{"app:x":1,"user:x":2}"#, guard).unwrap();
        sessions.apply_update("app", Some("u"), &change);
        assert_eq!(update(&sessions, Some("u"), "{}", guard), Err(ErrorKind::StateConflict));
        let id = create(&mut sessions, &SessionKey::new("app", "u", "s"), "{}");
        assert_eq!(sessions.state(id).unwrap().get("user:x"), Some(2.into()));
    }
}
