//! The values of one scope: by key, and in the order of insertion.

use std::sync::Arc;

use crate::json::Json;
use crate::maps::Index;

/// As long as the list has no more places than this, it is searched; a longer one has an index.
const SEARCHED: usize = 16;

/// Holes that a list may always have. Beyond that it has at most as many as it has values.
const HOLES: usize = 32;

/// The values of one scope under their full keys, in the order of insertion.
///
/// Each value has a place in a list. A key that is set again keeps its place; a deleted one leaves a hole, and is new
/// when it is set later. When there are more than 32 holes, and more holes than values, the values that are left move
/// down, in order.
#[derive(Debug, Clone)]
pub struct Values<V = Json> {
    places: Vec<Option<(Arc<str>, V)>>,
    /// The place of each key, as soon as there are more places than are searched.
    index: Index,
    len: usize,
}

/// The keys and the values of [`Values`], in the order of insertion.
#[derive(Debug, Clone)]
pub struct Iter<'a, V>(std::slice::Iter<'a, Option<(Arc<str>, V)>>);

impl<V> Values<V> {
    /// Without values.
    pub fn new() -> Self {
        Self { places: Vec::new(), index: Index::default(), len: 0 }
    }

    /// The number of keys that have values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if no key has a value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        let entry = self.places.get(self.place(key)?).and_then(Option::as_ref);
        Some(&or_impossible!(entry, "the place of a key is no hole", return None).1)
    }

    /// Returns `true` if a key has a value.
    pub fn contains_key(&self, key: &str) -> bool {
        self.place(key).is_some()
    }

    /// The keys and their values, in the order of insertion.
    pub fn iter(&self) -> Iter<'_, V> {
        Iter(self.places.iter())
    }

    /// Sets a key. Answers with its place: the one that it has, or a new one at the end.
    pub(crate) fn set(&mut self, key: &Arc<str>, value: V) -> usize {
        self.swap(key, value).0
    }

    /// As [`Values::set`], with the value that the key had.
    pub(crate) fn swap(&mut self, key: &Arc<str>, value: V) -> (usize, Option<V>) {
        if let Some(place) = self.place(key)
            && let Some(Some((_, old))) = self.places.get_mut(place)
        {
            return (place, Some(std::mem::replace(old, value)));
        }
        let place = self.places.len();
        self.places.push(Some((Arc::clone(key), value)));
        self.len += 1;
        if place == SEARCHED {
            self.reindex();
        } else if place > SEARCHED {
            self.index.insert(Arc::clone(key), place);
        }
        (place, None)
    }

    /// Deletes a key. Answers with the place that is a hole now, if the key had one.
    pub(crate) fn unset(&mut self, key: &str) -> Option<usize> {
        let place = self.place(key)?;
        self.index.remove(key);
        *or_impossible!(self.places.get_mut(place), "the place of a key is in the list", return None) = None;
        self.len -= 1;
        Some(place)
    }

    /// Moves the values down over the holes, when these are too many. Says whether it did.
    pub(crate) fn compact(&mut self) -> bool {
        let holes = self.places.len() - self.len;
        if holes <= HOLES || holes <= self.len {
            return false;
        }
        self.places.retain(Option::is_some);
        self.places.shrink_to(2 * self.len);
        self.reindex();
        true
    }

    #[inline(never)]
    fn place(&self, key: &str) -> Option<usize> {
        if self.places.len() > SEARCHED {
            return self.index.get(key);
        }
        self.places.iter().position(|entry| entry.as_ref().is_some_and(|(other, _)| is_same(other, key)))
    }

    fn reindex(&mut self) {
        self.index = Index::default();
        if self.places.len() > SEARCHED {
            self.index.reserve(self.places.len());
            for (place, entry) in self.places.iter().enumerate() {
                if let Some((key, _)) = entry {
                    self.index.insert(Arc::clone(key), place);
                }
            }
        }
    }

    /// The most that the list and the index grow by, in bytes, when so many keys are added.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn growth(&self, more: usize) -> usize {
        use crate::maps::{growth_of_index, growth_of_list};

        let list = growth_of_list(&self.places, more);
        // The first index has room for all keys at once.
        let all = if self.index.is_empty() { self.len } else { 0 };
        if self.places.len() + more > SEARCHED { list + growth_of_index(&self.index, more + all) } else { list }
    }
}

