//! The slots of all sessions and of the scopes that they share: found by name, and used again once they are free.

use std::sync::Arc;

use crate::change::SessionKey;
use crate::delta::{Delta, Observer};
use crate::ids::{ScopeId, SessionId};
use crate::json::Json;
use crate::maps::Index;
use crate::scope::Scope;
use crate::session_log::SessionLog;
use crate::state::ScopeState;
#[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
use crate::values::Values;

/// As many sessions, and as many users of an app, are few.
const FEW: usize = 64;

/// The three stored scopes that a session reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopeIds {
    /// The session's own.
    pub session: ScopeId,
    /// Its app's.
    pub app: ScopeId,
    /// Its user's.
    pub user: ScopeId,
}

/// All sessions and scopes, each in a numbered slot.
#[derive(Debug)]
pub(crate) struct Registry<V = Json> {
    entries: Vec<Option<Box<Entry>>>,
    scopes: Vec<ScopeState<V>>,
    app_index: Index,
    apps: Vec<App>,
    users: Vec<User>,
    free: Free,
    /// The last version that any scope was given. No version is given twice, also when a scope is dropped and made
    /// anew.
    clock: u64,
}

/// Slots to be used again.
#[derive(Debug, Default)]
struct Free {
    entries: Vec<usize>,
    scopes: Vec<usize>,
    apps: Vec<usize>,
    users: Vec<usize>,
}

/// A session and the scopes that it reads.
#[derive(Debug)]
pub(crate) struct Entry {
    pub log: SessionLog,
    pub scopes: ScopeIds,
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

impl<V> Registry<V> {
    pub fn new() -> Self {
        Self {
            entries: Vec::new(),
            scopes: Vec::new(),
            app_index: Index::default(),
            apps: Vec::new(),
            users: Vec::new(),
            free: Free::default(),
            clock: 0,
        }
    }

    /// Finds a session by its full key.
    pub fn find(&self, key: &SessionKey) -> Option<SessionId> {
        self.user(&key.app_name, &key.user_id)?.sessions.get(&key.session_id).map(SessionId::of_index)
    }

    /// All sessions of an app, or of one of its users, in no order.
    pub fn of(&self, app_name: &str, user_id: Option<&str>) -> impl Iterator<Item = (SessionId, &SessionLog)> {
        self.ids_of(app_name, user_id).into_iter().filter_map(|id| {
            let entry = or_impossible!(self.entry(id), "a session that a user has is there", return None);
            Some((id, &entry.log))
        })
    }

    /// As [`Registry::of`], the numbers alone.
    pub fn ids_of(&self, app_name: &str, user_id: Option<&str>) -> Vec<SessionId> {
        let mut ids = Vec::with_capacity(self.count(app_name, user_id));
        self.each_user(app_name, user_id, &mut |user| ids.extend(user.sessions.numbers().map(SessionId::of_index)));
        ids
    }

    /// The number of sessions of an app, or of one of its users.
    pub fn count(&self, app_name: &str, user_id: Option<&str>) -> usize {
        let mut count = 0;
        self.each_user(app_name, user_id, &mut |user| count += user.sessions.len());
        count
    }

    /// Returns `true` if an app, or one of its users, has so few sessions that they can be put in order for each list.
    /// None are few.
    pub fn has_few(&self, app_name: &str, user_id: Option<&str>) -> bool {
        let (mut count, mut users) = (0, 0);
        self.each_user(app_name, user_id, &mut |user| {
            count += user.sessions.len();
            users += 1;
        });
        count == 0 || (count <= FEW && users <= FEW)
    }

    /// Visits the users of an app, or one of them, in no order.
    fn each_user(&self, app_name: &str, user_id: Option<&str>, visit: &mut dyn FnMut(&User)) {
        if let Some(user_id) = user_id {
            self.user(app_name, user_id).into_iter().for_each(visit);
        } else if let Some(app) = self.app(app_name) {
            let user =
                |slot| Some(or_impossible!(self.users.get(slot), "a user that an app has is there", return None));
            app.users.numbers().filter_map(user).for_each(visit);
        }
    }

    /// The number of slots for sessions.
    pub fn size(&self) -> usize {
        self.entries.len()
    }

    /// All sessions of all apps, in no order.
    pub fn all(&self) -> impl Iterator<Item = (SessionId, &SessionLog)> {
        self.entries
            .iter()
            .enumerate()
            .filter_map(|(slot, entry)| Some((SessionId::of_index(slot), &entry.as_deref()?.log)))
    }

    /// A session, while it exists.
    pub fn entry(&self, id: SessionId) -> Option<&Entry> {
        self.entries.get(id.index())?.as_deref()
    }

