//! The maps of the core. One hasher, and as few kinds as will do: in WebAssembly each kind costs bytes.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

/// Finds a thing's number by its name.
pub type Index = HashMap<Arc<str>, usize, RandomState>;

/// Things under their names, in the order in which they came.
pub type Ordered<T> = IndexMap<Arc<str>, T, RandomState>;
