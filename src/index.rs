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