    /// A session, to move its log on.
    pub fn entry_mut(&mut self, id: SessionId) -> Option<&mut Entry> {
        self.entries.get_mut(id.index())?.as_deref_mut()
    }

    /// The scope of an app, or of a user in it, if it has a slot.
    pub fn scope(&self, app_name: &str, user_id: Option<&str>) -> Option<ScopeId> {
        match user_id {
            None => Some(self.app(app_name)?.scope),
            Some(user_id) => Some(self.user(app_name, user_id)?.scope),
        }
    }

    /// The scope of an app, or of a user in it, which has a slot from now on.
    pub fn scope_mut(&mut self, app_name: &str, user_id: Option<&str>) -> ScopeId {
        let app = self.app_slot(app_name);
        match user_id {
            None => self.apps[app].scope,
            Some(user_id) => {
                let user = self.user_slot(app, user_id);
                self.users[user].scope
            }
        }
    }

    /// The values of all scopes.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub fn scope_states(&self) -> impl Iterator<Item = &ScopeState<V>> {
        self.scopes.iter()
    }

    /// The values of a scope.
    pub fn scope_state(&self, scope: ScopeId) -> Option<&ScopeState<V>> {
        self.scopes.get(scope.index())
    }

    /// Writes a delta into a scope.
    pub fn write(&mut self, scope: ScopeId, delta: &Delta<V>, observer: &mut impl Observer<V>)
    where
        V: Clone,
    {
        self.scopes[scope.index()].apply(delta, &mut self.clock, observer);
    }

    /// Gives a scope other values.
    pub fn replace(&mut self, scope: ScopeId, values: &Delta<V>)
    where
        V: Clone,
    {
        if let Some(state) = self.scopes.get_mut(scope.index()) {
            state.replace(values, &mut self.clock);
        }
    }

    /// Gives a slot to a session whose key is free.
    pub fn add(&mut self, key: SessionKey, revision: u64, time: f64) -> SessionId {
        let session = self.new_scope(Scope::Session);
        let app = self.app_slot(&key.app_name);
        let user = self.user_slot(app, &key.user_id);
        let slot = place(&mut self.entries, &mut self.free.entries, None);
        self.users[user].sessions.insert(Arc::from(key.session_id.as_str()), slot);
        let scopes = ScopeIds { session, app: self.apps[app].scope, user: self.users[user].scope };
        self.entries[slot] = Some(Box::new(Entry { log: SessionLog::new(key, revision, time), scopes }));
        SessionId::of_index(slot)
    }

    /// Takes out a session with its own state. Its slot is not free yet: see [`Registry::free`].
    pub fn take(&mut self, id: SessionId) -> Option<SessionKey> {
        let entry = self.entries.get_mut(id.index()).and_then(Option::take)?;
        let key = entry.log.key().clone();
        self.free_scope(entry.scopes.session);
        let app = self.app_slot(&key.app_name);
        let user = self.user_slot(app, &key.user_id);
        let sessions = &mut self.users[user].sessions;
        sessions.remove(&key.session_id);
        sessions.shrink();
        Some(key)
    }

    /// Lets the slot of a session that was taken out be used again.
    pub fn free(&mut self, id: SessionId) {
        self.free.entries.push(id.index());
    }

    /// Drops a user without sessions and state, and then an app without users and state.
    pub fn prune(&mut self, app_name: &str, user_id: Option<&str>) {
        if let Some(user_id) = user_id
            && let Some(user) = self.user(app_name, user_id)
            && user.sessions.is_empty()
            && self.scopes[user.scope.index()].values().is_empty()
        {
            self.drop_user(app_name, user_id);
        }
        if let Some(app) = self.app(app_name)
            && app.users.is_empty()
            && self.scopes[app.scope.index()].values().is_empty()
        {
            self.drop_app(app_name);
        }
    }

    /// Drops a user without sessions, and then an app without users, whatever their state: a store has it.
    pub fn forget(&mut self, app_name: &str, user_id: &str) {
        if self.user(app_name, user_id).is_some_and(|user| user.sessions.is_empty()) {
            self.drop_user(app_name, user_id);
        }
        if self.app(app_name).is_some_and(|app| app.users.is_empty()) {
            self.drop_app(app_name);
        }
    }

    fn drop_user(&mut self, app_name: &str, user_id: &str) {
        let app = self.app_slot(app_name);
        if let Some(slot) = self.apps[app].users.remove(user_id) {
            let User { scope, .. } = std::mem::take(&mut self.users[slot]);
            self.free_scope(scope);
            self.free.users.push(slot);
            self.apps[app].users.shrink();
        }
    }

