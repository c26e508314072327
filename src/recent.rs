//! The ids of the last updates, so that one that is applied twice is noticed.

use std::sync::Arc;

use crate::maps::Index;

/// The number of ids that are remembered.
pub(crate) const RECENT: usize = 1024;

/// The ids of the last updates.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    ids: Index,
    /// A ring buffer: `next` is the place of the oldest id.
    order: Vec<Arc<str>>,
    next: usize,
}

impl Recent {
    /// Remembers an id. Says whether it is new.
    pub(crate) fn note(&mut self, id: &Arc<str>) -> bool {
        if self.ids.get(id).is_some() {
            return false;
        }
        if let Some(oldest) = self.order.get_mut(self.next) {
            self.ids.remove(oldest);
            *oldest = Arc::clone(id);
        } else {
            self.order.push(Arc::clone(id));
        }
        self.ids.insert(Arc::clone(id), self.next);
        self.next = (self.next + 1) % RECENT;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_updates_are_remembered_and_no_more() {
        let mut recent = Recent::default();
        let ids: Vec<Arc<str>> = (0..3 * RECENT).map(|number| number.to_string().into()).collect();
        for (number, id) in ids.iter().enumerate() {
            assert!(recent.note(id));
            assert!(!recent.note(id) && !recent.note(&ids[number.saturating_sub(RECENT - 1)]));
            assert_eq!((recent.ids.len(), recent.order.len()), ((number + 1).min(RECENT), (number + 1).min(RECENT)));
        }
    }
}
