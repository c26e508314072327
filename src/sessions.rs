//! All sessions of a process and the scopes that they share.

use std::sync::Arc;

use crate::change::{Change, ChangeKind, Guard, Prepared, SessionKey};
use crate::delta::Delta;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::scope::Scope;
use crate::session::{SessionLog, check_time};
use crate::state::{ScopeState, SessionState};

/// Names a session in [`Sessions`]. A session that is created anew gets another; only [`Sessions::forget`] lets it be
/// used again.
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
    entries: Vec<Option<Box<Entry>>>,
    scopes: Vec<ScopeState>,
    app_index: Index,
    apps: Vec<App>,
    users: Vec<User>,
    free: Free,
}

/// Places to be used again.
#[derive(Debug, Default)]
struct Free {
    entries: Vec<SessionId>,
    scopes: Vec<ScopeId>,
    apps: Vec<usize>,
    users: Vec<usize>,
}

#[derive(Debug)]
struct Entry {
    log: SessionLog,
    scopes: ScopeIds,
}

#[derive(Debug)]
struct App {
    scope: ScopeId,
    users: Index,
}

#[derive(Debug)]
struct User {
    scope: ScopeId,
    sessions: Index,
}

impl Sessions {
    /// Finds a session by its full key.
    pub fn find(&self, key: &SessionKey) -> Option<SessionId> {
        self.user(&key.app_name, &key.user_id)?.sessions.get(&*key.session_id).copied()
    }

    /// All sessions of an app, or of one of its users, in no order.
    pub fn of(&self, app_name: &str, user_id: Option<&str>) -> impl Iterator<Item = (SessionId, &SessionLog)> {
        let sessions = self.users(app_name, user_id).flat_map(|user| user.sessions.values());
        sessions.filter_map(|&id| Some((id, self.log(id)?)))
    }

    /// How many sessions an app has, or one of its users.
    pub fn count(&self, app_name: &str, user_id: Option<&str>) -> usize {
        self.users(app_name, user_id).map(|user| user.sessions.len()).sum()
    }

    fn users(&self, app_name: &str, user_id: Option<&str>) -> impl Iterator<Item = &User> {
        let one = user_id.and_then(|user_id| self.user(app_name, user_id));
        let app = self.app(app_name).filter(|_| user_id.is_none());
        app.into_iter().flat_map(|app| app.users.values()).filter_map(|&user| self.users.get(user)).chain(one)
    }

    /// All sessions of all apps, in no order.
    pub fn all(&self) -> impl Iterator<Item = (SessionId, &SessionLog)> {
        self.entries.iter().enumerate().filter_map(|(id, entry)| Some((id, &entry.as_deref()?.log)))
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
        match user_id {
            None => Some(self.app(app_name)?.scope),
            Some(user_id) => Some(self.user(app_name, user_id)?.scope),
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
            return Err(Error::new(ErrorKind::SessionExists, message).with_id(&key.session_id));
        }
        Ok(Change {
            id: Arc::from(key.session_id.as_str()),
            kind: ChangeKind::Create,
            time: check_time(time)?,
            delta: state.split().0,
        })
    }

    /// Takes over a creation.
    pub fn apply_create(&mut self, key: &SessionKey, change: &Change) -> SessionId {
        let id = self.restore(key, 0, change.time);
        self.apply_delta(id, change);
        id
    }

    /// Takes over a session that a store has: at this revision from now on. Its values, and those of its app and user,
    /// come with [`Sessions::replace`].
    pub fn restore(&mut self, key: &SessionKey, revision: u64, time: f64) -> SessionId {
        if let Some(id) = self.find(key) {
            if let Some(entry) = self.entry_mut(id) {
                entry.log.advance(revision, time);
            }
            return id;
        }
        let session = self.new_scope(Scope::Session);
        let app = self.app_mut(&key.app_name).scope;
        let user = self.user_mut(&key.app_name, &key.user_id).scope;
        let log = SessionLog::new(key.clone(), revision, time);
        let entry = Some(Box::new(Entry { log, scopes: ScopeIds { session, app, user } }));
        let id = place(&mut self.entries, &mut self.free.entries, entry);
        self.user_mut(&key.app_name, &key.user_id).sessions.insert(Arc::from(key.session_id.as_str()), id);
        id
    }

    /// Takes over the values that a store has for a scope, under their full keys.
    pub fn replace(&mut self, scope: ScopeId, values: &Delta) {
        if let Some(state) = self.scopes.get_mut(scope) {
            state.replace(values);
        }
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
        if let Some(entry) = self.entry_mut(id) {
            entry.log.apply(change);
            self.apply_delta(id, change);
        }
    }

    /// Takes over what a change does to the scopes of a session, where its event is known already.
    pub fn apply_delta(&mut self, id: SessionId, change: &Change) {
        if let Some(ScopeIds { session, app, user }) = self.scopes(id) {
            self.scopes[session].apply(&change.delta.session);
            self.scopes[app].apply(&change.delta.app);
            self.scopes[user].apply(&change.delta.user);
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
            let (scope, name) = Scope::split(key);
            if scope != Scope::App && (scope != Scope::User || user_id.is_none()) {
                let wanted = if user_id.is_some() { Scope::User } else { Scope::App }.key(name);
                let message = format!("the key \"{key}\" does not belong to what is updated: use \"{wanted}\"");
                return Err(Error::invalid(message).with_key(key));
            }
        }
        let user = user_id.and_then(|user_id| self.scope(app_name, Some(user_id)));
        self.check_versions(self.scope(app_name, None), user, guard)?;
        Ok(Change { id: Arc::from(id), kind: ChangeKind::Update, time: check_time(time)?, delta: delta.split().0 })
    }

