//! The sessions of a service with their events: what the services of the crate have in common. A change is prepared,
//! stored where there is a store, and applied.

use std::collections::HashMap;
use std::fmt::Debug;

use serde_json::{Map, Value};

use crate::change::{Change, Guard, Prepared, SessionKey};
use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::history::History;
use crate::ids::SessionId;
use crate::json::Json;
use crate::sessions::Sessions;

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
}

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
}

impl<B: Bodies> Default for Ledger<B> {
    fn default() -> Self {
        Self { sessions: Sessions::default(), logs: HashMap::new() }
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

    /// Prepares an append, under a lease where `check_lease` asks for it: where the event is new, as one that is there
    /// was written under the lease. Operators are resolved then, too, against the values that `value_of` finds.
    pub(crate) fn prepare_append<E: From<Error>>(
        &self,
        id: SessionId,
        draft: &mut impl Draft,
        guard: Guard,
        check_lease: Option<&dyn Fn() -> std::result::Result<(), E>>,
        value_of: &dyn Fn(&str) -> Option<Json>,
    ) -> std::result::Result<Prepared, E> {
        let is_new = |prepared: &Prepared| matches!(prepared, Prepared::Change { .. });
        let prepare =
            |draft: &dyn Draft, delta, guard| self.sessions.prepare_append(id, draft.id(), draft.time(), delta, guard);
        if let Some(check_lease) = check_lease
            && is_new(&prepare(draft, Delta::new(), Guard::default())?)
        {
            check_lease()?;
        }
        let delta = draft.delta()?;
        let prepared = prepare(draft, delta, guard)?;
        if !(draft.has_operators() && is_new(&prepared)) {
            return Ok(prepared);
        }
        draft.resolve(value_of)?;
        let delta = draft.delta()?;
        Ok(prepare(draft, delta, guard)?)
    }

    /// Takes over a creation.
    pub(crate) fn create(&mut self, key: &SessionKey, created: B::Created, change: Change) -> Result<SessionId> {
        let id = self.sessions.apply_create(key, &change)?;
        self.logs.insert(id, EventLog::new(created, change));
        Ok(id)
    }

    /// Takes over an event of a session that is there.
    pub(crate) fn append(&mut self, id: SessionId, change: &Change, event: &B::Event) -> Result<()> {
        self.sessions.apply_append(id, change)?;
        let log = or_impossible!(self.logs.get_mut(&id), "each session has a log", return Ok(()));
        log.events.push(event, change);
        Ok(())
    }

    /// Deletes a session, if it is there.
    pub(crate) fn remove(&mut self, key: &SessionKey) {
        if let Some(id) = self.find(key) {
            self.sessions.remove_for_good(id);
            self.logs.remove(&id);
        }
    }
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
