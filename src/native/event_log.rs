//! The events of one session in memory, and what they wrote.

use std::sync::Arc;

use crate::change::Change;
use crate::delta::Delta;
use crate::error::Result;
use crate::event::Event;
use crate::history::{History, HistoryStep};
use crate::json::Json;
use crate::lease::LeaseRow;
use crate::native::requests::HistoryEntry;

/// The last `last` items that are wanted, in their order; all, when it is absent. Other items are not copied.
pub(crate) fn window<T: Clone>(items: &[T], last: Option<usize>, is_wanted: impl Fn(&T) -> bool) -> Vec<T> {
    let newest_first = items.iter().rev().filter(|item| is_wanted(item)).take(last.unwrap_or(usize::MAX));
    let mut window: Vec<T> = newest_first.cloned().collect();
    window.reverse();
    window
}

/// What was written in one session: its creation and its events.
#[derive(Debug)]
pub(super) struct EventLog {
    /// Different from that of an earlier session of the same key.
    pub(super) serial: u64,
    /// Revision 0.
    creation: Change,
    pub(super) events: Vec<Arc<Event>>,
    pub(super) lease: LeaseRow,
    /// What wrote each key, up to the revision before `next`: made when it is asked for.
    history: History,
    /// The first revision that is not in `history` yet.
    next: usize,
}

impl EventLog {
    pub(super) fn new(creation: Change, serial: u64) -> Self {
        Self { serial, creation, events: Vec::new(), lease: LeaseRow::default(), history: History::default(), next: 0 }
    }

    /// What wrote each key: with all that the log has.
    pub(super) fn history(&mut self) -> Result<&History> {
        if self.next == 0 {
            self.history.push(0, &self.creation.delta.clone().join(Delta::default()));
            self.next = 1;
        }
        while let Some(event) = self.events.get(self.next - 1) {
            self.history.push(self.next as u64, &event.delta()?);
            self.next += 1;
        }
        Ok(&self.history)
    }

    /// A write with its event.
    pub(super) fn entry(&self, HistoryStep { revision, from, to, .. }: &HistoryStep) -> HistoryEntry {
        let place = usize::try_from(*revision).ok().and_then(|revision| revision.checked_sub(1));
        let event = place.and_then(|place| self.events.get(place));
        HistoryEntry {
            revision: *revision,
            timestamp: event.and_then(|event| event.timestamp).unwrap_or(self.creation.time),
            event: event.cloned(),
            from: from.as_ref().map(Json::to_value),
            to: to.as_ref().map(Json::to_value),
        }
    }
}

#[cfg(test)]
mod tests;