    /// Takes over a change of app and user state.
    pub fn apply_update(&mut self, app_name: &str, user_id: Option<&str>, change: &Change) {
        if !change.delta.app.is_empty() {
            let app = self.app_mut(app_name).scope;
            self.scopes[app].apply(&change.delta.app);
        }
        if let Some(user_id) = user_id.filter(|_| !change.delta.user.is_empty()) {
            let user = self.user_mut(app_name, user_id).scope;
            self.scopes[user].apply(&change.delta.user);
        }
    }

    /// Deletes a session with its own state. App and user state stay. Says whether it was there.
    pub fn remove(&mut self, id: SessionId) -> bool {
        let Some(entry) = self.entries.get_mut(id).and_then(Option::take) else {
            return false;
        };
        let SessionKey { app_name, user_id, session_id } = entry.log.key();
        self.free_scope(entry.scopes.session);
        self.user_mut(app_name, user_id).sessions.remove(&**session_id);
        true
    }

    /// Forgets a session that a store keeps; its user and its app, too, when no other session of theirs is here.
    pub fn forget(&mut self, id: SessionId) {
        let Some(key) = self.log(id).map(|log| log.key().clone()) else { return };
        self.remove(id);
        self.free.entries.push(id);
        let user = self.user_mut(&key.app_name, &key.user_id);
        if !user.sessions.is_empty() {
            return;
        }
        let scope = user.scope;
        self.free_scope(scope);
        let users = &mut self.app_mut(&key.app_name).users;
        let place = users.remove(key.user_id.as_str());
        let is_last = users.is_empty();
        self.free.users.extend(place);
        if is_last {
            let scope = self.app_mut(&key.app_name).scope;
            self.free_scope(scope);
            self.free.apps.extend(self.app_index.remove(key.app_name.as_str()));
        }
    }

    fn new_scope(&mut self, scope: Scope) -> ScopeId {
        place(&mut self.scopes, &mut self.free.scopes, ScopeState::new(scope))
    }

    fn free_scope(&mut self, scope: ScopeId) {
        self.scopes[scope] = ScopeState::new(Scope::Session);
        self.free.scopes.push(scope);
    }

    fn entry_mut(&mut self, id: SessionId) -> Option<&mut Entry> {
        self.entries.get_mut(id)?.as_deref_mut()
    }

    fn entry(&self, id: SessionId) -> Option<&Entry> {
        self.entries.get(id)?.as_deref()
    }

    fn app(&self, app_name: &str) -> Option<&App> {
        self.apps.get(*self.app_index.get(app_name)?)
    }

    fn user(&self, app_name: &str, user_id: &str) -> Option<&User> {
        self.users.get(*self.app(app_name)?.users.get(user_id)?)
    }

    /// The app of a name, which is there from now on.
    fn app_mut(&mut self, app_name: &str) -> &mut App {
        let place = self.app_index.get(app_name).copied().unwrap_or_else(|| {
            let scope = self.new_scope(Scope::App);
            let place = place(&mut self.apps, &mut self.free.apps, App { scope, users: Index::default() });
            self.app_index.insert(Arc::from(app_name), place);
            place
        });
        &mut self.apps[place]
    }

    /// The user of an app, who is there from now on.
    fn user_mut(&mut self, app_name: &str, user_id: &str) -> &mut User {
        let known = self.app_mut(app_name).users.get(user_id).copied();
        let place = known.unwrap_or_else(|| {
            let scope = self.new_scope(Scope::User);
            let place = place(&mut self.users, &mut self.free.users, User { scope, sessions: Index::default() });
            self.app_mut(app_name).users.insert(Arc::from(user_id), place);
            place
        });
        &mut self.users[place]
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

/// Puts an item where a place is free, or at the end, and says where that is.
fn place<T>(items: &mut Vec<T>, free: &mut Vec<usize>, item: T) -> usize {
    if let Some(place) = free.pop() {
        items[place] = item;
        return place;
    }
    items.push(item);
    items.len() - 1
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
    fn what_is_forgotten_leaves_nothing_behind_and_its_places_are_used_again() {
        let mut sessions = Sessions::default();
        let [first, second] = ["1", "2"].map(|id| SessionKey::new("app", "u", id));
        for _ in 0..3 {
            let one = create(&mut sessions, &first, r#"{"x":1,"user:u":2,"app:a":3}"#);
            let two = sessions.restore(&second, 5, 9.0);
            sessions.replace(sessions.scopes(two).unwrap().session, &delta(r#"{"y":4}"#));
            let keys = sessions.state(two).unwrap().all().keys().cloned().collect::<Vec<_>>().join(" ");
            assert_eq!((sessions.log(two).unwrap().revision(), keys.as_str()), (5, "y app:a user:u"));
            sessions.forget(one);
            assert!(sessions.find(&first).is_none() && sessions.find(&second).is_some());
            assert!(sessions.scope("app", Some("u")).is_some(), "another session needs it");
            sessions.forget(two);
            assert!(sessions.scope("app", Some("u")).is_none() && sessions.scope("app", None).is_none());
        }
        let sizes = [sessions.entries.len(), sessions.scopes.len(), sessions.apps.len(), sessions.users.len()];
        assert_eq!(sizes, [2, 4, 1, 1]);
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
