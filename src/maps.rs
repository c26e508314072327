//! The maps of the core. One hasher without randomness, which the core has none of, and as few kinds
//! as will do: in WebAssembly each kind costs bytes.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Finds a thing's number by its name.
pub type Index = HashMap<Arc<str>, usize, FxBuildHasher>;

/// Things under their names, in the order in which they came.
pub type Ordered<T> = IndexMap<Arc<str>, T, FxBuildHasher>;

#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
pub(crate) use growth::{growth_of_index, growth_of_list, growth_of_ordered};

/// What these grow by when so many items come: the most that they allocate then, in bytes.
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
mod growth {
    use std::sync::Arc;

    use super::{Index, Ordered};

    /// What a table of hashes takes for so many items, an eighth of it free.
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
