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

#[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
pub(crate) use growth::{growth_of_index, growth_of_list, growth_of_ordered};

/// The most that these allocate, in bytes, when so many items are added.
#[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
mod growth {
    use std::sync::Arc;

    use super::{Index, Ordered};

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

    pub(crate) fn growth_of_ordered<T>(items: &Ordered<T>, more: usize) -> usize {
        let wanted = items.len() + more;
        if wanted <= items.capacity() {
            return 0;
        }
        // The table, and the list beside it, which grows to what the table has room for.
        let wanted = wanted.max(items.capacity() + 1);
        table(wanted, size_of::<usize>()) + table(wanted, size_of::<(usize, Arc<str>, T)>())
    }
}
