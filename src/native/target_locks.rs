//! A lock for the updates of each target.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use crate::native::draft::StateRef;

/// Lets updates of one target run one after the other, so that they do not make each other run again. This is for
/// speed: what makes updates safe is that a draft is only written while what it has read holds.
#[derive(Debug, Default)]
pub(crate) struct TargetLocks {
    holders: Mutex<HashMap<Vec<String>, ThreadId>>,
    freed: Condvar,
}

/// The time that an update waits for the lock of its target. Then it runs without the lock, because the update that
/// holds it may be waiting for this one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

impl TargetLocks {
    /// Waits for the lock of a target. A thread that has it, and updates within an update, goes on at once.
    pub(crate) fn wait(&self, target: &StateRef<'_>) -> TargetLock<'_> {
        let (name, me) = (target.name(), std::thread::current().id());
        let mut holders = self.holders();
        while let Some(holder) = holders.get(&name) {
            if *holder == me {
                return TargetLock { locks: self, name: None };
            }
            let (guard, waited) =
                self.freed.wait_timeout(holders, LOCK_TIMEOUT).unwrap_or_else(PoisonError::into_inner);
            holders = guard;
            if waited.timed_out() {
                return TargetLock { locks: self, name: None };
            }
        }
        holders.insert(name.clone(), me);
        TargetLock { locks: self, name: Some(name) }
    }

    fn holders(&self) -> MutexGuard<'_, HashMap<Vec<String>, ThreadId>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lock of a target, until it is dropped.
#[derive(Debug)]
pub(crate) struct TargetLock<'a> {
    locks: &'a TargetLocks,
    name: Option<Vec<String>>,
}

impl Drop for TargetLock<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.locks.holders().remove(name);
            self.locks.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_when_it_is_dropped_and_a_thread_does_not_wait_for_itself() {
        let (locks, target) = (TargetLocks::default(), StateRef::App("app"));
        let lock = locks.wait(&target);
        assert_eq!(lock.name, Some(target.name()));
        assert!(locks.wait(&target).name.is_none());
        assert!(locks.wait(&StateRef::App("other")).name.is_some());
        assert_eq!(locks.holders().len(), 1, "the inner update has not released the lock");
        drop(lock);
        assert!(locks.holders().is_empty());
        assert!(locks.wait(&target).name.is_some());
    }
}
