//! Turns of the updates of one target.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use crate::native::draft::StateRef;

/// Lets updates of one target run one after the other, so that they do not make each other run again. This is for
/// speed: what makes updates safe is that a draft is only written while what it has read holds.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    holders: Mutex<HashMap<Vec<String>, ThreadId>>,
    freed: Condvar,
}

/// The time that an update waits for the lock of its target. Then it runs without the lock, because the update that
/// holds it may be waiting for this one.
const TURN_TIMEOUT: Duration = Duration::from_secs(1);

impl Turns {
    /// Waits for the turn of a target. A thread that has it, and updates within an update, goes on at once.
    pub(crate) fn wait(&self, target: &StateRef<'_>) -> Turn<'_> {
        let (name, me) = (target.name(), std::thread::current().id());
        let mut holders = self.holders();
        while let Some(holder) = holders.get(&name) {
            if *holder == me {
                return Turn { turns: self, name: None };
            }
            let (guard, waited) =
                self.freed.wait_timeout(holders, TURN_TIMEOUT).unwrap_or_else(PoisonError::into_inner);
            holders = guard;
            if waited.timed_out() {
                return Turn { turns: self, name: None };
            }
        }
        holders.insert(name.clone(), me);
        Turn { turns: self, name: Some(name) }
    }

    fn holders(&self) -> MutexGuard<'_, HashMap<Vec<String>, ThreadId>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    name: Option<Vec<String>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.turns.holders().remove(name);
            self.turns.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_free_when_it_is_dropped_and_a_thread_does_not_wait_for_itself() {
        let (turns, target) = (Turns::default(), StateRef::App("app"));
        let turn = turns.wait(&target);
        assert_eq!(turn.name, Some(target.name()));
        assert!(turns.wait(&target).name.is_none());
        assert!(turns.wait(&StateRef::App("other")).name.is_some());
        assert_eq!(turns.holders().len(), 1, "the inner update has not given the turn away");
        drop(turn);
        assert!(turns.holders().is_empty());
        assert!(turns.wait(&target).name.is_some());
    }
}
