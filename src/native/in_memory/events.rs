//! The events of one session in memory.

use std::sync::Arc;

use crate::change::Change;
use crate::delta::Delta;
use crate::error::Result;
use crate::event::Event;
use crate::history::HistoryStep;
use crate::json::Json;
use crate::lease::LeaseRow;
use crate::native::ledger::{Bodies, Draft, EventLog};
use crate::native::requests::HistoryEntry;

/// The events of a session, and its lease.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub(super) list: Vec<Arc<Event>>,
    pub(super) lease: LeaseRow,
}

impl Bodies for Events {
    type Event = Arc<Event>;
    /// The serial number of the session.
    type Created = u64;

    fn push(&mut self, event: &Arc<Event>, _: &Change) {
        self.list.push(Arc::clone(event));
    }

    fn delta(&self, place: usize) -> Option<Result<Delta>> {
        Some(self.list.get(place)?.delta())
    }
}

impl EventLog<Events> {
    /// A write with its event.
    pub(super) fn entry(&self, HistoryStep { revision, from, to, .. }: &HistoryStep) -> HistoryEntry {
        let place = usize::try_from(*revision).ok().and_then(|revision| revision.checked_sub(1));
        let event = place.and_then(|place| self.events.list.get(place));
        HistoryEntry {
            revision: *revision,
            timestamp: event.and_then(|event| event.timestamp).unwrap_or(self.creation.time),
            event: event.cloned(),
            from: from.as_ref().map(Json::to_value),
            to: to.as_ref().map(Json::to_value),
        }
    }
}

/// An event that is to be appended.
pub(super) struct EventDraft {
    pub(super) event: Event,
    time: f64,
    /// Until the core gets it.
    delta: Delta,
    /// The keys of the operators, once they have been resolved.
    results: Vec<String>,
}

impl EventDraft {
    /// An event with an id, and with the delta that it has.
    pub(super) fn new(event: Event, time: f64, delta: Delta) -> Self {
        Self { event, time, delta, results: Vec::new() }
    }
}

impl Draft for EventDraft {
    fn id(&self) -> &str {
        &self.event.id
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn delta(&mut self) -> Result<Delta> {
        Ok(std::mem::take(&mut self.delta))
    }

    fn has_operators(&self) -> bool {
        !self.event.actions.operators.is_empty()
    }

    fn resolve(&mut self, value_of: &dyn Fn(&str) -> Option<Json>) -> Result<()> {
        self.results = self.event.operators().map(|(key, _)| key.to_owned()).collect();
        self.event.resolve(value_of)?;
        self.delta = self.event.delta()?;
        Ok(())
    }

    fn results(&self) -> Vec<String> {
        self.results.clone()
    }
}
