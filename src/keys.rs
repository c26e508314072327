//! Keys by number: what a host that keeps the values itself calls them.

use std::sync::Arc;

use crate::maps::Index;

/// The number of keys that may come and go, beside half of the present ones, before a search for unused keys is worth
/// its time.
const SWEEP: usize = 1024;

/// The most keys that there can be: above a number there is room for a scope and for one more bit.
const MOST: usize = 1 << 29;

/// Keys, each once, with a number that is given again once nothing has the key any more.
///
/// Every user of a key shares its text: the scopes with values under it, the prepared changes, the histories. The
/// count of the references says whether there are any.
#[derive(Debug)]
pub(crate) struct Keys {
    by_number: Vec<Option<Arc<str>>>,
    numbers: Index,
    free: Vec<usize>,
    /// The number of keys that were added, and of references that were dropped, since the last sweep.
    changes: usize,
    /// The number of keys after the last sweep.
    at_sweep: usize,
}

impl Keys {
    /// Without keys.
    pub const fn new() -> Self {
        Self { by_number: Vec::new(), numbers: Index::new(), free: Vec::new(), changes: 0, at_sweep: 0 }
    }

    /// The number of a key that has one.
    pub fn find(&self, key: &str) -> Option<usize> {
        self.numbers.get(key)
    }

    /// The number of a key, which has one from now on. Nothing, when all numbers are taken.
    pub fn number(&mut self, key: &str) -> Option<usize> {
        if let Some(number) = self.find(key) {
            return Some(number);
        }
        let number = self.free.pop().unwrap_or(self.by_number.len());
        if number >= MOST {
            return None;
        }
        let key: Arc<str> = Arc::from(key);
        self.numbers.insert(Arc::clone(&key), number);
        if let Some(place) = self.by_number.get_mut(number) {
            *place = Some(key);
        } else {
            self.by_number.push(Some(key));
        }
        self.changes += 1;
        Some(number)
    }

    /// The key of a number.
    pub fn get(&self, number: usize) -> Option<&Arc<str>> {
        self.by_number.get(number)?.as_ref()
    }

    /// Notes that something has dropped so many keys: perhaps nothing has them any more.
    pub fn note_dropped(&mut self, count: usize) {
        self.changes = self.changes.saturating_add(count);
    }

    /// Returns `true` if so much has changed that a sweep is worth its time, which is in proportion to all keys.
    pub fn is_sweep_due(&self) -> bool {
        self.changes > SWEEP + self.at_sweep / 2
    }

    /// Releases the keys that nothing has any more. Answers with their numbers, which name other keys from then on.
    pub fn sweep(&mut self) -> Vec<usize> {
        let mut released = Vec::new();
        for (number, place) in self.by_number.iter_mut().enumerate() {
            // One is here and one is in the index.
            if let Some(key) = place.take_if(|key| Arc::strong_count(key) <= 2) {
                self.numbers.remove(&key);
                released.push(number);
            }
        }
        while let Some(None) = self.by_number.last() {
            self.by_number.pop();
        }
        self.by_number.shrink_to(2 * self.by_number.len());
        self.numbers.shrink();
        self.free = (0..self.by_number.len()).rev().filter(|&number| self.get(number).is_none()).collect();
        self.changes = 0;
        self.at_sweep = self.numbers.len();
        released
    }

    /// The most that the lists and the index grow by, in bytes, when one more key has a number.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub fn growth(&self) -> usize {
        crate::maps::growth_of_list(&self.by_number, 1) + crate::maps::growth_of_index(&self.numbers, 1)
    }

    /// The most that a sweep allocates, in bytes.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub fn size_of_sweep(&self) -> usize {
        4 * self.by_number.len() * size_of::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_number_as_long_as_anything_has_the_key() {
        let mut keys = Keys::new();
        let numbers: Vec<_> = ["a", "é", "", "a"].iter().map(|key| keys.number(key).unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2, 0]);
        let shared = Arc::clone(keys.get(1).unwrap());
        assert_eq!(keys.sweep(), [0, 2]);
        assert_eq!((keys.find("é"), keys.find("a"), keys.get(0), keys.get(2)), (Some(1), None, None, None));
        assert_eq!((keys.number("b"), keys.number("c"), keys.number("é")), (Some(0), Some(2), Some(1)));
        assert_eq!(keys.get(0).map(|key| &**key), Some("b"));
        drop(shared);
        assert_eq!(keys.sweep(), [0, 1, 2]);
        assert_eq!(keys.sweep(), Vec::<usize>::new());
    }

    #[test]
    fn a_sweep_is_due_when_half_as_many_keys_as_there_are_have_come_or_gone() {
        let mut keys = Keys::new();
        let shared: Vec<_> = (0..5000)
            .map(|number| {
                assert_eq!(keys.is_sweep_due(), number > SWEEP);
                let number = keys.number(&number.to_string()).unwrap();
                Arc::clone(keys.get(number).unwrap())
            })
            .collect();
        assert_eq!(keys.sweep(), Vec::<usize>::new());
        keys.note_dropped(SWEEP + 2500);
        assert!(!keys.is_sweep_due());
        keys.note_dropped(1);
        assert!(keys.is_sweep_due());
        drop(shared);
        assert_eq!(keys.sweep(), (0..5000).collect::<Vec<_>>());
        assert!(keys.by_number.capacity() == 0 && keys.numbers.capacity() == 0 && keys.free.is_empty());
        assert!(!keys.is_sweep_due());
    }
}
