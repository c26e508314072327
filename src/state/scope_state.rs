//! The committed values of one scope.

use std::sync::Arc;

use crate::delta::{Delta, Values};
use crate::json::{size_of_members, write_string};
use crate::scope::Scope;
use crate::text::slice;

/// The committed values of one scope, with a version that changes whenever they may have changed.
#[derive(Debug, Clone)]
pub struct ScopeState {
    pub(super) scope: Scope,
    pub(super) version: u64,
    pub(super) values: Arc<Values>,
}

impl ScopeState {
    pub(crate) fn new(scope: Scope) -> Self {
        Self { scope, version: 0, values: Arc::default() }
    }

    /// The version: another number whenever the values may have changed, also when the scope was dropped and made
    /// anew; 0 as long as nothing was written.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The values under their full keys.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Writes a delta, if there is anything in it. Copies of this scope that readers hold stay as they are. `clock` is
    /// the last version of any scope: the new version is the next.
    pub(crate) fn apply(&mut self, delta: &Delta, clock: &mut u64) {
        if !delta.is_empty() {
            delta.apply(Arc::make_mut(&mut self.values));
            self.advance(clock);
        }
    }

    /// Takes over other values. Copies of this scope that readers hold stay as they are.
    pub(crate) fn replace(&mut self, values: &Delta, clock: &mut u64) {
        let mut replaced = Values::default();
        values.apply(&mut replaced);
        self.values = Arc::new(replaced);
        self.advance(clock);
    }

    fn advance(&mut self, clock: &mut u64) {
        *clock += 1;
        self.version = *clock;
    }

    /// The values as one JSON object, under their full keys or under their names.
    pub fn to_json(&self, full_keys: bool) -> String {
        let mut out = String::with_capacity(size_of_members(self.values.iter().map(|(key, json)| (&**key, json))));
        out.push('{');
        let prefix = if full_keys { 0 } else { self.scope.prefix().len() };
        for (key, json) in self.values.iter() {
            if out.len() > 1 {
                out.push(',');
            }
            write_string(&mut out, slice(key, prefix..key.len()));
            out.push(':');
            out.push_str(json.as_str());
        }
        out.push('}');
        out
    }
}