/// Keys are shared: most that are the same text are the same memory.
fn is_same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || one == other
}

impl<V> Default for Values<V> {
    fn default() -> Self {
        Self::new()
    }
}

/// The same values under the same keys, in any order.
impl<V: PartialEq> PartialEq for Values<V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<V: Eq> Eq for Values<V> {}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a Arc<str>, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.find_map(Option::as_ref).map(|(key, value)| (key, value))
    }
}

impl<V> DoubleEndedIterator for Iter<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.by_ref().rev().find_map(Option::as_ref).map(|(key, value)| (key, value))
    }
}

impl<'a, V> IntoIterator for &'a Values<V> {
    type Item = (&'a Arc<str>, &'a V);
    type IntoIter = Iter<'a, V>;

    fn into_iter(self) -> Iter<'a, V> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Arc<str> {
        Arc::from(format!("k{number}"))
    }

    fn keys(values: &Values<usize>) -> Vec<String> {
        values.iter().map(|(key, _)| key.to_string()).collect()
    }

    #[test]
    fn a_key_keeps_its_place_until_it_is_deleted_and_is_new_when_it_is_set_again() {
        for before in [0, SEARCHED - 2, SEARCHED, 5 * SEARCHED] {
            let mut values = Values::new();
            for number in 0..before {
                assert_eq!(values.set(&key(number), number), number);
            }
            let [a, b] = [Arc::from("a"), Arc::from("b")];
            assert_eq!((values.set(&a, 1), values.set(&b, 2), values.set(&a, 3)), (before, before + 1, before));
            assert_eq!((values.unset("a"), values.unset("a"), values.get("a")), (Some(before), None, None));
            assert_eq!((values.set(&a, 4), values.len()), (before + 2, before + 2));
            assert_eq!((values.get("a"), values.get("b"), values.get("c")), (Some(&4), Some(&2), None));
            assert_eq!(keys(&values)[before..], ["b", "a"]);
            assert_eq!(values.iter().next_back().map(|(key, _)| &**key), Some("a"));
        }
    }

    #[test]
    fn a_list_with_more_holes_than_values_is_compacted_in_order() {
        let mut values = Values::new();
        for number in 0..100 {
            values.set(&key(number), number);
        }
        for number in 0..50 {
            values.unset(&key(2 * number));
        }
        assert!(!values.compact(), "as many holes as values");
        values.unset("k1");
        let before = keys(&values);
        assert!(values.compact() && !values.compact());
        assert_eq!((keys(&values), values.len()), (before, 49));
        let places: Vec<_> = (0..49).map(|number| values.place(&key(2 * number + 3))).collect();
        assert_eq!(places, (0..49).map(Some).collect::<Vec<_>>());
        assert_eq!(values.set(&key(1), 1), 49);
    }

    #[test]
    fn few_holes_stay_and_a_list_without_values_has_no_places_once_it_is_compacted() {
        let mut values = Values::new();
        for number in 0..HOLES {
            values.set(&key(number), number);
            values.unset(&key(number));
            assert!(!values.compact());
        }
        let last = key(HOLES);
        assert_eq!(values.set(&last, 1), HOLES);
        values.unset(&last);
        assert!(values.compact());
        assert!(values.is_empty() && values.places.capacity() == 0 && values.index.capacity() == 0);
        assert_eq!(values.set(&last, 1), 0);
    }

    #[test]
    fn values_are_equal_whatever_their_places() {
        let mut one = Values::new();
        let mut two = Values::new();
        for number in 0..3 {
            one.set(&key(number), number);
            two.set(&key(2 - number), 2 - number);
        }
        assert_eq!(one, two);
        two.set(&key(1), 7);
        assert_ne!(one, two);
        one.unset("k1");
        assert_ne!(one, two);
        two.unset("k1");
        assert_eq!(one, two);
    }
}
