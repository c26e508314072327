//! Lists of sessions that are kept in order, of the apps and users of which a list was asked for.

use super::sort_key::SortKey;
use super::sorted::Sorted;
use crate::ids::{ScopeId, SessionId};
use crate::registry::{Registry, ScopeIds};

/// The lists that are kept in order.
///
/// A session that moves is only noted: it goes to its new places when a list is asked for the next time. Until one is,
/// nothing is kept at all.
#[derive(Debug, Default)]
pub(crate) struct ListIndex {
    /// In the order of the scopes: each is that of the app or of the user whose sessions the list has.
    lists: Vec<(ScopeId, Sorted)>,
    /// By the number of a session, as far as there was a need.
    entries: Vec<ListEntry>,
    /// Sessions that are new or have moved, some of which may be gone.
    moved: Vec<SessionId>,
}

/// The state of a session in the lists.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ListEntry {
    /// The session is in the lists of its app and its user, as far as these lists are stored.
    is_in: bool,
    /// The time under which it stands there.
    pub time: f64,
    has_moved: bool,
}

impl ListIndex {
    /// The length of the list of an app or a user, if there is one, without sessions that have moved.
    pub fn len(&self, scope: ScopeId) -> Option<usize> {
        Some(self.lists.get(self.place_of(scope).ok()?)?.1.len())
    }

    /// Notes that a session is new, or that its time may be another one.
    pub fn note_moved(&mut self, id: SessionId) {
        if self.lists.is_empty() {
            return;
        }
        let entries = self.entry(id);
        if !entries.has_moved {
            entries.has_moved = true;
            self.moved.push(id);
        }
    }

    fn entry(&mut self, id: SessionId) -> &mut ListEntry {
        if id.index() >= self.entries.len() {
            self.entries.resize(id.index() + 1, ListEntry::default());
        }
        &mut self.entries[id.index()]
    }

    /// A session is in the lists from now on, under this time.
    fn set_time(&mut self, id: SessionId, time: f64) {
        *self.entry(id) = ListEntry { is_in: true, time, has_moved: false };
    }

    /// Takes out a session that is about to be removed.
    pub fn remove<V>(&mut self, id: SessionId, registry: &Registry<V>) {
        self.take_out(id, registry);
        let Some(entry) = registry.entry(id) else {
            return;
        };
        // A scope without sessions can be dropped, and its number can be given to another one.
        for scope in [entry.scopes.app, entry.scopes.user] {
            if let Ok(place) = self.place_of(scope)
                && self.lists[place].1.len() == 0
            {
                self.lists.remove(place);
            }
        }
        if self.lists.is_empty() {
            *self = Self::default();
        }
    }

    /// The list of an app or a user, which is kept from now on. `all` are its sessions, in any order: there are some.
    pub(crate) fn of<V>(
        &mut self,
        scope: ScopeId,
        registry: &Registry<V>,
        all: impl FnOnce() -> Vec<SessionId>,
    ) -> (&Sorted, &[ListEntry]) {
        self.put_moved(registry);
        let place = self.place_of(scope).unwrap_or_else(|place| {
            self.lists.insert(place, (scope, Sorted::default()));
            self.entries.reserve_exact(registry.size().saturating_sub(self.entries.len()));
            for id in all() {
                let entry = or_impossible!(registry.entry(id), "the sessions of a scope are there", continue);
                self.set_time(id, entry.log.update_time());
                self.change(scope, id, registry, Sorted::insert);
            }
            place
        });
        (&self.lists[place].1, &self.entries)
    }

    /// Puts all sessions that have moved where they belong now.
    fn put_moved<V>(&mut self, registry: &Registry<V>) {
        let moved = std::mem::take(&mut self.moved);
        // While sessions are taken out, all others are where they were.
        for &id in &moved {
            self.take_out(id, registry);
        }
        for id in moved {
            self.entries[id.index()].has_moved = false;
            let Some(entry) = registry.entry(id) else {
                continue;
            };
            self.set_time(id, entry.log.update_time());
            for scope in [entry.scopes.app, entry.scopes.user] {
                self.change(scope, id, registry, Sorted::insert);
            }
        }
    }

    /// Takes a session out of the lists of its app and its user.
    fn take_out<V>(&mut self, id: SessionId, registry: &Registry<V>) {
        if let Some(entry) = registry.entry(id)
            && self.entries.get(id.index()).is_some_and(|entries| entries.is_in)
        {
            let ScopeIds { app, user, .. } = entry.scopes;
            for scope in [app, user] {
                self.change(scope, id, registry, Sorted::remove);
            }
            self.entries[id.index()].is_in = false;
        }
    }

    /// Inserts a session into a list, or removes it, if the list is kept.
    #[inline(never)]
    fn change<V>(
        &mut self,
        scope: ScopeId,
        id: SessionId,
        registry: &Registry<V>,
        change: fn(&mut Sorted, SessionId, &dyn Fn(SessionId) -> bool),
    ) {
        let Ok(place) = self.place_of(scope) else {
            return;
        };
        let Self { lists, entries, .. } = self;
        let time = |id: SessionId| {
            or_impossible!(entries.get(id.index()).map(|entries| entries.time), "a session in a list has a time there")
        };
        let ids = |id| {
            let entry = or_impossible!(registry.entry(id), "a session in a list is there", return None);
            Some(SortKey { time: 0.0, ..SortKey::of(&entry.log) })
        };
        let target = (time(id), ids(id));
        // The ids are far away in memory, and are seldom needed.
        let comes_before = |other| time(other).total_cmp(&target.0).then_with(|| ids(other).cmp(&target.1)).is_lt();
        change(&mut lists[place].1, id, &comes_before);
    }

    fn place_of(&self, scope: ScopeId) -> Result<usize, usize> {
        self.lists.binary_search_by_key(&scope, |(scope, _)| *scope)
    }

    /// The most that keeping a list of so many sessions allocates, in bytes.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub fn growth(&self, count: usize, sessions: usize) -> usize {
        16 * count + 2 * sessions * size_of::<ListEntry>() + 32 * self.moved.len()
    }

    /// The most that is allocated to note that one more session moves, of so many, in bytes.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub fn growth_of_note(&self, sessions: usize) -> usize {
        use crate::maps::growth_of_list;

        if self.lists.is_empty() {
            return 0;
        }
        let more = (sessions + 1).saturating_sub(self.entries.len());
        growth_of_list(&self.moved, 1) + growth_of_list(&self.entries, more)
    }
}
