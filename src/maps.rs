//! The maps of the core: with a hasher that needs no randomness, and of few types, because each type adds to the size
//! of the WebAssembly module.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHasher};

/// Numbers by name.
///
/// Its methods are compiled once, and not into each of their many callers.
#[derive(Debug, Clone)]
pub struct Index(HashMap<Arc<str>, usize, BuildHasherDefault<NameHasher>>);

/// Hashes one name. Its bytes are hashed by one function, in whatever the name is held.
#[derive(Clone, Default)]
struct NameHasher(FxHasher);

impl Hasher for NameHasher {
    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The end of a name: nothing comes after it.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

impl Index {
    /// Without names.
    pub const fn new() -> Self {
        Self(HashMap::with_hasher(BuildHasherDefault::new()))
    }

    /// The number of a name.
    #[inline(never)]
    pub fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    /// Gives a number to a name.
    #[inline(never)]
    pub fn insert(&mut self, name: Arc<str>, number: usize) {
        self.0.insert(name, number);
    }

    /// Takes a name out, and answers with its number.
    #[inline(never)]
    pub fn remove(&mut self, name: &str) -> Option<usize> {
        self.0.remove(name)
    }

    /// The numbers, in no order.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.values().copied()
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of names that there is room for.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Makes room for so many more names.
    pub fn reserve(&mut self, more: usize) {
        self.0.reserve(more);
    }

    /// Gives back memory once it has become much smaller; later, where there is no memory for the smaller index:
    /// deleting must not need any.
    #[inline(never)]
    pub fn shrink(&mut self) {
        if self.capacity() > 64 && self.len() < self.capacity() / 4 {
            let mut smaller = Self::new();
            if smaller.0.try_reserve(self.len() * 2).is_ok() {
                smaller.0.extend(self.0.drain());
                *self = smaller;
            }
        }
    }
}

impl Default for Index {
    fn default() -> Self {
        Self::new()
    }
}

/// Items by name, in the order of insertion.
pub type Ordered<T> = IndexMap<Arc<str>, T, FxBuildHasher>;

#[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
pub(crate) use growth::{growth_of_index, growth_of_list};

/// The most that these allocate, in bytes, when so many items are added.
#[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
mod growth {
    use std::sync::Arc;

    use super::Index;

    /// The size of a hash table for so many items, an eighth of it free.
    fn table(items: usize, item: usize) -> usize {
        (items + items / 7 + 8).next_power_of_two() * (item + 1) + 16
    }

    pub(crate) fn growth_of_list<T>(list: &Vec<T>, more: usize) -> usize {
        let length = list.len() + more;
        if length <= list.capacity() { 0 } else { length.max(2 * list.capacity()) * size_of::<T>() + 16 }
    }

    pub(crate) fn growth_of_index(index: &Index, more: usize) -> usize {
        let length = index.len() + more;
        if length <= index.capacity() {
            0
        } else {
            table(length.max(index.capacity() + 1), size_of::<(Arc<str>, usize)>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_gives_back_room_once_it_is_much_smaller() {
        let index_of = |most: usize, rest: usize| {
            let mut index = Index::new();
            index.reserve(most);
            (0..most).for_each(|number| index.insert(Arc::from(number.to_string()), number));
            (rest..most).for_each(|number| assert_eq!(index.remove(&number.to_string()), Some(number)));
            let before = index.capacity();
            index.shrink();
            (before, index.capacity())
        };
        let (before, after) = index_of(1000, 300);
        assert!(after >= 600 && after < before, "room for as many again stays: {after} of {before}");
        for (most, rest) in [(1000, 900), (1000, 500), (40, 1), (40, 39)] {
            let (before, after) = index_of(most, rest);
            assert_eq!(before, after, "{rest} of {most} is not much smaller, or is little");
        }
        let (_, none) = index_of(1000, 0);
        assert_eq!(none, 0);
    }
}
