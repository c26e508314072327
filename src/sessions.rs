//! All sessions of a process and the scopes that they share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::change::{Change, ChangeKind, Guard, Prepared, SessionKey};
use crate::delta::Delta;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{ScopeId, SessionId};
use crate::json::Json;
use crate::list::ListIndex;
use crate::recent::Recent;
use crate::registry::{Registry, ScopeIds};
use crate::scope::Scope;
use crate::session_log::{SessionLog, check_time};
use crate::state::{ScopeState, SessionState};

/// All sessions of a process and the scopes that they share.
///
/// It decides and remembers, and never waits: its owner takes a [`Change`] from a `prepare` method, stores it, and
/// gives it to the `apply` method of the same name.
///
/// The values are JSON, unless the program keeps them itself: see [`Sessions::new`].
#[derive(Debug)]
pub struct Sessions<V = Json> {
    pub(crate) registry: Registry<V>,
    /// The last updates that were applied.
    updates: Recent,
    /// Behind a lock, because listing puts in order what has moved: it does not need the sessions for itself.
    lists: Mutex<ListIndex>,
}

// For JSON alone, so that the type of the values need not be named where it is JSON.
impl Default for Sessions {
    fn default() -> Self {
        Self::new()
    }
}

impl Sessions {
    /// The value that a session has under a full key now.
    pub(crate) fn value(&self, id: SessionId, key: &str) -> Option<&Json> {
        let ScopeIds { session, app, user } = self.scopes(id)?;
        let scope = match Scope::split(key).0 {
            Scope::Session => session,
            Scope::App => app,
            Scope::User => user,
            Scope::Temp => return None,
        };
        self.scope_state(scope)?.values().get(key)
    }

    /// The merged state of a session as it is now.
    pub fn state(&self, id: SessionId) -> Option<SessionState> {
        let ScopeIds { session, app, user } = self.scopes(id)?;
        let [session, app, user] = [session, app, user].map(|scope| self.scope_state(scope).cloned());
        Some(SessionState::new([session?, app?, user?]))
    }
}

impl<V> Sessions<V> {
    /// Starts without sessions. The values can be of any type: what a program that keeps them itself knows them by.
    pub fn new() -> Self {
        Self { registry: Registry::new(), updates: Recent::default(), lists: Mutex::default() }
    }

    /// The lists that are kept in order.
    pub(crate) fn lists(&self) -> MutexGuard<'_, ListIndex> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lists_mut(&mut self) -> &mut ListIndex {
        self.lists.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds a session by its full key.
    pub fn find(&self, key: &SessionKey) -> Option<SessionId> {
        self.registry.find(key)
    }

    /// All sessions of an app, or of one of its users, in no order.
    pub fn of(&self, app_name: &str, user_id: Option<&str>) -> impl Iterator<Item = (SessionId, &SessionLog)> {
        self.registry.of(app_name, user_id)
    }

    /// The number of sessions of an app, or of one of its users.
    pub fn count(&self, app_name: &str, user_id: Option<&str>) -> usize {
        self.registry.count(app_name, user_id)
    }

    /// All sessions of all apps, in no order.
    pub fn all(&self) -> impl Iterator<Item = (SessionId, &SessionLog)> {
        self.registry.all()
    }

    /// A session's log, while the session exists.
    pub fn log(&self, id: SessionId) -> Option<&SessionLog> {
        Some(&self.registry.entry(id)?.log)
    }

    /// The scopes that a session reads.
    pub fn scopes(&self, id: SessionId) -> Option<ScopeIds> {
        Some(self.registry.entry(id)?.scopes)
    }

    /// The scope of an app, or of a user in it, while there are sessions or values in it.
    pub fn scope(&self, app_name: &str, user_id: Option<&str>) -> Option<ScopeId> {
        self.registry.scope(app_name, user_id)
    }

