//! The size of a scope: what limits are compared with.

use crate::delta::{Delta, Observer, Write};
use crate::json::Json;
use crate::scope::Scope;
use crate::values::Values;

/// The size of a scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Of the names, without their prefix, and of the values.
    pub bytes: u64,
    pub keys: u64,
}

impl Size {
    /// The size once a delta was written over these values. It names no key twice.
    pub fn after(self, values: Option<&Values>, delta: &Delta) -> Self {
        let Self { mut bytes, mut keys } = self;
        for (name, key, write) in delta.shared() {
            if let Write::Set(json) = write {
                bytes += bytes_of(name.len(), json);
                keys += 1;
            }
            if let Some(json) = values.and_then(|values| values.get(key)) {
                bytes -= bytes_of(name.len(), json);
                keys -= 1;
            }
        }
        Self { bytes, keys }
    }

    /// As [`Size::after`], or more: without a look at the values.
    pub fn at_most_after(self, delta: &Delta) -> Self {
        self.after(None, delta)
    }
}

/// The growth of the app's scope, the user's and the session's, as a delta is applied to them.
#[derive(Debug, Default)]
pub(crate) struct Growth([Change; 3]);

/// What one scope has gained, and what it has lost.
#[derive(Debug, Clone, Copy, Default)]
struct Change {
    gained: Size,
    lost: Size,
}

impl Growth {
    /// The size of a scope that had this size before.
    pub fn added_to(&self, size: Size, scope: Scope) -> Size {
        let Change { gained, lost } = self.0[place_of(scope)];
        Size { bytes: size.bytes + gained.bytes - lost.bytes, keys: size.keys + gained.keys - lost.keys }
    }
}

impl Observer<Json> for Growth {
    fn set(&mut self, _: Scope, _: usize) {}

    fn unset(&mut self, _: Scope, _: Option<usize>) {}

    fn compacted(&mut self, _: Scope) {}

    fn counts(&self) -> bool {
        true
    }

    fn changed(&mut self, scope: Scope, name: usize, before: Option<&Json>, after: Option<&Json>) {
        let Change { gained, lost } = &mut self.0[place_of(scope)];
        for (size, json) in [(gained, after), (lost, before)] {
            if let Some(json) = json {
                size.bytes += bytes_of(name, json);
                size.keys += 1;
            }
        }
    }
}

fn place_of(scope: Scope) -> usize {
    match scope {
        Scope::App => 0,
        Scope::User => 1,
        Scope::Session | Scope::Temp => 2,
    }
}

fn bytes_of(name: usize, json: &Json) -> u64 {
    (name + json.as_str().len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::ScopeState;

    fn counted(state: &ScopeState) -> Size {
        let bytes = state.values().iter().map(|(key, json)| bytes_of(key.len() - "user:".len(), json));
        Size { bytes: bytes.sum(), keys: state.values().len() as u64 }
    }

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
            let mut growth = Growth::default();
            state.apply(&delta, &mut clock, &mut growth);
            assert_eq!((after, growth.added_to(size, Scope::User)), (counted(&state), after), "{text}");
            assert!(at_most.bytes >= after.bytes && at_most.keys >= after.keys, "{text}");
            size = after;
        }
        assert_eq!(size, Size { bytes: 10, keys: 1 });
    }

    #[test]
    fn a_delta_of_a_log_that_names_a_key_twice_counts_it_once() {
        let (mut state, mut growth) = (ScopeState::new(Scope::User), Growth::default());
        let mut delta = Delta::default();
        for write in [Write::Set(Json::from_text("12")), Write::Unset, Write::Set(Json::from_text("123"))] {
            delta.push("user:a", write);
        }
        state.apply(&delta.split().0.user, &mut 0, &mut growth);
        assert_eq!(growth.added_to(Size::default(), Scope::User), Size { bytes: 4, keys: 1 });
        assert_eq!(counted(&state), Size { bytes: 4, keys: 1 });
    }
}
