//! State: what can be read and written, and what is committed.

use std::collections::HashMap;
use std::hash::BuildHasher;

use serde_json::{Map, Value};

use crate::error::Result;

mod scope_state;
mod session_state;

pub use scope_state::ScopeState;
pub use session_state::SessionState;

/// State that can be read: values under full keys (`user:theme`).
///
/// `get` and `all` are adk-rust's. The other methods are provided; a type overrides those that it can answer faster,
/// or in an order.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
///
/// use serde_json::Value;
/// use statepad::{ReadonlyState, Template};
///
/// struct Fixed;
///
/// impl ReadonlyState for Fixed {
///     fn get(&self, key: &str) -> Option<Value> {
///         self.all().remove(key)
///     }
///
///     fn all(&self) -> HashMap<String, Value> {
///         HashMap::from([("user:name".to_owned(), "Ana".into())])
///     }
/// }
///
/// assert!(Fixed.has("user:name"));
/// assert_eq!(Template::parse("Hi {user:name}").render(&Fixed)?, "Hi Ana");
/// # Ok::<(), statepad::Error>(())
/// ```
pub trait ReadonlyState: Send + Sync {
    /// The value of a key, if it is there. `null` is a value.
    fn get(&self, key: &str) -> Option<Value>;

    /// All values under their full keys. A `HashMap` has no order: [`ReadonlyState::to_map`] has.
    fn all(&self) -> HashMap<String, Value>;

    /// All values under their full keys, in the order of writing where the state knows it (session keys, then app
    /// keys, then user keys), else in the order of the keys.
    fn to_map(&self) -> Map<String, Value> {
        sorted(self.all())
    }

    /// Returns `true` if the key has a value.
    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

/// State that can be written, as adk-rust has it: writing has no result.
///
/// The types of this crate have a fallible way beside each infallible `set`: [`Context::set`](crate::Context::set),
/// [`SessionState::set`], [`StateDraft::set`](crate::StateDraft::set). A write that they would refuse makes the
/// infallible one panic, so that no write is lost silently.
pub trait State: Send + Sync {
    /// The value of a key, if it is there. `null` is a value.
    fn get(&self, key: &str) -> Option<Value>;

    /// Sets a key to a value, whole.
    fn set(&mut self, key: String, value: Value);

    /// All values under their full keys.
    fn all(&self) -> HashMap<String, Value>;
}

/// Panics for a write that was refused.
#[track_caller]
#[expect(clippy::panic, reason = "the signature is adk-rust's: there is no other way to say that a write is refused")]
pub(crate) fn must_be_written(key: &str, written: Result<()>) {
    if let Err(error) = written {
        panic!("\"{key}\" cannot be set: {error}");
    }
}

/// The entries of a map that has no order, in the order of their keys.
pub(crate) fn sorted(values: HashMap<String, Value>) -> Map<String, Value> {
    let mut entries: Vec<_> = values.into_iter().collect();
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    entries.into_iter().collect()
}

impl ReadonlyState for Map<String, Value> {
    fn get(&self, key: &str) -> Option<Value> {
        Map::get(self, key).cloned()
    }

    fn all(&self) -> HashMap<String, Value> {
        self.clone().into_iter().collect()
    }

    fn to_map(&self) -> Map<String, Value> {
        self.clone()
    }

    fn has(&self, key: &str) -> bool {
        self.contains_key(key)
    }
}

impl<S: BuildHasher + Send + Sync> ReadonlyState for HashMap<String, Value, S> {
    fn get(&self, key: &str) -> Option<Value> {
        HashMap::get(self, key).cloned()
    }

    fn all(&self) -> HashMap<String, Value> {
        self.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn has(&self, key: &str) -> bool {
        self.contains_key(key)
    }
}

/// Gives a type the reading methods, as its own, so that no trait has to be imported, and as [`ReadonlyState`]. The
/// type has `json`, the value of a key as text, and `map`, all values in the order that `$order` describes.
macro_rules! reading_methods {
    ($state:ty, $order:literal) => {
        impl $state {
            /// The value of a key, if it is there. `null` is a value.
            pub fn get(&self, key: &str) -> Option<serde_json::Value> {
                self.json(key).map(|json| json.to_value())
            }

            /// Returns `true` if the key has a value.
            pub fn has(&self, key: &str) -> bool {
                self.json(key).is_some()
            }

            /// All values under their full keys. A `HashMap` has no order: `to_map` has.
            pub fn all(&self) -> std::collections::HashMap<String, serde_json::Value> {
                self.map().into_iter().collect()
            }

            #[doc = concat!("All values under their full keys: ", $order)]
            pub fn to_map(&self) -> serde_json::Map<String, serde_json::Value> {
                self.map()
            }
        }

        impl $crate::state::ReadonlyState for $state {
            fn get(&self, key: &str) -> Option<serde_json::Value> {
                Self::get(self, key)
            }

            fn all(&self) -> std::collections::HashMap<String, serde_json::Value> {
                Self::all(self)
            }

            fn to_map(&self) -> serde_json::Map<String, serde_json::Value> {
                Self::to_map(self)
            }

            fn has(&self, key: &str) -> bool {
                Self::has(self, key)
            }
        }
    };
}

/// Makes a type with reading methods a [`State`]: `set` is its own fallible way to write.
macro_rules! state_trait {
    ($state:ty, $set:expr) => {
        impl $crate::state::State for $state {
            fn get(&self, key: &str) -> Option<serde_json::Value> {
                Self::get(self, key)
            }

            /// # Panics
            ///
            /// For what the fallible `set` of the type refuses.
            fn set(&mut self, key: String, value: serde_json::Value) {
                let set: fn(&mut Self, &str, serde_json::Value) -> $crate::error::Result<()> = $set;
                $crate::state::must_be_written(&key, set(self, &key, value));
            }

            fn all(&self) -> std::collections::HashMap<String, serde_json::Value> {
                Self::all(self)
            }
        }
    };
}

pub(crate) use {reading_methods, state_trait};

#[cfg(test)]
mod tests;
