//! The sessions of a service with their events: what the services of the crate have in common. A change is prepared,
//! stored where there is a store, and applied.

use std::collections::HashMap;
use std::fmt::Debug;

use serde_json::{Map, Value};

use crate::change::{Change, Guard, Prepared, SessionKey};
use crate::delta::{Delta, ScopedDelta};
use crate::error::{Error, Result};
use crate::expiry::{Expiries, Lifetime};
use crate::history::History;
use crate::ids::{ScopeId, SessionId};
use crate::json::Json;
use crate::limits::{Limits, Owner, ScopeWrites};
use crate::registry::ScopeIds;
use crate::scope::Scope;
use crate::session_log::SessionLog;
use crate::sessions::Sessions;
use crate::size::{Growth, Size};
use crate::state::ScopeState;

/// The bodies of the events of one session, as a service holds them.
pub(crate) trait Bodies: Debug + Default {
    /// One of them.
    type Event: Debug;
    /// Tells a session from an earlier one of the same key.
    type Created: Clone + Debug + PartialEq;

    /// Adds the event of a change.
    fn push(&mut self, event: &Self::Event, change: &Change);

    /// The writes of the event at a place; `None` behind the last one.
    fn delta(&self, place: usize) -> Option<Result<Delta>>;
}

/// All sessions of a service.
#[derive(Debug)]
pub(crate) struct Ledger<B: Bodies> {
    pub(crate) sessions: Sessions,
    logs: HashMap<SessionId, EventLog<B>>,
    /// By the number of the scope; of scopes without values there may be none.
    sizes: Vec<Size>,
    expiries: Expiries,
}

/// The scopes that a change writes to, as far as they are there: the app's, the user's and the session's.
type Written = [(Scope, Option<ScopeId>); 3];

/// The members of a session that the core does not have.
#[derive(Debug)]
pub(crate) struct EventLog<B: Bodies> {
    pub(crate) created: B::Created,
    /// Revision 0.
    pub(crate) creation: Change,
    pub(crate) events: B,
    /// The writes to each key, up to the revision before `next`: made at the first question.
    history: History,
    /// The first revision that is not in `history` yet.
    next: usize,
}

/// An event on its way in.
pub(crate) trait Draft {
    fn id(&self) -> &str;

    /// In milliseconds since the epoch.
    fn time(&self) -> f64;

    /// The delta for the core, without operators; once they have been resolved, with what they have come to.
    fn delta(&mut self) -> Result<Delta>;

    fn has_operators(&self) -> bool;

    /// Resolves the operators against the values that are there.
    fn resolve(&mut self, value_of: &dyn Fn(&str) -> Option<Json>) -> Result<()>;

    /// The keys of the operators, once these have been resolved.
    fn results(&self) -> Vec<String>;
}

/// The conditions of an append.
pub(crate) struct Conditions<'a, E> {
    pub(crate) guard: Guard,
    /// Asks for a lease, where there is one. Only where the event is new, as one that is there was written under it.
    pub(crate) check_lease: Option<&'a dyn Fn() -> std::result::Result<(), E>>,
    pub(crate) limits: &'a Limits,
}

impl<B: Bodies> Default for Ledger<B> {
    fn default() -> Self {
        let (logs, sizes) = Default::default();
        Self { sessions: Sessions::default(), logs, sizes, expiries: Expiries::default() }
    }
}

impl<B: Bodies> Ledger<B> {
    /// Finds a session by its full key.
    pub(crate) fn find(&self, key: &SessionKey) -> Option<SessionId> {
        self.sessions.find(key)
    }

    /// As [`Ledger::find`], for the session of this creation and no later one.
    pub(crate) fn find_created(&self, key: &SessionKey, created: &B::Created) -> Option<SessionId> {
        self.find(key).filter(|id| self.log(*id).is_some_and(|log| log.created == *created))
    }

    /// The log of a session, beside what the core has of it.
    pub(crate) fn log(&self, id: SessionId) -> Option<&EventLog<B>> {
        self.logs.get(&id)
    }

    /// As [`Ledger::log`].
    pub(crate) fn log_mut(&mut self, id: SessionId) -> Option<&mut EventLog<B>> {
        self.logs.get_mut(&id)
    }

    /// The value that a session has under a full key.
    pub(crate) fn value(&self, id: SessionId, key: &str) -> Option<Json> {
        self.sessions.value(id, key).cloned()
    }

    /// Prepares the creation of a session. `results` are the keys that operators came to values of.
    pub(crate) fn prepare_create(
        &self,
        key: &SessionKey,
        time: f64,
        state: Delta,
        results: &[String],
        limits: &Limits,
    ) -> Result<Change> {
        let change = self.sessions.prepare_create(key, time, state)?;
        let written = self.shared(&key.app_name, Some(&key.user_id));
        limits.check_scopes(owner_of(key), &self.writes(&written, &change.delta), results)?;
        Ok(change)
    }

