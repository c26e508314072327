//! The maps of the core: with a hasher that needs no randomness, and of few types, because each type adds to the size
//! of the WebAssembly module.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Numbers by name.
pub type Index = HashMap<Arc<str>, usize, FxBuildHasher>;

/// Items by name, in the order of insertion.
pub type Ordered<T> = IndexMap<Arc<str>, T, FxBuildHasher>;

/// Gives back the memory of an index that has become much smaller; later, where there is no memory for the smaller one:
/// deleting must not need any.
pub(crate) fn shrink(index: &mut Index) {
    if index.capacity() > 64 && index.len() < index.capacity() / 4 {
        let mut smaller = Index::default();
        if smaller.try_reserve(index.len() * 2).is_ok() {
            smaller.extend(index.drain());
            *index = smaller;
        }
    }
}

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
        let wanted = list.len() + more;
        if wanted <= list.capacity() { 0 } else { wanted.max(2 * list.capacity()) * size_of::<T>() + 16 }
    }

    pub(crate) fn growth_of_index(index: &Index, more: usize) -> usize {
        let wanted = index.len() + more;
        if wanted <= index.capacity() {
            0
        } else {
            table(wanted.max(index.capacity() + 1), size_of::<(Arc<str>, usize)>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_gives_back_room_once_it_is_much_smaller() {
        let index_of = |most: usize, left: usize| {
            let mut index: Index = (0..most).map(|number| (Arc::from(number.to_string()), number)).collect();
            index.retain(|_, number| *number < left);
            let before = index.capacity();
            shrink(&mut index);
            (before, index.capacity())
        };
        let (before, after) = index_of(1000, 300);
        assert!(after >= 600 && after < before, "room for as many again stays: {after} of {before}");
        for (most, left) in [(1000, 900), (1000, 500), (40, 1), (40, 39)] {
            let (before, after) = index_of(most, left);
            assert_eq!(before, after, "{left} of {most} is not much smaller, or is little");
        }
        let (_, none) = index_of(1000, 0);
        assert_eq!(none, 0);
    }
}