    /// The values of all scopes.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn scope_states(&self) -> impl Iterator<Item = &ScopeState<V>> {
        self.registry.scope_states()
    }

    /// The values of a scope.
    pub fn scope_state(&self, scope: ScopeId) -> Option<&ScopeState<V>> {
        self.registry.scope_state(scope)
    }

    /// Prepares the creation of a session: revision 0, with the initial state routed by prefix and `temp:` dropped.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SessionExists`] when the key is taken.
    pub fn prepare_create(&self, key: &SessionKey, time: f64, state: Delta<V>) -> Result<Change<V>> {
        if self.find(key).is_some() {
            return Err(session_exists(key));
        }
        Ok(Change {
            id: Arc::from(key.session_id.as_str()),
            kind: ChangeKind::Create,
            time: check_time(time)?,
            delta: state.split().0,
        })
    }

    /// Takes over a session that a store has: at this revision from now on. Its values, and those of its app and user,
    /// come with [`Sessions::replace`].
    pub fn restore(&mut self, key: &SessionKey, revision: u64, time: f64) -> SessionId {
        let id = match self.find(key) {
            Some(id) => id,
            None => self.registry.add(key.clone(), revision, time),
        };
        if let Some(entry) = self.registry.entry_mut(id) {
            entry.log.advance(revision, time);
        }
        self.lists_mut().note_moved(id);
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
        delta: Delta<V>,
        guard: Guard,
    ) -> Result<Prepared<V>> {
        let Some(entry) = self.registry.entry(id) else {
            return Err(session_deleted());
        };
        let prepared = entry.log.prepare(event, time, delta, guard)?;
        if matches!(prepared, Prepared::Change { .. })
            && !self.is_at(Some(entry.scopes.app), Some(entry.scopes.user), guard)
        {
            let id = entry.log.key().session_id.as_str();
            return Err(state_conflict(&["the state of session \"", id, "\""].concat()).with_id(id));
        }
        Ok(prepared)
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
        delta: Delta<V>,
        guard: Guard,
    ) -> Result<Change<V>> {
        for (key, _) in delta.iter() {
            let (scope, name) = Scope::split(key);
            if scope != Scope::App && (scope != Scope::User || user_id.is_none()) {
                let suggestion = if user_id.is_some() { Scope::User } else { Scope::App }.key(name);
                let message =
                    ["the key \"", key, "\" does not belong to what is updated: use \"", &suggestion, "\""].concat();
                return Err(Error::invalid(message).with_key(key));
            }
        }
        let user = user_id.and_then(|user_id| self.scope(app_name, Some(user_id)));
        if !self.is_at(self.scope(app_name, None), user, guard) {
            return Err(state_conflict("the state"));
        }
        Ok(Change { id: Arc::from(id), kind: ChangeKind::Update, time: check_time(time)?, delta: delta.split().0 })
    }

    /// Deletes a session with its own state. App and user state stay; an app, or a user, without sessions and state is
    /// dropped. Says whether the session was there.
    pub fn remove(&mut self, id: SessionId) -> bool {
        let removed = self.take(id);
        self.prune_after(removed)
    }

    /// As [`Sessions::remove`]; the number can name another session from then on.
    pub fn remove_for_good(&mut self, id: SessionId) -> bool {
        let removed = self.take(id);
        if removed.is_some() {
            self.registry.free(id);
        }
        self.prune_after(removed)
    }

    /// Takes out a session with its own state.
    fn take(&mut self, id: SessionId) -> Option<SessionKey> {
        let Self { registry, lists, .. } = self;
        lists.get_mut().unwrap_or_else(PoisonError::into_inner).remove(id, registry);
        registry.take(id)
    }

    fn prune_after(&mut self, removed: Option<SessionKey>) -> bool {
        let Some(SessionKey { app_name, user_id, .. }) = removed else {
            return false;
        };
        self.registry.prune(&app_name, Some(&user_id));
        true
    }

    /// Forgets a session that a store keeps; its user and its app, too, when no other session of theirs is here.
    pub fn forget(&mut self, id: SessionId) {
        if let Some(SessionKey { app_name, user_id, .. }) = self.take(id) {
            self.registry.free(id);
            self.registry.forget(&app_name, &user_id);
        }
    }

    /// The most that the lists and the indexes grow by, in bytes, when a change with so many members is applied to a
    /// new session of an app and a user, or to these, which may be new, too.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn growth(&self, app_name: &str, user_id: Option<&str>, members: usize) -> usize {
        self.registry.growth(app_name, user_id, members) + self.lists().growth_of_note(self.registry.size())
    }

    /// As [`Sessions::growth`], for a session that is there.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn growth_of_session(&self, id: SessionId, members: usize) -> usize {
        self.registry.growth_of_session(id, members) + self.lists().growth_of_note(self.registry.size())
    }

    /// Returns `true` if the scopes are at the versions that a guard expects. A scope that has no slot is at version
    /// 0.
    fn is_at(&self, app: Option<ScopeId>, user: Option<ScopeId>, guard: Guard) -> bool {
        [(app, guard.app), (user, guard.user)].into_iter().all(|(scope, expected)| {
            let actual = scope.and_then(|scope| self.scope_state(scope)).map_or(0, ScopeState::version);
            expected.is_none_or(|expected| expected == actual)
        })
    }
}

fn session_exists(key: &SessionKey) -> Error {
    let message = ["session \"", &key.session_id, "\" already exists"].concat();
    Error::new(ErrorKind::SessionExists, message).with_id(key.session_id.as_str())
}

/// Of a session that has been deleted only the number is known.
fn session_deleted() -> Error {
    Error::new(ErrorKind::SessionNotFound, "session not found: it has been deleted")
}

/// A guard does not hold.
fn state_conflict(what: &str) -> Error {
    Error::new(ErrorKind::StateConflict, [what, " changed since it was read"].concat())
}

fn applied_twice(change: &str) -> Error {
    Error::invalid(["the change \"", change, "\" has been applied already"].concat()).with_id(change)
}

mod apply;
mod list;
#[cfg(test)]
mod tests;