    /// Prepares an append. Operators are resolved then, too, against the values that `value_of` finds.
    pub(crate) fn prepare_append<E: From<Error>>(
        &self,
        id: SessionId,
        draft: &mut impl Draft,
        conditions: &Conditions<'_, E>,
        value_of: &dyn Fn(&str) -> Option<Json>,
    ) -> std::result::Result<Prepared, E> {
        let Conditions { guard, check_lease, limits } = conditions;
        let prepare =
            |draft: &dyn Draft, delta, guard| self.sessions.prepare_append(id, draft.id(), draft.time(), delta, guard);
        if let Some(check_lease) = check_lease
            && matches!(prepare(draft, Delta::new(), Guard::default())?, Prepared::Change { .. })
        {
            check_lease()?;
        }
        let delta = draft.delta()?;
        let mut prepared = prepare(draft, delta, *guard)?;
        let mut results = Vec::new();
        if draft.has_operators() && matches!(prepared, Prepared::Change { .. }) {
            draft.resolve(value_of)?;
            results = draft.results();
            let delta = draft.delta()?;
            prepared = prepare(draft, delta, *guard)?;
        }
        if let Prepared::Change { change, .. } = &prepared {
            self.check_append(id, change, &results, limits)?;
        }
        Ok(prepared)
    }

    fn check_append(&self, id: SessionId, change: &Change, results: &[String], limits: &Limits) -> Result<()> {
        let entry = self.sessions.log(id).zip(self.sessions.scopes(id));
        let (log, scopes) = or_impossible!(entry, "a session that was appended to is there", return Ok(()));
        limits.check_events(&log.key().session_id, log.revision() + 1)?;
        limits.check_scopes(owner_of(log.key()), &self.writes(&written_of(scopes), &change.delta), results)
    }

    /// Prepares a change of app and user state. `results` as for a creation.
    pub(crate) fn prepare_update(
        &self,
        (app_name, user_id): (&str, Option<&str>),
        (id, time): (&str, f64),
        delta: Delta,
        guard: Guard,
        results: &[String],
        limits: &Limits,
    ) -> Result<Change> {
        let change = self.sessions.prepare_update(app_name, user_id, id, time, delta, guard)?;
        let owner = Owner { app_name, user_id, session_id: None };
        limits.check_scopes(owner, &self.writes(&self.shared(app_name, user_id), &change.delta), results)?;
        Ok(change)
    }

    /// Takes over a creation.
    pub(crate) fn create(
        &mut self,
        key: &SessionKey,
        created: B::Created,
        change: Change,
        lifetime: Option<Lifetime>,
    ) -> Result<SessionId> {
        let mut growth = Growth::default();
        let id = self.sessions.create_observed(key.clone(), &change, &mut growth)?;
        self.grow_session(id, &growth);
        self.logs.insert(id, EventLog::new(created, change));
        if let Some(lifetime) = lifetime {
            self.expiries.set(id, lifetime);
        }
        Ok(id)
    }

    /// Takes over an event of a session that is there.
    pub(crate) fn append(&mut self, id: SessionId, change: &Change, event: &B::Event) -> Result<()> {
        let mut growth = Growth::default();
        self.sessions.append_observed(id, change, &mut growth)?;
        self.grow_session(id, &growth);
        let log = or_impossible!(self.logs.get_mut(&id), "each session has a log", return Ok(()));
        log.events.push(event, change);
        Ok(())
    }

    /// Takes over a change of app and user state.
    pub(crate) fn update(&mut self, app_name: &str, user_id: Option<&str>, change: &Change) -> Result<()> {
        let mut growth = Growth::default();
        let [app, user] = self.sessions.update_observed(app_name, user_id, change, &mut growth)?;
        self.grow(&[(Scope::App, app), (Scope::User, user)], &growth);
        Ok(())
    }

    /// Moves the end of a session that expires.
    pub(crate) fn set_lifetime(&mut self, id: SessionId, lifetime: Lifetime) {
        self.expiries.set(id, lifetime);
    }

    /// Returns `true` if there are sessions that expire, or have expired.
    pub(crate) fn has_expiries(&self) -> bool {
        !self.expiries.is_empty()
    }

    /// The end of a session, where it expires.
    pub(crate) fn lifetime(&self, id: SessionId) -> Option<Lifetime> {
        self.expiries.get(id)
    }

    /// The sessions, of an app or of all, that have expired and were not removed, the first ones first: so many at
    /// most.
    pub(crate) fn expired(&mut self, now: f64, app_name: Option<&str>, most: usize) -> Vec<SessionKey> {
        let Self { sessions, expiries, .. } = self;
        let key = |id| sessions.log(id).map(SessionLog::key);
        let is_wanted = |id| app_name.is_none_or(|app_name| key(id).is_some_and(|key| key.app_name == app_name));
        expiries.over(now, most, is_wanted).into_iter().filter_map(|id| key(id).cloned()).collect()
    }

