//! All sessions of a process and the scopes that they share.

use std::sync::Arc;

use crate::change::{Change, ChangeKind, Guard, Prepared, SessionKey};
use crate::delta::Delta;
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
use crate::delta::Values;
use crate::error::{Error, ErrorKind, Result};
use crate::maps::Index;
use crate::recent::Recent;
use crate::scope::Scope;
use crate::session_log::{SessionLog, check_time};
use crate::state::{ScopeState, SessionState};

/// Names a session in [`Sessions`]. A session that is created anew gets another, unless [`Sessions::forget`] or
/// [`Sessions::remove_for_good`] has let it be used again.
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
    /// The last version that any scope was given: no two states of scopes ever have the same, also when a scope has been
    /// dropped and made anew.
    clock: u64,
    /// The last updates that were applied.
    updates: Recent,
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

#[derive(Debug, Default)]
struct App {
    scope: ScopeId,
    users: Index,
}

#[derive(Debug, Default)]
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
            return Err(exists(key));
        }
        Ok(Change {
            id: Arc::from(key.session_id.as_str()),
            kind: ChangeKind::Create,
            time: check_time(time)?,
            delta: state.split().0,
        })
    }

    /// Takes over a creation.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SessionExists`] when there is a session of that key by now. Nothing has changed then.
    pub fn apply_create(&mut self, key: &SessionKey, change: &Change) -> Result<SessionId> {
        if self.find(key).is_some() {
            return Err(exists(key));
        }
        let id = self.restore(key, 0, change.time);
        self.apply_delta(id, change)?;
        Ok(id)
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
            state.replace(values, &mut self.clock);
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
            return Err(gone());
        };
        let prepared = entry.log.prepare(event, time, delta, guard)?;
        if matches!(prepared, Prepared::Change { .. }) {
            self.check_versions(Some(entry.scopes.app), Some(entry.scopes.user), guard)?;
        }
        Ok(prepared)
    }

    /// Takes over an appended event.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SessionNotFound`] when the session has been deleted, [`ErrorKind::InvalidArgument`] when the event has
    /// been applied before. Nothing has changed then.
    pub fn apply_append(&mut self, id: SessionId, change: &Change) -> Result<()> {
        let entry = self.entry_mut(id).ok_or_else(gone)?;
        if !entry.log.apply(change) {
            return Err(twice(change));
        }
        self.apply_delta(id, change)
    }

    /// Takes over what a change does to the scopes of a session, where its event is known already.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SessionNotFound`] when the session has been deleted.
    pub fn apply_delta(&mut self, id: SessionId, change: &Change) -> Result<()> {
        let ScopeIds { session, app, user } = self.scopes(id).ok_or_else(gone)?;
        for (scope, delta) in [(session, &change.delta.session), (app, &change.delta.app), (user, &change.delta.user)] {
            self.scopes[scope].apply(delta, &mut self.clock);
        }
        Ok(())
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
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when it is one of the last 1,024 that were applied. Nothing has changed then.
    pub fn apply_update(&mut self, app_name: &str, user_id: Option<&str>, change: &Change) -> Result<()> {
        if !self.updates.note(&change.id) {
            return Err(twice(change));
        }
        if !change.delta.app.is_empty() {
            let app = self.app_mut(app_name).scope;
            self.scopes[app].apply(&change.delta.app, &mut self.clock);
        }
        if let Some(user_id) = user_id.filter(|_| !change.delta.user.is_empty()) {
            let user = self.user_mut(app_name, user_id).scope;
            self.scopes[user].apply(&change.delta.user, &mut self.clock);
        }
        self.prune(app_name, user_id);
        Ok(())
    }

    /// Deletes a session with its own state. App and user state stay; of a user, or an app, without sessions and state
    /// nothing does. Says whether it was there.
    pub fn remove(&mut self, id: SessionId) -> bool {
        let key = self.take_out(id);
        self.prune_after(key)
    }

    /// As [`Sessions::remove`], for an owner that forgets the number: it names another session next.
    pub fn remove_for_good(&mut self, id: SessionId) -> bool {
        let key = self.take_out(id);
        self.free.entries.extend(key.as_ref().map(|_| id));
        self.prune_after(key)
    }

    fn prune_after(&mut self, removed: Option<SessionKey>) -> bool {
        let Some(SessionKey { app_name, user_id, .. }) = removed else {
            return false;
        };
        self.prune(&app_name, Some(&user_id));
        true
    }

    /// Forgets a session that a store keeps; its user and its app, too, when no other session of theirs is here.
    pub fn forget(&mut self, id: SessionId) {
        if let Some(SessionKey { app_name, user_id, .. }) = self.take_out(id) {
            self.free.entries.push(id);
            if self.user(&app_name, &user_id).is_some_and(|user| user.sessions.is_empty()) {
                self.drop_user(&app_name, &user_id);
            }
            if self.app(&app_name).is_some_and(|app| app.users.is_empty()) {
                self.drop_app(&app_name);
            }
        }
    }

    /// Takes out a session with its own state.
    fn take_out(&mut self, id: SessionId) -> Option<SessionKey> {
        let entry = self.entries.get_mut(id).and_then(Option::take)?;
        let key = entry.log.key().clone();
        self.free_scope(entry.scopes.session);
        let sessions = &mut self.user_mut(&key.app_name, &key.user_id).sessions;
        sessions.remove(&*key.session_id);
        shrink(sessions);
        Some(key)
    }

    /// Drops a user without sessions and state, and then an app without users and state.
    fn prune(&mut self, app_name: &str, user_id: Option<&str>) {
        if let Some(user_id) = user_id
            && let Some(user) = self.user(app_name, user_id)
            && user.sessions.is_empty()
            && self.scopes[user.scope].values().is_empty()
        {
            self.drop_user(app_name, user_id);
        }
        if let Some(app) = self.app(app_name)
            && app.users.is_empty()
            && self.scopes[app.scope].values().is_empty()
        {
            self.drop_app(app_name);
        }
    }

    fn drop_user(&mut self, app_name: &str, user_id: &str) {
        if let Some(place) = self.app_mut(app_name).users.remove(user_id) {
            let User { scope, .. } = std::mem::take(&mut self.users[place]);
            self.free_scope(scope);
            self.free.users.push(place);
            shrink(&mut self.app_mut(app_name).users);
        }
    }

    fn drop_app(&mut self, app_name: &str) {
        if let Some(place) = self.app_index.remove(app_name) {
            let App { scope, .. } = std::mem::take(&mut self.apps[place]);
            self.free_scope(scope);
            self.free.apps.push(place);
            shrink(&mut self.app_index);
        }
        if self.app_index.is_empty() {
            // Nothing is here: places that many sessions have had are given back.
            (self.scopes, self.apps, self.users) = Default::default();
            let entries = std::mem::take(&mut self.free).entries;
            if entries.len() == self.entries.len() {
                self.entries = Vec::new();
            } else {
                self.free.entries = entries;
            }
        }
    }

    /// The most that the lists and the indexes grow by, in bytes, when a change with so many members is applied to a session,
    /// or to an app and a user, that may be new.
    #[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn growth(
        &self,
        app_name: &str,
        user_id: Option<&str>,
        session: Option<SessionId>,
        members: usize,
    ) -> usize {
        use crate::maps::{growth_of_index, growth_of_list, growth_of_ordered};

        let app = self.app(app_name);
        let user = user_id.and_then(|user_id| self.user(app_name, user_id));
        let log = session.and_then(|id| self.log(id));
        let own = session.and_then(|id| self.scopes(id)).map(|scopes| scopes.session);
        let scopes = [app.map(|app| app.scope), user.map(|user| user.scope), own];
        let lists = growth_of_list(&self.entries, 1)
            + growth_of_list(&self.scopes, 3)
            + growth_of_list(&self.apps, 1)
            + growth_of_list(&self.users, 1);
        let indexes = growth_of_index(&self.app_index, 1)
            + app.map_or(0, |app| growth_of_index(&app.users, 1))
            + user.map_or(0, |user| growth_of_index(&user.sessions, 1))
            + log.map_or(0, SessionLog::growth);
        let values = scopes.map(|scope| {
            scope.map_or_else(
                || growth_of_ordered(&Values::default(), members),
                |scope| growth_of_ordered(self.scopes[scope].values(), members),
            )
        });
        lists + indexes + values.iter().sum::<usize>()
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

/// Gives back the room of an index that has become much smaller.
fn shrink(index: &mut Index) {
    if index.capacity() > 64 && index.len() < index.capacity() / 4 {
        index.shrink_to(index.len() * 2);
    }
}

fn exists(key: &SessionKey) -> Error {
    let message = format!("session \"{}\" exists already", key.session_id);
    Error::new(ErrorKind::SessionExists, message).with_id(&key.session_id)
}

fn gone() -> Error {
    Error::new(ErrorKind::SessionNotFound, "the session has been deleted")
}

fn twice(change: &Change) -> Error {
    Error::invalid(format!("the change \"{}\" has been applied already", change.id)).with_id(&change.id)
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
mod tests;
