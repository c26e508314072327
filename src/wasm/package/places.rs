//! Tells the host where the writes of a change went.

use super::numbers::narrow;
use super::protocol::{NOTHING, Outcome};
use crate::delta::Observer;
use crate::scope::Scope;

/// Writes the place of each write into words, in the order of the request.
pub(super) struct Places<'a> {
    /// The scope of each write, in the order of the request.
    order: &'a [Scope],
    words: &'a mut [u32],
    /// For each scope, from where on its next write stands in `order`.
    next: [usize; 4],
    /// The outcome of the change, as bits of [`Outcome`].
    pub outcome: u32,
    /// The number of keys that were dropped.
    pub dropped: usize,
}

impl<'a> Places<'a> {
    /// Begins with writes that change nothing.
    pub fn new(order: &'a [Scope], words: &'a mut [u32]) -> Self {
        words.iter_mut().take(order.len()).for_each(|place| *place = NOTHING);
        Self { order, words, next: [0; 4], outcome: 0, dropped: 0 }
    }
}

impl Observer<()> for Places<'_> {
    fn set(&mut self, scope: Scope, place: usize) {
        let next = &mut self.next[scope as usize];
        if let Some(more) = self.order.get(*next..).and_then(|rest| rest.iter().position(|other| *other == scope)) {
            *next += more + 1;
            if let Some(word) = self.words.get_mut(*next - 1) {
                *word = narrow(place);
            }
        }
    }

    fn unset(&mut self, scope: Scope, place: Option<usize>) {
        self.dropped += usize::from(place.is_some());
        self.set(scope, place.unwrap_or(NOTHING as usize));
    }

    fn compacted(&mut self, scope: Scope) {
        self.outcome |= match scope {
            Scope::App => Outcome::CompactedApp,
            Scope::User => Outcome::CompactedUser,
            Scope::Session | Scope::Temp => Outcome::CompactedSession,
        } as u32;
    }
}