    /// Deletes a session, if it is there.
    pub(crate) fn remove(&mut self, key: &SessionKey) {
        if let Some(id) = self.find(key) {
            let own = self.sessions.scopes(id).map(|scopes| scopes.session);
            self.sessions.remove_for_good(id);
            self.logs.remove(&id);
            self.expiries.remove(id);
            if let Some(own) = own {
                self.set_size(own, Size::default());
            }
        }
    }

    /// Deletes all values of an app, or of a user in it.
    #[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn clear(&mut self, app_name: &str, user_id: Option<&str>) {
        if let Some(scope) = self.sessions.scope(app_name, user_id) {
            self.sessions.replace(scope, &Delta::default());
            self.set_size(scope, Size::default());
        }
    }

    /// The scopes of an app and a user, and that of a new session.
    fn shared(&self, app_name: &str, user_id: Option<&str>) -> Written {
        let user = user_id.and_then(|user_id| self.sessions.scope(app_name, Some(user_id)));
        [(Scope::App, self.sessions.scope(app_name, None)), (Scope::User, user), (Scope::Session, None)]
    }

    fn writes<'a>(&'a self, written: &Written, delta: &'a ScopedDelta) -> [ScopeWrites<'a>; 3] {
        let [app, user, session] = *written;
        [(app, &delta.app), (user, &delta.user), (session, &delta.session)].map(|((scope, id), delta)| {
            let state = id.and_then(|id| self.sessions.scope_state(id));
            ScopeWrites { scope, delta, values: state.map(ScopeState::values), size: self.size(id) }
        })
    }

    fn size(&self, id: Option<ScopeId>) -> Size {
        id.and_then(|id| self.sizes.get(id.index())).copied().unwrap_or_default()
    }

    fn grow_session(&mut self, id: SessionId, growth: &Growth) {
        if let Some(scopes) = self.sessions.scopes(id) {
            self.grow(&written_of(scopes), growth);
        }
    }

    fn grow(&mut self, written: &[(Scope, Option<ScopeId>)], growth: &Growth) {
        for (scope, id) in written {
            if let Some(id) = id {
                self.set_size(*id, growth.added_to(self.size(Some(*id)), *scope));
            }
        }
    }

    fn set_size(&mut self, id: ScopeId, size: Size) {
        if id.index() >= self.sizes.len() {
            self.sizes.resize(id.index() + 1, Size::default());
        }
        self.sizes[id.index()] = size;
    }
}

fn owner_of(SessionKey { app_name, user_id, session_id }: &SessionKey) -> Owner<'_> {
    Owner { app_name, user_id: Some(user_id), session_id: Some(session_id) }
}

fn written_of(ScopeIds { app, user, session }: ScopeIds) -> Written {
    [(Scope::App, Some(app)), (Scope::User, Some(user)), (Scope::Session, Some(session))]
}

impl<B: Bodies> EventLog<B> {
    fn new(created: B::Created, creation: Change) -> Self {
        Self { created, creation, events: B::default(), history: History::default(), next: 0 }
    }

    /// The initial state of the session, under full keys.
    pub(crate) fn creation_state(&self) -> Delta {
        self.creation.delta.clone().join(Delta::default())
    }

    /// The writes to each key, up to the end of the log.
    pub(crate) fn history(&mut self) -> Result<&History> {
        if self.next == 0 {
            self.history.push(0, &self.creation_state());
            self.next = 1;
        }
        while let Some(delta) = self.events.delta(self.next - 1) {
            self.history.push(self.next as u64, &delta?);
            self.next += 1;
        }
        Ok(&self.history)
    }

    /// The state at a revision, under full keys. `now` is that at the later revision `until`.
    pub(crate) fn state_at(
        &mut self,
        revision: u64,
        until: u64,
        now: Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        if revision == until {
            return Ok(now);
        }
        let now = state_delta(&now)?;
        let values = self.history()?.state_at(revision, until, &now).into_iter();
        Ok(values.map(|(key, json)| (key.to_owned(), json.to_value())).collect())
    }
}

/// The last `last` items that are wanted, in their order; all, when it is absent. Other items are not copied.
pub(crate) fn window<T: Clone>(items: &[T], last: Option<usize>, is_wanted: impl Fn(&T) -> bool) -> Vec<T> {
    let newest_first = items.iter().rev().filter(|item| is_wanted(item)).take(last.unwrap_or(usize::MAX));
    let mut window: Vec<T> = newest_first.cloned().collect();
    window.reverse();
    window
}

/// Sets all values of a state.
pub(crate) fn state_delta(values: &Map<String, Value>) -> Result<Delta> {
    Delta::of_values("state", values.iter().map(|(key, value)| (key.as_str(), value)))
}

#[cfg(test)]
mod tests;