    fn drop_app(&mut self, app_name: &str) {
        if let Some(place) = self.app_index.remove(app_name) {
            let App { scope, .. } = std::mem::take(&mut self.apps[place]);
            self.free_scope(scope);
            self.free.apps.push(place);
            self.app_index.shrink();
        }
        if self.app_index.is_empty() {
            // No session is left: the memory of the slots is given back.
            (self.scopes, self.apps, self.users) = Default::default();
            let entries = std::mem::take(&mut self.free).entries;
            if entries.len() == self.entries.len() {
                self.entries = Vec::new();
            } else {
                self.free.entries = entries;
            }
        }
    }

    /// The most that the lists and the indexes grow by, in bytes, when a change with so many members is applied to a
    /// new session of an app and a user, or to these, which may be new, too.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub fn growth(&self, app_name: &str, user_id: Option<&str>, members: usize) -> usize {
        use crate::maps::{growth_of_index, growth_of_list};

        let app = self.app(app_name);
        let user = user_id.and_then(|user_id| self.user(app_name, user_id));
        let lists = growth_of_list(&self.entries, 1)
            + growth_of_list(&self.scopes, 3)
            + growth_of_list(&self.apps, 1)
            + growth_of_list(&self.users, 1);
        let Free { entries, scopes: free_scopes, apps, users } = &self.free;
        let free = [(entries, self.entries.len() + 1), (free_scopes, self.scopes.len() + 3)]
            .into_iter()
            .chain([(apps, self.apps.len() + 1), (users, self.users.len() + 1)]);
        let free: usize = free.map(|(free, slots)| growth_of_list(free, slots - free.len().min(slots))).sum();
        let indexes = growth_of_index(&self.app_index, 1)
            + app.map_or(0, |app| growth_of_index(&app.users, 1))
            + user.map_or(0, |user| growth_of_index(&user.sessions, 1));
        let scopes = [app.map(|app| app.scope), user.map(|user| user.scope), None];
        lists + free + indexes + scopes.map(|scope| self.growth_of_scope(scope, members)).iter().sum::<usize>()
    }

    /// As [`Registry::growth`], for a session that is there.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub fn growth_of_session(&self, id: SessionId, members: usize) -> usize {
        let Some(Entry { log, scopes: ScopeIds { session, app, user } }) = self.entry(id) else {
            return 0;
        };
        let scopes = [*session, *app, *user].map(|scope| self.growth_of_scope(Some(scope), members));
        log.growth() + scopes.iter().sum::<usize>()
    }

    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    fn growth_of_scope(&self, scope: Option<ScopeId>, members: usize) -> usize {
        match scope.and_then(|scope| self.scopes.get(scope.index())) {
            Some(state) => state.values().growth(members),
            None => Values::<V>::new().growth(members),
        }
    }

    fn new_scope(&mut self, scope: Scope) -> ScopeId {
        ScopeId::of_index(place(&mut self.scopes, &mut self.free.scopes, ScopeState::new(scope)))
    }

    fn free_scope(&mut self, scope: ScopeId) {
        self.scopes[scope.index()] = ScopeState::new(Scope::Session);
        self.free.scopes.push(scope.index());
    }

    fn app(&self, app_name: &str) -> Option<&App> {
        self.apps.get(self.app_index.get(app_name)?)
    }

    fn user(&self, app_name: &str, user_id: &str) -> Option<&User> {
        self.users.get(self.app(app_name)?.users.get(user_id)?)
    }

    /// The slot of an app, which has one from now on.
    fn app_slot(&mut self, app_name: &str) -> usize {
        self.app_index.get(app_name).unwrap_or_else(|| {
            let scope = self.new_scope(Scope::App);
            let slot = place(&mut self.apps, &mut self.free.apps, App { scope, users: Index::default() });
            self.app_index.insert(Arc::from(app_name), slot);
            slot
        })
    }

    /// The slot of a user in the app of a slot. The user has one from now on.
    fn user_slot(&mut self, app: usize, user_id: &str) -> usize {
        self.apps[app].users.get(user_id).unwrap_or_else(|| {
            let scope = self.new_scope(Scope::User);
            let slot = place(&mut self.users, &mut self.free.users, User { scope, sessions: Index::default() });
            self.apps[app].users.insert(Arc::from(user_id), slot);
            slot
        })
    }
}

/// Puts an item into a free slot, or at the end, and says where that is. The list of free slots gets room for all of
/// them: deleting must not need memory.
fn place<T>(items: &mut Vec<T>, free: &mut Vec<usize>, item: T) -> usize {
    if let Some(place) = free.pop() {
        items[place] = item;
        return place;
    }
    items.push(item);
    free.reserve(items.len());
    items.len() - 1
}

#[cfg(test)]
mod tests;
