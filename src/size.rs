//! The size of a scope: what limits are compared with.

use crate::delta::{Delta, Write};
use crate::json::Json;
use crate::values::Values;

/// The size of a scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Of the names, without their prefix, and of the values.
    pub bytes: u64,
    pub keys: u64,
}

impl Size {
    /// The size of the values of a scope, whose keys have a prefix of this length.
    #[cfg(any(test, all(feature = "js", target_arch = "wasm32", target_os = "unknown")))]
    pub fn of(values: &Values, prefix: usize) -> Self {
        let bytes = values.iter().map(|(key, json)| bytes_of(key.len() - prefix, json));
        Self { bytes: bytes.sum(), keys: values.len() as u64 }
    }

    /// The size once a delta was written over these values. It names no key twice.
    pub fn after(self, values: Option<&Values>, delta: &Delta) -> Self {
        let Self { mut bytes, mut keys } = self;
        for (name, key, write) in delta.shared() {
            if let Write::Set(json) = write {
                bytes += bytes_of(name.len(), json);
                keys += 1;
            }
            if let Some(json) = values.and_then(|values| values.get(key)) {
                // A log may name a key twice: whoever reads one counts afterwards.
                bytes = bytes.saturating_sub(bytes_of(name.len(), json));
                keys = keys.saturating_sub(1);
            }
        }
        Self { bytes, keys }
    }

    /// As [`Size::after`], or more: without a look at the values.
    pub fn at_most_after(self, delta: &Delta) -> Self {
        self.after(None, delta)
    }
}

fn bytes_of(name: usize, json: &Json) -> u64 {
    (name + json.as_str().len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scope;
    use crate::state::ScopeState;

    #[test]
    fn the_size_after_a_delta_is_that_of_the_values_after_it() {
        let (mut state, mut clock, mut size) = (ScopeState::new(Scope::User), 0, Size::default());
        for (text, deleted) in [
            (r#"{"user:a":1,"user:é":"é","user:":[]}"#, vec![]),
            (r#"{"user:a":null,"user:b":{"c":1}}"#, vec!["user:a".to_owned()]),
            (r#"{"user:none":null,"user:é":"longer"}"#, vec!["user:none".to_owned()]),
            (r#"{"user:b":null,"user:":null}"#, vec!["user:b".to_owned(), "user:".to_owned()]),
        ] {
            let delta = Delta::parse(text, &deleted).unwrap().split().0.user;
            let (after, at_most) = (size.after(Some(state.values()), &delta), size.at_most_after(&delta));
            state.apply(&delta, &mut clock, &mut ());
            assert_eq!(after, Size::of(state.values(), "user:".len()), "{text}");
            assert!(at_most.bytes >= after.bytes && at_most.keys >= after.keys, "{text}");
            size = after;
        }
        assert_eq!(size, Size { bytes: 10, keys: 1 });
    }
}
